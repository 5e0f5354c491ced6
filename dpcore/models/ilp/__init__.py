"""Relational rules: clauses over several tables, learned by inductive logic programming."""
