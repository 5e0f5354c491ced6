"""The forms in which results are handed on; each writer puts the same blocks into its own."""
