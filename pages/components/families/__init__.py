"""The families of models: how each is set up and shown."""
