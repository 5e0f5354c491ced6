"""Figures of redescriptions."""
