"""Redescriptions: set up and shown."""
