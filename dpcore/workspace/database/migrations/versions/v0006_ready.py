"""When a run should be done, as far as its last report of progress tells."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add a column; runs of before have none."""
    op.add_column("jobs", sa.Column("ready", sa.String(32)))
