"""Frostglass engine: interpretable models of private tables, with exact differential privacy."""

__version__ = "0.1.0"
