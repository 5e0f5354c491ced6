"""Data sets of an installation: seeing, adding, the demonstration data."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from dpcore.errors import ConflictError, NotFoundError
from dpcore.privacy import parse_epsilon, parse_limit
from dpcore.requests import DatasetInfo
from dpcore.schema import Schema
from dpcore.service.door import Door
from dpcore.users import ROLES

if TYPE_CHECKING:
    import pandas as pd

    from dpcore.demo import Demo
    from dpcore.relations import Source

#: Budget of each demonstration data set: enough to play, small enough to feel the meter.
DEMO_BUDGET = Decimal(20)


class Datasets(Door):
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
        analyst_cap: Decimal | None = None,
        run_cap: Decimal | None = None,
        public: bool = False,
        truth: str = "",
    ) -> DatasetInfo:
        """Custodian: ingest a data set and open its budget; all or nothing.

        Parameters
        ----------
        source : str, Path, DataFrame or mapping
            CSV or Parquet file, or a frame. For a schema with child tables, a mapping from the
            names of its tables to such, or one SQLite or DuckDB file with tables of these names:
            see :func:`dpcore.relations.rows_for`.
        right : str, Path or None
            A second file about the same people: see :func:`dpcore.joining.chunks_for`.
        analyst_cap : Decimal, optional
            Most that each analyst may spend without a grant of their own; 0 for nothing.
            Default: as much as the data set has.

        Raises
        ------
        IngestError
            If the file cannot become a data set; for the custodian's eyes.
        BudgetError
            If a cap is not a usable epsilon.
        ConflictError
            If a data set of the schema's name exists.
        """
        self._require("custodian")
        return self._add(source, schema, right, budget, analyst_cap, run_cap, public, truth)

    def _add(
        self,
        source: Source | pd.DataFrame,
        schema: Schema,
        right: str | Path | None,
        budget: Decimal,
        analyst_cap: Decimal | None,
        run_cap: Decimal | None,
        public: bool,
        truth: str,
    ) -> DatasetInfo:
        from dpcore.ingest import ingest
        from dpcore.randomness import SecureRandom
        from dpcore.relations import rows_for

        cap = parse_epsilon(budget)
        each = None if analyst_cap is None else parse_limit(analyst_cap)
        run = None if run_cap is None else parse_epsilon(run_cap)
        self._store.check_name(schema.name)
        rows, children = rows_for(schema, source, right)
        table = ingest(rows, schema, SecureRandom(), children)
        return self._store.add_dataset(
            schema.name,
            schema,
            table,
            public,
            truth=truth if public else "",
            on_added=lambda connection, dataset_id: self._ledger.open_account(
                dataset_id, cap, each, run, actor=self._user.name, within=connection
            ),
        )

    def incoming(self) -> AbstractContextManager[Path]:
        """Custodian: a private folder for a file on its way to :meth:`add_dataset`.

        It is removed afterwards, or by the next start if this process is killed.
        """
        self._require("custodian")
        return self._store.incoming()

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
                source, demo.schema, None, DEMO_BUDGET, None, None, public=True, truth=demo.truth
            )
        except ConflictError:  # Another process was faster.
            return self._store.dataset(demo.schema.name)
