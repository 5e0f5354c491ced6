"""What is compared on tables with rare outcomes: learners of the house, private rivals, and models without privacy.

A program learns from all records that are not set aside, split by split, and scores those that are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Any, Final

import numpy as np

from benchmarks import peer_chances, privatree, rare_peers, smooth_lists
from benchmarks.datasets import BenchData
from benchmarks.rare import Problem
from benchmarks.summaries_rivals import rival_records
from dpcore import DPSummary
from dpcore.arrays import Flags, Floats
from dpcore.data.building.ingest import frame_chunks, ingest
from dpcore.domain.columns import NumericColumn
from dpcore.learning.learner import Run
from dpcore.models.registry import get_learner
from dpcore.models.summaries.released.summary_parameters import axes_of
from dpcore.models.summaries.released.synthesis import Source, draw_codes
from dpcore.privacy.randomness import SecureRandom, SeededRandom
from dpcore.released.plan import RunPlan

#: By the clock, for one table of records.
_AIM_SECONDS: Final = 1800

#: Splits, by their number, with the records that are set aside in each.
Splits = dict[int, Flags]
#: Method, number of the split, and scores of the records that are set aside in it.
Scored = tuple[str, int, Floats]
#: Learns and scores at an epsilon; ``None`` without privacy.
Way = Callable[[Problem, Splits, float | None], Iterator[Scored]]


@dataclass(frozen=True)
class Program:
    """A program with one method or more.

    Attributes
    ----------
    learn : callable
        Raises ``LeftOutError`` if the program cannot be had or does not finish.
    private : bool
        Whether it has an epsilon.
    peer : bool
        Whether it runs in an environment of its own.
    encodings : tuple of str
        In which ``learn`` scores every method, as ``"method, encoding"``: the better one counts. None: as it is.
    """

    methods: tuple[str, ...]
    learn: Way
    private: bool = True
    peer: bool = False
    encodings: tuple[str, ...] = ()

    def scored_as(self, method: str) -> list[str]:
        """The names under which ``learn`` scores one of the methods."""
        return [f"{method}, {encoding}" for encoding in self.encodings] or [method]


def house_plan(algorithm: str, data: BenchData, epsilon: Decimal, **more: Any) -> RunPlan:
    """What a learner of the house does by default; the rivals' delta where it has one, and nobody set aside."""
    learner = get_learner(algorithm)
    chosen = {"evaluate": False, "delta": Decimal(repr(rare_peers.DELTA)), **more}
    given = {key: value for key, value in chosen.items() if key in learner.parameters.model_fields}
    return learner.plan(data.schema, data.target, epsilon, given)


def _house(
    algorithm: str, one: Problem, splits: Splits, epsilon: float | None, **more: Any
) -> Iterator[tuple[int, Floats]]:
    """A learner with its defaults but for ``more``, nobody set aside within the run."""
    learner, plan = get_learner(algorithm), house_plan(algorithm, one.data, Decimal(repr(epsilon)), **more)
    for number, rows in splits.items():
        table = ingest(frame_chunks(one.data.frame[~rows]), one.data.schema, SeededRandom(number))
        model: Any = learner.run(Run(table, plan, SecureRandom()))
        yield number, np.asarray(model.predict_proba(one.data.frame[rows], one.data.schema))[:, 1]


def _invented(one: Problem, splits: Splits, epsilon: float | None) -> Iterator[tuple[int, Floats]]:
    """A regression trained on invented records of a first look that knows how every column goes with the target."""
    schema, target = one.data.schema, one.data.target
    places = {axis.column: place for place, axis in enumerate(axes_of(schema, None))}
    for number, rows in splits.items():
        look = DPSummary(epsilon=epsilon, schema=schema, delta=rare_peers.DELTA, by=target, records=True)
        codes = draw_codes(Source(look.fit(one.data.frame[~rows]).model_), int((~rows).sum()), np.random.default_rng())
        training = np.stack([codes[places[name]] for name in one.columns], axis=1)
        yield number, regressed(one, training, codes[places[target]] == 1, rows)


def _aim(one: Problem, splits: Splits, epsilon: float | None) -> Iterator[tuple[int, Floats]]:
    """The same regression on records of a rival."""
    codes, sizes = np.column_stack([one.codes, one.truth]), [*one.sizes, 2]
    for number, rows in splits.items():
        learned = codes[~rows], sizes, float(epsilon or 0)
        made = rival_records("smartnoise aim", *learned, number, longest=_AIM_SECONDS).codes
        yield number, regressed(one, made[:, :-1], made[:, -1] == 1, rows)


