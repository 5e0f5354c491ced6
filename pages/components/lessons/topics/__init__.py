"""The lessons, one each: what each shows and asks."""
