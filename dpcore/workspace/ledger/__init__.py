"""Who spent how much of whose privacy: lines of the ledger, what it refuses, and what is read off it."""
