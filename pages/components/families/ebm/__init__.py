"""Shape functions: set up and shown."""
