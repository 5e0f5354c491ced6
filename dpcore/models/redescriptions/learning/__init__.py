"""Mining redescriptions: what sees records."""
