"""Records: tables, the questions asked of them, and the way from rows to a table."""
