"""Chart, table, sentence, page, dossier and download of a result tell the same numbers, in every family."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import docx
import pandas as pd
import pytest

from dpcore.models.readable import readable
from dpcore.models.released import parse_model
from dpcore.released.blocks import Table
from dpcore.released.release import Release
from dpcore.report.dossier import Dossier
from dpcore.report.forms.forms import made
from dpcore.workspace.results.dossier import Application
from pages.components.families.shared import downloads
from pages.components.visitor import access
from tests.support.pages import agreement
from tests.support.pages.agreement import Sheet, Told, told
from tests.support.pages.agreement_groups import (
    Shown,
    in_clause_chart,
    in_csv,
    in_page_table,
    in_report_groups,
    in_rule_chart,
    in_sentences,
    in_short_report,
    in_tree_alt,
    in_tree_chart,
    of_groups,
)
from tests.support.pages.agreement_looks import (
    in_look_cards,
    in_look_charts,
    in_look_csv,
    in_look_tables,
    in_look_text,
    of_look,
)
from tests.support.pages.agreement_models import (
    in_pairs_chart,
    in_pairs_csv,
    in_pairs_sentences,
    in_pairs_table,
    in_shapes_charts,
    in_shapes_csv,
    in_shapes_tables,
    in_use_chart,
    in_use_table,
    of_pairs,
    of_shapes,
    of_use,
)
from tests.support.pages.family_pages import FAMILY_PAGES
from tests.support.pages.page_tools import checked, words
from tests.support.results.content import content

MORE = {"summaries": {"by": "died", "crosstabs": ["age by sex"]}}


def shown(name: str, monkeypatch: pytest.MonkeyPatch) -> Shown:
    """A real run of a family, its page opened, and what its CSV holds."""
    written: list[str] = []
    csv_of = downloads.frame_csv
    monkeypatch.setattr(downloads, "frame_csv", lambda frame: written.append(csv_of(frame)) or written[-1])
    own = FAMILY_PAGES[name]
    app = own.at_run(own.submit(own.add(), "8", **MORE.get(name, {})))
    [stored] = access.service().releases()
    release = readable(Release.model_validate_json(stored.to_json()))
    csv = pd.read_csv(io.StringIO(written[-1]), keep_default_na=False)
    return Shown(release, parse_model(release), content(release), words(checked(app)), csv)


@dataclass(frozen=True)
class Family:
    """The result of a family in numbers, and the places that show it."""

    exact: Callable[[Shown], Sheet]
    places: dict[str, Callable[[Shown], Sheet]]


GROUPS = {
    "download": in_csv,
    "dossier": in_report_groups,
    "short dossier": in_short_report,
    "sentences": in_sentences,
    "page": in_page_table,
}
FAMILIES = {
    "rule_list": Family(of_groups, {**GROUPS, "chart": in_rule_chart}),
    "tree": Family(of_groups, {**GROUPS, "chart": in_tree_chart, "alternative text": in_tree_alt}),
    "ilp": Family(of_groups, {**GROUPS, "chart": in_clause_chart}),
    "forest": Family(
        lambda found: of_groups(found) | of_use(found),
        {"download": in_csv, "dossier": in_report_groups, "chart": in_use_chart, "table": in_use_table},
    ),
    "ebm": Family(of_shapes, {"download": in_shapes_csv, "dossier": in_shapes_tables, "chart": in_shapes_charts}),
    "redescriptions": Family(
        of_pairs,
        {"download": in_pairs_csv, "dossier": in_pairs_table, "chart": in_pairs_chart, "sentences": in_pairs_sentences},
    ),
    "summaries": Family(
        of_look,
        {
            "download": in_look_csv,
            "dossier": in_look_tables,
            "chart": in_look_charts,
            "page": in_look_cards,
            "terminal": in_look_text,
        },
    ),
}


def test_every_family_is_walked() -> None:
    assert set(FAMILIES) == set(FAMILY_PAGES)


@pytest.mark.parametrize("name", FAMILIES)
def test_every_place_tells_the_numbers_of_the_result(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found, own = shown(name, monkeypatch), FAMILIES[name]
    exact = own.exact(found)
    places = {place: read(found) for place, read in own.places.items()}
    assert [place for place, sheet in places.items() if len(sheet) < 2] == []
    assert agreement.disagreements(exact, places) == []
    # A disagreement that is planted in each place is found there, and nowhere else.
    for place, sheet in places.items():
        key = max(sheet)
        planted = {**places, place: {**sheet, key: Told(sheet[key].value + 4 * sheet[key].half + 0.3, sheet[key].half)}}
        assert [line.partition(":")[0] for line in agreement.disagreements(exact, planted)] == [place]
    assert_forms(found)


def assert_forms(found: Shown) -> None:
    """Every form of a dossier has the same tables, and the row of everybody else."""
    service = access.service()
    [info] = service.datasets()
    dossier = Dossier(info, service.releases(), {}, service.total_balance(info.id), Application())
    whole, brief = (tables_of(document) for document in (dossier.whole, dossier.brief))
    assert rows_missing(whole, agreement.cells(made(dossier, "html").decode())) == []
    told_in_markdown = zipfile.ZipFile(io.BytesIO(made(dossier, "md"))).read("dossier.md").decode()
    assert rows_missing(brief, agreement.markdown_cells(told_in_markdown)) == []
    word = docx.Document(io.BytesIO(made(dossier, "docx")))
    lines = [[" ".join(cell.text.split()) for cell in row.cells] for table in word.tables for row in table.rows]
    assert rows_missing(brief, lines) == []
    assert set(brief) - set(whole) <= budget_rows(brief), "what is short is a part of what is whole"
    archive = zipfile.ZipFile(io.BytesIO(made(dossier, "zip")))
    assert json.loads(archive.read("result-1.json")) == json.loads(found.release.stored.to_json())
    if found.release.kind in ("rule_list", "ilp"):  # The last group is of everybody else, whatever is left out.
        last = content(found.release).tables[0].rows[-1]
        assert content(found.release, short=True).tables[0].rows[-1] == last


def tables_of(document: Any) -> list[tuple[str, ...]]:
    return [
        tuple(" ".join(cell.split()) for cell in row)
        for section in document.sections
        for block in section.blocks
        if isinstance(block, Table)
        for row in block.texts
    ]


def budget_rows(rows: list[tuple[str, ...]]) -> set[tuple[str, ...]]:
    """What stands in the short form alone: what each result cost."""
    return {row for row in rows if row[0].startswith("1. ")}


def rows_missing(wanted: list[tuple[str, ...]], rows: list[list[str]]) -> list[tuple[str, ...]]:
    """Rows that a form leaves out, or tells otherwise."""
    there = {tuple(row) for row in rows}
    return [row for row in wanted if row not in there]


def test_a_number_that_is_rounded_agrees_with_itself_alone() -> None:
    exact = {("a",): Told(0.0944)}
    agreeing = ("9.4%", "9%", "0.09", "0.0944")
    assert agreement.disagreements(exact, {text: {("a",): told(text)} for text in agreeing}) == []
    assert len(agreement.disagreements(exact, {text: {("a",): told(text)} for text in ("9.3%", "10%", "0.1944")})) == 3
    assert agreement.disagreements(exact, {"other": {("b",): told("9.4%")}}) == ["other: ('b',) is not in the result"]
    assert told("−1,234").value == -1234
    assert told("below 0.1%").meets(Told(0.0001))
