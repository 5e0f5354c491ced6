"""Released machines: what sees releases and public choices only."""
