"""Cut points for later runs, of a first look: about equally many people between any two. Post-processing, free.

They are cut points of the schema, chosen by the released counts alone (``docs/privacy/summaries.md``, section 5).
"""

from __future__ import annotations

from typing import Final

from dpcore.domain.columns import NumericColumn
from dpcore.domain.cuts import cut_text
from dpcore.domain.schemas.schema import Schema
from dpcore.models.summaries.released.summary_model import SummaryModel
from dpcore.released.noisy_counts import even_cuts

#: Groups that a column is divided into, at most.
_GROUPS: Final = 8
#: A group is not divided if its halves would have fewer people than so many deviations of the noise on a cell.
_LEAST: Final = 2.0


def cut_points(model: SummaryModel, schema: Schema) -> tuple[str, ...]:
    """The parameter ``cut_points`` of a later run: a text for each column of numbers, such as ``age: 40, 60``.

    Columns that the noise hides, or that have no cut point inside their bounds, are left out: they keep all of theirs.
    """
    found = []
    for place, axis in enumerate(model.axes):
        column = None if axis.rows else schema.column(axis.column)
        if isinstance(column, NumericColumn):
            counts = model.estimates.consistent((place,))[: len(column.classes)]
            firsts = even_cuts(counts, _GROUPS, _LEAST * model.estimates.deviation((place,)))
            if firsts:
                found.append(cut_text(column, (first - 1 for first in firsts)))
    return tuple(found)
