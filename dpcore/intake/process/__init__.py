"""Reading uploads in a process that may die, and storing what they hold."""
