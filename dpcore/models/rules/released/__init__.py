"""Released rule lists: what sees releases and public choices only."""
