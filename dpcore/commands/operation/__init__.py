"""Commands of whoever runs an installation: whether it is whole, what the machine can do, whether guarantees hold."""
