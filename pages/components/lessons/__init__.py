"""The lessons of the page Learn."""
