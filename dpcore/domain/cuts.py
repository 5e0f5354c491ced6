"""Cut points that conditions on numbers may use: all of the schema's, or some of them.

They are chosen before a run begins, from what is public: by hand, or from an earlier release.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from dpcore.domain.columns import NumericColumn, format_number
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import RequestError

#: By column: codes of the last cells below each cut, increasing. Other columns have all of theirs.
Cuts = Mapping[str, tuple[int, ...]]
ALL_CUTS: Final[Cuts] = {}


def cuts_of(column: Any, cuts: Cuts) -> Sequence[int]:
    """Last cells below each cut of an ordered column."""
    return cuts.get(column.name, range(len(column.classes) - 1))


def cut_text(column: Any, places: Iterable[int]) -> str:
    """Some cut points of a column of numbers, as :func:`read_cuts` reads them: ``age: 40, 60``."""
    return f"{column.name}: {', '.join(format_number(column.inner_edges[place]) for place in places)}"


def read_cuts(schema: Schema, texts: Iterable[str]) -> Cuts:
    """Cut points from texts such as ``age: 40, 60``.

    Raises
    ------
    RequestError
        If a text names no column of numbers, or a point that is none of its cut points.
    """
    found: dict[str, tuple[int, ...]] = {}
    for text in texts:
        name, _, points = text.rpartition(":")
        column = next((column for column in schema if column.name == name.strip()), None)
        if not isinstance(column, NumericColumn):
            raise RequestError(f"'{text}' names no column of numbers. Write cut points like 'age: 40, 60'.")
        if column.name in found:
            raise RequestError(f"The cut points of '{column.name}' are given twice.")
        places = {format_number(edge): place for place, edge in enumerate(column.inner_edges)}
        found[column.name] = tuple(sorted({_place(column, places, point.strip()) for point in points.split(",")}))
    return found


def _place(column: Any, places: Mapping[str, int], point: str) -> int:
    try:
        return places[format_number(float(point))]
    except (ValueError, OverflowError, KeyError):
        shown = f"'{point}' is not a cut point of '{column.name}'."
        listed = f" Those of the data set: {', '.join(list(places)[:20])}." if places else " It has none."
        raise RequestError(shown + listed) from None
