"""The rows of an upload: of one file, or of two about the same people, joined person by person.

Joining is a step of the custodian's upload. The row of a person holds what the two files say of
that person and of nobody else, so it changes with nobody else, and nothing is stored of a person
but that row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import numpy as np
import pandas as pd

from dpcore.data.building.ingest import check_header, frame_chunks
from dpcore.domain.columns import View
from dpcore.domain.encoding import people_of
from dpcore.domain.schemas.schema import ChildTable, PrivacyUnit, Schema
from dpcore.errors import IngestError
from dpcore.intake.joins.keys import KeyOverlap
from dpcore.intake.sources.decimal_commas import number_columns
from dpcore.intake.sources.files import read_chunks, read_header

#: Told how the keys of two files met, once both are read.
Told = Callable[[KeyOverlap], None]
_PLACES: dict[View, str] = {"left": "first", "right": "second"}


@dataclass(frozen=True)
class JointColumns:
    """What the columns of two files are called when they stand side by side."""

    key: str
    """Column that identifies people, in both files."""
    left: dict[str, str]
    right: dict[str, str]
    """``left``, ``right``: name in the joined rows to name in the file, the key left out. Columns that both files have
    get ``_left`` and ``_right`` behind their names."""

    def of(self, side: View) -> dict[str, str]:
        """Name in the joined rows to name in the file of one side."""
        return self.left if side == "left" else self.right

    def place(self, name: str) -> tuple[View, str]:
        """Side of a joined column, and its name in the file of that side.

        Raises
        ------
        IngestError
            If the files have no such column, or if both have it.
        """
        for side in get_args(View):
            if name in self.of(side):
                return side, self.of(side)[name]
        if name in self.left.values():
            raise IngestError(
                f"Both files have a column '{name}'. Joined, they are called "
                f"'{_suffixed(name, 'left')}' and '{_suffixed(name, 'right')}': use these names."
            )
        raise IngestError(
            f"Neither file has a column '{name}'. Rename the column in the file or in the schema; "
            "upper and lower case matter."
        )


def shared_columns(left: Path, right: Path) -> list[str]:
    """Names that both files have: one of them identifies people.

    Raises
    ------
    IngestError
        If a header cannot be used, or there is no such name.
    """
    theirs = set(_header(right, "right"))
    shared = [name for name in _header(left, "left") if name in theirs]
    if not shared:
        raise IngestError(
            "The two files have no column in common. Both need the column that identifies people, "
            "under the same name; upper and lower case matter."
        )
    return shared


def joint_columns(left: Path, right: Path, key: str) -> JointColumns:
    """Read the two headers and name the columns; no value is read.

    Raises
    ------
    IngestError
        If a header cannot be used, lacks the key, or the names cannot be told apart.
    """
    headers: dict[View, list[str]] = {"left": _header(left, "left"), "right": _header(right, "right")}
    for side, names in headers.items():
        if key not in names:
            raise IngestError(
                f"The {_PLACES[side]} file has no column '{key}'. Both files need the column that "
                "identifies people, under the same name; upper and lower case matter."
            )
    shared = set(headers["left"]) & set(headers["right"])
    named = {
        side: [(_suffixed(name, side) if name in shared else name, name) for name in names if name != key]
        for side, names in headers.items()
    }
    _check_names([key, *(name for side in named.values() for name, _ in side)])
    return JointColumns(key, dict(named["left"]), dict(named["right"]))


def _header(path: Path, side: View) -> list[str]:
    try:
        return read_header(path)
    except IngestError as error:
        raise _in_file(side, error) from None


def _in_file(side: View, error: IngestError) -> IngestError:
    return IngestError(f"In the {_PLACES[side]} file: {error}")


def _suffixed(name: str, side: View) -> str:
    return f"{name}_{side}"


def _check_names(names: list[str]) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        listed = ", ".join(f"'{name}'" for name in twice[:10])
        raise IngestError(
            f"Joined, the two files would have several columns called {listed}. Rename a column in one of the files."
        )
    check_header(names)


def chunks_for(
    schema: Schema,
    source: str | Path | Sequence[Path] | pd.DataFrame,
    right: str | Path | None = None,
    child: ChildTable | None = None,
    told: Told | None = None,
    beside: Collection[str] = (),
) -> Iterator[pd.DataFrame]:
    """Rows for :func:`dpcore.data.building.ingest.ingest`, with the columns that the schema names.

    Parameters
    ----------
    source : str, Path, sequence of Path or DataFrame
        CSV or Parquet file, several of them (see :mod:`dpcore.intake.sources.parts`), or a frame.
    right : str, Path or None
        A second file about the same people, joined on the schema's ``privacy_unit.column``.
    child : ChildTable or None
        The child table whose columns are wanted, if it is not the main table.
    told : callable, optional
        Told how the keys of the two files met.

    Raises
    ------
    IngestError
        If a file is broken or the two cannot be joined.
    """
    columns = list(dict.fromkeys([*(child or schema).file_columns, *beside]))
    unit = schema.privacy_unit.column
    numbers = number_columns(child or schema, schema.keys)
    if right is None:
        if isinstance(source, pd.DataFrame):
            return frame_chunks(source)
        files = Path(source) if isinstance(source, str) else source
        return read_chunks(files, columns if unit is None else [*columns, unit], numbers=numbers)
    if not isinstance(source, str | Path):
        raise IngestError("Only two files can be joined: write the rows to a file first.")
    return read_joined(Path(source), Path(right), join_key(schema), columns, numbers, told, schema.privacy_unit)


def join_key(schema: Schema) -> str:
    """Column on which two files of a schema are joined: the one that identifies a person.

    Raises
    ------
    IngestError
        If the schema names none.
    """
    if schema.privacy_unit.column is None:
        raise IngestError(
            "Two files are joined on the column that identifies people: name it in the schema as "
            "the column of the 'privacy_unit'."
        )
    return schema.privacy_unit.column


def read_joined(
    left: Path,
    right: Path,
    key: str,
    columns: Sequence[str],
    numbers: Collection[str] = (),
    told: Told | None = None,
    unit: PrivacyUnit | None = None,
) -> Iterator[pd.DataFrame]:
    """Stream the people of two files, one row each: those in both, then those in one alone.

    Whoever is in one file only has missing values in the columns of the other. Rows whose key
    is missing are dropped, as they could belong to anybody. Keys are compared as text, in the
    way persons are. The second file is held in memory (its wanted columns), the first is not.

    Parameters
    ----------
    columns : sequence of str
        Wanted columns, by their names in the joined rows.
    numbers : collection of str
        Those that hold numbers: see :func:`dpcore.intake.sources.files.read_chunks`.
    told : callable, optional
        Told how the keys of the two files met.

    Raises
    ------
    IngestError
        If the files cannot be used, a key stands twice in one of them, or none is in both.
    """
    wanted = _by_side(joint_columns(left, right, key), columns)
    nobody: Counter[View] = Counter()
    others = _whole(_people_rows(right, "right", key, wanted["right"], numbers, nobody, unit), wanted["right"])
    if others.index.has_duplicates:
        raise _repeated("right", key)
    seen: set[str] = set()
    met = np.zeros(len(others), dtype=bool)
    for rows in _people_rows(left, "left", key, wanted["left"], numbers, nobody, unit):
        if rows.index.has_duplicates or not seen.isdisjoint(rows.index):
            raise _repeated("left", key)
        seen.update(rows.index)
        places = others.index.get_indexer(rows.index)
        met[places[places >= 0]] = True
        yield _finished(rows.join(others), key)
    if not met.any():
        raise IngestError(
            f"No '{key}' of one file is found in the other. Check that both are about the same "
            "people and write it alike: leading zeros and endings such as '.0' count."
        )
    if told is not None:
        first, second = len(seen) + nobody["left"], len(met) + nobody["right"]
        told(KeyOverlap((first, nobody["left"]), (second, nobody["right"]), int(met.sum())))
    yield _finished(others[~met].reindex(columns=list(columns)), key)


def _by_side(together: JointColumns, columns: Sequence[str]) -> dict[View, dict[str, str]]:
    """For each side, the names of its wanted columns in the file to those in the joined rows."""
    wanted: dict[View, dict[str, str]] = {"left": {}, "right": {}}
    for name in columns:
        side, inside = together.place(name)
        wanted[side][inside] = name
    return wanted


def _whole(pieces: Iterator[pd.DataFrame], names: dict[str, str]) -> pd.DataFrame:
    collected = list(pieces)
    return pd.concat(collected) if collected else pd.DataFrame(columns=list(names.values()))


def _people_rows(
    path: Path,
    side: View,
    key: str,
    names: dict[str, str],
    numbers: Collection[str],
    nobody: Counter[View],
    unit: PrivacyUnit | None,
) -> Iterator[pd.DataFrame]:
    """Rows of one file by the text of their key; rows of nobody are counted and left out."""
    numeric = [inside for inside, name in names.items() if name in numbers]
    try:
        for chunk in read_chunks(path, [key, *names], numbers=numeric):
            people = people_of(chunk[key], unit)
            nobody[side] += int(people.isna().sum())
            rows = _nullable(chunk[list(names)]).rename(columns=names)
            rows.index = pd.Index(people, dtype=object)
            yield rows[people.notna().to_numpy()]
    except IngestError as error:
        raise _in_file(side, error) from None


def _nullable(frame: pd.DataFrame) -> pd.DataFrame:
    """The same values in types that have a place for a missing one and keep integers exact."""
    kinds = {"b": "boolean", "i": "Int64", "u": "UInt64"}
    return frame.astype({name: kinds[dtype.kind] for name, dtype in frame.dtypes.items() if dtype.kind in kinds})


def _finished(rows: pd.DataFrame, key: str) -> pd.DataFrame:
    return rows.rename_axis(key).reset_index()


def _repeated(side: View, key: str) -> IngestError:
    return IngestError(
        f"In the {_PLACES[side]} file, several rows have the same '{key}'. Two files are joined "
        "person by person: make one row per person in each."
    )
