"""Data sets of an installation: seeing, adding, the demonstration data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from dpcore.domain.schema import Schema
from dpcore.errors import ConflictError, NotFoundError
from dpcore.intake.uploads import Incoming, Watch
from dpcore.privacy.budgets import default_delta, parse_epsilon, parse_limit
from dpcore.service.base import ServiceBase
from dpcore.workspace.desks import Desk
from dpcore.workspace.ledger import exact_delta
from dpcore.workspace.requests import DatasetInfo, Stray
from dpcore.workspace.store import Savable
from dpcore.workspace.users import ROLES

if TYPE_CHECKING:
    import pandas as pd

    from dpcore.demo import Demo
    from dpcore.intake.relations import Source

#: Budget of each demonstration data set: enough to play, small enough to feel the meter.
DEMO_BUDGET = Decimal(20)


class Datasets(ServiceBase):
    """Part of :class:`dpcore.service.Service`."""

    def datasets(self) -> list[DatasetInfo]:
        """Every data set that the caller may know of, oldest first."""
        self._require(*ROLES)
        return [dataset for dataset in self._store.datasets() if self._sees(dataset)]

    def dataset(self, dataset_id: str) -> DatasetInfo:
        """One data set by id or, failing that, by name. Raises ``NotFoundError``."""
        return self._visible(dataset_id)

    def add_dataset(
        self,
        source: Source | pd.DataFrame,
        schema: Schema,
        *,
        right: str | Path | None = None,
        budget: Decimal,
        delta: Decimal | None = None,
        analyst_cap: Decimal | None = None,
        run_cap: Decimal | None = None,
        public: bool = False,
        truth: str = "",
        watch: Watch | None = None,
    ) -> DatasetInfo:
        """Custodian: ingest a data set and open its budget; all or nothing.

        Parameters
        ----------
        source : str, Path, DataFrame or mapping
            CSV or Parquet file, or a frame. For a schema with child tables, a mapping from the
            names of its tables to such, or one SQLite or DuckDB file with tables of these names:
            see :func:`dpcore.intake.relations.rows_for`.
        right : str, Path or None
            A second file about the same people: see :func:`dpcore.intake.joining.chunks_for`.
        delta : Decimal, optional
            The delta at which all of the budget holds; 0 takes runs without a delta only.
            Default: far below one in the most rows (``default_delta``).
        analyst_cap : Decimal, optional
            Most that each analyst may spend without a grant of their own; 0 for nothing.
            Default: as much as the data set has.
        watch : callable, optional
            Told how reading files goes on; may raise to stop it. See
            :func:`dpcore.intake.uploads.ask`.

        Raises
        ------
        IngestError
            If the file cannot become a data set; for the custodian's eyes.
        SchemaError
            If the records are private and the schema was read off them.
        BudgetError
            If a cap is not a usable epsilon.
        ConflictError
            If a data set of the schema's name exists.
        """
        self._require("custodian")
        table = _table_of(source, schema, right, watch)
        caps = (
            parse_epsilon(budget),
            None if analyst_cap is None else parse_limit(analyst_cap),
            None if run_cap is None else parse_epsilon(run_cap),
        )
        return self._add(table, schema, caps, delta, public, truth)

    def _add(
        self,
        table: Savable,
        schema: Schema,
        caps: tuple[Decimal, Decimal | None, Decimal | None],
        delta: Decimal | None,
        public: bool,
        truth: str,
    ) -> DatasetInfo:
        if not public:
            schema.check_private()
        chosen = default_delta(schema.max_rows) if delta is None else exact_delta(delta)
        self._store.check_name(schema.name)
        return self._store.add_dataset(
            schema.name,
            schema,
            table,
            public,
            truth=truth if public else "",
            on_added=lambda connection, dataset_id: self._ledger.open_account(
                dataset_id, *caps, delta=chosen, actor=self._user.name, within=connection
            ),
        )

    def strays(self) -> list[Stray]:
        """Custodian: folders that the database does not know, and data sets without a folder."""
        self._require("custodian")
        return self._strays.all()

    def adopt(
        self,
        dataset_id: str,
        *,
        name: str | None = None,
        budget: Decimal = Decimal(0),
        spent: Decimal = Decimal(0),
        delta: Decimal = Decimal(0),
        note: str,
    ) -> DatasetInfo:
        """Custodian: enter records that the database does not know, as a private data set.

        Parameters
        ----------
        name : str, optional
            Default: that of their schema.
        budget : Decimal
            All that may ever be spent on them, their past included. Default: nothing.
        spent, delta : Decimal
            What is known to have been spent on them before.

        Raises
        ------
        NotFoundError
            If there are no such records, or the database knows them.
        ConflictError
            If the name is taken, or they are being stored just now.
        SchemaError
            If they are damaged.
        """
        self._require("custodian")
        return self._strays.adopt(
            dataset_id, name=name, cap=budget, spent=spent, delta=delta, note=note, actor=self._user.name
        )

    def remove_records(self, dataset_id: str, *, note: str) -> None:
        """Custodian: remove the records of a data set, or a stray folder, for good.

        The entry of a data set, its ledger and its releases stay.

        Raises
        ------
        ConflictError
            If runs on it are under way.
        """
        self._require("custodian")
        self._strays.remove(dataset_id, note=note, actor=self._user.name)

    def desk(self) -> Desk:
        """Custodian: the caller's own place for files on their way to :meth:`add_dataset`."""
        self._require("custodian")
        return Desk(self._home, self._user.name)

    def add_demo_datasets(self) -> list[DatasetInfo]:
        """Custodian or teacher: make the public demonstration data that is not there yet."""
        self._require("custodian", "teacher")
        from dpcore.demo import DEMOS

        found = [self._demo(name, make) for name, make in DEMOS.items()]
        return [dataset for dataset in found if self._sees(dataset)]

    def _demo(self, name: str, make: Callable[[], Demo]) -> DatasetInfo:
        try:
            return self._store.dataset(name)
        except NotFoundError:
            demo = make()
        tables = {demo.schema.entity: demo.frame, **demo.children}
        source = tables if demo.children else demo.frame
        try:
            return self._add(
                _InMemory(source, demo.schema),
                demo.schema,
                (DEMO_BUDGET, None, None),
                None,
                public=True,
                truth=demo.truth,
            )
        except ConflictError:  # Another process was faster.
            return self._store.dataset(demo.schema.name)


def _table_of(source: Source | pd.DataFrame, schema: Schema, right: str | Path | None, watch: Watch | None) -> Savable:
    """What becomes the table: files are read by a process of their own, frames by this one."""
    files = list(source.values()) if isinstance(source, Mapping) else [source]
    if all(isinstance(file, str | Path) for file in files):
        return Incoming(cast("Any", source), schema, right, watch)
    return _InMemory(source, schema, right)


class _InMemory:
    """A table made of frames, in this process, when the store says where."""

    def __init__(self, source: Source | pd.DataFrame, schema: Schema, right: str | Path | None = None) -> None:
        self._source, self._schema, self._right = source, schema, right

    def save(self, directory: Path) -> None:
        """Encode the frames and write their table. Raises ``IngestError``."""
        from dpcore.data.ingest import ingest
        from dpcore.intake.relations import rows_for
        from dpcore.privacy.randomness import SecureRandom

        rows, children = rows_for(self._schema, self._source, self._right)
        ingest(rows, self._schema, SecureRandom(), children).save(directory)
