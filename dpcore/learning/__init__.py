"""What all learners share on the side that sees records."""
