"""Who calls: logins, their programs, and students of a classroom."""
