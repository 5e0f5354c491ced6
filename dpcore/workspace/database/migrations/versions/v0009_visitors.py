"""What visitors have seen of the guide, and results that they brought from elsewhere."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

_ID = sa.String(64)


def upgrade() -> None:
    """Make two tables. Neither is part of the ledger: their lines are their owners'."""
    op.create_table(
        "visitor_marks",
        sa.Column("visitor", sa.String(128), primary_key=True),
        sa.Column("mark", sa.String(32), primary_key=True),
        sa.Column("time", sa.String(32), nullable=False),
    )
    op.create_table(
        "imported_releases",
        sa.Column("owner", sa.String(128), primary_key=True),
        sa.Column("id", _ID, primary_key=True),
        sa.Column("content", sa.Text, nullable=False),
        sa.Column("time", sa.String(32), nullable=False),
    )
