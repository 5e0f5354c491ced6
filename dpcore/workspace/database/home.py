"""The home folder: what it holds, which installation it belongs to, how far its ledger has come.

One small file says so. It is made whole or not at all; later only its mark moves, by one write of
one sector, so that neither a kill nor a loss of power can tear it. The mark's number stands in the
name of a second, empty file too: it stays when an older home is copied over this one. The witness
(:mod:`dpcore.workspace.database.witness`) stays when all of the home is set back.
"""

from __future__ import annotations

import errno
import json
import os
import re
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import astuple, dataclass, replace
from io import FileIO
from pathlib import Path
from tempfile import TemporaryFile

from dpcore.disk import is_full
from dpcore.errors import InstallationError
from dpcore.workspace.database.engines import private_folder
from dpcore.workspace.database.file_locks import holding
from dpcore.workspace.database.owners import open_private
from dpcore.workspace.database.transactions import HOME_FULL
from dpcore.workspace.database.witness import Line, Witness

_SIZE = 512
#: Folders of data sets are called so. Others are not ours: ``lost+found`` at the top of a disk.
_IDENTIFIER = re.compile(r"[0-9a-f]{32}")
_SEEN = "seen-"
#: Linux's question for the generation of a file: who gets its number later has another one.
_GENERATION = 0x80087601
_UNUSABLE = (
    "The home folder cannot be used: {why}. Nothing is lost. Put that right, or correct "
    "FROSTGLASS_HOME; then try again."
)
_FORBIDDEN = (
    "this program may not write there ({refused}). All that is in it must belong to the user who "
    "runs the application: run commands as that user ('sudo -u frostglass ...'), and give back "
    "what belongs to somebody else ('chown -R frostglass: FOLDER')"
)
_UNREADABLE = "The file installation.json of this home folder cannot be read."


@dataclass(frozen=True)
class Binding:
    """What the file says."""

    installation: str
    """The same as in the database."""
    file: str
    """Number and generation that the file system gave this file: a copy has others, and so has a file that was deleted
    and came back from a backup."""
    mark: Line
    """The newest line of the ledger that this home has seen committed."""


def _make(folder: Path) -> Path:
    """Make a home. Who may read records is not for the owner of the folder around it to decide."""
    return private_folder(folder, inherit=False)


@contextmanager
def usable(folder: Path) -> Iterator[None]:
    """Make a home folder, see that it can be written to, and go on with it.

    Raises
    ------
    InstallationError
        As :func:`disk_errors_explained` does.
    """
    with disk_errors_explained(folder):
        with TemporaryFile(dir=_make(folder)) as probe:
            probe.write(b"x")
        yield


@contextmanager
def disk_errors_explained(folder: Path) -> Iterator[None]:
    """Say in a sentence what the disk or the file system of a home folder refuses.

    Raises
    ------
    InstallationError
        In place of ``OSError``.
    """
    try:
        yield
    except OSError as error:
        if is_full(error, folder):
            raise InstallationError(HOME_FULL) from None
        raise InstallationError(_UNUSABLE.format(why=_reason(error))) from None


def _reason(error: OSError) -> str:
    if error.errno in (errno.ENOTDIR, errno.EEXIST):
        return "a file stands where a folder should be"
    refused = os.strerror(error.errno or errno.EIO)
    if error.filename:
        refused = f"{Path(os.fsdecode(error.filename)).name}: {refused}"
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return _FORBIDDEN.format(refused=refused)
    return refused


