"""Data sets and noise for tests of explainable boosting machines."""

from __future__ import annotations

from contextlib import contextmanager
from decimal import Decimal

import numpy as np
import pandas as pd

from dpcore.data.building.ingest import frame_chunks, ingest
from dpcore.learning.learner import Run, no_progress
from dpcore.models.ebm.learning.ebm_learner import EBMLearner
from dpcore.privacy.mechanisms import FineGaussian
from dpcore.privacy.randomness import SeededRandom
from tests.support.tables import toy_people
from tests.support.tables.small_tables import schema_of, table_of

LEARNER = EBMLearner()
#: What no test of a full budget notices.
EPSILON = "1"


class Quiet(SeededRandom):
    """A seeded source whose Gaussian noise is zero."""

    def gaussian_noise(self, scale, count):
        return np.zeros(count, dtype=np.int64)


@contextmanager
def quiet_replicates():
    """Boosting without noise; the noise of the histograms stays."""
    noisy = SeededRandom.parts

    def quiet(source, count):
        return [Quiet(int(seed)) for seed in source.words(count)]

    SeededRandom.parts = quiet
    try:
        yield
    finally:
        SeededRandom.parts = noisy


@contextmanager
def watched():
    """List of (mechanism, exact values, released values) of every noisy answer."""
    answers, release = [], FineGaussian.release

    def watching(self, values, randomness):
        noisy = release(self, values, randomness)
        answers.append((self, np.array(values), noisy))
        return noisy

    FineGaussian.release = watching
    try:
        yield answers
    finally:
        FineGaussian.release = release


def schema(features=3, max_rows=1000, *, bins=8, target="ill", rows_per_person=1, **more):
    """Real features x0, x1, ..., a category and every kind of target."""
    columns = [
        *({"name": f"x{i}", "type": "real", "lower": 0, "upper": 1, "bins": bins} for i in range(features)),
        {"name": "c", "type": "categorical", "categories": ["a", "b", "d"]},
    ]
    targets = {
        "ill": {"name": "ill", "type": "boolean"},
        "stage": {"name": "stage", "type": "categorical", "categories": ["i", "ii", "iii"]},
        "stay": {"name": "stay", "type": "real", "lower": -10, "upper": 30, "bins": 4},
    }
    unit = {"column": "person", "max_rows_per_person": rows_per_person}
    return schema_of([*columns, targets[target]], max_rows, privacy_unit=unit, **more)


def frame(rows, features=3, seed=0, *, correlation=0.0):
    """Features and scores that follow them; see :func:`truth`."""
    draw = np.random.default_rng(seed)
    shared = draw.normal(size=(rows, 1))
    mixed = np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * draw.normal(size=(rows, features))
    ranks = mixed.argsort(axis=0).argsort(axis=0)
    content = {f"x{i}": (ranks[:, i] + 0.5) / rows for i in range(features)}
    content["c"] = draw.choice(["a", "b", "d"], rows)
    data = pd.DataFrame({"person": np.arange(rows), **content})
    score = sum(shape(data[name]) for name, shape in truth().items() if name in data)
    chance = 1 / (1 + np.exp(-score))
    data["ill"] = np.where(draw.random(rows) < chance, "yes", "no")
    logits = np.stack([np.zeros(rows), score, -score], axis=1) + draw.gumbel(size=(rows, 3))
    data["stage"] = np.array(["i", "ii", "iii"])[logits.argmax(axis=1)]
    data["stay"] = np.clip(10 + 3 * score + 2 * draw.normal(size=rows), -10, 30)
    return data


def truth():
    """Shapes on the scale of log-odds, each about 0 on average over uniform values."""
    return {
        "x0": lambda x: 3 * (np.asarray(x) - 0.5),
        "x1": lambda x: np.where(np.asarray(x) > 0.6, 1.2, -0.8),
        "c": lambda c: np.select([np.asarray(c) == "a", np.asarray(c) == "b"], [0.8, -0.8], 0.0),
    }


def table(data, domain, seed=1):
    """Ingested rows; no rows, which an upload may not have, make an empty table."""
    if data.empty:
        return table_of(domain, [])
    return ingest(frame_chunks(data), domain, SeededRandom(seed))


def fit(private, target, epsilon=EPSILON, source=0, progress=no_progress, **chosen):
    """Plan and run; ``source`` may be a seed."""
    plan = LEARNER.plan(private.schema, target, Decimal(epsilon), {"evaluate": False, **chosen})
    randomness = SeededRandom(source) if isinstance(source, int) else source
    return plan, LEARNER.run(Run(private, plan, randomness, progress))


def numbers_of(model):
    """Every released number."""
    for term in model.terms:
        yield from (term.scores, term.errors, term.noisy_counts, term.count_errors)
    yield from (model.intercept, model.intercept_error)


def check_finite(model):
    for numbers in numbers_of(model):
        assert np.all(np.isfinite(np.asarray(numbers, dtype=float)))
    for term in model.terms:
        assert np.all(np.asarray(term.errors) >= 0)


WIDE = [
    *toy_people.COLUMNS,
    {"name": "town", "type": "categorical", "categories": [f"t{i}" for i in range(1000)]},
]
