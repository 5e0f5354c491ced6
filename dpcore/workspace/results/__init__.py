"""Releases: who may read them, what people write about them, and those that came as files."""
