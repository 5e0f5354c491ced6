"""A report while it is written."""
