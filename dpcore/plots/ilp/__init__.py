"""Figures of relational rules."""
