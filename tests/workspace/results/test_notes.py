"""Names and notes beside releases, on every database that the tests know."""

from __future__ import annotations

from decimal import Decimal

import pytest
from sqlalchemy.engine import Engine

from dpcore.errors import RequestError
from dpcore.privacy.losses import pure_loss
from dpcore.workspace.ledger.ledger import Ledger
from dpcore.workspace.results.notes import read_notes, write_note
from dpcore.workspace.results.sharing import Released
from tests.support.workspaces.accounts import add_row, release_for

COST = Decimal("0.5")


def released(engine: Engine, dataset_id: str = "data", name: str = "n") -> str:
    """Id of a new release of a data set."""
    ledger, release = Ledger(engine), release_for(COST, dataset_id)
    run = ledger.reserve(dataset_id, "ann", pure_loss(COST), name, "hash").id
    ledger.touch(run)
    ledger.commit(run, release)
    return release.id


@pytest.fixture
def release_id(engine: Engine) -> str:
    add_row(engine, "data", public=False)
    Ledger(engine).open_account("data", Decimal(2))
    return released(engine)


def test_a_note_can_be_written_and_changed(engine: Engine, release_id: str) -> None:
    assert read_notes(engine) == {}
    first = write_note(engine, release_id, "  A name ", "One line.\nAnother.", "ann")
    assert (first.name, first.note, first.author) == ("A name", "One line.\nAnother.", "ann")
    assert read_notes(engine) == {release_id: first}
    second = write_note(engine, release_id, "", "Εψιλον <b>", "bob")
    assert read_notes(engine) == {release_id: second}
    assert (second.name, second.note, second.author) == ("", "Εψιλον <b>", "bob")


def test_notes_change_neither_release_nor_ledger(engine: Engine, release_id: str) -> None:
    store = Released(engine)
    before = store.release(release_id, reader=None), Ledger(engine).entries("data")
    write_note(engine, release_id, "A name", "A note", "ann")
    assert (store.release(release_id, reader=None), Ledger(engine).entries("data")) == before


@pytest.mark.crossed
@pytest.mark.parametrize(
    ("name", "note", "sentence"),
    [
        ("n" * 101, "", "at most 100 characters"),
        ("two\nlines", "", "one line"),
        ("", "n" * 4001, "at most 4,000 characters"),
    ],
)
def test_what_is_too_long_is_refused_and_changes_nothing(
    engine: Engine, release_id: str, name: str, note: str, sentence: str
) -> None:
    kept = write_note(engine, release_id, "n" * 100, "n" * 4000, "ann")
    with pytest.raises(RequestError, match=sentence):
        write_note(engine, release_id, name, note, "ann")
    assert read_notes(engine) == {release_id: kept}


def test_what_no_database_can_hold_is_taken_out(engine: Engine, release_id: str) -> None:
    write_note(engine, release_id, "a\0b", "half \ud800 of one", "ann")
    [note] = read_notes(engine).values()
    assert (note.name, note.note) == ("ab", "half ? of one")
