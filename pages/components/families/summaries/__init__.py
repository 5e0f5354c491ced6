"""First looks: set up and shown."""
