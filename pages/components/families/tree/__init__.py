"""Trees: set up and shown."""
