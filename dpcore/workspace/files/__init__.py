"""Data sets on disk: stored, described, about whom, and those that are on their way in."""
