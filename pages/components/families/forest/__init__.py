"""Forests: set up and shown."""
