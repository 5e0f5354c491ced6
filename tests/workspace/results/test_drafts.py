"""Drafts of reports, on every database that the tests know."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy.engine import Engine

from dpcore.errors import RequestError
from dpcore.workspace.database.database_tables import report_drafts
from dpcore.workspace.database.transactions import write
from dpcore.workspace.results.dossier import MOST_RELEASES, TEXT_LIMIT, Application
from dpcore.workspace.results.drafts import Draft, SavedDraft, read_draft, write_draft
from tests.support.workspaces.accounts import add_row

FULL = Draft(
    application=Application("Title", "Ann", "Records", "One\nTwo", 'Εψιλον "<b>"', "Why", "How"),
    releases=("second", "first"),
)


@pytest.fixture
def engine(engine: Engine) -> Engine:
    for name in ("data", "other"):
        add_row(engine, name, public=False)
    return engine


def kept(engine: Engine, dataset_id: str = "data", author: str = "ann") -> Draft | None:
    found = read_draft(engine, dataset_id, author)
    return None if found is None else found.draft


def test_a_draft_can_be_kept_changed_and_thrown_away(engine: Engine) -> None:
    assert read_draft(engine, "data", "ann") is None
    write_draft(engine, "data", "ann", FULL)
    found = read_draft(engine, "data", "ann")
    assert isinstance(found, SavedDraft)
    assert found.draft == FULL
    assert abs(datetime.now(UTC) - found.time) < timedelta(hours=1)
    write_draft(engine, "data", "ann", Draft(releases=("third",)))
    assert kept(engine) == Draft(releases=("third",))
    write_draft(engine, "data", "ann", None)
    assert read_draft(engine, "data", "ann") is None


def test_each_author_and_each_data_set_has_a_draft(engine: Engine) -> None:
    drafts = {(data, who): Draft(releases=(data, who)) for data in ("data", "other") for who in "ab"}
    for (data, who), draft in drafts.items():
        write_draft(engine, data, who, draft)
    assert {place: kept(engine, *place) for place in drafts} == drafts
    write_draft(engine, "data", "a", None)
    left = {place: draft for place, draft in drafts.items() if place != ("data", "a")}
    assert {place: kept(engine, *place) for place in left} == left
    assert kept(engine, "data", "a") is None


def test_the_longest_draft_fits_and_a_longer_one_changes_nothing(engine: Engine) -> None:
    written = Application(**{**vars(FULL.application), "findings": '"\n' * (TEXT_LIMIT // 2)})
    most = Draft(application=written, releases=tuple(f"{n:064}" for n in range(MOST_RELEASES)))
    write_draft(engine, "data", "ann", most)
    assert kept(engine) == most
    with pytest.raises(RequestError, match="at most 30 results: choose fewer"):
        write_draft(engine, "data", "ann", Draft(releases=("x",) * (MOST_RELEASES + 1)))
    with pytest.raises(RequestError, match="no such release"):
        write_draft(engine, "data", "ann", Draft(releases=("x" * 65,)))
    with pytest.raises(RequestError, match="findings is too long: use at most 10,000"):
        Draft(application=Application(findings="x" * (TEXT_LIMIT + 1)))
    assert kept(engine) == most


@pytest.mark.crossed
@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        "null",
        '{"application": {"title": 3}}',
        '{"application": {"unknown": ""}}',
        '{"application": {"title": "' + "x" * 201 + '"}}',
        '{"releases": "all"}',
        '{"more": 1}',
    ],
)
def test_a_broken_draft_gives_a_sentence_and_can_be_replaced(engine: Engine, content: str) -> None:
    row = {"dataset_id": "data", "author": "ann", "content": content, "time": datetime.now(UTC)}
    write(engine, lambda connection: connection.execute(report_drafts.insert().values(**row)))
    with pytest.raises(RequestError, match="can no longer be read"):
        read_draft(engine, "data", "ann")
    write_draft(engine, "data", "ann", FULL)
    assert kept(engine) == FULL


def test_what_no_database_can_hold_is_taken_out(engine: Engine) -> None:
    write_draft(engine, "data", "ann", Draft(application=Application("a\0b", "half \ud800 of one")))
    assert kept(engine) == Draft(application=Application("ab", "half ? of one"))
