"""What is public about a run: its plan, its release, how good it is. No record is seen here."""
