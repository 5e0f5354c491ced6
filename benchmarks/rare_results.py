"""House methods, private rivals and models without privacy on tables with rare outcomes or few records."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from decimal import Decimal
from typing import Any, Final

import numpy as np
from rich.table import Table

from benchmarks import privatree, rare_peers, smooth_lists
from benchmarks.environments import LeftOutError
from benchmarks.rare import SEEN, TABLES, Problem, problem
from benchmarks.records import Record, summarise
from benchmarks.summaries_rivals import rival_records
from dpcore import DPSummary
from dpcore.arrays import Flags, Floats
from dpcore.data.ingest import frame_chunks, ingest
from dpcore.data.table import PrivateTable
from dpcore.domain.columns import NumericColumn
from dpcore.learning.learner import Run
from dpcore.models.registry import get_learner
from dpcore.models.summaries.released.axes import axes_of
from dpcore.models.summaries.released.synthesis import draw_codes
from dpcore.privacy.randomness import SecureRandom, SeededRandom

SUITE: Final = "records"
EPSILONS: Final = (0.1, 1.0, 4.0)
METRIC: Final = "AUC on records set aside"
#: Learners of the house with their defaults, nobody set aside within the run.
HOUSE: Final = {"tree": "tree", "rule list": "rule_list", "forest": "forest", "shape functions": "ebm"}
INVENTED: Final = "first look, then regression"
AIM: Final = "SmartNoise AIM, then regression"
PRIVATREE, AS_PUBLISHED = "PrivaTree, budget divided among columns", "PrivaTree as its program has it (not private)"
Scores = dict[rare_peers.Fit, Floats]


def run(
    names: list[str] | None,
    epsilons: list[float] | None,
    *,
    quick: bool,
    peers: bool,
    only: Collection[str] | None = None,
) -> Iterator[Record | str]:
    """Areas under the curve of every method over splits; a sentence for what was left out.

    ``only`` names learners of the house, and nothing else is fitted then.
    """
    splits, asked = (2 if quick else 5), list(epsilons or ((1.0,) if quick else EPSILONS))
    for name in [name for name in TABLES if not names or name in names]:
        one = problem(name)
        apart = one.tests(splits)
        found: Scores = {}
        if only:
            found |= _house(one, apart, asked, only)
            yield from _records(name, one, apart, found)
            continue
        for ask in (_house, _sound_and_published, _smooth_lists, _plain):
            found |= ask(one, apart, asked)
        if peers:
            try:
                found |= rare_peers.interpret(one, apart, asked)
                found |= rare_peers.diffprivlib(one, apart, asked)
            except LeftOutError as fault:
                yield f"{name}: rivals are missing: {fault}"
            try:
                found |= _aim(one, apart, asked)
            except LeftOutError as fault:
                yield f"{name}: no figures of {AIM}: {fault}"
        yield from _records(name, one, apart, found)


def _records(name: str, one: Problem, apart: Flags, found: Scores) -> Iterator[Record]:
    for method, epsilon in dict.fromkeys((method, epsilon) for method, epsilon, _ in found):
        areas = [one.area(rows, found[method, epsilon, split]) for split, rows in enumerate(apart)]
        yield Record(SUITE, name, method, epsilon, METRIC, *summarise(areas), len(areas), None, "")


def _house(one: Problem, apart: Flags, epsilons: list[float], only: Collection[str] | None = None) -> Scores:
    found: Scores = {}
    for split, rows in enumerate(apart):
        table = ingest(frame_chunks(one.data.frame[~rows]), one.data.schema, SeededRandom(split))
        for epsilon in epsilons:
            for method, algorithm in HOUSE.items():
                if not only or method in only:
                    found[method, epsilon, split] = _learned(one, table, algorithm, epsilon, rows)
            if not only:
                found[INVENTED, epsilon, split] = _invented(one, epsilon, rows)
    return found


def _learned(one: Problem, table: PrivateTable, algorithm: str, epsilon: float, rows: Flags) -> Floats:
    learner = get_learner(algorithm)
    plan = learner.plan(one.data.schema, one.data.target, Decimal(repr(epsilon)), {"evaluate": False})
    model: Any = learner.run(Run(table, plan, SecureRandom()))
    return np.asarray(model.predict_proba(one.data.frame[rows], one.data.schema))[:, 1]


def _invented(one: Problem, epsilon: float, rows: Flags) -> Floats:
    """A regression trained on invented records of a first look that knows how every column goes with the target."""
    schema, target = one.data.schema, one.data.target
    look = DPSummary(epsilon=epsilon, schema=schema, delta=rare_peers.DELTA, by=target, records=True)
    codes = draw_codes(look.fit(one.data.frame[~rows]).model_, int((~rows).sum()), np.random.default_rng())
    places = {axis.column: place for place, axis in enumerate(axes_of(schema, None))}
    training = np.stack([codes[places[name]] for name in one.columns], axis=1)
    return _regressed(one, training, codes[places[target]] == 1, rows)


def _aim(one: Problem, apart: Flags, epsilons: list[float]) -> Scores:
    """The same regression on records of a rival. Raises ``LeftOutError`` if one of them takes too long."""
    found: Scores = {}
    for epsilon in epsilons:
        for split, rows in enumerate(apart):
            codes, sizes = np.column_stack([one.codes, one.truth]), [*one.sizes, 2]
            made = rival_records("smartnoise aim", codes[~rows], sizes, epsilon, split).codes
            found[AIM, epsilon, split] = _regressed(one, made[:, :-1], made[:, -1] == 1, rows)
    return found


def _regressed(one: Problem, training: Any, truth: Any, rows: Flags) -> Floats:
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import OneHotEncoder

    if truth.all() or not truth.any():
        return np.zeros(int(rows.sum()))
    hot = OneHotEncoder(categories=[np.arange(size) for size in one.sizes])
    model = LogisticRegression(max_iter=500).fit(hot.fit_transform(training), truth)
    return np.asarray(model.predict_proba(hot.transform(one.codes[rows]))[:, 1])


def _sound_and_published(one: Problem, apart: Flags, epsilons: list[float]) -> Scores:
    ordered = [isinstance(one.data.schema.column(name), NumericColumn) for name in one.columns]
    return {
        (method, epsilon, split): privatree.scores(
            one.codes[~rows], one.sizes, ordered, one.truth[~rows], epsilon, one.codes[rows], sound=sound
        )
        for split, rows in enumerate(apart)
        for epsilon in epsilons
        for method, sound in ((PRIVATREE, True), (AS_PUBLISHED, False))
    }


def _smooth_lists(one: Problem, apart: Flags, epsilons: list[float]) -> Scores:
    ordered = [isinstance(one.data.schema.column(name), NumericColumn) for name in one.columns]
    return {
        (f"rule list, {smooth_lists.name(noise)}", epsilon, split): smooth_lists.scores(
            one.codes[~rows], one.sizes, ordered, one.truth[~rows], epsilon, one.codes[rows], noise=noise
        )
        for split, rows in enumerate(apart)
        for epsilon in epsilons
        for noise in smooth_lists.NOISES
    }


def _plain(one: Problem, apart: Flags, epsilons: list[float]) -> Scores:  # noqa: ARG001
    """Without privacy: what there is to find."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.tree import DecisionTreeClassifier

    kinds: dict[str, Callable[[], Any]] = {
        "tree": lambda: DecisionTreeClassifier(max_depth=5, min_samples_leaf=10, random_state=0),
        "gradient boosting": lambda: HistGradientBoostingClassifier(random_state=0),
    }
    found: Scores = {}
    for split, rows in enumerate(apart):
        found["logistic regression, not private", None, split] = _regressed(
            one, one.codes[~rows], one.truth[~rows], rows
        )
        for method, make in kinds.items():
            model = make().fit(one.codes[~rows], one.truth[~rows])
            found[f"{method}, not private", None, split] = model.predict_proba(one.codes[rows])[:, 1]
    return found


def tables(records: list[Record]) -> Iterator[Table]:
    """For each table: methods by epsilon, the private ones first."""
    for name in dict.fromkeys(record.data for record in records):
        own = [record for record in records if record.data == name]
        epsilons = sorted({record.epsilon for record in own if record.epsilon is not None})
        told = "constants were chosen on it" if name in SEEN else "no constant was chosen on it"
        shown = Table(title=f"{name} ({told}): area under the ROC curve")
        for heading in ("method", *(f"epsilon {epsilon:g}" for epsilon in epsilons)):
            shown.add_column(heading)
        for method in dict.fromkeys(record.method for record in own):
            cells = {record.epsilon: record for record in own if record.method == method}
            told_once = cells.get(None)
            row = [told_once] * len(epsilons) if told_once else [cells.get(epsilon) for epsilon in epsilons]
            shown.add_row(method, *("" if one is None else f"{one.mean:.3f} ± {one.stderr:.3f}" for one in row))
        yield shown
