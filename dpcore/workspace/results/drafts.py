"""Drafts of reports: what somebody is writing and has chosen, kept between visits.

One draft per data set and author. It is not part of the ledger: its author may change it at any
time, and nobody else reads it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa
from pydantic import ValidationError
from sqlalchemy.engine import Connection, Engine

from dpcore.errors import RequestError
from dpcore.frozen import FrozenModel
from dpcore.validation import is_key, storable
from dpcore.workspace.database.database_tables import report_drafts, utc_now
from dpcore.workspace.database.transactions import read, write
from dpcore.workspace.results.dossier import MOST_RELEASES, Application

_R = report_drafts.c
#: Most characters of the identifier of a release.
_ID_LIMIT = 64


class Draft(FrozenModel):
    """A report that is being written."""

    application: Application = Application()
    """What was written. Its parts are limited in length."""
    releases: tuple[str, ...] = ()
    """Identifiers of the releases that were chosen, in the order of the choice."""


@dataclass(frozen=True)
class SavedDraft:
    """A draft, and when it was last written down."""

    draft: Draft
    time: datetime


def write_draft(engine: Engine, dataset_id: str, author: str, draft: Draft | None) -> None:
    """Keep a draft in place of the one that was there; ``None`` keeps none.

    Raises
    ------
    RequestError
        If too many releases are chosen. What is too long to be written is not an ``Application``.
    """
    content = None if draft is None else _content(draft)

    def transaction(connection: Connection) -> None:
        own = (_R.dataset_id == dataset_id) & (_R.author == author)
        connection.execute(report_drafts.delete().where(own))
        if content is not None:
            row = {"dataset_id": dataset_id, "author": author, "content": content}
            connection.execute(report_drafts.insert().values(**row, time=utc_now()))

    write(engine, transaction)


def read_draft(engine: Engine, dataset_id: str, author: str) -> SavedDraft | None:
    """The draft that an author has on a data set, if there is one.

    Raises
    ------
    RequestError
        If what was kept is not a draft that this version can read.
    """
    chosen = sa.select(report_drafts).where(_R.dataset_id == dataset_id, _R.author == author)
    row = read(engine, lambda connection: connection.execute(chosen).mappings().one_or_none())
    if row is None:
        return None
    try:
        return SavedDraft(Draft.model_validate_json(row["content"]), row["time"])
    except (ValidationError, RequestError):
        raise RequestError(
            "What was kept of your report can no longer be read. It is replaced as soon as you "
            "write or choose something here."
        ) from None


def _content(draft: Draft) -> str:
    """A draft as text that every database can hold."""
    if len(draft.releases) > MOST_RELEASES:
        raise RequestError(f"A dossier holds at most {MOST_RELEASES} results: choose fewer.")
    if not all(is_key(release_id, _ID_LIMIT) for release_id in draft.releases):
        raise RequestError("There is no such release.")
    written = {name: storable(text) for name, text in vars(draft.application).items()}
    return draft.model_copy(update={"application": Application(**written)}).model_dump_json()
