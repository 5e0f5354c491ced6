"""Which installation a database belongs to: the home folder holds the same identifier."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table; who opens home and database together writes its one row."""
    op.create_table(
        "installation",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("id", sa.String(64), nullable=False),
        sa.CheckConstraint("number = 1", name="installation_one"),
    )
