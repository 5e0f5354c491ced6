"""Bringing a data set: files, their schema, and what is wrong with them."""
