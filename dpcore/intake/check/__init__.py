"""How a file fits its schema and who is a person in it, for the custodian's eyes only."""
