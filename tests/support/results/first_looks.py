"""First looks at toy people."""

from __future__ import annotations

from decimal import Decimal
from functools import cache

import numpy as np
import pandas as pd

from dpcore.data.building.ingest import frame_chunks, ingest
from dpcore.domain.schemas.schema import Schema
from dpcore.learning.learner import Run
from dpcore.models.summaries.learning.summary_learner import SummaryLearner
from dpcore.models.summaries.released.summary_model import NoisyTable, SummaryModel
from dpcore.privacy.randomness import SeededRandom

LEARNER = SummaryLearner()


ROWS = 3000


def schema(**more) -> Schema:
    columns = [
        {"name": "age", "type": "integer", "lower": 20, "upper": 100, "bins": 8},
        {"name": "sex", "type": "categorical", "categories": ["f", "m"]},
        {"name": "ward", "type": "categorical", "categories": [f"w{i}" for i in range(12)]},
        {"name": "ill", "type": "boolean"},
        {"name": "by night", "type": "boolean"},
    ]
    return Schema.from_mapping({"name": "ward", "max_rows": 4000, "columns": columns, **more})


def people(rows: int = ROWS) -> pd.DataFrame:
    draw = np.random.default_rng(0)
    age = draw.integers(20, 101, rows)
    return pd.DataFrame(
        {
            "age": age,
            "sex": draw.choice(["f", "m"], rows),
            "ward": draw.choice([f"w{i}" for i in range(12)], rows),
            "ill": np.where(draw.random(rows) < np.where(age > 60, 0.8, 0.1), "yes", "no"),
            "by night": draw.choice(["yes", "no"], rows),
        }
    )


def plan(epsilon="1", delta="0", of=None, **parameters):
    return LEARNER.plan(of or schema(), "", Decimal(epsilon), parameters, Decimal(delta))


def released(planned, seed=1, frame=None):
    table = ingest(frame_chunks(people() if frame is None else frame), planned.schema, SeededRandom(0))
    return LEARNER.run(Run(table, planned, SeededRandom(seed)))


def look_at(axes, counts, deviation, **more) -> SummaryModel:
    """A first look that counted one table, of all its axes, with this noise."""
    counts = np.asarray(counts, dtype=float)
    table = NoisyTable(axes=tuple(range(counts.ndim)), counts=tuple(counts.ravel().tolist()), deviation=deviation)
    usual = {"axes": axes, "sizes": counts.shape, "tables": (table,), "gaussian": True, "count_margin": 20}
    return SummaryModel(**usual | more)


RUNS = 40


@cache
def looks(epsilon: str = "1", delta: str = "0.000001"):
    planned = plan(epsilon, delta, by="ill", crosstabs=("age by sex",))
    table = ingest(frame_chunks(people()), planned.schema, SeededRandom(0))
    return [LEARNER.run(Run(table, planned, SeededRandom(seed))) for seed in range(RUNS)]
