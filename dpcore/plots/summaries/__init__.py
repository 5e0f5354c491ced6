"""Figures of first looks."""
