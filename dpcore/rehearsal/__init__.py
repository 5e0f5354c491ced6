"""Rehearsals: the same run on invented records, and what to expect of it. Free.

The records are drawn from the public schema and, if wanted, shaped by what earlier releases of the
same data set revealed. Nothing here sees a stored record; all randomness is seeded, and the
release says so.
"""

from __future__ import annotations

from dpcore.rehearsal.quality_forecast import EPSILONS, Point, QualityForecast, epsilon_for, forecast_quality
from dpcore.rehearsal.running import Rehearsal, rehearse, warm_up
from dpcore.rehearsal.shape import REHEARSAL_ROWS, Shape, shape_of, usable
from dpcore.rehearsal.synthetic import synthetic_tables

__all__ = [
    "EPSILONS",
    "REHEARSAL_ROWS",
    "Point",
    "QualityForecast",
    "Rehearsal",
    "Shape",
    "epsilon_for",
    "forecast_quality",
    "rehearse",
    "shape_of",
    "synthetic_tables",
    "usable",
    "warm_up",
]
