"""Data sets of an installation: seeing, adding, the demonstration data."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy.engine import Connection

from dpcore.domain.schemas.learnable_schema import LearnableSchema
from dpcore.domain.schemas.protected import unit_difference
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import ConflictError, NotFoundError, RequestError, SchemaError
from dpcore.intake.process.readers import Watch
from dpcore.privacy.budgets import default_delta, parse_epsilon, parse_limit
from dpcore.privacy.filters import PrivacyFilter
from dpcore.privacy.losses import NOTHING
from dpcore.released.learning_plan import LearningPlan, learning_loss, plan_learning
from dpcore.service.base import ServiceBase
from dpcore.service.tables import InMemory, table_of
from dpcore.workspace.database.transactions import read
from dpcore.workspace.files.descriptions import DatasetInfo
from dpcore.workspace.files.populations import DIFFERENT, RelatedDataset, check_people
from dpcore.workspace.files.staging import StagingArea
from dpcore.workspace.files.store import Savable, like
from dpcore.workspace.ledger.accounts import CapState
from dpcore.workspace.ledger.learned_facts import LearningCharge, check_learning, learning_charge
from dpcore.workspace.ledger.ledger_checks import exact_delta
from dpcore.workspace.people.users import ROLES

if TYPE_CHECKING:
    import pandas as pd

    from dpcore.demo import Demo
    from dpcore.intake.check.examination import AnyFinding
    from dpcore.intake.joins.relations import Source
    from dpcore.intake.joins.row_findings import RowFinding

#: Budget of each demonstration data set: enough to play, small enough to feel the meter.
DEMO_BUDGET = Decimal(5)
_NO_BUDGET = "Say what may be spent on these people in all, or with which data set about them the budget is shared."
#: Why no budget is given to data sets that share one.
SHARED = "These people have a budget already, which is shared: change its limits there, and give none here."


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
        schema: Schema | LearnableSchema,
        *,
        right: str | Path | None = None,
        learn: Decimal | None = None,
        budget: Decimal | None = None,
        delta: Decimal | None = None,
        analyst_cap: Decimal | None = None,
        run_cap: Decimal | None = None,
        same_people_as: str | None = None,
        replaces: str | None = None,
        keep_keys: bool = False,
        public: bool = False,
        truth: str = "",
        accepted: Collection[str] = (),
        watch: Watch | None = None,
        tell: Callable[[str], object] | None = None,
    ) -> DatasetInfo:
        """Custodian: ingest a data set and open its budget, or let it share one; all or nothing.

        Parameters
        ----------
        source : str, Path, sequence of Path, DataFrame or mapping
            CSV or Parquet file, a folder or pattern of such, several of them, or a frame. For a
            schema with child tables, a mapping from the names of its tables to such, or one SQLite
            or DuckDB file with tables of these names: see :func:`dpcore.intake.joins.relations.rows_for`.
        right : str, Path or None
            A second file about the same people: see :func:`dpcore.intake.joins.joining.chunks_for`.
        learn : Decimal, optional
            Epsilon for what is to be learned of the schema privately: ``docs/privacy/learned.md``.
            The budget is charged as the data set is stored; if that fails, nothing was learned.
        delta : Decimal, optional
            The delta at which all of the budget holds; 0 takes runs without a delta only.
            Default: far below one in the most rows (``default_delta``).
        analyst_cap : Decimal, optional
            Most that each analyst may spend without a grant of their own; 0 for nothing.
            Default: as much as the data set has.
        same_people_as : str, optional
            A data set about the same people, or some of them. The two share one budget, which
            stays as it is: then no budget is given here.
        replaces : str, optional
            Such a data set, of which this becomes the next version: it takes over the name, and
            nothing more is run on the version before. Default: it stands beside all others.
        keep_keys : bool
            Whether people can be found again by who has the home folder and a name, which is
            what :meth:`append_rows` needs. By default nobody can: ``docs/privacy/partitions.md``.
        public : bool
            Whether anybody may see the records. What is run on them is charged all the same.
        truth : str
            What is known of public records, in Markdown, shown beside them; of private ones it is
            not kept. What replaces them has its own; :meth:`append_rows` keeps it.
        accepted : collection of str
            Columns that may lose values, or tell nothing, tables that may lose rows, or what just
            one loss is accepted by (``yes`` of a finding): see :meth:`examine`. ``different-people``: that
            a person is defined differently here and in the data set whose budget is shared.
        watch : callable, optional
            Told how reading files goes on; may raise to stop it. See
            :func:`dpcore.intake.process.uploads.ask`.
        tell : callable, optional
            Told, once they are stored, how many people there are in how many rows.

        Raises
        ------
        IngestError
            If the file cannot become a data set, or a column would lose values or a person is defined
            differently, and nobody accepted that; for the custodian's eyes.
        SchemaError
            If the records are private and the schema was read off them; if something is to be
            learned without an epsilon, or nothing with one; if nothing says what facts have cost that were learned
            before.
        BudgetError
            If a cap is not a usable epsilon, or the delta of a shared budget is too large for so
            many rows; if learning does not fit the budget, now or before: what came with the schema and is in
            no line of the account is charged as it is stored.
        RequestError
            If there is neither a budget nor one to share, or both.
        ConflictError
            If a data set of the schema's name exists, or another version was faster.
        """
        self._require("custodian")
        wanted = LearnableSchema.of(schema)
        related = self._related(same_people_as, replaces, accepted, wanted.schema)
        if related is not None and any(amount is not None for amount in (budget, delta, analyst_cap, run_cap)):
            raise RequestError(SHARED)
        if related is None and budget is None:
            raise RequestError(_NO_BUDGET)
        plan = None if learn is None else self._plan_learning(wanted, learn, budget, delta, related)
        described = wanted.finished() if plan is None else plan.schema
        self._check_due(described, related, plan, budget, delta)
        table = table_of(source, described, right, watch, accepted=accepted, keep=keep_keys, plan=plan)
        shown = truth if public else ""
        if related is not None:
            stored = self._add_related(table, described, related, public=public, truth=shown, plan=plan)
        else:
            caps = (
                parse_epsilon(budget),
                None if analyst_cap is None else parse_limit(analyst_cap),
                None if run_cap is None else parse_epsilon(run_cap),
            )
            stored = self._add(table, described, caps, delta, public, shown, plan)
        if tell is not None:
            tell(table.told)
        return stored

    def learning_cost(
        self,
        epsilon: Decimal,
        *,
        listed: bool,
        max_rows: int,
        budget: Decimal | None = None,
        delta: Decimal | None = None,
        same_people_as: str | None = None,
    ) -> tuple[Decimal, Decimal]:
        """Custodian: what learning would add to what is spent, and what is left before; nothing is read.

        Parameters
        ----------
        listed : bool
            Whether categories are to be learned.
        max_rows, budget, delta, same_people_as
            See :meth:`add_dataset`.
        """
        self._require("custodian")
        related = self._related(same_people_as, None)
        cap_state = None if related is None else self._ledger.cap_state(related.of)
        cap = PrivacyFilter(parse_epsilon(budget), _delta_of(max_rows, delta)) if cap_state is None else cap_state.cap
        loss, threshold = learning_loss(parse_epsilon(epsilon), cap, listed=listed)
        cap_state = cap_state or CapState(replace(cap, aside=threshold), NOTHING, NOTHING)
        return cap_state.adds(loss), cap_state.left()

    def _plan_learning(
        self,
        wanted: LearnableSchema,
        epsilon: Decimal,
        budget: Decimal | None,
        delta: Decimal | None,
        related: RelatedDataset | None,
    ) -> LearningPlan:
        """What learning costs. Raises ``BudgetError`` if it cannot be divided, or needs a delta."""
        asked = parse_epsilon(epsilon)
        if related is not None:
            return plan_learning(wanted, asked, self._ledger.cap_state(related.of).cap, opens=False)
        cap = PrivacyFilter(parse_epsilon(budget), _delta_of(wanted.schema.max_rows, delta))
        return plan_learning(wanted, asked, cap)

    def _check_due(
        self,
        schema: Schema,
        related: RelatedDataset | None,
        plan: LearningPlan | None = None,
        budget: Decimal | None = None,
        delta: Decimal | None = None,
    ) -> None:
        """See, before files are read, that what was or will be learned fits the budget.

        Raises as :func:`learning_charge` does.
        """
        charge = read(
            self._engine, lambda connection: learning_charge(connection, schema, related.of if related else None, plan)
        )
        if charge is None:
            return
        if related is None:
            cap = PrivacyFilter(parse_epsilon(budget), _delta_of(schema.max_rows, delta), charge.aside)
            cap_state = CapState(cap, NOTHING, NOTHING)
        else:
            cap_state = self._ledger.cap_state(related.of)
        check_learning(cap_state, charge.loss)

    def _related(
        self,
        same_people_as: str | None,
        replaces: str | None,
        accepted: Collection[str] = (),
        schema: Schema | None = None,
    ) -> RelatedDataset | None:
        """The data set that a new one is about the same people as, if there is any.

        With a ``schema``, ``LossError`` is raised now, and not after files were read.
        """
        named = same_people_as if replaces is None else replaces
        if named is None:
            return None
        known, yes = self._visible(named), {DIFFERENT}
        finding = None if schema is None else _of_people(known, schema)
        if finding is not None:
            yes.add(finding.yes)
        related = RelatedDataset(known.id, replaces is not None, accepted=not yes.isdisjoint(accepted))
        if schema is not None and not known.public:
            check_people(known.name, known.schema, schema, accepted=related.accepted)
        return related

    def _add_related(
        self,
        table: Savable,
        schema: Schema,
        related: RelatedDataset,
        *,
        public: bool,
        truth: str,
        described: str | None = None,
        plan: LearningPlan | None = None,
    ) -> DatasetInfo:
        def enter(connection: Connection, dataset_id: str) -> None:
            charge = learning_charge(connection, schema, related.of, plan)
            self._ledger.join_account(dataset_id, related, actor=self._user.name, within=connection)
            self._charge_learning(connection, dataset_id, charge)

        if not public:
            schema.check_private()
        return self._store.add_dataset(
            schema.name,
            schema,
            table,
            public,
            truth=truth,
            described=described,
            related=related,
            learns=plan is not None,
            on_added=enter,
        )

    def _charge_learning(self, connection: Connection, dataset_id: str, charge: LearningCharge | None) -> None:
        if charge is not None:
            self._ledger.charge_learning(dataset_id, charge, actor=self._user.name, within=connection)

    def examine(
        self,
        source: Source,
        schema: Schema | LearnableSchema,
        *,
        right: str | Path | None = None,
        after: str | None = None,
        same_people_as: str | None = None,
        replaces: str | None = None,
        watch: Watch | None = None,
    ) -> list[AnyFinding]:
        """Custodian: how the values of each column, and the rows, would fit a schema; nothing is stored.

        Of columns whose categories are to be learned nothing is said.

        Parameters
        ----------
        after : str, optional
            Data set to which these would be further rows, by :meth:`append_rows`: they may be about people who are
            stored in it.
        same_people_as, replaces : str, optional
            As for :meth:`add_dataset`: whether both define a person alike is looked at, too.

        Raises
        ------
        IngestError
            If files cannot be read, or do not have the columns.
        """
        self._require("custodian")
        wanted = LearnableSchema.of(schema)
        before = None if after is None else self._store.folder(self._visible(after).id)
        found = table_of(source, wanted.schema, right, watch, after=before).examine()
        related = self._related(same_people_as, replaces)
        people = None if related is None else _of_people(self._store.dataset(related.of), wanted.schema)
        told = [finding for finding in found if not (finding.of_values and finding.place in wanted.listed)]
        return told if people is None else [people, *told]

    def _add(
        self,
        table: Savable,
        schema: Schema,
        caps: tuple[Decimal, Decimal | None, Decimal | None],
        delta: Decimal | None,
        public: bool,
        truth: str,
        plan: LearningPlan | None = None,
    ) -> DatasetInfo:
        def enter(connection: Connection, dataset_id: str) -> None:
            charge = learning_charge(connection, schema, None, plan)
            aside = Decimal(0) if charge is None else charge.aside
            self._ledger.open_account(
                dataset_id, *caps, delta=chosen, aside=aside, actor=self._user.name, within=connection
            )
            self._charge_learning(connection, dataset_id, charge)

        if not public:
            schema.check_private()
        chosen = _delta_of(schema.max_rows, delta)
        self._store.check_name(schema.name)
        return self._store.add_dataset(
            schema.name,
            schema,
            table,
            public,
            truth=truth,
            learns=plan is not None,
            on_added=enter,
        )

    def appendable(self) -> list[DatasetInfo]:
        """Custodian: data sets to which rows can be appended."""
        self._require("custodian")
        return [info for info in self._store.datasets() if not info.retired and self._store.keeps_keys(info.id)]

    def append_rows(
        self,
        dataset_id: str,
        source: Source | pd.DataFrame,
        *,
        right: str | Path | None = None,
        max_rows: int | None = None,
        accepted: Collection[str] = (),
        watch: Watch | None = None,
        tell: Callable[[str], object] | None = None,
    ) -> DatasetInfo:
        """Custodian: a next version of a data set, of its rows and further ones of the same people.

        Of each person's old and new rows together, as many are kept as before, chosen uniformly;
        who was set aside stays so.

        Parameters
        ----------
        source, right
            New rows only, in the form of those before: see :meth:`add_dataset`.
        max_rows : int, optional
            A higher limit, public. Default: as before.
        accepted : collection of str
            Columns and tables that may lose values or rows: see :meth:`examine`.
        tell : callable, optional
            Told, once they are stored, how many of the rows are about people who were there before.

        Raises
        ------
        IngestError
            If the data set was stored without ``keep_keys``, or the rows do not fit its schema.
        SchemaError
            If the limit is below that of before.
        ConflictError
            If the data set is retired or replaced.
        """
        self._require("custodian")
        info = self._visible(dataset_id)
        if info.retired:
            raise ConflictError(f"'{info.name}' is retired or replaced: append to its newest version.")
        after = self._store.folder_with_keys(info.id)
        schema = info.schema if max_rows is None else _larger(info.schema, max_rows)
        table = table_of(source, schema, right, watch, accepted=accepted, after=after)
        said = None if info.description == schema.description else info.description
        related = RelatedDataset(info.id, replaces=True)
        self._check_due(schema, related)
        stored = self._add_related(table, schema, related, public=info.public, truth=info.truth, described=said)
        if tell is not None:
            tell(table.told)
        return stored

    def staging_area(self) -> StagingArea:
        """Custodian: the caller's own place for files on their way to :meth:`add_dataset`."""
        self._require("custodian")
        return StagingArea(self._home, self._user.name)

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
                InMemory(source, demo.schema),
                demo.schema,
                (DEMO_BUDGET, None, None),
                None,
                public=True,
                truth=demo.truth,
            )
        except ConflictError:  # Another process was faster.
            return self._store.dataset(demo.schema.name)


def _of_people(known: DatasetInfo, schema: Schema) -> RowFinding | None:
    """What is to be accepted if a new private data set defines a person differently than one whose budget it shares."""
    from dpcore.intake.joins.row_findings import RowFinding

    difference = None if known.public else unit_difference(known.schema, schema)
    return None if difference is None else RowFinding(DIFFERENT, difference.sentence(known.name), needs_yes=True)


def _delta_of(max_rows: int, delta: Decimal | None) -> Decimal:
    """Delta of a new account."""
    return default_delta(max_rows) if delta is None else exact_delta(delta)


def _larger(schema: Schema, max_rows: int) -> Schema:
    """The same schema for more rows. Raises ``SchemaError``."""
    if max_rows < schema.max_rows:
        raise SchemaError(f"The row limit is {schema.max_rows} already, and stays or grows: give a higher one.")
    return like(schema, max_rows=max_rows)
