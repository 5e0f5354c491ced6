"""What first looks are good for: invented records beside those of rivals, models trained on them, and cut points.

Records of all programs are in the same cells of public bins.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, Final

import numpy as np

from benchmarks.declared import Quick, Suite
from benchmarks.problems import Problem, Split, fifth, fitted, folds, split
from benchmarks.processes import asked
from benchmarks.results import Cell, Layout, Line, Result, compared
from benchmarks.suites.looks import DATA, DELTA, EPSILONS, Truth, evenly, truth_of
from benchmarks.suites.records import regressed, regressed_on_look
from dpcore import DPForestClassifier, DPRuleListClassifier, DPSummary, DPTreeClassifier
from dpcore.arrays import Flags, Floats, Ints
from dpcore.domain.columns import IntegerColumn, NumericColumn
from dpcore.domain.schemas.schema import Schema
from dpcore.models.summaries.released.synthesis import Source, draw_codes

COLUMNS, PAIRS = "share of a cell of a column, mean error", "share of a cell of a pair, mean error"
VARIATION: Final = "total variation of a pair, mean"
HISTOGRAMS: Final = "OpenDP histograms of columns"
#: Records in cells, shape (n_rows, n_axes), that follow a table at an epsilon.
Way = Callable[[Truth, float], Ints]


def first_look(*, records: bool = False, tied: bool = False) -> Way:
    """Records that follow a first look: with as many pairs as pay, with as many as tie all columns, or with none."""

    def make(truth: Truth, epsilon: float) -> Ints:
        look = DPSummary(epsilon=epsilon, schema=truth.data.schema, delta=DELTA, records=records)
        look = look if records else look.set_params(pairs=(len(truth.axes) - 1) * tied)
        model = look.fit(truth.data.frame).model_
        codes = draw_codes(Source(model), len(truth.data.frame), np.random.default_rng())
        return np.stack([codes[place] for place in range(len(truth.axes))], axis=1)

    return make


def histograms(truth: Truth, epsilon: float) -> Ints:
    """Every column by itself, with the same part of epsilon, as DP Wizard counts: no pairs."""
    generator, columns = np.random.default_rng(), []
    told = evenly(truth, [(place,) for place in range(len(truth.axes))], epsilon)
    for place in range(len(truth.axes)):
        noisy = told((place,))
        noisy = noisy if noisy.sum() > 0 else np.ones_like(noisy)
        columns.append(generator.choice(len(noisy), len(truth.data.frame), p=noisy / noisy.sum()))
    return np.stack(columns, axis=1)


OWN: Final[dict[str, Way]] = {
    "first look": first_look(records=True),
    "first look, as many pairs as columns less one": first_look(tied=True),
    "first look, no pairs": first_look(),
    HISTOGRAMS: histograms,
}
_RIVALS: Final = tuple(f"{program} {name}" for program in ("smartnoise", "dpmm") for name in ("mst", "aim"))


def _measure(cell: Cell, options: Mapping[str, Any]) -> dict[str, float]:
    truth, epsilon, start = truth_of(cell.data), cell.epsilon or 0.0, time.process_time()
    if cell.method in OWN:
        made = OWN[cell.method](truth, epsilon)
        return measures(truth, made) | {"seconds of a core": time.process_time() - start}
    program, _, name = cell.method.partition(" ")
    problem = {"codes": truth.matrix, "sizes": truth.sizes, "epsilon": epsilon, "delta": DELTA}
    found = asked(program, name, problem, options["longest"])
    return measures(truth, found["codes"]) | {"seconds of a core": float(found["seconds"])}


def measures(truth: Truth, made: Ints) -> dict[str, float]:
    """How far shares of invented records are from those of the real ones."""
    places = range(len(truth.axes))
    single = np.concatenate([_away(truth, made, (place,)) for place in places])
    pairs = [_away(truth, made, pair) for pair in combinations(places, 2)]
    return {
        VARIATION: float(np.mean([away.sum() / 2 for away in pairs])),
        COLUMNS: float(single.mean()),
        PAIRS: float(np.concatenate(pairs).mean()),
    }


def _away(truth: Truth, made: Ints, axes: tuple[int, ...]) -> Floats:
    exact = truth.table(axes)
    drawn = np.zeros_like(exact)
    np.add.at(drawn, tuple(made[:, axis] for axis in axes), 1)
    away: Floats = np.abs(exact / exact.sum() - drawn / drawn.sum()).ravel()
    return away


INVENTED = Suite(
    "invented",
    _measure,
    DATA,
    (*OWN, *_RIVALS),
    [
        Layout(
            rows=("data", "epsilon", "method"),
            columns=("metric",),
            metrics=(VARIATION, PAIRS, COLUMNS, "seconds of a core"),
            spread=False,
        )
    ],
    EPSILONS,
    seeds=3,
    once=_RIVALS,
    programs={name: name.partition(" ")[0] for name in _RIVALS},
    quick=Quick(epsilons=(1.0,)),
    options={"longest": 75.0},
)

_INVENTED, _PLAIN = "regression on invented records", "regression on real records, not private"
_LEARNED: Final = {"tree learned privately": "tree", "shape functions learned privately": "ebm"}


def _measure_models(cell: Cell, _: Mapping[str, Any]) -> dict[str, float]:
    """On a fifth of the real records; everything is learned from the others."""
    own = split(cell.data, fifth, cell.seed)
    if cell.method in _LEARNED:
        family = _LEARNED[cell.method]
        chosen = {"delta": DELTA} if family == "ebm" else {}
        return {"AUC": own.area(fitted(own.table, family, cell.epsilon, chosen).chances(own.frame))}
    if cell.method == _PLAIN:
        return {"AUC": own.area(regressed(own, own.one.codes[own.learn], own.one.truth[own.learn] == 1))}
    return {"AUC": own.area(regressed_on_look(own, cell.epsilon or 0.0))}


MODELS = Suite(
    "invented-models",
    _measure_models,
    ("adult", "telco_churn"),
    (_INVENTED, *_LEARNED, _PLAIN),
    [Layout(digits=3)],
    EPSILONS,
    seeds=3,
    plain=(_PLAIN,),
    quick=Quick(epsilons=(1.0,)),
)

#: Cells of a number: those of the schema, or so many of equal width, as for somebody who does not know the column.
_FINE: Final = 32
_CELLS: Final = ("cells of the schema", f"{_FINE} even cells")
_FAMILIES: Final = {"tree": DPTreeClassifier, "forest": DPForestClassifier, "rule list": DPRuleListClassifier}
CUT, ALL = "cut points of a first look", "all cut points"


def _one_of_five(one: Problem, seed: int) -> tuple[Flags, Flags]:
    apart = folds(one.truth, 5, seed) == 0
    return ~apart, apart


def _measure_cuts(cell: Cell, _: Mapping[str, Any]) -> dict[str, float]:
    """AUC on a fifth of the people. The noise repeats, and the warning that this is not private is known."""
    name, cells = cell.data.split(", ")
    family, points = cell.method.split(", ")
    own = split(name, _one_of_five, cell.seed)
    data, people = own.one.data, own.one.data.frame[own.learn]
    known: dict[str, Any] = {"schema": _schema(own, cells), "random_state": cell.seed}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        chosen = {"cut_points": DPSummary(epsilon=0.5, **known).fit(people).cut_points()} if points == CUT else {}
        model = _FAMILIES[family](epsilon=cell.epsilon, target=data.target, **known, **chosen)
        model.fit(people.drop(columns=data.target), people[data.target])
    chances = model.predict_proba(own.frame.drop(columns=data.target))
    wanted = str(data.schema.column(data.target).classes[1])
    return {"AUC": own.area(chances[:, list(map(str, model.classes_)).index(wanted)])}


def _schema(own: Split, cells: str) -> Schema:
    schema = own.one.data.schema.model_copy(update={"holdout_percent": 0})
    if cells == _CELLS[0]:
        return schema
    return schema.model_copy(update={"columns": tuple(_even(column) for column in schema)})


def _even(column: Any) -> Any:
    """The same bounds with cells of equal width."""
    if not isinstance(column, NumericColumn):
        return column
    most = int(column.upper - column.lower) if isinstance(column, IntegerColumn) else _FINE
    return type(column).model_validate(column.model_dump() | {"edges": None, "bins": min(_FINE, most)})


def _gains(lines: Sequence[Line], _: Sequence[Result]) -> Iterator[Result]:
    for family in _FAMILIES:
        own = [line for line in lines if line.cell.method.startswith(family)]
        yield from compared(own, "AUC", f"{family}, {ALL}")


CUTS = Suite(
    "cuts",
    _measure_cuts,
    tuple(f"{name}, {cells}" for name in ("adult", "telco_churn") for cells in _CELLS),
    tuple(f"{family}, {points}" for family in _FAMILIES for points in (CUT, ALL)),
    [
        Layout(rows=("data", "method"), columns=("epsilon",), metrics=("AUC",), digits=3),
        Layout(
            rows=("data", "method"),
            columns=("epsilon",),
            metrics=tuple(f"AUC, better than {family}, {ALL} by" for family in _FAMILIES),
            title="Gain",
            digits=3,
        ),
    ],
    (0.1, 1.0),
    seeds=3,
    conclude=_gains,
)
