"""A dossier: several releases of one data set, what is asked for, what it cost, and what it does not show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property

from dpcore.domain.schemas.origins import words_of
from dpcore.errors import RequestError
from dpcore.numerals import small, whole
from dpcore.privacy.budgets import at_delta, percent, plain_epsilon
from dpcore.released.blocks import Bullets, Paragraph, Table, Written
from dpcore.released.release import Release
from dpcore.report.document import Document, Section
from dpcore.report.domain import schema_tables
from dpcore.report.result import result_blocks, title_of
from dpcore.report.statement import statement
from dpcore.report.totals import Total, cost_together, totals, weakest
from dpcore.validation import storable
from dpcore.workspace.files.descriptions import DatasetInfo, ReleaseNote
from dpcore.workspace.ledger.accounts import Balance
from dpcore.workspace.ledger.requests import RunRequest
from dpcore.workspace.results.dossier import MOST_RELEASES, Application, paragraphs

_LIMITS = (
    (
        "Chance in who is in the data.",
        "Intervals here cover the noise that protects people. Other people from the same population would give other "
        "numbers, even without noise. Only the figures on people who were set aside state that error too.",
    ),
    (
        "Causes.",
        "The results say what occurs together, not what leads to what. A group that fares worse may have been worse to "
        "begin with.",
    ),
    (
        "Single people.",
        "Every number is about a group. It says nothing certain about any one person in it.",
    ),
    (
        "What was not asked.",
        "A column or a group that appears nowhere may still matter: it may not have been asked about, or its part may "
        "have been lost in the noise.",
    ),
    (
        "How many looks it took.",
        "Results that were made but not chosen are not shown. Of many looks, some please by chance: the privacy "
        "statement counts what is here, and the budget counts everything.",
    ),
    (
        "How good the records are.",
        "Wrong, missing and cut-off values went in as they were. Values beyond the bounds were moved to them.",
    ),
    ("Other places and times.", "Whether the same holds elsewhere has to be looked at there."),
)


@dataclass(frozen=True)
class Dossier:
    """What a dossier is made of.

    Attributes
    ----------
    releases : sequence of Release
        The chosen ones; one that is chosen twice stands once.
    balance : Balance
        Of the data set, all analysts together.
    every : sequence of Release
        All releases of the data set, for the kind of guarantee of everything spent.
    asked : mapping of str to RunRequest
        What was asked for, by the release that came of it.

    Raises
    ------
    RequestError
        If no release is chosen, too many are, or one is of another data set.
    """

    dataset: DatasetInfo
    releases: Sequence[Release]
    notes: Mapping[str, ReleaseNote]
    balance: Balance
    application: Application
    every: Sequence[Release] = ()
    asked: Mapping[str, RunRequest] = field(default_factory=dict)
    made: datetime = field(default_factory=lambda: datetime.now(UTC))

    def __post_init__(self) -> None:
        """Refuse what cannot be in a dossier, and leave out signs that no file can hold."""
        chosen = list({release.id: release for release in self.releases}.values())
        written = Application(**{name: storable(words) for name, words in vars(self.application).items()})
        object.__setattr__(self, "releases", chosen)
        object.__setattr__(self, "application", written)
        _check(self.dataset, chosen)

    @property
    def title(self) -> str:
        """As written, or by the data set."""
        return self.application.title.strip() or f"Dossier on {self.dataset.title}"

    @cached_property
    def sums(self) -> list[Total]:
        """What the chosen results cost, and what everything did."""
        return totals(self.releases, self.balance, weakest([*self.releases, *self.every]))

    @cached_property
    def statement(self) -> dict[str, str]:
        """The privacy statement, question by question."""
        return statement(self.dataset, self.releases, self.sums, self.application)

    @property
    def problems(self) -> list[str]:
        """Why some results are not private, each reason once."""
        return list(dict.fromkeys(why for r in self.releases for why in r.certificate.problems))

    def name_of(self, release: Release) -> str:
        """What a result is called."""
        return title_of(release, self.notes.get(release.id))

    @cached_property
    def whole(self) -> Document:
        """The dossier with every number."""
        return self._document(short=False)

    @cached_property
    def brief(self) -> Document:
        """The dossier with about a page for each result."""
        return self._document(short=True)

    def _document(self, *, short: bool) -> Document:
        facts = {
            "Data set": self.dataset.title,
            "Results": f"{len(self.releases)}",
            "Made": f"{self.made:%Y-%m-%d %H:%M} UTC",
        }
        return Document(self.title, facts, tuple(self._sections(short)))

    def _sections(self, short: bool) -> Iterator[Section]:
        yield Section("What is asked for", tuple(self._request()))
        yield Section("The data set", tuple(self._data()))
        yield from self._written()
        yield Section("What it cost in privacy", tuple(self._costs(short)))
        for place, release in enumerate(self.releases, 1):
            note = self.notes.get(release.id)
            blocks = result_blocks(release, note, place=place, short=short)
            yield Section(f"Result {place}: {self.name_of(release)}", blocks, result=True)
        yield Section("What this does not show", (Bullets(_LIMITS),))
        yield Section("Privacy statement", tuple(self._answers()))
        yield Section("Columns of the data set", tuple(self._columns()))

    def _request(self) -> Iterator[Written]:
        written = self.application
        if written.applicant.strip():
            yield Paragraph(written.applicant, lead="Who asks:")
        for line in paragraphs(written.request):
            yield Paragraph(line)
        if not written.applicant.strip() and not written.request.strip():
            yield Paragraph("Nothing is asked for: this dossier only reports.")

    def _data(self) -> Iterator[Written]:
        schema = self.dataset.schema
        for line in paragraphs(self.dataset.description):
            yield Paragraph(line)
        for lead, written in (("Held by:", self.application.curator), ("Region:", self.application.region)):
            if written.strip():
                yield Paragraph(written, lead=lead)
        seen = (
            "Public demonstration data: anybody may see the records."
            if self.dataset.public
            else "The records are private. Whoever made this dossier has seen none: every number below is noisy."
        )
        hidden = "" if schema.problem else "; how many there are is not said"
        yield Paragraph(
            f"{seen} At most {whole(schema.max_rows)} rows are kept{hidden}. The end of this dossier lists the columns."
        )

    def _written(self) -> Iterator[Section]:
        """What people read out of the results."""
        for title, said, told in (
            (
                "Findings",
                self.application.findings,
                "Written by those who made this dossier, after reading the results below.",
            ),
            ("Hypotheses", self.application.hypotheses, "Not shown by the results below: to be tested."),
        ):
            if said.strip():
                yield Section(title, (Paragraph(told, kind="small"), Bullets.of(*paragraphs(said))))

    def _costs(self, short: bool) -> Iterator[Written]:
        if self.problems:
            yield Paragraph(
                f"At least one result has no guarantee: {' '.join(self.problems)} What follows does not hold for it.",
                lead="Not private.",
                kind="warning",
            )
        rows = [(total.what, total.epsilon, total.delta, total.guarantee) for total in self.sums]
        yield Table.of("Privacy budget, exact", ("What", "ε", "δ", "Guarantee"), rows, kind="totals")
        yield Table.pairs("Budget of the data set, all analysts together", _budget(self.balance), "Part", "Share")
        if short:
            yield Table.of("What each result cost", ("Result", "ε", "δ", "Guarantee"), self._each())
        yield Paragraph(
            "Everything spent also includes other results, and runs that failed after reading records. Privacy is "
            "lost by everything that was spent, whether it is in this dossier or not."
        )
        if self.dataset.sharing:
            yield Paragraph(f"{self.dataset.sharing} What was spent on any of them counts here.")

    def _each(self) -> Iterator[tuple[str, str, str, str]]:
        for place, release in enumerate(self.releases, 1):
            epsilon, delta = cost_together([release], self.balance)
            name = f"{place}. {self.name_of(release)}"
            yield name, plain_epsilon(epsilon), small(delta), release.certificate.guarantee

    def _answers(self) -> Iterator[Written]:
        told = "The questions follow NIST SP 800-226 and what a public registry of chosen epsilons asks for."
        yield Paragraph(told, kind="small")
        yield Table.pairs("Privacy statement", self.statement, "Question", "Answer")

    def _columns(self) -> Iterator[Written]:
        yield Paragraph(f"Public: {words_of(self.dataset.schema.origins)}.", kind="small")
        yield from schema_tables(self.dataset.schema)


def _budget(balance: Balance) -> dict[str, str]:
    """The account of a data set, line by line."""
    return {
        "Budget": f"ε = {plain_epsilon(balance.cap)}{at_delta(balance.delta)}",
        "Spent": percent(balance.spent),
        "Reserved": percent(balance.reserved),
        "Left": percent(balance.left, up=False),
    }


def _check(dataset: DatasetInfo, releases: Sequence[Release]) -> None:
    if not releases:
        raise RequestError("Choose at least one result for the dossier.")
    if len(releases) > MOST_RELEASES:
        raise RequestError(f"A dossier holds at most {MOST_RELEASES} results: choose fewer.")
    for release in releases:
        if release.dataset_id != dataset.id:
            raise RequestError(
                f"Result {release.id[:6]} belongs to another data set: choose results of '{dataset.name}' only."
            )
