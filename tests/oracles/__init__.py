"""Naive implementations that import nothing of the engine."""
