"""Redescriptions: pairs of conditions, one per view, that hold for nearly the same people."""
