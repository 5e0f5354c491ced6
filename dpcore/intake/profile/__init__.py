"""What the columns of a table are by their values: drafts of a schema."""
