"""Which settings of a family count beside which others, as their fields say, and values to try for each."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from itertools import product
from typing import Any

from dpcore.models.registry import LEARNERS
from dpcore.released.parameters import Parameter, parameters_of
from tests.support.learning.configurations import MOST, counts

#: Values of what no bound describes, for the tables of ``tests/models/test_settings.py``.
NAMED: dict[str, tuple[Any, ...]] = {
    "given": (("age > 60",), ("smoker = yes", "age <= 40")),
    "cut_points": (("age: 40",),),
    "alpha": ((500.0, 1.0),),
    "replicates": (3, 5),
    "shares": ({"list": 1, "estimates": 9},),
    "blocks": ((1,), (1, 1)),
    "left": (("age",),),
    "right": (("ill",),),
    "positive": ("west",),
    "literals": (("car: length = short",),),
    "quantifiers": (("exists",), ("exists", "counts")),
    "columns": (("age", "smoker"),),
    "by": ("smoker",),
    "crosstabs": (("age by smoker",),),
    "codes": (("ward",),),
    "finer": (("age",),),
    "increasing": (("age",),),
    "decreasing": (("age",),),
    "delta": (Decimal("0.0001"),),
}


def contexts(family: str) -> Iterator[dict[str, Any]]:
    """Every combination of the choices that others depend on."""
    own = parameters_of(LEARNERS[family].parameters)
    asked = {choice for parameter in own.values() for choice in parameter.only}
    deciding = {
        name: NAMED.get(name, parameter.choices)
        for name, parameter in own.items()
        if name == "method" or asked & set(parameter.choices)
    }
    for values in product(*deciding.values()):
        chosen = dict(zip(deciding, values, strict=True))
        if all(chosen[name] == options[0] for name, options in deciding.items() if not counts(own, chosen, name)):
            yield chosen


def values_of(name: str, parameter: Parameter) -> list[Any]:
    """Some values of a parameter; its own default may be among them."""
    if name in NAMED:
        return list(NAMED[name])
    if parameter.choices:
        return list(parameter.choices)
    if parameter.kind is bool:
        return [True, False]
    limits = parameter.limits
    low, high = (float(limits[ge] if ge in limits else limits[gt]) for ge, gt in (("ge", "gt"), ("le", "lt")))
    high = min(high, float(MOST.get(name, high)))
    tried = [low, low + 1, low + (high - low) / 100, (low + high) / 20, (low + high) / 2, high]
    fit = [value for value in tried if low <= value <= high and (value > low or "gt" not in limits)]
    fit = [value for value in fit if value < high or "lt" not in limits]
    if parameter.kind is int:
        return sorted({round(value) for value in fit})
    return [parameter.kind(f"{value:.6g}") for value in fit]
