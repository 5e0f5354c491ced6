"""Who is visiting, what they may see, and what their clicks became."""
