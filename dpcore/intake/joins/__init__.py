"""Rows of several files about the same people, put together by their keys."""
