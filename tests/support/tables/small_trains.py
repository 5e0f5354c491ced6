"""Invented trains: a main table, a child table with numbers, and a rule that is true of them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dpcore.domain.schemas.schema import Schema

TARGET = "direction"
SCHEMA = Schema.from_text(
    """
version: 1
name: small_trains
entity: train
max_rows: 2000
privacy_unit: {column: train_id}
columns:
  - {name: direction, type: categorical, categories: [west, east], target: true}
  - {name: year, type: integer, lower: 1900, upper: 1999, edges: [1950], unit: years}
children:
  - name: car
    max_rows_per_person: 3
    columns:
      - {name: length, type: categorical, categories: [short, long]}
      - name: roof
        type: categorical
        categories: [open, flat, peaked]
        groups: {closed: [flat, peaked]}
      - {name: wheels, type: integer, lower: 2, upper: 6, edges: [2, 4]}
      - {name: weight, type: real, lower: 0, upper: 10, edges: [1.5, 3.5], unit: tons}
"""
)
#: As few columns as two tables can have.
BARE_TEXT = """
name: trains
entity: train
max_rows: 100
privacy_unit: {column: train_id}
columns:
  - {name: direction, type: categorical, categories: [west, east], target: true}
children:
  - name: car
    max_rows_per_person: 3
    columns:
      - {name: length, type: categorical, categories: [short, long]}
"""


def trains(count: int = 1500) -> dict[str, pd.DataFrame]:
    """Main table and cars; one train in twenty goes the other way, one weight in ten is missing."""
    draw = np.random.default_rng(4)
    owner = np.repeat(np.arange(count), draw.integers(0, 4, count))
    weight = draw.uniform(0, 10, len(owner))
    weight[draw.random(len(owner)) < 0.1] = np.nan
    cars = pd.DataFrame(
        {
            "train_id": owner,
            "length": draw.choice(["short", "long"], len(owner)),
            "roof": draw.choice(["open", "flat", "peaked"], len(owner)),
            "wheels": draw.integers(2, 7, len(owner)),
            "weight": weight,
        }
    )
    caused = np.isin(np.arange(count), owner[(cars["length"] == "short") & (weight > 3.5)])
    east = caused ^ (draw.random(count) < 0.05)
    main = pd.DataFrame(
        {
            "train_id": np.arange(count),
            TARGET: np.where(east, "east", "west"),
            "year": draw.integers(1900, 2000, count),
        }
    )
    return {"train": main, "car": cars}
