"""Data dictionaries: what others have written about the columns of a table, one module for each form.

What a dictionary says is part of a schema, as a dictionary of Python: ``columns``, each with the fields that are
known, and with several tables ``children``. No record is read for it.
"""
