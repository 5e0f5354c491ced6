"""Which columns come first where a reader looks for what is remarkable. Post-processing: costs nothing."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from dpcore.domain.columns import RESERVED
from dpcore.models.summaries.released.reading import Amount, ColumnReading


def by_what_stands_out(groups: int | None, gaps: Mapping[int, Amount], told: Sequence[ColumnReading]) -> list[int]:
    """Places of all columns, the most remarkable first.

    With groups, those that surely differ most between them (low end of the standardised
    difference); where noise hides the differences, and without groups, those that are far from
    even or have much missing. The column of the groups comes first.

    Parameters
    ----------
    groups : int or None
        Place of the column of the groups.
    gaps : mapping
        Standardised difference of columns, by place.
    """
    surely = {place: gap.low for place, gap in gaps.items()}
    return sorted(range(len(told)), key=lambda place: (place != groups, -surely.get(place, 0.0), -uneven(told[place])))


def uneven(reading: ColumnReading) -> float:
    """From 0, if every cell has as many people, to 1, if one has all; missing values come on top."""
    known = [
        float(share) for cell, share in zip(reading.cells, reading.shares.values, strict=True) if cell not in RESERVED
    ]
    total = sum(known)
    gone = 0.0 if reading.missing is None else reading.missing.value
    if total <= 0 or len(known) < 2:
        return gone
    spread = -sum(share / total * math.log(share / total) for share in known if share > 0)
    return 1 - spread / math.log(len(known)) + gone
