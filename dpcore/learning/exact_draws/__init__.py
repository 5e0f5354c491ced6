"""Drawing whole trees exactly: counts of every conjunction, and choices by the exponential mechanism."""
