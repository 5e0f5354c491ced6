"""What is told of data sets, and of releases beside what they hold: plain frozen values.

Nothing here holds a record or a database handle, so pages and the command line may keep these
objects as long as they like.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from dpcore.domain.schemas.schema import Schema

#: Most characters of the name of a release, and of a note on it.
NAME_LIMIT, NOTE_LIMIT = 100, 4000
#: Most characters of the name of a data set.
_NAME_WIDTH = 128
#: What a custodian is told before Markov chains are allowed.
AT_STAKE = (
    "A Markov chain keeps its ε only if it has converged, which nobody can check without looking at the records. If it "
    "has not, its result may reveal whether one person is in the data, whatever ε says and however little of the "
    "budget is spent. Allow it for this data set only if that risk is acceptable to the people in it."
)


@dataclass(frozen=True)
class DatasetInfo:
    """Public description of a stored data set."""

    id: str
    name: str
    description: str
    schema: Schema
    public: bool
    """Whether anybody may see the records (demonstration data)."""
    created: datetime
    truth: str = ""
    """For demonstration data: what is known to be true of them, in Markdown."""
    population: str = ""
    """Names the account; data sets about the same people have the same."""
    version: int = 1
    """How many data sets came before it under its name, and one."""
    replaces: str | None = None
    """The version before it."""
    retired: bool = False
    """Whether nothing more may be run on it."""
    conditional: bool = False
    """Whether its custodian allows runs whose guarantee has a condition (Markov chains). On public records they are
    free."""
    shares_with: tuple[str, ...] = ()
    """Names of the other data sets about the same people."""

    @property
    def title(self) -> str:
        """Its name, with the number of its version if it is not the only one."""
        return self.name if self.version == 1 else numbered(self.name, self.version)

    @property
    def sharing(self) -> str:
        """With which data sets it shares its budget, in a sentence; empty if with none."""
        named = ", ".join(f"'{name}'" for name in self.shares_with)
        return f"Shares its budget with {named}: about the same people." if named else ""

    @property
    def allowance(self) -> str:
        """What its custodian has allowed, in a sentence; empty if nothing."""
        if self.public or not self.conditional:
            return ""
        return "The custodian allows Markov chains on this data set, whose guarantee is conditional on convergence."

    def check_private(self) -> None:
        """Raise ``SchemaError`` if the records are private and no result on them would be."""
        if not self.public:
            self.schema.check_private()


def numbered(name: str, version: int) -> str:
    """The name of one of several versions."""
    ending = f" (version {version})"
    return name if name.endswith(ending) else f"{name[: _NAME_WIDTH - len(ending)]}{ending}"


@dataclass(frozen=True)
class Orphan:
    """Records without an entry in the database, or an entry without records."""

    id: str
    name: str
    """As its schema says; empty if that cannot be read."""
    state: Literal["unknown", "arriving", "missing", "removed", "returned", "damaged"]
    """A folder that the database does not know, and that nobody is writing; one that is being written; a data set whose
    folder is gone; one whose records were removed on purpose; one whose folder is there although they were; one whose
    files are not what was written."""


@dataclass(frozen=True)
class Sharing:
    """Who may read a release: its owner and the custodian, or everybody who sees the data set."""

    owner: str
    shared: bool


@dataclass(frozen=True)
class ReleaseNote:
    """What somebody wrote beside a release; no part of the release, and free to change."""

    release_id: str
    name: str
    """One line; empty if the release has no name of its own."""
    note: str
    """Any text."""
    author: str
    """Who wrote it last."""
    time: datetime
