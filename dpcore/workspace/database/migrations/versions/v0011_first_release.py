"""The tables of the first release. New databases are made from ``database_tables``, and bear the newest revision."""

from __future__ import annotations

revision = "0011"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Nothing: no table is older."""
