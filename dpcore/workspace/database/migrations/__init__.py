"""Upgrades of the database from one version of its tables to the next, oldest first."""