class Home:
    """The folder of one installation."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.witness = _make(folder), Witness(folder)
        self._file = folder / "installation.json"

    @property
    def queue(self) -> Path:
        """File of the turns that starting processes take."""
        return self.folder / "starting"

    def stored(self) -> frozenset[str]:
        """Identifiers of the data sets whose folders are here."""
        return stored_in(self.folder / "datasets")

    def binding(self) -> Binding | None:
        """What the file says, if there is one.

        Raises
        ------
        InstallationError
            If the file is damaged.
        """
        try:
            with self._open() as stream:
                return _parse(stream.read(_SIZE))
        except FileNotFoundError:
            return None

    def copied(self) -> bool:
        """Whether the file is a copy of the one that was written here, or of an earlier state.

        Raises
        ------
        InstallationError
            If the file is damaged.
        """
        with self._open() as stream:  # Nobody moves the mark meanwhile.
            present, own = _parse(stream.read(_SIZE)), _file_of(stream.fileno())
            return own != present.file or max(self._seen(), default=0) > present.mark.number

    def _seen(self) -> list[int]:
        """Numbers in the names of the empty files; more than one if homes were mixed."""
        numbers = (path.name.removeprefix(_SEEN) for path in self.folder.glob(f"{_SEEN}*"))
        return [int(number) for number in numbers if number.isdecimal()]

    def bind(self, installation: str, mark: Line) -> None:
        """Write the file again, whole or not at all, and a witness of it."""
        fresh = self._file.with_name("installation.new")
        fresh.unlink(missing_ok=True)
        handle = open_private(fresh, os.O_WRONLY | os.O_EXCL)
        try:
            content = Binding(installation, _file_of(handle), mark)
            os.write(handle, _text(content))
            os.fsync(handle)
        finally:
            os.close(handle)
        fresh.replace(self._file)
        for number in self._seen():
            self._seen_file(number).unlink(missing_ok=True)
        self._make_seen(mark.number)
        to_disk(self.folder)
        self.witness.note(installation, mark)

    def _seen_file(self, number: int) -> Path:
        return self.folder / f"{_SEEN}{number}"

    def _make_seen(self, number: int) -> None:
        os.close(open_private(self._seen_file(number)))

    def advance(self, line: Line) -> None:
        """Move mark and witness on to a committed line; never back."""
        with self._open() as stream:
            present = _parse(stream.read(_SIZE))
            if line.number > present.mark.number:
                stream.seek(0)
                stream.write(_text(replace(present, mark=line)))
                # First on disk: after a loss of power, a name that is ahead means an older file.
                os.fsync(stream.fileno())
                self._make_seen(line.number)
                self._seen_file(present.mark.number).unlink(missing_ok=True)
            self.witness.note(present.installation, line)

    @contextmanager
    def _open(self) -> Iterator[FileIO]:
        """The file, for one process at a time: half a write cannot be read."""
        with self._file.open("r+b", buffering=0) as stream, holding(stream.fileno()):
            yield stream


def _text(binding: Binding) -> bytes:
    content = {
        "installation": binding.installation,
        "file": binding.file,
        "mark": astuple(binding.mark),
    }
    return json.dumps(content).encode().ljust(_SIZE - 1) + b"\n"


def _parse(content: bytes) -> Binding:
    try:
        found = json.loads(content)
        return Binding(str(found["installation"]), str(found["file"]), Line.parsed(*found["mark"]))
    except (ValueError, TypeError, KeyError):
        raise InstallationError(_UNREADABLE) from None


def _file_of(handle: int) -> str:
    """Number and generation of an open file; generation 0 where there are none."""
    number, generation = os.fstat(handle).st_ino, 0
    if os.name == "posix":
        import fcntl

        with suppress(OSError):
            answer = fcntl.ioctl(handle, _GENERATION, bytes(8))
            (generation,) = struct.unpack_from("I", answer)
    return f"{number}.{generation}"


def stored_in(datasets: Path) -> frozenset[str]:
    """Names of the folders of data sets in a folder, which may be absent."""
    if not datasets.exists():
        return frozenset()
    return frozenset(path.name for path in datasets.iterdir() if _IDENTIFIER.fullmatch(path.name) and path.is_dir())


def to_disk(path: Path) -> None:
    """Force a file or folder to disk."""
    if path.is_dir() and os.name == "nt":
        return  # Windows has no handle for folders.
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
