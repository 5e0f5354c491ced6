"""The lines of the ledger as an audit log: named in plain words, filtered, written as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date
from decimal import Decimal

from dpcore.errors import RequestError
from dpcore.privacy.budgets import exact_amount
from dpcore.spreadsheets import safe_cell
from dpcore.workspace.ledger.accounts import LedgerEntry

#: What each kind of line says, for people.
EVENTS: Mapping[str, str] = {
    "open": "budget opened",
    "join": "data set shares the budget",
    "caps": "budget changed",
    "charge": "spent elsewhere, entered by hand",
    "learn": "learned the schema",
    "reserve": "reserved for a run",
    "touch": "run began to read records",
    "commit": "result released",
    "refund": "returned, nothing was read",
    "ask": "more budget asked for",
    "grant": "analyst's budget set",
    "decline": "request declined",
    "freeze": "analyst frozen",
    "thaw": "analyst unfrozen",
    "share": "result shared",
    "unshare": "result no longer shared",
    "end": "run ended by hand",
    "rename": "data set renamed",
    "describe": "data set described anew",
    "retire": "data set retired",
    "allow": "Markov chains allowed",
    "forbid": "Markov chains no longer allowed",
    "remove": "records removed",
    "accept": "database accepted by hand, as after a restore",
}
#: Columns of the CSV file.
COLUMNS = (
    "number",
    "time",
    "data set",
    "data set id",
    "kind",
    "what happened",
    "analyst",
    "done by",
    "epsilon",
    "delta",
    "rho",
    "total limit",
    "delta limit",
    "limit per analyst",
    "limit per run",
    "run",
    "release",
    "answers",
    "note",
)


@dataclass(frozen=True)
class AuditLogFilter:
    """Which lines to show; what is empty or ``None`` allows everything.

    Attributes
    ----------
    kinds, analysts, actors : collection of str
        Kinds of lines; whose budget they are about; who caused them.
    first, last : date or None
        Days in UTC, both included.
    words : str
        All of them must be in the note; capitals do not matter.
    run : str
        How the identifier of the run begins.
    """

    kinds: Collection[str] = ()
    analysts: Collection[str] = ()
    actors: Collection[str] = ()
    first: date | None = None
    last: date | None = None
    words: str = ""
    run: str = ""

    def __post_init__(self) -> None:
        for kind in self.kinds:
            if kind not in EVENTS:
                raise RequestError(f"There is no kind of line '{kind}'. Use {', '.join(EVENTS)}.")
        if self.first is not None and self.last is not None and self.first > self.last:
            raise RequestError("The first day is after the last: no line can be between them.")

    def fits(self, entry: LedgerEntry) -> bool:
        """Whether a line is wanted."""
        day, note = entry.time.astimezone(UTC).date(), entry.note.casefold()
        return (
            (not self.kinds or entry.kind in self.kinds)
            and (not self.analysts or entry.analyst in self.analysts)
            and (not self.actors or entry.actor in self.actors)
            and (self.first is None or day >= self.first)
            and (self.last is None or day <= self.last)
            and all(word in note for word in self.words.casefold().split())
            and (entry.run_id or "").startswith(self.run.strip())
        )


def chosen(entries: Iterable[LedgerEntry], wanted: AuditLogFilter) -> list[LedgerEntry]:
    """The lines that are wanted, in the order given."""
    return [entry for entry in entries if wanted.fits(entry)]


def event(entry: LedgerEntry) -> str:
    """What a line says happened."""
    told = EVENTS.get(entry.kind, entry.kind)
    return told if entry.answers is None else f"{told} (no. {entry.answers})"


def to_csv(entries: Iterable[LedgerEntry], names: Mapping[str, str]) -> str:
    """Lines as CSV with exact amounts and ISO times, for a spreadsheet or a program.

    Parameters
    ----------
    names : mapping of str to str
        Name of each data set by its identifier.

    Notes
    -----
    What people typed gets an apostrophe in front if a spreadsheet would run it as a formula.
    """
    stream = io.StringIO()
    writer = csv.writer(stream)
    writer.writerow(COLUMNS)
    writer.writerows(_cells(entry, names.get(entry.dataset_id, "")) for entry in entries)
    return stream.getvalue()


def _cells(entry: LedgerEntry, name: str) -> list[str]:
    spends = bool(entry.epsilon)
    return [
        str(entry.sequence),
        entry.time.astimezone(UTC).isoformat(timespec="seconds"),
        safe_cell(name),
        entry.dataset_id,
        entry.kind,
        EVENTS.get(entry.kind, entry.kind),
        safe_cell(entry.analyst),
        safe_cell(entry.actor),
        exact_amount(entry.epsilon) if spends else "",
        exact_amount(entry.delta) if spends else "",
        exact_amount(entry.rho) if entry.rho else "",
        *("" if cap is None else exact_amount(cap) for cap in _caps(entry)),
        entry.run_id or "",
        entry.release_id or "",
        "" if entry.answers is None else str(entry.answers),
        safe_cell(entry.note),
    ]


def _caps(entry: LedgerEntry) -> tuple[Decimal | None, ...]:
    return entry.cap, entry.delta_cap, entry.analyst_cap, entry.run_cap
