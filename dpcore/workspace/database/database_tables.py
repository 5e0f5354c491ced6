"""The tables of the database: amounts to the last digit, times in UTC."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import sqlalchemy as sa
from sqlalchemy.engine import Dialect
from typing_extensions import override


class ExactDecimal(sa.TypeDecorator[Decimal]):
    """A decimal kept as a whole number of ``10**-places``: no rounding, on any database."""

    impl = sa.BigInteger
    cache_ok = True

    def __init__(self, places: int = 9) -> None:
        super().__init__()
        self.places = places

    @override
    def process_bind_param(self, value: Decimal | None, dialect: Dialect) -> int | None:
        """Turn a decimal into whole steps. Raises ``ValueError`` if it is finer than a step."""
        if value is None:
            return None
        if not isinstance(value, Decimal) or not value.is_finite():
            raise ValueError("an exact amount must be a finite Decimal")
        steps = value.scaleb(self.places)
        if steps != steps.to_integral_value():
            raise ValueError("an amount is finer than the ledger's step")
        return int(steps)

    @override
    def process_result_value(self, value: int | None, dialect: Dialect) -> Decimal | None:
        """Turn whole steps into a decimal."""
        return None if value is None else Decimal(int(value)).scaleb(-self.places)


class UtcTime(sa.TypeDecorator[datetime]):
    """A time with zone, kept as ISO text in UTC: the same on every database, for display only."""

    impl = sa.String(32)
    cache_ok = True

    @override
    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> str | None:
        """Turn a time into text."""
        return None if value is None else value.astimezone(UTC).isoformat(timespec="seconds")

    @override
    def process_result_value(self, value: str | None, dialect: Dialect) -> datetime | None:
        """Turn text into a time."""
        return None if value is None else datetime.fromisoformat(value)


def utc_now() -> datetime:
    """The present time; for people to read, never for a decision."""
    return datetime.now(UTC)


metadata = sa.MetaData()
_ID = sa.String(64)
_Key = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

datasets = sa.Table(
    "datasets",
    metadata,
    sa.Column("number", _Key, primary_key=True, autoincrement=True),
    sa.Column("id", _ID, nullable=False, unique=True),
    sa.Column("name", sa.String(128), nullable=False, unique=True),
    sa.Column("schema", sa.Text, nullable=False),
    sa.Column("schema_hash", sa.String(64), nullable=False),
    sa.Column("public", sa.Boolean, nullable=False),
    sa.Column("truth", sa.Text, nullable=False),
    sa.Column("created", UtcTime, nullable=False),
    sa.Column("population", _ID, nullable=False),
    sa.Column("version", sa.Integer, nullable=False),
    sa.Column("replaces", _ID),
    sa.Column("described", sa.Text),
    sqlite_autoincrement=True,
)

# Two that replace the same one cannot both succeed.
sa.Index("datasets_one_successor", datasets.c.replaces, unique=True)
sa.Index("datasets_by_population", datasets.c.population)

ledger_entries = sa.Table(
    "ledger_entries",
    metadata,
    sa.Column("sequence", _Key, primary_key=True, autoincrement=True),
    sa.Column("kind", sa.String(16), nullable=False),
    sa.Column("time", UtcTime, nullable=False),
    sa.Column("dataset_id", _ID, sa.ForeignKey("datasets.id"), nullable=False),
    sa.Column("analyst", sa.String(128)),
    sa.Column("run_id", _ID),
    sa.Column("epsilon", ExactDecimal(9), nullable=False),
    sa.Column("delta", ExactDecimal(15), nullable=False),
    sa.Column("rho", ExactDecimal(12)),
    sa.Column("nonce", sa.String(128)),
    sa.Column("request_hash", sa.String(64)),
    sa.Column("cap", ExactDecimal(9)),
    sa.Column("delta_cap", ExactDecimal(15)),
    sa.Column("analyst_cap", ExactDecimal(9)),
    sa.Column("run_cap", ExactDecimal(9)),
    sa.Column("release_id", _ID),
    sa.Column("note", sa.String(500), nullable=False),
    sa.Column("actor", sa.String(128)),
    sa.Column("answers", sa.BigInteger),
    sa.Column("account", _ID),  # Of which population.
    sa.CheckConstraint("epsilon >= 0 AND delta >= 0", name="ledger_not_negative"),
    # A commit costs nothing more, so that a worker of an earlier version may still finish its run.
    sa.CheckConstraint("CASE WHEN rho IS NULL THEN kind = 'commit' ELSE rho >= 0 END", name="ledger_rho"),
    sa.CheckConstraint("account IS NOT NULL OR kind = 'commit'", name="ledger_account"),
    sqlite_autoincrement=True,
)


def _one_of(name: str, column: str, kinds: str) -> None:
    where = sa.text(f"kind IN ({kinds})")
    sa.Index(
        name,
        ledger_entries.c[column],
        unique=True,
        sqlite_where=where,
        postgresql_where=where,
    )


# The database itself refuses a second reservation under one nonce, a second end of a run, a
# refund after a touch and a touch after a refund.
_one_of("ledger_one_account", "dataset_id", "'open'")
_one_of("ledger_one_nonce", "nonce", "'reserve'")
_one_of("ledger_one_reserve", "run_id", "'reserve'")
_one_of("ledger_one_end", "run_id", "'commit', 'refund'")
_one_of("ledger_touch_or_refund", "run_id", "'touch', 'refund'")
_one_of("ledger_one_answer", "answers", "'grant', 'decline'")
sa.Index("ledger_by_dataset", ledger_entries.c.dataset_id, ledger_entries.c.kind)
sa.Index("ledger_by_account", ledger_entries.c.account, ledger_entries.c.kind)
sa.Index("ledger_by_analyst", ledger_entries.c.account, ledger_entries.c.analyst)
sa.Index("ledger_by_release", ledger_entries.c.release_id)

jobs = sa.Table(
    "jobs",
    metadata,
    sa.Column("number", _Key, primary_key=True, autoincrement=True),
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
    sa.Column("created", UtcTime, nullable=False),
    sa.Column("ready", UtcTime),
    sqlite_autoincrement=True,
)

releases = sa.Table(
    "releases",
    metadata,
    sa.Column("number", _Key, primary_key=True, autoincrement=True),
    sa.Column("id", _ID, nullable=False, unique=True),
    sa.Column("run_id", _ID, nullable=False, unique=True),
    sa.Column("dataset_id", _ID, sa.ForeignKey("datasets.id"), nullable=False, index=True),
    sa.Column("analyst", sa.String(128), nullable=False),
    sa.Column("content", sa.Text, nullable=False),
    sa.Column("created", UtcTime, nullable=False),
    sqlite_autoincrement=True,
)

# What people write beside a release. Not append-only: it is theirs to change.
release_notes = sa.Table(
    "release_notes",
    metadata,
    sa.Column("release_id", _ID, sa.ForeignKey("releases.id"), primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("note", sa.Text, nullable=False),
    sa.Column("author", sa.String(128), nullable=False),
    sa.Column("time", UtcTime, nullable=False),
)

# What somebody is writing for a report on a data set; theirs to change.
report_drafts = sa.Table(
    "report_drafts",
    metadata,
    sa.Column("dataset_id", _ID, sa.ForeignKey("datasets.id"), primary_key=True),
    sa.Column("author", sa.String(128), primary_key=True),
    sa.Column("content", sa.Text, nullable=False),
    sa.Column("time", UtcTime, nullable=False),
)

# What programs show in place of a login: hashes, until a second since 1970.
tokens = sa.Table(
    "tokens",
    metadata,
    sa.Column("hash", sa.String(64), primary_key=True),
    sa.Column("owner", sa.String(128), nullable=False),
    sa.Column("roles", sa.String(128), nullable=False),
    sa.Column("ends", sa.BigInteger, nullable=False),
)
sa.Index("tokens_by_owner", tokens.c.owner)

# What each visitor has seen already, such as the guide for the first visit.
visitor_marks = sa.Table(
    "visitor_marks",
    metadata,
    sa.Column("visitor", sa.String(128), primary_key=True),
    sa.Column("mark", sa.String(32), primary_key=True),
    sa.Column("time", UtcTime, nullable=False),
)

# Results that somebody brought as files: nothing here was charged, and nobody else reads them.
imported_releases = sa.Table(
    "imported_releases",
    metadata,
    sa.Column("owner", sa.String(128), primary_key=True),
    sa.Column("id", _ID, primary_key=True),
    sa.Column("content", sa.Text, nullable=False),
    sa.Column("time", UtcTime, nullable=False),
)

# Classrooms, swept after a day: public numbers and toy budgets, apart from data sets and ledger.
class_rooms = sa.Table(
    "class_rooms",
    metadata,
    sa.Column("code", sa.String(16), primary_key=True),
    sa.Column("key", sa.String(64), nullable=False),
    sa.Column("teacher", sa.String(128), nullable=False),
    sa.Column("cap", ExactDecimal(9), nullable=False),
    sa.Column("revealed", sa.Boolean, nullable=False),
    sa.Column("full", sa.Boolean, nullable=False),
    sa.Column("closed", sa.Boolean, nullable=False),
    sa.Column("created", UtcTime, nullable=False),
    sa.Column("used", UtcTime, nullable=False),
)

class_seats = sa.Table(
    "class_seats",
    metadata,
    sa.Column("key", sa.String(64), primary_key=True),
    sa.Column("code", sa.String(16), sa.ForeignKey("class_rooms.code"), nullable=False, index=True),
    sa.Column("student", sa.Integer, nullable=False),
    sa.Column("name", sa.String(64), nullable=False),
    sa.Column("person", sa.String(64)),
)

class_answers = sa.Table(
    "class_answers",
    metadata,
    sa.Column("number", _Key, primary_key=True, autoincrement=True),
    sa.Column("seat", sa.String(64), sa.ForeignKey("class_seats.key"), nullable=False, index=True),
    sa.Column("question", sa.Integer, nullable=False),
    sa.Column("epsilon", ExactDecimal(9), nullable=False),
    sa.Column("noisy", sa.BigInteger, nullable=False),
    sqlite_autoincrement=True,
)

# Which home folder this database belongs to; at most one row.
installation = sa.Table(
    "installation",
    metadata,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("id", _ID, nullable=False),
    sa.CheckConstraint("number = 1", name="installation_one"),
)


def _refuse(table: sa.Table, action: str, name: str) -> None:
    """Let the database refuse a change, whoever asks for it."""
    trigger = f"CREATE TRIGGER {table.name}_{name} BEFORE {action} ON {table.name}"
    raised = "BEGIN SELECT RAISE(ABORT, 'append-only table'); END"
    function = (
        "CREATE OR REPLACE FUNCTION frostglass_append_only() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'append-only table'; END $$"
    )
    statements = {
        "sqlite": [f"{trigger} {raised}"],
        "postgresql": [function, f"{trigger} FOR EACH ROW EXECUTE FUNCTION frostglass_append_only()"],
    }
    for dialect, made in statements.items():
        for statement in made:
            sa.event.listen(table, "after_create", sa.DDL(statement).execute_if(dialect=dialect))  # type: ignore[no-untyped-call]


for _table in (ledger_entries, releases):
    _refuse(_table, "UPDATE", "no_update")
    _refuse(_table, "DELETE", "no_delete")
_refuse(datasets, "UPDATE OF id, population", "one_population")
