"""Learning relational rules: what sees records."""
