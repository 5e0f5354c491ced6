"""Who has taken a seat of a classroom, as a hash: each has one."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add a column; nobody knows whose the seats of before are."""
    op.add_column("class_seats", sa.Column("person", sa.String(64)))
