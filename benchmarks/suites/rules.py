"""Rule lists against the thesis (Belardo 2018, tables 6.1 to 6.3), and lists of a number of rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np

from benchmarks import smooth_lists
from benchmarks.declared import Quick, Suite
from benchmarks.problems import Problem, Split, first, fitted, split
from benchmarks.results import Cell, Layout, Line, Result
from dpcore.arrays import Flags, Floats
from dpcore.models.rules.released.rule_list_parameters import RuleListParameters

THESIS: Final = "thesis"
_EPSILONS: Final = (0.9, 0.5, 0.1, 0.01)
#: The thesis's settings by data set: records to learn from, conditions, mean length and steps of the chain.
SETTINGS: Final = {
    "adult": (30_000, 300, 13, 3_000),
    "mushroom": (7_000, 300, 7, 1_500),
    "titanic": (800, 28, 3, 1_000),
}
#: Its figures by data set and epsilon: AUC, rules, conditions of a rule, seconds on its machine.
_THESIS: Final = {
    "adult": (
        (0.663, 17.6, 3.06, 386.8),
        (0.609, 17.8, 2.94, 354.9),
        (0.642, 23.4, 2.86, 335.5),
        (0.605, 9, 2.733, 248.5),
    ),
    "mushroom": (
        (0.978, 12.2, 3.42, 44.2),
        (0.974, 10, 3.44, 38.6),
        (0.972, 8.4, 3.87, 34.8),
        (0.613, 12.6, 3.19, 30.8),
    ),
    "titanic": (
        (0.782, 5.4, 1.56, 2.57),
        (0.770, 12.4, 1.57, 2.81),
        (0.650, 7.2, 1.65, 2.56),
        (0.563, 6.8, 1.65, 2.13),
    ),
}
_FIGURES: Final = ("AUC", "rules", "conditions of a rule", "seconds")
_SAMPLERS: Final = {"lookahead": "lookahead", "pool": "pool", "chain": "mcmc"}
_GREEDY: Final = {smooth_lists.name(noise): noise for noise in smooth_lists.NOISES}


def _thesis_way(one: Problem, seed: int) -> tuple[Flags, Flags]:
    return first(len(one.truth), SETTINGS[one.data.name][0], seed)


def thesis_split(name: str, seed: int) -> Split:
    """As many records to learn from as in the thesis."""
    return split(name, _thesis_way, seed)


def _measure(cell: Cell, options: Mapping[str, Any]) -> dict[str, float]:
    """Means over fits to one split; the seconds are those of the median one."""
    own = thesis_split(cell.data, cell.seed)
    fits = [_fit(own, cell) for _ in range(1 if options["quick"] else 5)]
    return {name: float((np.median if name == "seconds" else np.mean)([fit[name] for fit in fits])) for name in fits[0]}


def _fit(own: Split, cell: Cell) -> dict[str, float]:
    if cell.method in _GREEDY:
        return {"AUC": own.area(greedy(own, cell.epsilon or 0, _GREEDY[cell.method]))}
    _, conditions, length, steps = SETTINGS[cell.data]
    chosen: dict[str, Any] = {"sampler": _SAMPLERS[cell.method], "mcmc_steps": steps}
    if cell.method != "lookahead":
        chosen |= {"list_length": length, "max_antecedents": conditions}
    fit = fitted(own.table, "rule_list", cell.epsilon, chosen, warm=True)
    sizes = [len(rule.conditions) for rule in fit.model.rules[:-1]]
    return {
        "AUC": own.area(fit.chances(own.frame)),
        "rules": len(sizes),
        "conditions of a rule": float(np.mean(sizes)) if sizes else 0.0,
        "seconds": fit.seconds,
        "rules less the prior mean": len(sizes) - chosen.get("list_length", RuleListParameters().list_length),
    }


def greedy(own: Split, epsilon: float, noise: smooth_lists.Noise) -> Floats:
    """Scores by a greedy list with smooth sensitivity, which sees the same cells."""
    one = own.one
    known = one.codes[own.learn], one.sizes, one.ordered, (one.truth[own.learn] == 1).astype(np.int64)
    return smooth_lists.scores(*known, epsilon, one.codes[own.apart], noise=noise)


def _published() -> Iterator[Result]:
    for data, rows in _THESIS.items():
        for epsilon, figures in zip(_EPSILONS, rows, strict=True):
            for metric, value in zip(_FIGURES, figures, strict=True):
                yield Result(data, THESIS, epsilon, metric, value)


RULES = Suite(
    "rules",
    _measure,
    tuple(SETTINGS),
    (*_SAMPLERS, *_GREEDY),
    [
        Layout(metrics=(metric,), title=metric, digits=digits)
        for metric, digits in zip(_FIGURES, (3, 1, 2, 2), strict=True)
    ],
    _EPSILONS,
    seeds=5,
    quick=Quick(seeds=5),
    published=tuple(_published()),
)

_DEFAULT: Final = "as many as by default"
_ASKED: Final = {"1": 1, "2": 2, "3": 3, "5": 5, "8": 8, _DEFAULT: None}
#: As many as in the thesis: with the default, a thousand, a fit takes ten times as long.
_CONDITIONS: Final = 300
_FURTHEST: Final = "largest difference of the number of rules from that asked for"


def _three_quarters(one: Problem, seed: int) -> tuple[Flags, Flags]:
    return first(len(one.truth), round(0.75 * len(one.truth)), seed)


def _measure_counts(cell: Cell, options: Mapping[str, Any]) -> dict[str, float]:
    own = split(cell.data, _three_quarters, cell.seed)
    chosen = {"rules": _ASKED[cell.method], "max_antecedents": _CONDITIONS}
    fits = [fitted(own.table, "rule_list", cell.epsilon, chosen) for _ in range(1 if options["quick"] else 3)]
    lengths = [len(fit.model.rules) - 1 for fit in fits]
    asked = _ASKED[cell.method]
    furthest = {} if asked is None else {"furthest": [max(abs(length - asked) for length in lengths)]}
    areas = [own.area(fit.chances(own.frame)) for fit in fits]
    return {"AUC": float(np.mean(areas)), "rules": float(np.mean(lengths)), **furthest}


def _furthest(lines: list[Line], _: list[Result]) -> Iterator[Result]:
    found: dict[tuple[str, str, float | None], list[int]] = {}
    for line in lines:
        found.setdefault((line.cell.data, line.cell.method, line.cell.epsilon), []).extend(
            line.figures.get("furthest", ())
        )
    for place, far in found.items():
        if far:
            yield Result(*place, _FURTHEST, max(far), n=len(far))


COUNTS = Suite(
    "rule-counts",
    _measure_counts,
    ("adult", "mushroom", "stroke"),
    tuple(_ASKED),
    [
        Layout(metrics=("AUC",), title="AUC by rules asked for", digits=3),
        Layout(metrics=(_FURTHEST,), title=_FURTHEST.capitalize()),
    ],
    (0.1, 1.0),
    seeds=10,
    conclude=_furthest,
)
