"""Results as files that open anywhere: one release as a page, several as a dossier.

Everything here is read off releases, schemas and the totals of the ledger: it sees no record.
"""
