"""Records that are invented after releases about toy people."""

from __future__ import annotations

from decimal import Decimal
from functools import cache

import numpy as np
import pandas as pd

from dpcore.data.building.ingest import frame_chunks, ingest
from dpcore.learning.learner import Run
from dpcore.models.registry import get_learner
from dpcore.privacy.randomness import SeededRandom
from dpcore.rehearsal import shape_of
from dpcore.released.release import make_release
from tests.support.tables.small_tables import ward

ROWS = 6000


SCHEMA = ward(
    {"name": "a", "type": "boolean"},
    {"name": "b", "type": "categorical", "categories": ["x", "y", "z"]},
    {"name": "n", "type": "integer", "lower": 0, "upper": 99, "bins": 10},
    {"name": "w", "type": "real", "lower": 0, "upper": 1, "bins": 5},
    {"name": "ill", "type": "boolean", "target": True},
    {"name": "size", "type": "real", "lower": 0, "upper": 10, "bins": 4, "target": True},
    name="shaped",
    max_rows=8000,
    holdout_percent=20,
)


def people():
    """Far from uniform: 90 % a, n small, ill mostly follows a and n, which agree with b."""
    draw = np.random.default_rng(3)
    a = draw.random(ROWS) < 0.9
    n = np.minimum(draw.exponential(15, ROWS), 99).astype(int)
    ill = draw.random(ROWS) < np.where(a & (n > 9), 0.9, 0.1)
    b = np.where(draw.random(ROWS) < 0.4, np.where(ill, "x", "z"), "y")
    size = np.clip(2 + 5 * a + draw.normal(0, 1, ROWS), 0, 10)
    word = {True: "yes", False: "no"}
    return pd.DataFrame(
        {"a": [word[x] for x in a], "b": b, "n": n, "w": draw.random(ROWS), "ill": [word[x] for x in ill], "size": size}
    )


@cache
def table():
    return ingest(frame_chunks(people()), SCHEMA, SeededRandom(1))


@cache
def released(kind, target="ill", epsilon=20, seed=2, **parameters):
    learner = get_learner(kind)
    plan = learner.plan(SCHEMA, target, Decimal(epsilon), parameters)
    model = learner.run(Run(table(), plan, SeededRandom(seed)))
    return make_release(kind, plan, model, secure=False)


@cache
def shaped(kind, **asked):
    """The shape that one release about the target reveals."""
    return shape_of(SCHEMA, "ill", [released(kind, **asked)])
