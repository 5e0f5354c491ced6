"""Runs that are kept in a file, and what is still to do."""

from pathlib import Path

import numpy as np

from benchmarks import redescriptions
from benchmarks.redescriptions_kept import KeptRuns, still_to_do
from benchmarks.redescriptions_runs import GREEDY, HOUSE, PAIR, USUAL, Reading, Run


def run(method: str, epsilon: float | None, found: int) -> Run:
    draw = np.random.default_rng(found)
    numbers = [draw.random(found) for _ in range(4)]
    return Run(method, epsilon, 1.5, {USUAL: Reading(*numbers, held=numbers[0] > 0.5, suggested=40)}, recovered=2)


def same(one: Run, other: Run) -> bool:
    (mine,), (theirs,) = one.readings.values(), other.readings.values()
    arrays = all(
        np.array_equal(getattr(mine, name), getattr(theirs, name))
        and getattr(mine, name).dtype == getattr(theirs, name).dtype
        for name in ("noisy", "exact", "p_value", "support", "held")
    )
    facts = (one.method, one.epsilon, one.seconds, one.recovered, mine.suggested)
    return arrays and facts == (other.method, other.epsilon, other.seconds, other.recovered, theirs.suggested)


def test_runs_come_back_as_they_were_kept(tmp_path: Path) -> None:
    kept, runs = KeptRuns(tmp_path / "runs.jsonl"), [run(HOUSE, 0.1, 7), run(GREEDY, None, 3), run(PAIR, 1.0, 0)]
    assert kept.runs() == []
    for own in runs:
        kept.keep("npas", own)
    found = KeptRuns(tmp_path / "runs.jsonl").runs()
    assert [name for name, _ in found] == ["npas"] * 3
    assert all(same(one, other) for one, (_, other) in zip(runs, found, strict=True))


def test_a_line_that_was_cut_off_is_left_out(tmp_path: Path) -> None:
    """As after a power cut: the run is made again, the others are not."""
    path = tmp_path / "runs.jsonl"
    for found in (2, 3):
        KeptRuns(path).keep("npas", run(HOUSE, 0.1, found))
    path.write_text(path.read_text()[:-20])
    assert len(KeptRuns(path).runs()) == 1


def test_nothing_is_kept_without_a_file() -> None:
    kept = KeptRuns(None)
    kept.keep("npas", run(HOUSE, 0.1, 2))
    assert kept.runs() == []


def test_every_cell_has_one_run_before_any_has_two() -> None:
    first, second, best = ("npas", HOUSE, 1.0), ("npas", HOUSE, 0.1), ("npas", GREEDY, None)
    assert still_to_do([best, first, second], 3, []) == [best, first, second, first, second, first, second]
    assert still_to_do([best, first, second], 2, [first, first, best, second]) == [second]
    assert still_to_do([best, first], 1, [first, first, best]) == []


def test_what_is_kept_is_not_run_again(tmp_path: Path) -> None:
    """All is there, so that no run is made, and no minute is needed."""
    path = tmp_path / "runs.jsonl"
    request = redescriptions.Request(["checkups"], [1.0], [HOUSE], quick=True, kept=path, minutes=0)
    for own in (run(HOUSE, 1.0, 4), run(GREEDY, None, 5), run(HOUSE, 1.0, 6), run(HOUSE, 0.1, 6)):
        KeptRuns(path).keep("checkups", own)
    KeptRuns(path).keep("npas", run(HOUSE, 1.0, 4))
    (results,) = redescriptions.measure(request)
    assert {cell: len(runs) for cell, runs in results.runs.items()} == {(GREEDY, None): 1, (HOUSE, 1.0): 2}
    assert path.read_text().count("\n") == 5
    request = redescriptions.Request(["checkups"], [0.01], [PAIR], quick=True, kept=path, minutes=0)
    (results,) = redescriptions.measure(request)
    assert list(results.runs) == [(GREEDY, None)], "no time to begin a run"
