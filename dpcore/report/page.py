"""Files that open anywhere: one release as a page, several as a dossier.

A file holds everything that it shows. Its first lines forbid the browser to fetch anything, and
every text from outside is escaped by the templates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from dpcore.domain.origins import words_of
from dpcore.errors import RequestError
from dpcore.privacy.budgets import at_delta, exact_amount, plain_epsilon
from dpcore.released.plan import guaranteed_odds
from dpcore.released.release import Release
from dpcore.report.certificate import certificate_lines
from dpcore.report.contents import WIDTH, Content, Picture, content, heading
from dpcore.report.domain import schema_tables
from dpcore.report.names import method_name
from dpcore.report.spending import plain_sum
from dpcore.report.statement import statement
from dpcore.report.totals import exact_epsilon, totals, weakest
from dpcore.workspace.dossier import MOST_RELEASES, Application, paragraphs
from dpcore.workspace.requests import Balance, DatasetInfo, ReleaseNote

_TEMPLATES = Path(__file__).with_name("templates")
#: Pixels of a sheet that a figure may take, and how far it may shrink for it.
_HEIGHT, _SMALLEST = 900, 0.6
_CHART = {"staticPlot": True, "displayModeBar": False}


@dataclass(frozen=True)
class Section:
    """One release as a part of a file."""

    title: str
    kind: str
    release: Release
    note: ReleaseNote | None
    content: Content
    figures: list[tuple[Picture, Markup]] = field(repr=False)

    @property
    def facts(self) -> dict[str, str]:
        """What a reader wants to know first."""
        card = self.release.certificate
        method = method_name(self.release.kind, self.release.parameters)
        return {
            "Result": f"{self.kind} ({method})" if method else self.kind,
            "ε": plain_epsilon(card.epsilon),
            "δ": exact_amount(card.delta),
            "Guarantee": card.guarantee,
            "Made": f"{card.created:%Y-%m-%d %H:%M} UTC",
            "Number": self.release.id,
        }

    @property
    def certificate(self) -> dict[str, str]:
        """The certificate, line by line."""
        return certificate_lines(self.release)

    @property
    def odds(self) -> str:
        """What its epsilon means."""
        card = self.release.certificate
        return guaranteed_odds(card.epsilon, card.delta, card.guarantee)


def release_page(release: Release, note: ReleaseNote | None = None, *, stored: bool = True) -> str:
    """One release as a file of HTML that needs nothing else.

    Parameters
    ----------
    stored : bool
        ``False`` for a rehearsal on invented records, which the file then says.
    """
    section = _section(release, note, 1)
    return _render("release.html", section=section, stored=stored)


def fragment(template: str, release: Release, **values: Any) -> str:
    """A part of a page about one release, by a template that draws no figure."""
    kind = heading(release)
    section = Section(kind, kind, release, None, content(release), [])
    return _templates().get_template(template).render(section=section, **values)


def dossier(
    dataset: DatasetInfo,
    releases: Sequence[Release],
    notes: Mapping[str, ReleaseNote],
    balance: Balance,
    application: Application,
    every: Sequence[Release] = (),
) -> str:
    """Several releases of a data set as a file to attach to a request for access.

    Parameters
    ----------
    balance : Balance
        Of the data set, all analysts together.
    every : sequence of Release
        All releases of the data set, for the kind of guarantee of everything spent.

    Raises
    ------
    RequestError
        If no release is chosen, too many are, or one is of another data set.
    """
    chosen = list({release.id: release for release in releases}.values())
    _check(dataset, chosen)
    sums = totals(chosen, balance, weakest([*chosen, *every]))
    return _render(
        "dossier.html",
        dataset=dataset,
        application=application,
        title=application.title.strip() or f"Dossier on {dataset.title}",
        sections=[_section(r, notes.get(r.id), place) for place, r in enumerate(chosen, 1)],
        totals=sums,
        balance=_budget(balance),
        statement=statement(dataset, chosen, sums, application),
        schema=schema_tables(dataset.schema),
        origin=words_of(dataset.schema.origins),
        problems=_problems(chosen),
        made=f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
    )


def _budget(balance: Balance) -> dict[str, str]:
    """The account of a data set, line by line."""
    added = plain_sum(balance)
    return {
        "Budget": f"{exact_epsilon(balance.cap)}{at_delta(balance.delta)}",
        "Spent": exact_epsilon(balance.spent),
        "Reserved": exact_epsilon(balance.reserved),
        **({} if added is None else {"Added up, what each run promises by itself": exact_epsilon(added)}),
        "Left": exact_epsilon(balance.left, up=False),
    }


def _problems(releases: Sequence[Release]) -> list[str]:
    """Why some results are not private, each reason once."""
    return list(dict.fromkeys(why for r in releases for why in r.certificate.problems))


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


def _section(release: Release, note: ReleaseNote | None, place: int) -> Section:
    found, kind = content(release), heading(release)
    drawn = [(picture, _drawn(picture, f"figure-{place}-{number}")) for number, picture in enumerate(found.pictures, 1)]
    return Section(note.name if note and note.name else kind, kind, release, note, found, drawn)


def _drawn(picture: Picture, place: str) -> Markup:
    """A figure that stands still and fits on a sheet."""
    from plotly.io import to_html

    figure = picture.figure
    meta = figure.layout.meta
    width = max(WIDTH, int(meta["width"])) if meta else WIDTH
    height = float(figure.layout.height or 450)
    figure.update_layout(width=width, height=height, autosize=False)
    shrink = max(_SMALLEST, min(1.0, _HEIGHT / height))
    shrink = min(shrink, WIDTH / width)
    markup = to_html(
        figure, config=_CHART, include_plotlyjs=False, include_mathjax=False, full_html=False, div_id=place
    )
    return Markup('<div style="zoom: {:.3f}">').format(shrink) + Markup(markup) + Markup("</div>")


@cache
def _templates() -> Environment:
    found = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters["paragraphs"] = paragraphs
    return found


def _render(template: str, **values: Any) -> str:
    from plotly.offline import get_plotlyjs

    style = (_TEMPLATES / "style.css").read_text(encoding="utf-8")
    return _templates().get_template(template).render(style=Markup(style), script=Markup(get_plotlyjs()), **values)
