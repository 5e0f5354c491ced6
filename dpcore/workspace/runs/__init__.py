"""Runs: their queue, the processes that do them, and what this machine can do."""
