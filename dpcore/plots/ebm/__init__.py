"""Figures of shape functions."""
