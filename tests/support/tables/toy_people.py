"""Made-up people whose illness follows two columns, so that a good tree is known."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dpcore.data.building.ingest import frame_chunks, ingest
from dpcore.privacy.randomness import SeededRandom
from tests.support.tables.small_tables import schema_of

COLUMNS = [
    {"name": "age", "type": "integer", "lower": 0, "upper": 100, "edges": [20, 40, 60, 80]},
    {"name": "smoker", "type": "boolean"},
    {"name": "region", "type": "categorical", "categories": ["north", "south", "west"]},
    {"name": "ill", "type": "boolean", "target": True},
    {"name": "stage", "type": "categorical", "categories": ["i", "ii", "iii"], "target": True},
]
PEOPLE = 2000


def schema(rows_per_person=1, holdout_percent=20, max_rows=4000, columns=None):
    unit = {"column": "person", "max_rows_per_person": rows_per_person}
    return schema_of(columns or COLUMNS, max_rows, holdout_percent, privacy_unit=unit)


def frame(people=PEOPLE, seed=4, known=0.9):
    """Ill are the old who smoke; the stage tells illness and age; some targets are missing."""
    random = np.random.default_rng(seed)
    age, smoker = random.integers(0, 101, people), random.random(people) < 0.5
    ill = np.where((age > 60) & smoker, random.random(people) < 0.95, random.random(people) < 0.05)
    stage = np.where(ill, "iii", np.where(age > 40, "ii", "i"))
    hidden = random.random((2, people)) > known
    return pd.DataFrame(
        {
            "person": np.arange(people),
            "age": age,
            "smoker": np.where(smoker, "yes", "no"),
            "region": random.choice(["north", "south", "west", "elsewhere"], people),
            "ill": np.where(hidden[0], "", np.where(ill, "yes", "no")),
            "stage": np.where(hidden[1], "unclear", stage),
        }
    )


def table(domain, content=None):
    return ingest(frame_chunks(frame() if content is None else content), domain, SeededRandom(1))
