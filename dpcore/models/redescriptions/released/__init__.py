"""Released redescriptions and their reading: what sees releases and public choices only."""
