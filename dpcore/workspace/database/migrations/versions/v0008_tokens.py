"""Tokens with which programs act as a person."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add a table; nobody has a token yet."""
    op.create_table(
        "tokens",
        sa.Column("hash", sa.String(64), primary_key=True),
        sa.Column("owner", sa.String(128), nullable=False),
        sa.Column("roles", sa.String(128), nullable=False),
        sa.Column("ends", sa.BigInteger, nullable=False),
    )
    op.create_index("tokens_by_owner", "tokens", ["owner"])
