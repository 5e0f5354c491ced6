"""Names and notes that people give to releases."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_ID = sa.String(64)


def upgrade() -> None:
    """Make the table of notes. Unlike a release, a note may be changed."""
    op.create_table(
        "release_notes",
        sa.Column("release_id", _ID, sa.ForeignKey("releases.id"), primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("note", sa.Text, nullable=False),
        sa.Column("author", sa.String(128), nullable=False),
        sa.Column("time", sa.String(32), nullable=False),
    )
