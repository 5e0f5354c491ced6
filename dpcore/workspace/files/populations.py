"""Who is whose kin: data sets about the same people share one account, and may follow each other.

A data set belongs to a population for good: that of itself, or that of the one it was declared to
be about the same people as. The account of a population is named after its first data set, and
every line of the ledger says whose account it is of.
"""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import shorten
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, RowMapping
from sqlalchemy.exc import IntegrityError

from dpcore.domain.schemas.protected import unit_difference
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import ConflictError, LossError, NotFoundError, RequestError
from dpcore.workspace.database.database_tables import datasets, ledger_entries
from dpcore.workspace.files.descriptions import numbered

#: By which name a custodian accepts that two data sets define a person differently.
DIFFERENT = "different-people"
#: Most characters of a line of the ledger that say what was accepted: a note has room beside it.
_ACCEPTED_WIDTH = 250
_D, _E = datasets.c, ledger_entries.c


@dataclass(frozen=True)
class RelatedDataset:
    """A data set that a new one is about the same people as."""

    of: str
    """Its identifier."""
    replaces: bool = False
    """Whether the new one is its next version."""
    accepted: bool = False
    """Whether its custodian accepts that the two define a person differently."""


def account_of(dataset_id: str) -> sa.ScalarSelect[str]:
    """The account that a data set spends from."""
    return sa.select(_D.population).where(_D.id == dataset_id).scalar_subquery()


def dataset_row(connection: Connection, dataset_id: str) -> RowMapping:
    """Row of a data set. Raises ``NotFoundError``."""
    row = connection.execute(sa.select(datasets).where(_D.id == dataset_id)).mappings().one_or_none()
    if row is None:
        raise NotFoundError("There is no such data set.")
    return row


def members(connection: Connection, dataset_id: str) -> list[RowMapping]:
    """Rows of all data sets about the same people, oldest first. Raises ``NotFoundError``."""
    people = dataset_row(connection, dataset_id)["population"]
    chosen = sa.select(datasets).where(_D.population == people).order_by(_D.number)
    return list(connection.execute(chosen).mappings())


def retired() -> sa.ColumnElement[bool]:
    """Whether nothing more may be run on a data set, by its custodian's will."""
    return sa.exists().where(_E.dataset_id == _D.id, _E.kind == "retire")


def allows_conditional() -> sa.ColumnElement[bool]:
    """Whether the custodian allows runs on this data set alone whose guarantee has a condition."""
    changes = (_E.dataset_id == _D.id) & _E.kind.in_(("allow", "forbid"))
    last = sa.select(_E.kind).where(changes).order_by(_E.sequence.desc()).limit(1).scalar_subquery()
    return sa.func.coalesce(last, "forbid") == "allow"


def takes_conditional(connection: Connection, dataset_id: str) -> bool:
    """Whether such runs are taken: on public records, or where they are allowed."""
    taken = _D.public | allows_conditional()
    return connection.execute(sa.select(_D.id).where(_D.id == dataset_id, taken)).first() is not None


def place(connection: Connection, row: dict[str, object], related: RelatedDataset | None) -> dict[str, Any]:
    """The row of a new data set with its population and version; who is replaced gives up the name.

    Raises
    ------
    NotFoundError
        If there is no such kin.
    RequestError
        If one of the two is public and the other is private.
    ConflictError
        If who is to be replaced has been already.
    """
    if related is None:
        return row | {"population": row["id"], "version": 1}
    other = dataset_row(connection, related.of)
    if other["public"] != row["public"]:
        raise RequestError("Public and private data sets share no budget: what is public has no people to protect.")
    if not related.replaces:
        return row | {"population": other["population"], "version": 1}
    if connection.execute(sa.select(_D.id).where(_D.id == related.of, retired())).first():
        raise ConflictError(f"'{other['name']}' has been replaced or retired already: see which version is the newest.")
    _number(connection, other)
    follows = {"version": other["version"] + 1, "replaces": related.of}
    return row | follows | {"name": other["name"], "population": other["population"]}


def _number(connection: Connection, row: RowMapping) -> None:
    """Have a version bear its number, so that the next one may bear the name."""
    name = numbered(row["name"], row["version"])
    try:
        connection.execute(datasets.update().where(_D.id == row["id"]).values(name=name))
    except IntegrityError:
        raise ConflictError(f"A data set called '{name}' exists. Rename it first.") from None


def joined(connection: Connection, dataset_id: str, related: RelatedDataset) -> str:
    """What a line of the ledger says of a data set that joins the account of another one. Raises ``LossError``."""
    other, row = dataset_row(connection, related.of), dataset_row(connection, dataset_id)
    told = f"shares the budget of '{other['name']}' ({related.of})."
    if row["public"]:
        return told
    known, new = (Schema.model_validate_json(each["schema"]) for each in (other, row))
    accepted = check_people(other["name"], known, new, accepted=related.accepted)
    return f"{told} {accepted}".strip()


def check_people(name: str, known: Schema, new: Schema, *, accepted: bool) -> str:
    """What was accepted of a difference between the people of two private data sets; empty if there is none.

    Raises
    ------
    LossError
        If nobody has accepted it: what it means for the promise.
    """
    difference = unit_difference(known, new)
    if difference is None:
        return ""
    if not accepted:
        raise LossError(
            f"Nothing is stored. {difference.sentence(name)} Correct the schema, or accept this by the name "
            f"'{DIFFERENT}': that is recorded in the audit log."
        )
    return shorten(f"Accepted: {difference.words}.", _ACCEPTED_WIDTH)
