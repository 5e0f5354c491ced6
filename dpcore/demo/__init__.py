"""Public demonstration data: anybody may see these records, and the truth behind them.

``DEMOS`` maps the name of each data set to a function that makes it, the same at every call.
"""

from __future__ import annotations

from collections.abc import Callable

from dpcore.demo.breast_cancer import make_breast_cancer
from dpcore.demo.checkups import make_checkups
from dpcore.demo.hospital import make_hospital
from dpcore.demo.stroke import make_stroke
from dpcore.demo.trains import make_trains
from dpcore.demo.truth import Demo

DEMOS: dict[str, Callable[[], Demo]] = {
    "stroke": make_stroke,
    "breast_cancer": make_breast_cancer,
    "checkups": make_checkups,
    "trains": make_trains,
    "hospital": make_hospital,
}

__all__ = ["DEMOS", "Demo"]
