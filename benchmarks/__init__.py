"""Measured comparisons with the papers and with peer programs: ``python -m benchmarks SUITE``."""
