"""What the tree suite measured on one data set, and the tables that show it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from rich.table import Table

from benchmarks.cross_validation import ALPHA, verdict
from benchmarks.records import Record
from benchmarks.report import Part
from benchmarks.trees_methods import ADAPTIVE_FOREST, HOUSE, PRIVATE, RANDOM_TREES, Score
from benchmarks.trees_peers import METHODS as PEERS

#: Of single fits, by method and epsilon; no epsilon for a method that has none.
Seconds = dict[tuple[str, float | None], list[float]]


def peer_of(method: str) -> str | None:
    """The peer that does what one of our methods does."""
    if method not in PRIVATE:
        return None
    return PEERS[1] if PRIVATE[method].learner == "forest" else PEERS[0]


@dataclass
class Results:
    """Accuracies per fold and seconds per fit of every method on one data set.

    Attributes
    ----------
    scores : dict
        By method and epsilon (``None`` for a method that has none), in the order of the folds
        once sorted.
    refusals : dict
        Why a method could not run, by method and epsilon.
    """

    data: str
    epsilons: list[float]
    scores: dict[tuple[str, float | None], list[Score]] = field(default_factory=dict)
    seconds: Seconds = field(default_factory=dict)
    refusals: dict[tuple[str, float | None], str] = field(default_factory=dict)

    def add(self, scores: Sequence[Score]) -> None:
        """Take in the scores of one fold."""
        for score in scores:
            place = (score.method, score.epsilon)
            if score.refusal:
                self.refusals[place] = score.refusal
            else:
                self.scores.setdefault(place, []).append(score)

    def sort(self) -> None:
        """Put the folds of every method in the same order, so that they can be paired."""
        for scores in self.scores.values():
            scores.sort(key=lambda score: (score.repeat, score.fold))

    @property
    def methods(self) -> list[str]:
        """Methods with a score, in the order of the first one that came in."""
        return list(dict.fromkeys(method for method, _ in self.scores))

    def at(self, method: str, epsilon: float) -> list[float]:
        """Accuracy on each fold; that of a method without epsilon is the same at each."""
        scores = self.scores.get((method, epsilon)) or self.scores.get((method, None)) or []
        return [score.accuracy for score in scores]

    def peer_seconds(self, method: str, epsilon: float | None) -> float | None:
        """Median seconds of the peer that does the same, if it was measured."""
        runs = self.seconds.get((peer_of(method) or "", epsilon))
        return float(np.median(runs)) if runs else None


def parts(results: Sequence[Results], order: Sequence[str]) -> Iterator[Part]:
    """Accuracies with the signs of the tests, then seconds, for each data set."""
    for found in results:
        methods = [method for method in order if method in found.methods]
        yield _accuracy_table(found, methods)
        if {ADAPTIVE_FOREST, RANDOM_TREES} <= set(methods):
            yield _forest_table(found)
        yield _seconds_table(found, methods)
        for (method, epsilon), reason in found.refusals.items():
            yield f"{found.data}, {method} at {epsilon:g} did not run: {reason}"
    yield (
        f"Signs, paired t test over the folds, two-sided, alpha {ALPHA:g}, each cell on its own:\n"
        f"  accuracy   {HOUSE} is significantly better than this method (+), worse (-), "
        "neither (=)\n"
        f"  forests    {ADAPTIVE_FOREST} is significantly better than {RANDOM_TREES} (+), worse "
        "(-), neither (=)\n"
        "Accuracies were measured with two processes at a time, seconds afterwards with one; in "
        "brackets: how\nmany times the seconds of diffprivlib's tree or forest in the same run."
    )


def _accuracy_table(found: Results, methods: Sequence[str]) -> Table:
    counts = {len(scores) for scores in found.scores.values()}
    folds = ", ".join(f"{count} folds" for count in sorted(counts))
    table = _table(f"{found.data}: accuracy ({folds})", found.epsilons)
    for method in methods:
        figures = []
        for epsilon in found.epsilons:
            ours, house = found.at(method, epsilon), found.at(HOUSE, epsilon)
            sign = f" {verdict(house, ours)}" if house and ours and method != HOUSE else "  "
            figures.append(f"{np.mean(ours):.3f}".lstrip("0") + sign if ours else "")
        table.add_row(method, *figures)
    return table


def _forest_table(found: Results) -> Table:
    table = _table(f"{found.data}: forests", found.epsilons)
    pairs = [(found.at(ADAPTIVE_FOREST, epsilon), found.at(RANDOM_TREES, epsilon)) for epsilon in found.epsilons]
    figures = [
        _signed(float(np.mean(ours) - np.mean(theirs))) + " " + verdict(ours, theirs) if ours and theirs else ""
        for ours, theirs in pairs
    ]
    table.add_row("RFDiffP less PRDT", *figures)
    return table


def _signed(difference: float) -> str:
    """A difference of accuracies, without the leading zero."""
    return f"{difference:+.3f}".replace("0.", ".", 1)


def _seconds_table(found: Results, methods: Sequence[str]) -> Table:
    epsilons = sorted({epsilon for _, epsilon in found.seconds if epsilon is not None})
    table = _table(f"{found.data}: seconds per fit (median)", epsilons)
    for method in methods:
        table.add_row(method, *(_seconds_cell(found, method, epsilon) for epsilon in epsilons))
    return table


def _seconds_cell(found: Results, method: str, epsilon: float) -> str:
    runs = found.seconds.get((method, epsilon)) or found.seconds.get((method, None))
    if not runs:
        return ""
    median, theirs = float(np.median(runs)), found.peer_seconds(method, epsilon)
    return f"{median:.3f}" + (f" ({median / theirs:.1f})" if theirs else "")


def _table(title: str, epsilons: Sequence[float]) -> Table:
    table = Table(title=title, padding=(0, 0, 0, 1), pad_edge=False)
    table.add_column("epsilon", no_wrap=True)
    for epsilon in epsilons:
        table.add_column(f"{epsilon:g}", justify="right", no_wrap=True)
    return table


def references(records: Sequence[Record]) -> Iterator[Part]:
    """Each accuracy that has a reference, and their ratio."""
    known = [record for record in records if record.metric == "accuracy" and record.reference]
    table = Table(title="Beside references")
    for heading in ("data", "method", "epsilon", "accuracy", "reference", "ratio", "source"):
        table.add_column(heading, overflow="fold")
    for record in known:
        assert record.reference
        table.add_row(
            record.data,
            record.method,
            "" if record.epsilon is None else f"{record.epsilon:g}",
            f"{record.mean:.3f}",
            f"{record.reference:.3f}",
            f"{record.mean / record.reference:.2f}",
            record.reference_source,
        )
    if known:
        yield table
