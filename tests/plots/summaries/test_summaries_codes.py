"""Figures of codes down their groups, and of columns over time, with what they say without being seen."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import cache

import pytest

from dpcore.commands.text import release_text
from dpcore.domain.schemas.schema import Schema
from dpcore.models.readable import readable
from dpcore.models.registry import LEARNERS
from dpcore.models.released import parse_model
from dpcore.models.summaries.released.intervals import Amount
from dpcore.models.summaries.released.reading import readings
from dpcore.models.summaries.released.summary_words import Branch, branches
from dpcore.plots.summaries.summaries import by_group, column_figure, everybody, shown_periods
from dpcore.plots.summaries.summaries_codes import MOST_BARS, codes_alt, codes_figure, largest
from dpcore.rehearsal import rehearse
from tests.support.results.content import content
from tests.support.tables.small_tables import ward

SCHEMA = ward(
    {"name": "sex", "type": "categorical", "categories": ["f", "<b>m</b>"]},
    {
        "name": "drug",
        "label": "First drug",
        "type": "categorical",
        "categories": ["C07A", "N02A", "N02B"],
        "derive": {"code": "atc", "system": "atc", "level": "3"},
    },
    {
        "name": "admitted",
        "label": "Month of admission",
        "type": "ordinal",
        "derive": {"part": "year-month", "of": "day", "earliest": "2023-11-01", "latest": "2024-12-31"},
    },
    max_rows=3000,
)


@cache
def made(schema=SCHEMA):
    learner = LEARNERS["summaries"]
    plan = learner.plan(schema, "", Decimal(4), {"codes": ["drug"], "by": "sex"})
    release = readable(rehearse(learner, schema, plan))
    model = parse_model(release)
    return release, model, readings(model, release.domain)


def test_codes_are_drawn_from_the_coarsest_groups_down():
    release, model, _ = made()
    found = branches(model, release.domain, 0)
    assert [branch.depth for branch in found] == [0, 0, 1, 1]
    assert found[0].name == "C: Cardiovascular system (C07A)"
    labels = codes_figure(found, "people", "First drug").layout.yaxis.ticktext
    assert labels[1].startswith("<b>N: ")
    assert labels[2] == "· N02A"
    assert "N02B" in codes_alt(found, "people", "First drug")
    assert "N02B" in release_text(release)


@pytest.mark.parametrize(("most", "noun"), [(1, "people"), (2, "records")])
def test_a_first_look_says_what_it_counts(most, noun):
    unit = {"column": "who", "max_rows_per_person": most}
    schema = Schema.from_mapping(SCHEMA.model_dump(mode="json") | {"privacy_unit": unit})
    release, *_ = made(schema)
    assert re.fullmatch(rf"[\d,]+ \([^)]+\) {noun} in all\.", content(release).sentences[0])


def test_a_picture_holds_the_largest_branches_with_those_they_are_part_of():
    whole = Branch("all", "chapters", 0, Amount(5000, 4990, 5010), 1.0, 0)
    parts = [Branch(f"b{n}", "", 1, Amount(n, n - 1, n + 1), n / 5000, 0) for n in range(2, 90)]
    shown = largest([whole, *parts])
    assert len(shown) == MOST_BARS
    assert shown[0] is whole
    assert shown[-1].name == "b89"


def test_months_are_drawn_from_the_first_to_the_last_that_anybody_is_in():
    release, model, told = made()
    assert told[2].axis.time
    column = everybody(release.domain, told[2])
    shown = shown_periods(column)
    assert [column.names[place] for place in (shown[0], shown[-1])] == ["Nov 2023", "Dec 2024"]
    figure = column_figure(column)
    assert list(figure.data[-1].x) == list(range(len(shown)))
    assert figure.layout.xaxis.ticktext[0] == "Nov 2023"
    grouped = column_figure(by_group(model, release.domain, told[2]))
    assert [trace.name for trace in grouped.data if trace.showlegend is not False] == ["f", "&lt;b&gt;m&lt;/b&gt;"]


def test_a_saved_page_holds_codes():
    release, _, _ = made()
    assert any(picture.title == "First drug by groups" for picture in content(release).pictures)
