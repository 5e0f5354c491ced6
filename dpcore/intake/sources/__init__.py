"""Files and data bases of any origin: their columns, and their rows in chunks."""
