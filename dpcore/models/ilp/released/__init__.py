"""Released theories: what sees releases and public choices only."""
