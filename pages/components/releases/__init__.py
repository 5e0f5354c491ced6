"""Releases: named, filtered, compared, shared."""
