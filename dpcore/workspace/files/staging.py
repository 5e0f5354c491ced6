"""What custodians have brought and not stored yet: their files, and what they have typed so far.

Each custodian has a desk: a folder of their own inside the home, which only the program's user can
read. A desk outlives pages, logins and restarts. It is cleared when its data set is stored, when
the custodian says so, and by :func:`clear_old` when nothing on it was touched for :data:`DAYS`.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
import uuid
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from threading import RLock
from typing import BinaryIO, Final

from dpcore.errors import IngestError
from dpcore.workspace.database.database import chosen_home
from dpcore.workspace.database.engines import private_folder
from dpcore.workspace.database.owners import open_private

#: Days after which a desk that nobody touched is cleared.
DAYS: Final = 7
#: Seconds for which one program has to find a desk old before it clears it, by a clock that never jumps: a start
#: with a wrong date clears nothing.
SURE: Final = 3600
#: Most files on a desk: a main table, a second file, further tables.
MAX_FILES: Final = 24
_TOO_MANY = f"At most {MAX_FILES} files can be uploaded: remove one first."
_NO_ROOM = (
    "The file could not be kept: this computer has no room for it, or cannot write. Nothing of it "
    "was kept. Tell whoever runs it, then upload the file again."
)
_NOT_NOTED = (
    "What you typed could not be written down: this computer has no room for it, or cannot write. "
    "It is lost if you leave this page now. Tell whoever runs it."
)
_AWAY = (
    "What you have uploaded cannot be read now: this computer's disk does not answer. Nothing of it was removed. Tell "
    "whoever runs it, then load this page again."
)
_PIECE = 1 << 20
_LIST, _NOTES = "files.json", "notes.json"
_changing = RLock()
#: When desks that are old were first found so by this program.
_found_old: dict[Path, float] = {}


@dataclass(frozen=True)
class StagedFile:
    """A file on a desk."""

    file_id: str
    """Its own mark."""
    name: str
    """What it was called where it came from."""
    place: str
    """What it is for, in the caller's words."""
    size: int
    """Bytes."""
    path: Path
    """Where it lies. The ending is one of those that its reader knows."""


class StagingArea:
    """The desk of one custodian.

    Parameters
    ----------
    home : Path
        Folder of the installation.
    owner : str
        Name of the custodian.
    """

    def __init__(self, home: Path, owner: str) -> None:
        mark = hashlib.sha256(owner.encode("utf-8", "replace")).hexdigest()[:32]
        self.folder = _staging_areas(home) / mark

    def files(self) -> list[StagedFile]:
        """Every file, in the order in which they came.

        Raises
        ------
        IngestError
            If the disk does not answer: then nobody knows what is there.
        """
        try:
            listed = json.loads((self.folder / _LIST).read_text(encoding="utf-8"))
            found = [StagedFile(**(entry | {"path": self.folder / entry["path"]})) for entry in listed]
            return [kept for kept in found if kept.path.is_file()]
        except (FileNotFoundError, ValueError):
            return []
        except OSError:
            raise IngestError(_AWAY) from None

    def keep(self, place: str, name: str, content: BinaryIO, endings: Iterable[str] = ()) -> StagedFile:
        """Put a file on the desk. ``endings`` are those that its name may give it, else ``.csv``.

        Raises
        ------
        IngestError
            If there are too many, or there is no room on the disk. Nothing is kept then.
        """
        ident = uuid.uuid4().hex
        suffix = Path(name).suffix.lower()
        ending = suffix if suffix.removeprefix(".") in endings else ".csv"
        if len(self.files()) >= MAX_FILES:
            raise IngestError(_TOO_MANY)
        path = self.folder / f"{ident}{ending}"
        try:
            private_folder(self.folder)
            return self._take(StagedFile(ident, name, place, 0, path), content)
        except OSError:
            raise IngestError(_NO_ROOM) from None

    def _take(self, kept: StagedFile, content: BinaryIO) -> StagedFile:
        """Copy a file and list it, or leave nothing of it."""
        try:
            descriptor = open_private(kept.path, os.O_EXCL | os.O_WRONLY)
            with os.fdopen(descriptor, "wb") as stream:
                shutil.copyfileobj(content, stream, _PIECE)
            kept = replace(kept, size=kept.path.stat().st_size)
            with _changing:
                files = self.files()
                if len(files) >= MAX_FILES:
                    raise IngestError(_TOO_MANY)
                self._list([*files, kept])
        except BaseException:
            kept.path.unlink(missing_ok=True)
            raise
        return kept

    def drop(self, *idents: str) -> None:
        """Delete files. The desk goes with the last of them. Raises ``IngestError`` if they cannot be read."""
        with _changing:
            staying = [kept for kept in self.files() if kept.file_id not in idents]
            if not staying:
                self.clear()
                return
            self._list(staying)
            for ident in idents:
                for path in self.folder.glob(f"{ident}.*"):
                    path.unlink(missing_ok=True)

    def clear(self) -> None:
        """Delete every file and all notes."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def notes(self) -> str:
        """What was noted last; empty if nothing was."""
        try:
            return (self.folder / _NOTES).read_text(encoding="utf-8")
        except (OSError, ValueError):
            return ""

    def note(self, text: str) -> None:
        """Write down what was typed so far, if there are files that it is about.

        Raises
        ------
        IngestError
            If it cannot be written. What was written down before stays.
        """
        with _changing:
            try:
                if self.folder.is_dir():
                    self._write(_NOTES, text)
            except OSError:
                raise IngestError(_NOT_NOTED) from None

    def _list(self, files: list[StagedFile]) -> None:
        entries = [asdict(kept) | {"path": kept.path.name} for kept in files]
        self._write(_LIST, json.dumps(entries))

    def _write(self, name: str, text: str) -> None:
        fresh = self.folder / f".{name}"
        descriptor = open_private(fresh, os.O_TRUNC | os.O_WRONLY)
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as stream:
            stream.write(text)
        fresh.replace(self.folder / name)


def spool(home: str | Path | None = None) -> Path:
    """Where a server writes down what it receives: a folder that the service makes in the home."""
    return chosen_home(home).absolute() / "spool"


def _staging_areas(home: Path) -> Path:
    return private_folder(home / "uploads")


def clear_old(home: Path) -> None:
    """Clear the desks that nobody has touched for :data:`DAYS`, as this program has seen for long enough.

    The date may be wrong for a while: a desk goes if it was old :data:`SURE` seconds ago, and still is.
    """
    oldest, now = time.time() - DAYS * 86_400, time.monotonic()
    for folder in _staging_areas(home).iterdir():
        with suppress(FileNotFoundError):  # Somebody is at work there.
            if max(path.stat().st_mtime for path in [folder, *folder.glob("*")]) >= oldest:
                _found_old.pop(folder, None)
            elif now - _found_old.setdefault(folder, now) >= SURE:
                shutil.rmtree(folder, ignore_errors=True)
                _found_old.pop(folder, None)
