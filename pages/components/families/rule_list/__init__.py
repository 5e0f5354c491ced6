"""Rule lists: set up and shown."""
