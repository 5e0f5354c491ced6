"""What a custodian may do to a stored data set without touching its records: name, describe, allow, retire."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.exc import IntegrityError

from dpcore.errors import ConflictError, RequestError
from dpcore.workspace.database.database_tables import datasets
from dpcore.workspace.database.transactions import write
from dpcore.workspace.files.populations import dataset_row, retired, takes_conditional
from dpcore.workspace.files.store import like, name_taken, parse_schema
from dpcore.workspace.ledger.ledger_lines import append, kept_note

_D = datasets.c


class Upkeep:
    """Entries of data sets in one database. Each change is a line of the ledger."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def rename(self, dataset_id: str, name: str, *, actor: str) -> None:
        """Give a data set another name; releases keep the one under which they were made.

        Raises
        ------
        SchemaError
            If no schema could have this name.
        ConflictError
            If another data set has it.
        """

        def transaction(connection: Connection) -> None:
            row = dataset_row(connection, dataset_id)
            chosen = like(parse_schema(row["schema"]), name=name).name
            try:
                _change(connection, dataset_id, name=chosen)
            except IntegrityError:
                raise name_taken(chosen) from None
            note = kept_note(f"'{row['name']}' is now '{chosen}'")
            append(connection, "rename", dataset_id, note=note, actor=actor)

        write(self._engine, transaction)

    def describe(self, dataset_id: str, description: str, *, actor: str) -> None:
        """Describe a data set anew: what people read of it, not what its columns mean.

        Raises
        ------
        SchemaError
            If no schema could have this description.
        """

        def transaction(connection: Connection) -> None:
            schema = parse_schema(dataset_row(connection, dataset_id)["schema"])
            _change(connection, dataset_id, described=like(schema, description=description).description)
            append(connection, "describe", dataset_id, actor=actor)

        write(self._engine, transaction)

    def allow_conditional(self, dataset_id: str, allowed: bool, *, note: str, actor: str) -> None:
        """Allow runs whose guarantee has a condition on this data set alone, or no longer.

        Raises
        ------
        RequestError
            If the records are public, or they are allowed without a reason.
        ConflictError
            If it is so already.
        """
        if allowed and not note.strip():
            raise RequestError("Say in the note why Markov chains are allowed: the audit log keeps it.")

        def transaction(connection: Connection) -> None:
            if dataset_row(connection, dataset_id)["public"]:
                raise RequestError("The records are public, so Markov chains are free on them.")
            if takes_conditional(connection, dataset_id) == allowed:
                state = "allowed already" if allowed else "not allowed"
                raise ConflictError(f"Markov chains are {state} on this data set.")
            append(connection, "allow" if allowed else "forbid", dataset_id, note=note, actor=actor)

        write(self._engine, transaction)

    def retire(self, dataset_id: str, *, note: str, actor: str) -> None:
        """Let nobody run anything more on a data set; runs under way go on, and results stay.

        Raises
        ------
        ConflictError
            If it is retired already.
        """

        def transaction(connection: Connection) -> None:
            if connection.execute(sa.select(_D.id).where(_D.id == dataset_id, retired())).first():
                raise ConflictError("This data set is retired already.")
            append(connection, "retire", dataset_id, note=note, actor=actor)

        write(self._engine, transaction)


def _change(connection: Connection, dataset_id: str, **values: str) -> None:
    connection.execute(datasets.update().where(_D.id == dataset_id).values(**values))
