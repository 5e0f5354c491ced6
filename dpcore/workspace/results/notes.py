"""Names and notes that people give to releases.

They are part of neither a release nor the ledger: they may be changed at any time, cost
nothing, and are shown beside the release that they refer to.
"""

from __future__ import annotations

from collections.abc import Collection

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from dpcore.errors import NotFoundError, RequestError
from dpcore.validation import storable
from dpcore.workspace.database.database_tables import release_notes, releases, utc_now
from dpcore.workspace.database.transactions import asked_of, read, write
from dpcore.workspace.files.descriptions import NAME_LIMIT, NOTE_LIMIT, ReleaseNote
from dpcore.workspace.people.users import NAME_LENGTH

_R = release_notes.c


def write_note(engine: Engine, release_id: str, name: str, note: str, author: str) -> ReleaseNote:
    """Put a name and a note beside a release, in place of those that were there.

    Raises
    ------
    RequestError
        If one of them is too long, or the name has several lines.
    NotFoundError
        If there is no such release.
    """
    wanted = ReleaseNote(
        release_id,
        checked_name(name),
        checked_note(note),
        author[:NAME_LENGTH],
        utc_now().replace(microsecond=0),
    )

    def transaction(connection: Connection) -> None:
        chosen = sa.select(releases.c.id).where(releases.c.id == release_id)
        if connection.execute(chosen).first() is None:
            raise NotFoundError("There is no such release.")
        connection.execute(release_notes.delete().where(_R.release_id == release_id))
        connection.execute(release_notes.insert().values(**vars(wanted)))

    write(engine, transaction)
    return wanted


def read_notes(engine: Engine, datasets: Collection[str] | None = None) -> dict[str, ReleaseNote]:
    """Notes by release: those on some data sets, or all."""

    def transaction(connection: Connection) -> tuple[ReleaseNote, ...]:
        chosen = sa.select(release_notes)
        if datasets is not None:
            chosen = chosen.join(releases, releases.c.id == _R.release_id)
            chosen = chosen.where(releases.c.dataset_id.in_(datasets))
        return tuple(ReleaseNote(**row) for row in connection.execute(chosen).mappings())

    return {note.release_id: note for note in read(engine, transaction, question=("notes", asked_of(datasets)))}


def checked_name(name: str) -> str:
    """A usable name. Raises ``RequestError``."""
    plain = storable(name).strip()
    if len(plain.splitlines()) > 1:
        raise RequestError("A name is one line: put the rest into the note.")
    if len(plain) > NAME_LIMIT:
        raise RequestError(f"This name is too long: use at most {NAME_LIMIT} characters.")
    return plain


def checked_note(note: str) -> str:
    """A usable note. Raises ``RequestError``."""
    plain = storable(note).strip()
    if len(plain) > NOTE_LIMIT:
        raise RequestError(f"This note is too long: use at most {NOTE_LIMIT:,} characters.")
    return plain
