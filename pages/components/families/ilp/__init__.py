"""Relational rules: set up and shown."""
