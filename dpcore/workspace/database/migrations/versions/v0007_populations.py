"""Data sets about the same people share an account; versions of a data set; names that change.

Every old data set is a population of its own, and every old line of the ledger is of its account.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

_ID = sa.String(64)
_ACCOUNT_CHECK = "account IS NOT NULL OR kind = 'commit'"


def upgrade() -> None:
    """Add columns and fill them; changes of a population are refused from now on."""
    for column in (
        sa.Column("population", _ID),
        sa.Column("version", sa.Integer),
        sa.Column("replaces", _ID),
        sa.Column("described", sa.Text),
    ):
        op.add_column("datasets", column)
    op.execute("UPDATE datasets SET population = id, version = 1")
    op.create_index("datasets_one_successor", "datasets", ["replaces"], unique=True)
    op.create_index("datasets_by_population", "datasets", ["population"])
    op.add_column("ledger_entries", sa.Column("account", _ID))
    _fill_accounts(on_server=op.get_bind().dialect.name == "postgresql")
    op.drop_index("ledger_by_analyst", "ledger_entries")
    op.create_index("ledger_by_account", "ledger_entries", ["account", "kind"])
    op.create_index("ledger_by_analyst", "ledger_entries", ["account", "analyst"])


def _fill_accounts(*, on_server: bool) -> None:
    """Say of every line whose account it is of; forbid changes again, and lines that do not say it.

    An earlier version that still runs would not count what others of a population have spent. But
    results need no account: one of its workers may be at a run that is paid for.
    """
    fill = "UPDATE ledger_entries SET account = dataset_id"
    lines = "CREATE TRIGGER ledger_entries_no_update BEFORE UPDATE ON ledger_entries"
    people = "CREATE TRIGGER datasets_one_population BEFORE UPDATE OF id, population ON datasets"
    if on_server:
        refuse = "FOR EACH ROW EXECUTE FUNCTION frostglass_append_only()"
        op.execute("DROP TRIGGER ledger_entries_no_update ON ledger_entries")
        op.execute(fill)
        op.create_check_constraint("ledger_account", "ledger_entries", _ACCOUNT_CHECK)
    else:
        refuse = "BEGIN SELECT RAISE(ABORT, 'append-only table'); END"
        op.execute("DROP TRIGGER ledger_entries_no_update")
        op.execute(fill)
        op.execute(
            "CREATE TRIGGER ledger_account BEFORE INSERT ON ledger_entries "
            "WHEN NEW.account IS NULL AND NEW.kind <> 'commit' "
            "BEGIN SELECT RAISE(ABORT, 'a line of the ledger needs an account'); END"
        )
    op.execute(f"{lines} {refuse}")
    op.execute(f"{people} {refuse}")
