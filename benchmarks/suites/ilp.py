"""Relational rules: how many generated trains they need, and how they do on tables of published and invented data.

Half of the trains satisfy a concept and go east. Every method has the same language, as many clauses as the concept
needs, epsilon 1, and 5 % of the budget for counting the clauses chosen.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, Final

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from benchmarks.datasets import TASKS, Relational, relational
from benchmarks.declared import Quick, Suite
from benchmarks.problems import fitted
from benchmarks.results import Cell, Layout, Line, Result
from benchmarks.suites.records import stays, years
from dpcore.arrays import Array, Words
from dpcore.data.building.ingest import frame_chunks, ingest
from dpcore.data.table import PrivateTable
from dpcore.demo.theories import PlantedTheory
from dpcore.demo.trains import clauses_theory, draw_trains, trains_schema, two_cars_theory
from dpcore.domain.schemas.schema import Schema
from dpcore.models.ilp.learning.coverage import clause_vector
from dpcore.models.ilp.released.ilp_model import ILPModel
from dpcore.privacy.randomness import SeededRandom, permutation

HOUSE, RELEVANCE, SHARE, NAIVE, PLAIN = "house", "relevance-aware", "relevance-aware, by share", "naive", "not private"
#: So large that noise changes no count: the engine takes none larger.
_NO_NOISE: Final = 1000.0
METHODS: Final[dict[str, dict[str, Any]]] = {
    HOUSE: {"method": "noisy_max"},
    "house, no prior": {"method": "noisy_max", "length_prior": False},
    "house, others count twice": {"method": "noisy_max", "negative_weight": 2},
    "house, 20% for counts": {"method": "noisy_max", "count_share": "0.2"},
    RELEVANCE: {"method": "relevance_aware", "criterion": "best"},
    SHARE: {"method": "relevance_aware", "criterion": "share"},
    NAIVE: {"method": "naive"},
    PLAIN: {"method": "noisy_max", "length_prior": False},
}
_TEST_TRAINS: Final = 10_000


@dataclass(frozen=True)
class Concept:
    """What makes a train go east, and the limits of the clauses in which it is sought: as many as it needs."""

    name: str
    theory: PlantedTheory
    max_literals: int
    max_variables: int
    clauses: int

    @property
    def settings(self) -> dict[str, int | str]:
        """Parameters that all methods share."""
        limits = {"max_literals": self.max_literals, "max_variables": self.max_variables, "clauses": self.clauses}
        return {**limits, "count_share": "0.05"}

    def schema(self, trains: int) -> Schema:
        """Language of 12 conditions on a car, which has four columns, for so many trains."""
        return trains_schema(self.theory, 4, trains)


THREE, SIX, TWO = "one clause of three", "one clause of six", "two clauses of three"
_LEARNED: Final = {
    THREE: Concept(THREE, clauses_theory(1), 3, 1, 1),
    SIX: Concept(SIX, two_cars_theory(), 6, 2, 1),
    TWO: Concept(TWO, clauses_theory(2), 3, 1, 2),
}
_GROWING: Final = {
    (name := f"more clauses: {count}"): Concept(name, clauses_theory(count), 3, 1, count) for count in range(1, 7)
}
CONCEPTS: Final = {**_LEARNED, **_GROWING}
_SIZES: Final = (25, 50, 75, 100, 150, 250, 500, 1_000, 1_500, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000)
_QUICK_SIZES: Final = (50, 100, 150, 250, 500, 1_000, 1_500, 2_500, 5_000, 10_000)


def _data(sizes: Sequence[int], growing: Sequence[int]) -> tuple[str, ...]:
    learned = [f"{name}, {size:,} trains" for name in _LEARNED for size in sizes]
    return (*learned, *(f"{name}, {size:,} trains" for name in _GROWING for size in growing))


def concept_of(data: str) -> tuple[Concept, int]:
    """Concept and number of trains of a data set."""
    name, _, size = data.removesuffix(" trains").partition(", ")
    return CONCEPTS[name], int(size.replace(",", ""))


@dataclass(frozen=True)
class Trains:
    """Encoded trains with their directions."""

    frame: pd.DataFrame
    children: dict[str, pd.DataFrame]
    table: PrivateTable


@lru_cache(maxsize=16)
def draw(concept: Concept, trains: int, name: object) -> Trains:
    """Trains of which half satisfy the concept; ``name`` tells one drawing from another."""
    seed = zlib.crc32(f"{concept.name}, {trains} trains, {name}".encode())
    frame, children = draw_trains(concept.theory, trains, seed)
    chunks = {child: frame_chunks(rows) for child, rows in children.items()}
    return Trains(frame, children, ingest(frame_chunks(frame), concept.schema(trains), SeededRandom(seed), chunks))


def learned(table: PrivateTable, chosen: Mapping[str, Any], epsilon: float | None) -> ILPModel:
    """The theory of one run; without epsilon, without noise that would change anything."""
    model: ILPModel = fitted(table, "ilp", _NO_NOISE if epsilon is None else epsilon, chosen).model
    return model


def accuracy(model: ILPModel, table: PrivateTable) -> float:
    """Share of the trains whose direction is predicted rightly: east for those whose first clause is kept."""
    [target], [partition] = table.schema.targets, table.partitions
    west, east = partition.class_members(target, "all")
    seen: Words = np.zeros_like(partition.members("all"))
    chosen = np.zeros_like(seen)
    for group in model.groups:
        if group.clause is not None:
            new = clause_vector(partition, group.clause) & ~seen
            seen |= new
            chosen |= new if group.kept else np.zeros_like(new)
    right = np.bitwise_count(east & chosen).sum() + np.bitwise_count(west & ~chosen).sum()
    return float(right / np.bitwise_count(west | east).sum())


_ACCURACY: Final = "accuracy on other trains"


def _measure(cell: Cell, _: Mapping[str, Any]) -> dict[str, float]:
    """Mean over five fits to one training set."""
    concept, size = concept_of(cell.data)
    table, test = draw(concept, size, cell.seed).table, draw(concept, _TEST_TRAINS, "test").table
    chosen = {**concept.settings, **METHODS[cell.method]}
    return {_ACCURACY: float(np.mean([accuracy(learned(table, chosen, cell.epsilon), test) for _ in range(5)]))}


#: Mean accuracy at which a method counts as having learned a concept, and that of saying that all go east.
LEARNED: Final = 0.95
GUESS: Final = 0.5
REACHED, TIMES = "fewest trains with a mean accuracy of 95 %", "times as many trains by relevance-aware as by house"
LEAD: Final = "worst lead over naive, in standard errors"


def conclude(_: Sequence[Line], results: Sequence[Result]) -> Iterator[Result]:
    """Sizes at which concepts are learned, the two goals, and the share of the guess's errors avoided."""
    concepts: dict[str, dict[str, dict[int, Result]]] = {}
    for result in results:
        concept, size = concept_of(result.data)
        concepts.setdefault(concept.name, {}).setdefault(result.method, {})[size] = result
    for name, methods in concepts.items():
        if name in _GROWING:
            for method, size, own in _each(methods):
                yield Result(f"{size:,} trains", method, own.epsilon, name, 1 - (1 - own.value) / (1 - GUESS), n=own.n)
            continue
        reached = {method: _reached(sizes) for method, sizes in methods.items()}
        yield from (Result(name, method, None, REACHED, size, n=1) for method, size in reached.items() if size)
        if (times := _times(reached, max(size for _, size, _ in _each(methods)))) is not None:
            yield Result(name, HOUSE, None, TIMES, times[0], n=1, mark=times[1])
        if {RELEVANCE, NAIVE} <= methods.keys():
            leads = [_lead(methods[RELEVANCE][size], methods[NAIVE][size]) for size in methods[RELEVANCE]]
            yield Result(name, RELEVANCE, None, LEAD, min(leads), n=1)


