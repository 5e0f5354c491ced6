"""What a table says of its columns, and their names as a schema can have them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dpcore.domain.schemas.names import plain_name
from dpcore.errors import IngestError

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class TableHeader:
    """What a table says of itself, without any of its values.

    Attributes
    ----------
    columns : dict of str to (str or None)
        Names of the columns, each with its declared type (boolean, integer, real or text);
        ``None`` where none is declared.
    key : str or None
        The declared primary key, if it is one column.
    """

    columns: dict[str, str | None]
    key: str | None = None


def plain_names(names: Iterable[str]) -> dict[str, str]:
    """Names that a schema can have, each with the one in the file.

    Raises
    ------
    IngestError
        If two columns would be called alike.
    """
    found: dict[str, str] = {}
    for name in names:
        other = found.setdefault(plain_name(name), name)
        if other != name:
            raise IngestError(
                f"The columns {other!r} and {name!r} differ in blanks or line breaks only: "
                "give one of them another name."
            )
    return found


def renamed(rows: pd.DataFrame, names: dict[str, str]) -> pd.DataFrame:
    """Rows whose columns have the names that :func:`plain_names` gave them."""
    other = {inside: name for name, inside in names.items() if inside != name}
    return rows.rename(columns=other) if other else rows
