"""The commands of ``python -m benchmarks``, by what they measure."""
