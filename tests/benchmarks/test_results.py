"""From measurements to results, tables and files."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from benchmarks.results import Cell, Layout, Line, Result, Stored, compared, number, p_value, summarised


def lines(method: str, values: list[float], epsilon: float | None = 1.0, metric: str = "AUC") -> list[Line]:
    """One line a seed."""
    return [Line(Cell("adult", method, epsilon, seed), {metric: value}) for seed, value in enumerate(values)]


def test_figures_are_means_over_seeds_and_times_medians() -> None:
    cell = [Cell("adult", "tree", 1.0, seed) for seed in range(3)]
    figures = ({"AUC": 0.7, "seconds": 1.0}, {"AUC": 0.8, "seconds": 9.0}, {"AUC": 0.9, "seconds": 2.0, "found": [1]})
    auc, seconds = summarised([Line(*own) for own in zip(cell, figures, strict=True)])
    assert (auc.value, auc.spread, auc.n) == (pytest.approx(0.8), pytest.approx(0.1 / math.sqrt(3)), 3)
    assert (seconds.metric, seconds.value) == ("seconds", 2.0)


def test_a_figure_that_is_not_there_counts_for_nothing() -> None:
    [found] = summarised(lines("tree", [0.7, math.nan, 0.9]))
    assert (found.value, found.n) == (pytest.approx(0.8), 2)


def test_of_variants_the_better_counts_and_before_that_the_one_with_more_seeds() -> None:
    both = lines("rival [one-hot]", [0.9, 0.5]) + lines("rival [ordinal]", [0.6, 0.9])
    [found] = summarised(both + lines("rival [third]", [1.0]))
    assert (found.method, found.value, found.n) == ("rival", 0.75, 2)


def test_the_paired_test_agrees_with_a_table_of_the_t_distribution() -> None:
    """With 9 degrees of freedom the two-sided 5 % point is 2.262."""
    spread = np.array([-1.0, 1.0] * 5)
    error = spread.std(ddof=1) / np.sqrt(10)
    assert p_value((spread + 2.263 * error).tolist(), [0.0] * 10) < 0.05
    assert p_value((spread + 2.261 * error).tolist(), [0.0] * 10) > 0.05


@pytest.mark.parametrize(
    ("ours", "mark"),
    [
        ([0.80, 0.82, 0.81, 0.80], "+"),
        ([0.60, 0.62, 0.61, 0.60], "-"),
        ([0.70, 0.71, 0.72, 0.70], "="),
        ([0.9, 0.1, 0.9, 0.9], "="),
        ([0.9], "="),
    ],
)
def test_the_sign_says_which_is_better(ours: list[float], mark: str) -> None:
    theirs = [0.70, 0.71, 0.72, 0.70]
    [found] = compared(lines("tree", ours) + lines("rival", theirs), "AUC", "rival")
    assert found.mark == mark
    assert found.value == pytest.approx(np.mean(ours) - np.mean(theirs[: len(ours)]))
    [lower] = compared(lines("tree", ours) + lines("rival", theirs), "AUC", "rival", lower=True)
    assert lower.value == pytest.approx(-found.value)


def test_only_the_same_seeds_are_compared_and_a_method_without_epsilon_at_each() -> None:
    own = [line for line in lines("plain", [0.9, 0.9, 0.9], None) if line.cell.seed != 1]
    found = list(compared(own + lines("rival", [0.5, 0.0, 0.7]) + lines("rival", [0.8], 4.0), "AUC", "rival"))
    assert [(r.epsilon, r.n, r.value) for r in found] == [(1.0, 2, pytest.approx(0.3)), (4.0, 1, pytest.approx(0.1))]


RESULTS = [
    Result("adult", "tree", 1.0, "AUC", 0.85123, 0.0021, 5),
    Result("adult", "tree", 0.1, "AUC", 0.8, 0.0512, 5, "+"),
    Result("nursery", "tree", 1.0, "AUC", 0.9, n=1),
    Result("adult", "not private", None, "AUC", 0.9, 0.001, 5),
    Result("adult", "tree", 1.0, "seconds", 1234.5, n=5),
    Result("adult", "paper", 1.0, "AUC", 0.75),
]


def test_a_table_has_the_axes_that_are_asked_for() -> None:
    table = Layout(metrics=("AUC",), title="AUC", digits=3).table(RESULTS)
    assert table is not None
    assert table.markdown() == (
        "**AUC**\n\n"
        "|data|ε|tree|not private|paper|\n"
        "|---|---|---|---|---|\n"
        "|adult|0.1|0.800 ± 0.051 +|||\n"
        "||1|0.851 ± 0.002||0.750|\n"
        "||none||0.900 ± 0.001||\n"
        "|nursery|1|0.900|||"
    )


def test_columns_may_be_epsilons_and_rows_of_the_same_data_stand_together() -> None:
    table = Layout(rows=("data", "method"), columns=("epsilon",), metrics=("AUC",), spread=False).table(RESULTS)
    assert table is not None
    assert list(table.heads) == ["data", "method", "ε = 0.1", "ε = 1", "not private"]
    assert [row[:2] for row in table.rows] == [
        ["adult", "tree"],
        ["", "not private"],
        ["", "paper"],
        ["nursery", "tree"],
    ]


def test_a_table_shows_what_it_is_for_alone() -> None:
    assert Layout(metrics=("accuracy",)).table(RESULTS) is None
    table = Layout(rows=("method",), columns=("metric",), where=lambda own: own.data == "adult", percent=True).table(
        [own for own in RESULTS if own.epsilon == 1.0]
    )
    assert table is not None
    assert list(table.rows) == [["tree", "85.12 ± 0.21", "123,450"], ["paper", "75", ""]]


@pytest.mark.parametrize(
    ("value", "shown"), [(0.00428, "0.00428"), (65827.4, "65,827"), (10.0, "10"), (0.7396, "0.7396"), (math.nan, "")]
)
def test_numbers_have_four_significant_digits(value: float, shown: str) -> None:
    assert number(value) == shown


def test_results_come_back_from_a_file_and_newer_ones_take_their_place(tmp_path: Path) -> None:
    path = tmp_path / "toy.json"
    stored = Stored.read(path)
    stored.add("first", RESULTS, ["a note"])
    stored.add("second", [Result("adult", "tree", 1.0, "AUC", 0.86, 0.0021, 5), Result("x", "y", None, "z", math.nan)])
    stored.write(path)
    found = Stored.read(path)
    assert [run["command"] for run in found.runs] == ["first", "second"]
    assert found.runs[0]["notes"] == ["a note"]
    assert len(found.results) == len(RESULTS), "a figure that is not known is not kept"
    assert {(place, own.value) for place, own in found.results if own.key == RESULTS[0].key} == {(1, 0.86)}
    other_seeds = Result("adult", "tree", 1.0, "AUC", 0.5, n=20)
    found.add("third", [other_seeds])
    assert len(found.results) == len(RESULTS) + 1
    found.add("fourth", [own for _, own in found.results])
    assert [run["command"] for run in found.runs] == ["fourth"], "a run without results is forgotten"
