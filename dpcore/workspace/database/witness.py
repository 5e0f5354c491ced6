"""The witness: what this machine has seen of a ledger, kept outside home folder and database.

Home and database may be set back together, every file in its place, and then fit each other: only
something that was not set back can tell. The witness is a file for each installation, named after
its identifier, that holds the newest line of its ledger that was committed. It may be behind, by
what was committed just before a crash; a ledger that lacks its line has forgotten something.
"""

from __future__ import annotations

import errno
import json
import logging
import os
from contextlib import suppress
from dataclasses import astuple, dataclass
from functools import cache
from pathlib import Path
from tempfile import mkstemp

from dpcore.workspace.database.engines import private_folder
from dpcore.workspace.database.owners import hand_over

_LOG = logging.getLogger("frostglass.witness")
_UNUSABLE = (
    "No witness is kept: %s. Without one, a home folder and a database that are both set back to an earlier state "
    "are not recognised. Name a folder elsewhere in FROSTGLASS_WITNESS. See 'The witness' in docs/deployment.md."
)


@dataclass(frozen=True)
class Line:
    """A line of the ledger."""

    number: int
    """The one that the database gave it. Numbers may have gaps."""
    print: str
    """Fingerprint of what it says."""
    count: int | None = None
    """Lines up to it, itself included; ``None`` if nobody has counted them."""

    def fits(self, mark: Line) -> bool:
        """Whether this is the line of a mark, with as many lines before it if both know that."""
        counted = None not in (self.count, mark.count)
        same = (self.number, self.print) == (mark.number, mark.print)
        return same and (not counted or self.count == mark.count)

    @staticmethod
    def parsed(number: int, fingerprint: str, count: int | None = None) -> Line:
        """A line as it was written, by early versions without a count. Raises ``ValueError`` or ``TypeError``."""
        line = Line(int(number), str(fingerprint), None if count is None else int(count))
        return line if line.number else NO_LINE


NO_LINE = Line(0, "", 0)


def witness_folder() -> Path | None:
    """``FROSTGLASS_WITNESS``, or the platform's own place for states of applications; ``None`` without a user's folder.

    The latter is a folder beside that of the data where a platform has one place for both.
    """
    chosen = os.environ.get("FROSTGLASS_WITNESS")
    with suppress(RuntimeError):
        if chosen:
            return Path(chosen).expanduser().absolute()
        import platformdirs

        return Path(platformdirs.user_state_dir("frostglass-witness", appauthor=False))
    return None


class Witness:
    """What this machine has seen of the ledgers of a home folder.

    A folder that cannot be used stops nobody: it is said once, and there is no witness.
    """

    def __init__(self, home: Path) -> None:
        self.folder, self._home = witness_folder(), home.resolve()
        #: Why a file in the folder would be no witness.
        self._hindrance: str | None = None
        if self.folder is None:
            self._hindrance = "the user of this program has no folder"
        elif self.folder.resolve().is_relative_to(self._home):
            self._hindrance = f"the folder {self.folder} lies inside the home folder and would be set back with it"

    def line(self, installation: str) -> Line | None:
        """The newest line that was seen here; ``None`` if none was, or it cannot be read."""
        return (self._kept(installation) or (None,))[0]

    def note(self, installation: str, line: Line) -> None:
        """Keep a committed line, unless a later one is kept. Whoever writes holds the lock of the home."""
        known = self.line(installation)
        if known is None or known.number < line.number:
            self._write(installation, line)

    def retire(self, installation: str) -> None:
        """Have an identifier that this home has given up fit no ledger. A copy elsewhere leaves it to the original."""
        kept = self._kept(installation)
        if kept is not None and kept[1] == str(self._home):
            self._write(installation, Line(kept[0].number + 1, "given up"))

    def _file(self, installation: str) -> Path:
        return (self.folder or Path()) / f"{installation}.json"

    def _kept(self, installation: str) -> tuple[Line, str] | None:
        """The line, and the home folder whose ledger it was in."""
        if self._hindrance is None:
            with suppress(OSError, ValueError, TypeError, KeyError):
                content = json.loads(self._file(installation).read_bytes())
                return Line.parsed(*content["line"]), str(content["home"])
        return None

    def _write(self, installation: str, line: Line) -> None:
        hindrance = self._hindrance
        if hindrance is None:
            content = {"installation": installation, "home": str(self._home), "line": astuple(line)}
            try:
                _exchange(self._file(installation), f"{json.dumps(content)}\n")
            except OSError as error:
                refused = os.strerror(error.errno or errno.EIO)
                hindrance = f"the folder {self.folder} cannot be written to ({refused})"
        if hindrance is not None:
            _say(hindrance)


def _exchange(path: Path, content: str) -> None:
    """Exchange a file for a new one in one step: half of it cannot be read, whoever else writes it."""
    handle, name = mkstemp(dir=private_folder(path.parent), prefix=f"{path.stem}.")
    fresh = Path(name)
    try:
        hand_over(fresh)
        with os.fdopen(handle, "w") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(handle)
        fresh.replace(path)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise


@cache
def _say(hindrance: str) -> None:
    _LOG.warning(_UNUSABLE, hindrance)
