"""Whether missing values alone may explain a redescription. From its conditions and noisy counts: free.

A questionnaire that branches, or a panel of a laboratory, leaves values missing for the same people. What
holds for these on both sides then says who was asked or measured, and nothing else about them. Conditions
say whether that is possible, and the noisy table of leaves for how many people at most; how many it
really are is not asked of the records.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Literal

import numpy as np

from dpcore.arrays import Flags, Floats
from dpcore.domain.columns import MISSING
from dpcore.domain.counted import Noun
from dpcore.models.redescriptions.released.regions import Box, Domain

#: "both" or "one": so many sides only ask whether values are missing; "may": both sides hold for missing
#: values too, and not for enough people without them; "": neither. Sides that hold for known values alone
#: have no mark: how many are known is not in their noisy table.
Missingness = Literal["", "both", "one", "may"]

#: What is said of each in a table.
SHORT: Mapping[Missingness, str] = {"": "", "both": "all it says", "one": "all one side says", "may": "may explain it"}
_SENTENCES: Mapping[Missingness, str] = {
    "": "",
    "both": "Both sides only ask whether values are missing: this tells which values are missing for the same "
    "{several}, as those of questions or measurements that go together are, and nothing else.",
    "one": "One side only asks whether values are missing: this may come from who was asked or measured at all.",
    "may": "Both sides also hold where values are missing, and do not go together enough among the {several} of {whom} "
    "all values are surely known. If values are missing for the same {several}, that alone may explain it.",
}


def in_full(mark: Missingness, counted: Noun) -> str:
    """What is said of each in a sentence; nothing of what has no mark."""
    return _SENTENCES[mark].format(several=counted.several, whom=counted.whom)


def only_asks_for_missing(boxes: Sequence[Box], domain: Domain) -> bool:
    """Whether every condition is that a value is missing, or that it is not."""
    conditions = [condition for box in boxes for condition in box.items()]
    return bool(conditions) and all(
        (cells == missing or cells == domain.everything(name) & ~missing)
        for name, cells in conditions
        for missing in [_missing(name, domain)]
    )


def holding_missing(
    leaves: Sequence[Box | None], members: Collection[int], columns: Collection[str], domain: Domain
) -> Flags:
    """Which leaves of a side may hold people with a missing value in a column that the side names.

    Parameters
    ----------
    leaves : sequence of boxes
        All leaves of the tree.
    members : collection of int
        Leaves that the side joins.
    """
    found = np.zeros(len(leaves), dtype=np.bool_)
    for leaf in members:
        box = leaves[leaf]
        found[leaf] = box is not None and any(
            box.get(name, domain.everything(name)) & _missing(name, domain) for name in columns
        )
    return found


def jaccard_without(table: Floats, left: Flags, right: Flags, missing: tuple[Flags, Flags]) -> float:
    """Jaccard index without the people for whom both sides may hold by missing values. At least this.

    Parameters
    ----------
    table : array of shape (n_left_leaves, n_right_leaves)
        Counts, not negative.
    left, right : bool arrays of shape (n_left_leaves,) and (n_right_leaves,)
        Leaves that each side joins.
    missing : two such arrays
        :func:`holding_missing`.
    """
    away = float(table[np.ix_(*missing)].sum())
    both = float(table[np.ix_(left, right)].sum()) - away
    either = float(table[left].sum() + table[:, right].sum() - table[np.ix_(left, right)].sum()) - away
    return max(0.0, both) / either if either > 0 else 0.0


def _missing(name: str, domain: Domain) -> int:
    """The cell of missing values; none, if everybody has a value."""
    column = domain.column(name)
    code = domain.cells(name).index(MISSING)
    return 0 if code in column.unsaid else 1 << code
