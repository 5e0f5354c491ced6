"""First looks: distributions of all columns, groups compared, and pairs, from one private measurement of tables."""
