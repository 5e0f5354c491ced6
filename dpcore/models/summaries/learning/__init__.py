"""What sees records: which tables are counted, at what noise."""
