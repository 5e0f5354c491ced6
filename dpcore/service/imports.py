"""What belongs to a visitor and not to the ledger: imported results, and what was seen already."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from dpcore.errors import RequestError
from dpcore.released.release import Imported, Release
from dpcore.service.base import ServiceBase
from dpcore.workspace.people.users import ROLES
from dpcore.workspace.people.visitor_marks import has_mark, set_mark
from dpcore.workspace.results.imports import forget_import, keep_import, read_imports

#: Bytes of the largest file that is read as a result.
LARGEST_IMPORT: Final = 16 << 20
_TOO_LARGE = f"This file is larger than {LARGEST_IMPORT >> 20} MB: no result of this program is."
_NO_TEXT = "This is not a file with a result: import the JSON file of a download."
_BUSY = "Another file of yours is still being checked: import this one when that is done."
_HERE = "This result is here already: you find it below, with its line in the ledger."

#: Whose files are being checked.
_checking: set[str] = set()
_turn = threading.Lock()


@contextmanager
def _only_one(person: str) -> Iterator[None]:
    """Let a person have one file checked at a time, so that others get their turn."""
    with _turn:
        if person in _checking:
            raise RequestError(_BUSY)
        _checking.add(person)
    try:
        yield
    finally:
        with _turn:
            _checking.discard(person)


class Imports(ServiceBase):
    """Part of :class:`dpcore.service.Service`."""

    def import_release(self, content: bytes) -> Release:
        """Keep a result that comes as a file. Nothing is charged: it is of no data set of this installation.

        Parameters
        ----------
        content : bytes
            The JSON file of a download. It may come from anybody, so it is read with suspicion: its form,
            its certificate and its schema must fit each other, and everything that is shown of it must work.

        Raises
        ------
        RequestError
            If it is too large, not a result, one that contradicts itself, or one that is here already; or while
            another one of the caller is checked.
        """
        from dpcore.report.imported import checked

        self._require(*ROLES)
        if len(content) > LARGEST_IMPORT:
            raise RequestError(_TOO_LARGE)
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise RequestError(_NO_TEXT) from None
        with _only_one(self._user.name):
            release = checked(text)
        if any(release.id == own.id for own in self._released.releases(self._seen(None), reader=self._reader())):
            raise RequestError(_HERE)
        keep_import(self._engine, self._user.name, release)
        return release

    def imported_releases(self) -> tuple[list[Imported], list[str]]:
        """Results that the caller has brought as files, newest first. Nobody else reads them.

        Beside them the identifiers of those that this version can no longer read: they can only be removed.
        """
        self._require(*ROLES)
        return read_imports(self._engine, self._user.name)

    def forget_import(self, release_id: str) -> None:
        """Remove one of them."""
        self._require(*ROLES)
        forget_import(self._engine, self._user.name, release_id)

    def has_seen(self, mark: str) -> bool:
        """Whether the caller has seen something, on whatever machine."""
        self._require(*ROLES)
        return has_mark(self._engine, self._user.name, mark)

    def note_seen(self, mark: str) -> None:
        """Remember that the caller has seen something."""
        self._require(*ROLES)
        set_mark(self._engine, self._user.name, mark)
