"""Partitions on disk and in object stores."""
