"""What lasts: database and home, stored data, budgets, releases, the queue of runs."""
