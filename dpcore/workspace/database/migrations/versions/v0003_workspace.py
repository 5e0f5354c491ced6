"""Budgets of single analysts, requests for more, sharing of releases; drafts of reports.

All but the drafts are further lines of the ledger.

``actor`` is who caused a line; ``answers`` is the number of the request that a line answers.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_ID = sa.String(64)
_ANSWERS = sa.text("kind IN ('grant', 'decline')")


def upgrade() -> None:
    """Add two columns, of which a request can be answered once, and a table."""
    op.add_column("ledger_entries", sa.Column("actor", sa.String(128)))
    op.add_column("ledger_entries", sa.Column("answers", sa.BigInteger))
    op.create_index("ledger_by_analyst", "ledger_entries", ["dataset_id", "analyst"])
    op.create_index("ledger_by_release", "ledger_entries", ["release_id"])
    op.create_index(
        "ledger_one_answer",
        "ledger_entries",
        ["answers"],
        unique=True,
        sqlite_where=_ANSWERS,
        postgresql_where=_ANSWERS,
    )
    op.create_table(
        "report_drafts",
        sa.Column("dataset_id", _ID, sa.ForeignKey("datasets.id"), primary_key=True),
        sa.Column("author", sa.String(128), primary_key=True),
        sa.Column("content", sa.Text, nullable=False),
        sa.Column("time", sa.String(32), nullable=False),
    )
