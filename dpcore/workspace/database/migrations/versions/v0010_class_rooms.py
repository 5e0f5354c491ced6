"""Class rooms of the page of that name: public numbers and toy budgets only."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

_CODE, _KEY = sa.String(16), sa.String(64)


def upgrade() -> None:
    """Add three tables."""
    op.create_table(
        "class_rooms",
        sa.Column("code", _CODE, primary_key=True),
        sa.Column("key", _KEY, nullable=False),
        sa.Column("teacher", sa.String(128), nullable=False),
        sa.Column("cap", sa.BigInteger, nullable=False),
        sa.Column("revealed", sa.Boolean, nullable=False),
        sa.Column("full", sa.Boolean, nullable=False),
        sa.Column("closed", sa.Boolean, nullable=False),
        sa.Column("created", sa.String(32), nullable=False),
        sa.Column("used", sa.String(32), nullable=False),
    )
    op.create_table(
        "class_seats",
        sa.Column("key", _KEY, primary_key=True),
        sa.Column("code", _CODE, sa.ForeignKey("class_rooms.code"), nullable=False),
        sa.Column("student", sa.Integer, nullable=False),
        sa.Column("name", sa.String(64), nullable=False),
    )
    op.create_index("ix_class_seats_code", "class_seats", ["code"])
    op.create_table(
        "class_answers",
        sa.Column("number", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), primary_key=True, autoincrement=True),
        sa.Column("seat", _KEY, sa.ForeignKey("class_seats.key"), nullable=False),
        sa.Column("question", sa.Integer, nullable=False),
        sa.Column("epsilon", sa.BigInteger, nullable=False),
        sa.Column("noisy", sa.BigInteger, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_class_answers_seat", "class_answers", ["seat"])
