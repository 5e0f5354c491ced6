"""Schemas: the public description of a data set, where its facts come from, and whom it protects."""
