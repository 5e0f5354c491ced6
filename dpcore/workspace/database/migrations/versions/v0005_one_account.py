"""What runs cost in zero-concentrated differential privacy, and caps on delta.

What was spent stays spent: old lines get the rho that bounds their runs, and a data set whose cap
had no delta gets the usual one, in a line of its own.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache

import sqlalchemy as sa
from alembic import op

from dpcore.privacy.budgets import default_delta
from dpcore.privacy.losses import engine_loss

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_NOTE = "the total bounds epsilon at this delta from now on; it is chosen from the most rows that there may be"
_LINES = sa.table(
    "ledger_entries",
    *map(sa.column, ("sequence", "kind", "time", "dataset_id", "run_id", "epsilon", "delta", "note")),
    *map(sa.column, ("cap", "analyst_cap", "run_cap", "rho", "delta_cap")),
)
_RELEASES = sa.table("releases", sa.column("run_id"), sa.column("content"))
_DATASETS = sa.table("datasets", sa.column("id"), sa.column("schema"))
_RHO_CHECK = "CASE WHEN rho IS NULL THEN kind = 'commit' ELSE rho >= 0 END"
#: Kinds of lines whose epsilon is what a run or charge costs.
_COSTING = ("reserve", "touch", "commit", "refund", "charge")
#: Places behind the point of what is kept in whole steps.
_EPSILON, _DELTA, _RHO = 9, 15, 12


def upgrade() -> None:
    """Add two columns, fill the first, and write a line for each data set with a cap."""
    for name in ("rho", "delta_cap"):
        op.add_column("ledger_entries", sa.Column(name, sa.BigInteger))
    connection = op.get_bind()
    _let_update(connection.dialect.name)
    _fill(connection)
    _forbid_update(connection.dialect.name)
    for dataset_id, schema in connection.execute(sa.select(_DATASETS)).all():
        _add_delta(connection, dataset_id, json.loads(schema)["max_rows"])


def _let_update(dialect: str) -> None:
    table = " ON ledger_entries" if dialect == "postgresql" else ""
    op.execute(f"DROP TRIGGER ledger_entries_no_update{table}")


def _forbid_update(dialect: str) -> None:
    """Forbid changes again, and lines without a rho, as an earlier version would write them.

    But for results: a worker of that version may still be at a run that is paid for.
    """
    trigger = "CREATE TRIGGER ledger_entries_no_update BEFORE UPDATE ON ledger_entries"
    if dialect == "postgresql":
        op.execute(f"{trigger} FOR EACH ROW EXECUTE FUNCTION frostglass_append_only()")
        op.create_check_constraint("ledger_rho", "ledger_entries", _RHO_CHECK)
        return
    op.execute(f"{trigger} BEGIN SELECT RAISE(ABORT, 'append-only table'); END")
    op.execute(
        "CREATE TRIGGER ledger_rho BEFORE INSERT ON ledger_entries "
        "WHEN NEW.rho < 0 OR (NEW.rho IS NULL AND NEW.kind <> 'commit') "
        "BEGIN SELECT RAISE(ABORT, 'a line of the ledger needs a rho of at least 0'); END"
    )


def _fill(connection: sa.Connection) -> None:
    """The rho of every line: of pure runs by their epsilon, of others by their delta too.

    Line by line, each found by its number: there may be hundreds of thousands.
    """
    line, everybody = _LINES.c, _learned_from_everybody(connection)
    chosen = sa.select(line.sequence, line.kind, line.epsilon, line.delta, line.run_id)
    filled = [
        {"number": number, "lost": _rho(epsilon, delta, aside=run_id not in everybody) if kind in _COSTING else 0}
        for number, kind, epsilon, delta, run_id in connection.execute(chosen)
    ]
    change = _LINES.update().where(line.sequence == sa.bindparam("number")).values(rho=sa.bindparam("lost"))
    if filled:
        connection.execute(change, filled)


@cache
def _rho(epsilon: int, delta: int, *, aside: bool) -> int:
    loss = engine_loss(Decimal(epsilon).scaleb(-_EPSILON), Decimal(delta).scaleb(-_DELTA), aside=aside)
    return int(loss.rho.scaleb(_RHO))


def _learned_from_everybody(connection: sa.Connection) -> set[str]:
    """Runs whose results say that nobody was set aside for an evaluation."""
    results = connection.execute(sa.select(_RELEASES).execution_options(yield_per=100))
    return {run_id for run_id, content in results if not json.loads(content)["certificate"]["parallel_split"]}


def _add_delta(connection: sa.Connection, dataset_id: str, max_rows: int) -> None:
    """Repeat the newest caps, with the delta that goes without saying."""
    line = _LINES.c
    caps = sa.select(line.cap, line.analyst_cap, line.run_cap).where(
        line.dataset_id == dataset_id, line.kind.in_(("open", "caps"))
    )
    newest = connection.execute(caps.order_by(line.sequence.desc()).limit(1)).mappings().one_or_none()
    if newest is None:
        return
    values = {
        **newest,
        "kind": "caps",
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "dataset_id": dataset_id,
        "note": _NOTE,
        "delta_cap": int(default_delta(max_rows).scaleb(_DELTA)),
    }
    connection.execute(_LINES.insert().values(epsilon=0, delta=0, rho=0, **values))
