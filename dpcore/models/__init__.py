"""The families of models: each learned in private, and read in public."""