def _each(methods: Mapping[str, Mapping[int, Result]]) -> Iterator[tuple[str, int, Result]]:
    return ((method, size, own) for method, sizes in methods.items() for size, own in sizes.items())


def _reached(sizes: Mapping[int, Result]) -> int | None:
    return next((size for size in sorted(sizes) if sizes[size].value >= LEARNED), None)


def _times(reached: Mapping[str, int | None], most: int) -> tuple[float, str] | None:
    """Trains that the better reduction needs over those of the house; a bound, if the largest set was too small."""
    own, theirs = reached.get(HOUSE), [reached[method] for method in (RELEVANCE, SHARE) if method in reached]
    if not own or not theirs:
        return None
    known = [size for size in theirs if size]
    return (min(known) / own, "") if known else (most / own, "or more")


def _lead(ours: Result, theirs: Result) -> float:
    """A mean that is below another, in standard errors; one that is not, as 0."""
    gap, error = ours.value - theirs.value, float(np.hypot(ours.spread, theirs.spread))
    return 0.0 if gap >= 0 else gap / error if error > 0 else -np.inf


TRAINS = Suite(
    "ilp",
    _measure,
    _data(_SIZES, (250, 2_500, 25_000)),
    tuple(METHODS),
    [
        Layout(rows=("data",), metrics=(REACHED,), title="Fewest trains with a mean accuracy of 95 %"),
        Layout(rows=("data", "method"), columns=("metric",), metrics=(TIMES, LEAD), title="Goals: 10 times, and -3"),
        Layout(
            rows=("data", "method"),
            columns=("metric",),
            metrics=tuple(_GROWING),
            title="Share of the guess's errors avoided, %",
            digits=0,
            percent=True,
        ),
        Layout(rows=("data",), metrics=(_ACCURACY,), title="Accuracy on other trains", digits=3),
    ],
    (1.0,),
    seeds=10,
    plain=(PLAIN,),
    quick=Quick(data=_data(_QUICK_SIZES, (250, 2_500))),
    conclude=conclude,
)

