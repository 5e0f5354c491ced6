"""The database and the home folder: opened, bound together, and written one at a time."""
