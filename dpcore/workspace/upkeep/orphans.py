"""Records without an entry in the database, entries without records: listed, adopted, removed.

All of it by hand. A folder that the database does not know may be all that is left of a data set
whose entry was lost with a database, so only its custodian can say what it is.
"""

from __future__ import annotations

from decimal import Decimal

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from dpcore.errors import ConflictError, FrostglassError, NotFoundError, RequestError
from dpcore.privacy.budgets import default_delta, parse_epsilon, parse_limit
from dpcore.privacy.losses import engine_loss
from dpcore.workspace.database.database_tables import jobs, ledger_entries
from dpcore.workspace.database.transactions import read, write
from dpcore.workspace.files.descriptions import DatasetInfo, Orphan
from dpcore.workspace.files.populations import RelatedDataset
from dpcore.workspace.files.store import Store, like
from dpcore.workspace.ledger.learned_facts import learning_charge
from dpcore.workspace.ledger.ledger import Ledger
from dpcore.workspace.ledger.ledger_checks import exact_amounts, exact_delta
from dpcore.workspace.ledger.ledger_lines import append, kept_note
from dpcore.workspace.ledger.requests import ACTIVE_STATES

_UNDER_WAY = "Runs on this data set are waiting or under way: stop them first."
_ADOPTED = "adopted; what was spent before is in no ledger."


class Orphans:
    """Folders and entries of one installation that lack each other."""

    def __init__(self, engine: Engine, store: Store) -> None:
        self._engine, self._store, self._ledger = engine, store, Ledger(engine)

    def all(self) -> list[Orphan]:
        """Folders without an entry, then entries without a folder, or with one that should be gone."""
        known = {info.id: info.name for info in self._store.datasets()}
        removed = self._removed()
        lost = [
            Orphan(key, name, "returned" if self._store.present(key) else "removed" if key in removed else "missing")
            for key, name in known.items()
            if key in removed or not self._store.present(key)
        ]
        return [self._unknown(key) for key in self._store.folders() if key not in known] + lost

    def damaged(self) -> list[Orphan]:
        """Folders, known or not, with a file that is not what was written; all files are read."""
        known = {info.id: info.name for info in self._store.datasets()}
        return [
            Orphan(key, known.get(key, ""), "damaged")
            for key in self._store.folders()
            if not self._store.arriving(key) and not self._store.is_whole(key)
        ]

    def adopt(
        self,
        dataset_id: str,
        *,
        name: str | None,
        cap: Decimal,
        spent: Decimal,
        delta: Decimal,
        related: RelatedDataset | None = None,
        note: str,
        actor: str,
    ) -> DatasetInfo:
        """Enter a folder that the database does not know, as private records.

        Parameters
        ----------
        cap : Decimal
            All that may ever be spent, the past included; 0 for nothing.
        spent, delta : Decimal
            What is known to have been spent already, and is in no ledger.
        related : RelatedDataset, optional
            A data set about the same people, whose budget they share; then ``cap`` is not theirs.

        Raises
        ------
        BudgetError
            If an amount is unusable, or categories were learned and the budget to be shared was opened without
            setting their part of its delta aside.
        NotFoundError
            If there is no such folder, or the database knows it.
        ConflictError
            If it is being written now, or the name is taken.
        SchemaError
            If its files are damaged, the name is unusable, or no result on it would be private; if nothing says
            what facts have cost that were learned, nor ``spent``.
        """
        cap, past = parse_limit(cap), _past(spent, delta)
        told = kept_note(_needed(note), after=_ADOPTED)

        def open_account(connection: Connection, entered: str) -> None:
            # It may be the first time that anybody sees the schema.
            charge = learning_charge(
                connection, schema, None if related is None else related.of, accounted=past is not None
            )
            if related is None:
                aside = Decimal(0) if charge is None else charge.aside
                usual = {"cap": cap, "delta_cap": default_delta(schema.max_rows), "delta": aside}
                append(connection, "open", entered, note=told, actor=actor, **usual)
            else:
                self._ledger.join_account(entered, related, note=told, actor=actor, within=connection)
            if past is not None:
                append(connection, "charge", entered, note=told, actor=actor, **past)
            if charge is not None:
                append(connection, "learn", entered, note=charge.note, actor=actor, **exact_amounts(charge.loss))

        with self._store.alone():
            self._stray(dataset_id)
            schema = self._store.check_files(dataset_id)
            schema.check_private()
            title = schema.name if name is None else like(schema, name=name).name
            self._store.enter(dataset_id, title, schema, public=False, related=related, on_entered=open_account)
        return self._store.dataset(dataset_id)

    def remove(self, dataset_id: str, *, note: str, actor: str) -> None:
        """Remove records for good; entry, ledger and releases of a data set stay.

        Raises
        ------
        NotFoundError
            If there is neither a data set nor a folder of this identifier.
        ConflictError
            If runs on it are under way, it is being written now, or its folder stays.
        RequestError
            If there is no note.
        """
        _needed(note)
        with self._store.alone():
            try:
                found = self._store.dataset(dataset_id).id
            except NotFoundError:
                found = self._stray(dataset_id).id
            else:
                write(self._engine, lambda c: _note_removal(c, found, note, actor))
            self._store.discard(found)
        if self._store.present(found):
            raise ConflictError(
                "The records are still there: this program may not change their folder. Whoever "
                "runs it has to allow that; then remove them again."
            )

    def _stray(self, dataset_id: str) -> Orphan:
        for orphan in self.all():
            if orphan.id == dataset_id and orphan.state == "unknown":
                return orphan
            if orphan.id == dataset_id and orphan.state == "arriving":
                raise ConflictError("This data set is being stored just now: look again later.")
        raise NotFoundError("There is no folder of this name that the database does not know: see 'data orphans'.")

    def _unknown(self, dataset_id: str) -> Orphan:
        try:
            name = self._store.check_files(dataset_id).name
        except (FrostglassError, OSError):
            name = ""
        return Orphan(dataset_id, name, "arriving" if self._store.arriving(dataset_id) else "unknown")

    def _removed(self) -> set[str]:
        chosen = sa.select(ledger_entries.c.dataset_id).where(ledger_entries.c.kind == "remove")
        return set(read(self._engine, lambda connection: connection.execute(chosen).scalars()))


def _needed(note: str) -> str:
    if not note.strip():
        raise RequestError("Say in the note where the records come from, or why they are removed.")
    return note


def _note_removal(connection: Connection, dataset_id: str, note: str, actor: str) -> None:
    active = (jobs.c.dataset_id == dataset_id) & jobs.c.state.in_(ACTIVE_STATES)
    if connection.execute(sa.select(jobs.c.run_id).where(active)).first():
        raise ConflictError(_UNDER_WAY)
    append(connection, "remove", dataset_id, note=note, actor=actor)


def _past(spent: Decimal, delta: Decimal) -> dict[str, Decimal] | None:
    """What is known to have been spent, as a line of the ledger; ``None`` if it is nothing."""
    exact = exact_delta(delta)
    return exact_amounts(engine_loss(parse_epsilon(spent), exact)) if parse_limit(spent) or exact else None