ROWS_ALONE, PLAIN_ROWS = "house, rows that exist", "not private, rows that exist"
UNTOLD, ALIKE = "house, default weights", "house, sides alike"
EQUAL, HEAVY, COMMONER = "house, all weigh the same", "house, one counts as 15", "the commoner class"
_EXISTS: Final = {"quantifiers": ("exists",)}
_DATA_METHODS: Final[dict[str, dict[str, Any]]] = {
    PLAIN: METHODS[PLAIN],
    PLAIN_ROWS: {**METHODS[PLAIN], **_EXISTS},
    HOUSE: METHODS[HOUSE],
    ROWS_ALONE: {**METHODS[HOUSE], **_EXISTS},
    ALIKE: {**METHODS[HOUSE], "weigh_alike": True, "positive_weight": 1},
    UNTOLD: {**METHODS[HOUSE], "positive_weight": 1},
    EQUAL: {**METHODS[HOUSE], "weigh_alike": False, "positive_weight": 1},
    HEAVY: {**METHODS[HOUSE], "positive_weight": 15},
}
_TASKS: Final = {task or data: (data, task) for data, tasks in TASKS.items() for task in tasks}
STAYS, YEARS = "earlier stays", "earlier years: "
_OUTCOMES: Final = {
    "stroke": "stroke_tia",
    "Alzheimer's disease": "alzheimer",
    "heart disease": "ischemic_heart_disease",
}
#: Methods and epsilons of each kind of data.
_KINDS: Final = {
    STAYS: ((PLAIN, HOUSE, ROWS_ALONE, UNTOLD), (0.1, 1.0)),
    YEARS: ((EQUAL, HEAVY, ALIKE, UNTOLD), (1.0,)),
    "": ((PLAIN, PLAIN_ROWS, COMMONER, HOUSE, ROWS_ALONE, ALIKE), (10.0, 1.0)),
}
#: Parameters that differ from the defaults. With 6 % of the people to be described, one of them weighs as much as
#: fifteen others; where noisy counts tell the weights, this is not said.
_SETTINGS: Final[dict[str, dict[str, Any]]] = {
    "bongard": {"clauses": 3},
    "alzheimer_toxic": {"clauses": 6, "negative_weight": 2},
    STAYS: {"positive_weight": 15, "clauses": 6},
    YEARS: {"clauses": 6, "max_literals": 2},
}
#: Accuracies of programs without privacy, on other 70/30 splits.
_REPORTED: Final = {"trains1": (1.0, 1.0), "trains2": (0.994, 0.994), "trains3": (0.959, 1.0), "trains4": (0.827, 1.0)}


def _kind(data: str) -> str:
    return next(kind for kind in _KINDS if data.startswith(kind))


def _not_compared(cell: Cell) -> bool:
    methods, epsilons = _KINDS[_kind(cell.data)]
    return cell.method not in methods or (cell.epsilon is not None and cell.epsilon not in epsilons)


