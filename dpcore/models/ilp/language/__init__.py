"""What a clause may say, and every clause there is: made from the schema alone."""
