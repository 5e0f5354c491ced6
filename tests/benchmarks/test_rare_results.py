"""Areas that are kept in a file are not measured again, and only what was asked for is measured."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from benchmarks import rare_results
from benchmarks.environments import LeftOutError
from benchmarks.kept import KeptLines
from benchmarks.rare import SEEN, TABLES, Problem
from benchmarks.rare_methods import PROGRAMS, Program, Scored, Splits
from benchmarks.rare_results import Request, run, tables
from benchmarks.records import Record
from benchmarks.report import text
from tests.benchmarks.test_rare import needs_data

HEART, PIMA = "heart, 303 rows", "pima, 768 rows"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, float | None, tuple[int, ...]]]:
    """What two stand-ins are asked for: one scores evenly, the other cannot be had."""
    found: list[tuple[str, float | None, tuple[int, ...]]] = []

    def even(one: Problem, splits: Splits, epsilon: float | None) -> Iterator[Scored]:
        found.append((one.data.target, epsilon, tuple(splits)))
        for number, rows in splits.items():
            yield "even", number, np.zeros(int(rows.sum()))
            yield "also even", number, np.ones(int(rows.sum()))

    def gone(one: Problem, splits: Splits, epsilon: float | None) -> Iterator[Scored]:
        for number, rows in splits.items():
            if number == 1:
                raise LeftOutError("it failed")
            yield "gone", number, np.zeros(int(rows.sum()))

    stand_ins = {"even": Program(("even", "also even"), even), "gone": Program(("gone",), gone, peer=True)}
    monkeypatch.setattr(rare_results, "PROGRAMS", stand_ins)
    return found


def keep(path: Path, method: str, epsilon: float, split: int, area: float) -> None:
    KeptLines(path).keep({"data": HEART, "method": method, "epsilon": epsilon, "split": split, "area": area})


@needs_data
def test_what_is_kept_is_not_measured_again(tmp_path: Path, asked: list[object]) -> None:
    path = tmp_path / "areas.jsonl"
    for split, area in enumerate((0.9, 0.7)):
        keep(path, "even", 1.0, split, area)
        keep(path, "also even", 1.0, split, area)
    request = Request([HEART], [0.1, 1.0], ["even"], splits=3, kept=path)
    found = [own for own in run(request) if isinstance(own, Record)]
    assert asked == [("disease", 0.1, (0, 1, 2)), ("disease", 1.0, (2,))]
    assert {(own.method, own.epsilon): own.mean for own in found} == pytest.approx(
        {("even", 0.1): 0.5, ("also even", 0.1): 0.5, ("even", 1.0): 0.7, ("also even", 1.0): 0.7}
    )
    again = list(run(request))
    assert len(asked) == 2
    assert again == found
    (fewer, *_) = run(Request([HEART], [1.0], ["even"], splits=2, kept=path))
    assert isinstance(fewer, Record)
    assert (fewer.mean, fewer.n) == (pytest.approx(0.8), 2)


@needs_data
def test_a_rival_that_fails_keeps_what_it_did_and_says_so(tmp_path: Path, asked: list[object]) -> None:
    path = tmp_path / "areas.jsonl"
    found = list(run(Request([HEART], [1.0], None, splits=3, kept=path)))
    assert len(asked) == 1
    assert f"{HEART}: not all figures of gone: it failed" in found
    records = [own for own in found if isinstance(own, Record)]
    assert {own.method: own.n for own in records} == {"even": 3, "also even": 3, "gone": 1}
    assert "(1 of 3 splits)" in text(tables(records))
    assert all(line["area"] == 0.5 for line in KeptLines(path).lines())


@needs_data
def test_of_two_encodings_the_better_counts_in_each_cell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = Program(("tree", "forest"), lambda *_: iter(()), encodings=("one-hot", "ordinal"))
    monkeypatch.setattr(rare_results, "PROGRAMS", {"rival": program})
    path = tmp_path / "areas.jsonl"
    kept = {
        ("tree, one-hot", 1.0): (0.9, 0.5),
        ("tree, ordinal", 1.0): (0.6, 0.6),
        ("forest, one-hot", 1.0): (0.6, 0.6),
        ("forest, ordinal", 1.0): (0.5, 0.8),
        ("tree, one-hot", 4.0): (0.6, 0.6),
        ("tree, ordinal", 4.0): (0.9, 0.9),
        ("forest, ordinal", 4.0): (0.5, 0.5),
        ("forest, one-hot", 4.0): (0.9,),
    }
    for (method, epsilon), areas in kept.items():
        for split, area in enumerate(areas):
            keep(path, method, epsilon, split, area)
    found = [own for own in run(Request([HEART], [1.0, 4.0], splits=2, kept=path)) if isinstance(own, Record)]
    assert {(own.method, own.epsilon): (own.mean, own.n) for own in found} == {
        ("tree", 1.0): (pytest.approx(0.7), 2),
        ("forest", 1.0): (pytest.approx(0.65), 2),
        ("tree", 4.0): (pytest.approx(0.9), 2),
        ("forest", 4.0): (pytest.approx(0.5), 2),
    }


def test_a_table_says_which_methods_have_seen_it() -> None:
    shown = list(tables([Record("records", name, "tree", 1.0, "", 0.5, 0.1, 5, None, "") for name in TABLES]))
    titles = [str(one.title).partition(":")[0] for one in shown]
    assert [name for name, title in zip(TABLES, titles, strict=True) if title.endswith("looked at on it")] == list(SEEN)
    assert str(shown[-1].title).startswith("pima, 768 rows (constants chosen or looked at on it: shape functions)")


def test_peers_can_be_left_out_and_a_model_without_privacy_has_no_epsilon() -> None:
    cells = list(Request([PIMA], [0.1, 4.0], peers=False).cells())
    assert ("pima, 768 rows", "tree", 4.0) in cells
    assert [epsilon for _, name, epsilon in cells if name == "tree, not private"] == [None]
    assert not any(PROGRAMS[name].peer for _, name, _ in cells)


def test_a_line_that_was_cut_off_takes_no_other_with_it(tmp_path: Path) -> None:
    path = tmp_path / "areas.jsonl"
    for split in range(2):
        keep(path, "even", 1.0, split, 0.5)
    path.write_text(path.read_text()[:-5])
    keep(path, "even", 1.0, 2, 0.5)
    assert [line["split"] for line in KeptLines(path).lines()] == [0, 2]