def _measure_data(cell: Cell, _: Mapping[str, Any]) -> dict[str, float]:
    kind = _kind(cell.data)
    if cell.method == COMMONER:
        return {"accuracy": guessed(relational(*_TASKS[cell.data]), cell.seed)}
    chosen = {**_SETTINGS.get(kind or cell.data, {}), **_DATA_METHODS[cell.method]}
    fit = partial(learned, chosen=chosen, epsilon=cell.epsilon)
    if not kind:
        return {"accuracy": facts_accuracy(relational(*_TASKS[cell.data]), cell.seed, fit)}
    tables = stays(cell.seed) if kind == STAYS else years(_OUTCOMES[cell.data.removeprefix(YEARS)])
    return {"AUC": area(*tables, cell.seed, fit)}


def chosen_rows(one: Relational, seed: int) -> Any:
    """Which records of the main table are for training."""
    people = len(one.labels)
    return np.random.default_rng(20_262 + seed).permutation(people) < round(0.7 * people)


def guessed(one: Relational, seed: int) -> float:
    """Accuracy of the class that is commoner in the training part."""
    rows = chosen_rows(one, seed)
    return float((one.labels[~rows] == (one.labels[rows].mean() > 0.5)).mean())


def facts_accuracy(one: Relational, seed: int, fit: Callable[[PrivateTable], ILPModel]) -> float:
    """Share of the test records of one split that are predicted rightly."""
    schema, rows = one.schema, chosen_rows(one, seed)
    training, test = (_part(one, flags) for flags in (rows, ~rows))
    chunks = {child.name: frame_chunks(training[child.name]) for child in schema.children}
    main = training[schema.entity].assign(**{schema.targets[0]: one.labels[rows]})
    model = fit(ingest(frame_chunks(main), schema, SeededRandom(seed), chunks))
    predicted = model.predict(test, schema) == model.classes.index("yes")
    return float((predicted == one.labels[~rows].to_numpy()).mean())


def _part(one: Relational, flags: Array) -> dict[str, pd.DataFrame]:
    """Some records of the main table with all rows about them."""
    schema, tables = one.schema, one.tables
    main = tables[schema.entity][flags]
    people = main[schema.privacy_unit.column]
    own = {child.name: tables[child.name] for child in schema.children}
    keys = {child.name: schema.key_of(child) for child in schema.children}
    return {schema.entity: main, **{name: rows[rows[keys[name]].isin(people)] for name, rows in own.items()}}


def area(
    schema: Schema, main: pd.DataFrame, rows: pd.DataFrame, seed: int, fit: Callable[[PrivateTable], ILPModel]
) -> float:
    """Area under the ROC curve on three tenths of the people, of what is learned from the others.

    ``main`` has one row a person, whose target is true or false; ``rows`` are those of the one child table.
    """
    [target], [child], key = schema.targets, schema.children, schema.privacy_unit.column
    training = np.zeros(len(main), dtype=bool)
    training[permutation(SeededRandom(seed), len(main))[: round(0.7 * len(main))]] = True
    own, others = main[training], main[~training]
    before, after = (rows[rows[key].isin(part[key])] for part in (own, others))
    own = own.assign(**{target: np.where(own[target], "yes", "no")})
    model = fit(ingest(frame_chunks(own), schema, SeededRandom(seed), {child.name: frame_chunks(before)}))
    frames = {schema.entity: others.drop(columns=target), child.name: after}
    scores = model.predict_proba(frames, schema)[:, model.classes.index("yes")]
    return float(roc_auc_score(others[target], scores))


DATA = Suite(
    "ilp-data",
    _measure_data,
    (*_TASKS, STAYS, *(f"{YEARS}{outcome}" for outcome in _OUTCOMES)),
    (*_DATA_METHODS, COMMONER),
    [
        Layout(
            rows=("method", "epsilon"),
            columns=("data",),
            metrics=("accuracy",),
            title="Accuracy on other records",
            digits=3,
        ),
        Layout(rows=("data", "method"), columns=("epsilon",), metrics=("AUC",), title="AUC on other people", digits=3),
    ],
    (10.0, 1.0, 0.1),
    seeds=10,
    plain=(PLAIN, PLAIN_ROWS, COMMONER),
    skip=_not_compared,
    published=[
        *(
            Result(data, f"{program}, not private", None, "accuracy", figure)
            for data, figures in _REPORTED.items()
            for program, figure in zip(("Aleph", "Popper"), figures, strict=True)
        ),
        Result(STAYS, "goal", 1.0, "AUC", 0.70),
    ],
)