def _privatree(one: Problem, splits: Splits, epsilon: float | None, *, sound: bool) -> Iterator[tuple[int, Floats]]:
    for number, rows in splits.items():
        given = one.codes[~rows], one.sizes, _ordered(one), one.truth[~rows], float(epsilon or 0), one.codes[rows]
        yield number, privatree.scores(*given, sound=sound)


def _smooth_list(one: Problem, splits: Splits, epsilon: float | None, *, noise: Any) -> Iterator[tuple[int, Floats]]:
    for number, rows in splits.items():
        given = one.codes[~rows], one.sizes, _ordered(one), one.truth[~rows], float(epsilon or 0), one.codes[rows]
        yield number, smooth_lists.scores(*given, noise=noise)


def _regression(one: Problem, splits: Splits, epsilon: float | None) -> Iterator[tuple[int, Floats]]:  # noqa: ARG001
    for number, rows in splits.items():
        yield number, regressed(one, one.codes[~rows], one.truth[~rows], rows)


def _classifier(
    make: Callable[[], Any],
    one: Problem,
    splits: Splits,
    epsilon: float | None,  # noqa: ARG001
) -> Iterator[tuple[int, Floats]]:
    for number, rows in splits.items():
        model = make().fit(one.codes[~rows], one.truth[~rows])
        yield number, model.predict_proba(one.codes[rows])[:, 1]


def _tree() -> Any:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(max_depth=5, min_samples_leaf=10, random_state=0)


def _boosting() -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(random_state=0)


def _ordered(one: Problem) -> list[bool]:
    return [isinstance(one.data.schema.column(name), NumericColumn) for name in one.columns]


def regressed(one: Problem, training: Any, truth: Any, rows: Flags) -> Floats:
    """Scores of the records set aside by a logistic regression on other records: one column for each cell."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import OneHotEncoder

    if truth.all() or not truth.any():
        return np.zeros(int(rows.sum()))
    hot = OneHotEncoder(categories=[np.arange(size) for size in one.sizes])
    model = LogisticRegression(max_iter=500).fit(hot.fit_transform(training), truth)
    return np.asarray(model.predict_proba(hot.transform(one.codes[rows]))[:, 1])


def _alone(
    method: str, learn: Callable[[Problem, Splits, float | None], Iterator[tuple[int, Floats]]], **kind: bool
) -> Program:
    """A program with one method."""

    def named(one: Problem, splits: Splits, epsilon: float | None) -> Iterator[Scored]:
        for number, scores in learn(one, splits, epsilon):
            yield method, number, scores

    return Program((method,), named, **kind)


#: Programs by a short name, in the order in which they are shown.
PROGRAMS: Final[dict[str, Program]] = {
    "tree": _alone("tree", partial(_house, "tree")),
    "rule list": _alone("rule list", partial(_house, "rule_list")),
    "forest": _alone("forest", partial(_house, "forest")),
    "forest of ten": _alone("forest of ten trees", partial(_house, "forest", trees=10)),
    "shape functions": _alone("shape functions", partial(_house, "ebm")),
    "first look": _alone("first look, then regression", _invented),
    "PrivaTree": _alone("PrivaTree, budget divided among columns", partial(_privatree, sound=True)),
    "PrivaTree as published": _alone("PrivaTree as its program has it (not private)", partial(_privatree, sound=False)),
    **{
        smooth_lists.name(noise): _alone(f"rule list, {smooth_lists.name(noise)}", partial(_smooth_list, noise=noise))
        for noise in smooth_lists.NOISES
    },
    "interpret": Program(("interpret DP-EBM",), rare_peers.interpret, peer=True),
    "diffprivlib": Program(
        ("diffprivlib tree", "diffprivlib forest", "diffprivlib logistic regression"),
        rare_peers.diffprivlib,
        peer=True,
        encodings=peer_chances.ENCODINGS,
    ),
    "AIM": _alone("SmartNoise AIM, then regression", _aim, peer=True),
    "regression, not private": _alone("logistic regression, not private", _regression, private=False),
    "tree, not private": _alone("tree, not private", partial(_classifier, _tree), private=False),
    "boosting, not private": _alone("gradient boosting, not private", partial(_classifier, _boosting), private=False),
    "interpret, not private": Program(("interpret EBM, not private",), rare_peers.interpret, private=False, peer=True),
}
