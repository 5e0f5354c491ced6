"""Data sets, the append-only ledger, jobs and releases."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_ID = sa.String(64)
_KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make every table of the first version."""
    _datasets()
    _ledger()
    _jobs()
    _releases()
    _append_only()


def _datasets() -> None:
    op.create_table(
        "datasets",
        sa.Column("number", _KEY, primary_key=True, autoincrement=True),
        sa.Column("id", _ID, nullable=False, unique=True),
        sa.Column("name", sa.String(128), nullable=False, unique=True),
        sa.Column("schema", sa.Text, nullable=False),
        sa.Column("schema_hash", sa.String(64), nullable=False),
        sa.Column("public", sa.Boolean, nullable=False),
        sa.Column("truth", sa.Text, nullable=False),
        sa.Column("created", sa.String(32), nullable=False),
        sqlite_autoincrement=True,
    )


def _ledger() -> None:
    # Amounts are whole steps: 1e-9 of an epsilon, 1e-15 of a delta.
    op.create_table(
        "ledger_entries",
        sa.Column("sequence", _KEY, primary_key=True, autoincrement=True),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("time", sa.String(32), nullable=False),
        sa.Column("dataset_id", _ID, sa.ForeignKey("datasets.id"), nullable=False),
        sa.Column("analyst", sa.String(128)),
        sa.Column("run_id", _ID),
        sa.Column("epsilon", sa.BigInteger, nullable=False),
        sa.Column("delta", sa.BigInteger, nullable=False),
        sa.Column("nonce", sa.String(128)),
        sa.Column("request_hash", sa.String(64)),
        sa.Column("cap", sa.BigInteger),
        sa.Column("analyst_cap", sa.BigInteger),
        sa.Column("run_cap", sa.BigInteger),
        sa.Column("release_id", _ID),
        sa.Column("note", sa.String(500), nullable=False),
        sa.CheckConstraint("epsilon >= 0 AND delta >= 0", name="ledger_not_negative"),
        sqlite_autoincrement=True,
    )
    op.create_index("ledger_by_dataset", "ledger_entries", ["dataset_id", "kind"])
    _one_of("ledger_one_account", "dataset_id", "'open'")
    _one_of("ledger_one_nonce", "nonce", "'reserve'")
    _one_of("ledger_one_reserve", "run_id", "'reserve'")
    _one_of("ledger_one_end", "run_id", "'commit', 'refund'")
    _one_of("ledger_touch_or_refund", "run_id", "'touch', 'refund'")


def _one_of(name: str, column: str, kinds: str) -> None:
    where = sa.text(f"kind IN ({kinds})")
    op.create_index(
        name,
        "ledger_entries",
        [column],
        unique=True,
        sqlite_where=where,
        postgresql_where=where,
    )


def _jobs() -> None:
    op.create_table(
        "jobs",
        sa.Column("number", _KEY, primary_key=True, autoincrement=True),
        sa.Column("run_id", _ID, nullable=False, unique=True),
        sa.Column("dataset_id", _ID, sa.ForeignKey("datasets.id"), nullable=False),
        sa.Column("analyst", sa.String(128), nullable=False),
        sa.Column("request", sa.Text, nullable=False),
        sa.Column("state", sa.String(16), nullable=False, index=True),
        sa.Column("step", sa.String(64), nullable=False),
        sa.Column("done", sa.BigInteger, nullable=False),
        sa.Column("total", sa.BigInteger, nullable=False),
        sa.Column("message", sa.String(1000), nullable=False),
        sa.Column("stop_asked", sa.Boolean, nullable=False),
        sa.Column("worker", sa.String(300)),
        sa.Column("release_id", _ID),
        sa.Column("created", sa.String(32), nullable=False),
        sqlite_autoincrement=True,
    )


def _releases() -> None:
    op.create_table(
        "releases",
        sa.Column("number", _KEY, primary_key=True, autoincrement=True),
        sa.Column("id", _ID, nullable=False, unique=True),
        sa.Column("run_id", _ID, nullable=False, unique=True),
        sa.Column("dataset_id", _ID, sa.ForeignKey("datasets.id"), nullable=False, index=True),
        sa.Column("analyst", sa.String(128), nullable=False),
        sa.Column("content", sa.Text, nullable=False),
        sa.Column("created", sa.String(32), nullable=False),
        sqlite_autoincrement=True,
    )


def _append_only() -> None:
    """Let the database refuse to change or remove a line of the ledger, or a release."""
    if op.get_bind().dialect.name == "postgresql":
        op.execute(
            "CREATE FUNCTION frostglass_append_only() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE EXCEPTION 'append-only table'; END $$"
        )
    for table in ("ledger_entries", "releases"):
        for verb in ("UPDATE", "DELETE"):
            _refuse(table, verb)


def _refuse(table: str, verb: str) -> None:
    name = f"{table}_no_{verb.lower()}"
    if op.get_bind().dialect.name == "postgresql":
        body = "FOR EACH ROW EXECUTE FUNCTION frostglass_append_only()"
    else:
        body = "BEGIN SELECT RAISE(ABORT, 'append-only table'); END"
    op.execute(f"CREATE TRIGGER {name} BEFORE {verb} ON {table} {body}")
