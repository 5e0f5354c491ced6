"""Rows that belong to rows of another table, in tables of people or of one case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from dpcore.arrays import Ints
from dpcore.domain.encoding import people_of
from dpcore.domain.schemas.schema import ChildTable
from dpcore.errors import RequestError
from dpcore.models.ilp.language.rows import CaseRow
from dpcore.released.cases import is_known


def are_linked(rows: pd.DataFrame, child: ChildTable, parents: pd.DataFrame, parent: ChildTable) -> bool:
    """Whether two tables have the columns that tell to which row of the one each row of the other belongs."""
    return child.parent_key in rows and parent.row_key in parents


def check_linked(rows: pd.DataFrame, child: ChildTable, parents: pd.DataFrame, parent: ChildTable) -> None:
    """Refuse rows of which nobody knows to which they belong. Raises ``RequestError``."""
    if len(rows) and len(parents) and not are_linked(rows, child, parents, parent):
        raise RequestError(
            f"To know which rows of '{child.name}' belong to which of '{parent.name}', the one table needs the column "
            f"'{child.parent_key}' and the other one '{parent.row_key}'."
        )


def parents_of(
    owners: Ints, rows: pd.DataFrame, child: ChildTable, above: Ints, parents: pd.DataFrame, parent: ChildTable
) -> Ints:
    """Place of the row of the same person to which each row belongs, of several with one key the first; -1 for none.

    Parameters
    ----------
    owners, above : int array of shape (n_rows,), (n_parents,)
        Place of the person of each row, and of each row of the parent's table; -1 for nobody.
    """
    if not len(rows) or not len(parents):
        return np.full(len(rows), -1, dtype=np.int64)
    known: dict[tuple[int, object], int] = {}
    for place, pair in enumerate(zip(above.tolist(), people_of(parents[parent.row_key]), strict=True)):
        known.setdefault(pair, place)
    named = zip(owners.tolist(), people_of(rows[child.parent_key]), strict=True)
    found = (known.get(pair, -1) if pair[0] >= 0 and pair[1] is not None else -1 for pair in named)
    return np.fromiter(found, dtype=np.int64, count=len(rows))


def belonging(
    rows: pd.DataFrame, child: ChildTable, parents: pd.DataFrame, parent: ChildTable
) -> list[tuple[list[int], bool]]:
    """For each row of one case, the rows of the parent's table to which it may belong, and whether it surely does.

    Where a key is not known, it may belong to any of which that cannot be ruled out.
    """
    above = _keys(parents, str(parent.row_key))
    found: list[tuple[list[int], bool]] = []
    for key in _keys(rows, str(child.parent_key)):
        named = [place for place, other in enumerate(above) if key is not None and other == key]
        unknown = [place for place, other in enumerate(above) if key is None or other is None]
        found.append((named[:1], True) if named else (unknown, False))
    return found


def with_below(
    rows: Sequence[CaseRow], below: Mapping[str, tuple[Sequence[CaseRow], Sequence[tuple[list[int], bool]]]]
) -> tuple[CaseRow, ...]:
    """Rows of a case with those of other tables that belong to them, or may: each with what :func:`belonging` tells."""
    found = []
    for number, row in enumerate(rows):
        own = {
            name: tuple(
                other.model_copy(update={"linked": surely})
                for other, (places, surely) in zip(others, may, strict=True)
                if number in places
            )
            for name, (others, may) in below.items()
        }
        found.append(row.model_copy(update={"below": own}))
    return tuple(found)


def _keys(frame: pd.DataFrame, name: str) -> list[object]:
    """Keys of rows as texts; ``None`` where they are not known."""
    if name not in frame:
        return [None] * len(frame)
    return [key if is_known(value) else None for key, value in zip(people_of(frame[name]), frame[name], strict=True)]
