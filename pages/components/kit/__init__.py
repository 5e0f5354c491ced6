"""Pieces of a page that know nothing of who visits."""
