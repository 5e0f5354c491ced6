"""Learning rule lists: what sees records."""
