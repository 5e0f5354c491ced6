"""Class labels as scikit-learn wants them: ascending, in the type that the schema implies."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from dpcore.arrays import Array, Ints
from dpcore.domain.columns import BooleanColumn

#: Largest class that becomes a number.
_MOST = 2**53


def class_labels(column: Any) -> Array:
    """Class labels of a target, ascending: a function of the schema alone, never of the labels in ``y``.

    ``False`` and ``True`` for a boolean column; integers for categories that are all written as
    integers are, such as 0, 1 and 2; text for everything else.
    """
    return np.sort(_labels(column))


def class_places(column: Any) -> Ints:
    """Place in the schema of each of :func:`class_labels`: shape (n_classes,)."""
    return np.argsort(_labels(column), kind="stable")


def _labels(column: Any) -> Array:
    """Class labels in the order of the schema, which models keep."""
    if isinstance(column, BooleanColumn):
        return np.array([False, True])
    if are_whole(column.classes):
        return np.array([int(label) for label in column.classes])
    return np.array(column.classes, dtype=object)


def are_whole(labels: Iterable[str]) -> bool:
    """Whether all labels are integers in their only spelling: not ``01``, not ``1.0``."""
    return all(map(_is_whole, labels))


def _is_whole(label: str) -> bool:
    digits = label.removeprefix("-")
    plain = digits.isascii() and digits.isdigit() and len(digits) < 17
    return plain and str(int(label)) == label and abs(int(label)) <= _MOST
