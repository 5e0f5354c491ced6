"""Source files: which tables or queries of a data base are read, and where its address is found.

A *source file* (``hospital.source``) says which tables or queries are read, and the name of the
environment variable in which the operator keeps the address. The address, which holds a password,
is never written down, shown or logged.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from pathlib import Path

from dpcore.errors import IngestError, RequestError

#: The ending of files that name tables of a data base.
ENDING = ".source"
#: Only variables of such names are read: an operator has set them for this.
PREFIX = "FROSTGLASS_SOURCE_"
_VARIABLE = re.compile(PREFIX + r"[A-Z0-9_]{1,60}\Z")
_IN_FILE = "file:"
_MOST_CHARACTERS = 1 << 16
_QUERY = re.compile(r"\s*(select|with)\s", re.IGNORECASE)

_NO_VARIABLE = (
    "No data base is known as '{name}'. The operator sets an environment variable of a name like "
    f"{PREFIX}HOSPITAL to its address, or to '{_IN_FILE}' and the path of a file that holds it."
)
_NOT_PRIVATE = (
    "The file that '{name}' names cannot be read, or others than its owner may read it: it holds a password. "
    "Set its rights to 600."
)
_NO_SOURCE = "The file is not a source file: write it with 'data source', or fill in the form."
_NO_TABLES = "Name at least one table or query that is to be read."
_SEVERAL = "The query for '{table}' has to be one SELECT, without a semicolon in it."


@dataclass(frozen=True)
class Served:
    """What a source file says."""

    database: str
    """Name of the environment variable that holds the address."""
    tables: dict[str, str]
    """For each table of the schema its name in the data base, as ``visits`` or ``clinic.visits``, or a query (``SELECT
    ...``); the main table goes first."""

    @classmethod
    def read(cls, path: Path) -> Served:
        """What a file says. Raises ``IngestError``."""
        try:
            with path.open(encoding="utf-8") as stream:
                content = json.loads(stream.read(_MOST_CHARACTERS))
            made = cls(content["database"], content["tables"])
            texts = [made.database, *made.tables.keys(), *made.tables.values()]
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise IngestError(_NO_SOURCE) from None
        if not all(isinstance(text, str) and text.strip() for text in texts):
            raise IngestError(_NO_SOURCE)
        return made

    def text(self) -> str:
        """Content of a source file. Raises ``RequestError`` if it could not be read."""
        check_variable(self.database)
        if not self.tables:
            raise RequestError(_NO_TABLES)
        for table, wanted in self.tables.items():
            checked(table, wanted)
        return json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n"


def is_query(wanted: str) -> bool:
    """Whether a text is a query, not the name of a table."""
    return _QUERY.match(wanted) is not None


def checked(table: str, wanted: str) -> str:
    """A query without the semicolon at its end, or the name of a table."""
    bare = wanted.strip().removesuffix(";").strip()
    if is_query(wanted) and ";" in bare:
        raise RequestError(_SEVERAL.format(table=table))
    return bare


def variables() -> list[str]:
    """Names of the data bases that the operator has set."""
    return sorted(name for name in os.environ if _VARIABLE.match(name))


def check_variable(name: str) -> None:
    """Raises ``RequestError`` if the operator has set no data base of this name."""
    if name not in variables():
        raise RequestError(_NO_VARIABLE.format(name=name))


def addresses_for(files: Sequence[Path]) -> dict[str, str]:
    """The addresses that reading some files takes, by the names of their variables.

    Raises
    ------
    RequestError
        If the operator has set none, or it lies in a file that others may read.
    """
    names = {Served.read(file).database for file in files if file.suffix.lower() == ENDING}
    return {name: _address(name) for name in names}


def _address(name: str) -> str:
    check_variable(name)
    held = os.environ[name].strip()
    if not held.startswith(_IN_FILE):
        return held
    try:
        path = Path(held.removeprefix(_IN_FILE))
        with path.open(encoding="utf-8") as stream:
            about = os.fstat(stream.fileno())
            if about.st_uid != os.geteuid() or stat.S_IMODE(about.st_mode) & 0o077:
                raise PermissionError
            return stream.read(_MOST_CHARACTERS).strip()
    except (OSError, ValueError):
        raise RequestError(_NOT_PRIVATE.format(name=name)) from None


KNOWN_ADDRESSES: ContextVar[Mapping[str, str] | None] = ContextVar("addresses", default=None)


@contextmanager
def knowing(addresses: Mapping[str, str]) -> Iterator[None]:
    """Let source files be read that name these data bases, and no others."""
    before = KNOWN_ADDRESSES.set(addresses)
    try:
        yield
    finally:
        KNOWN_ADDRESSES.reset(before)
