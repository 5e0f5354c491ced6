"""What a guarantee is and how it is kept: budgets, randomness, mechanisms, accounting."""
