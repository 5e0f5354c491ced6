"""The custodian's parts: uploads, budgets, analysts, the audit log."""
