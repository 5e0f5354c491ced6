"""Invented records that follow a first look: free, as they are made of what was released.

They are drawn column after column from a forest of columns: of all pairs that were counted, those that tell
most of each other without a circle (Chow, Liu 1968), as in MST (McKenna, Miklau, Sheldon 2021). The other pairs close
circles; drawn records are weighted to follow all of them (``raking``), and taken by their weights. What columns
that no pair was counted of have to do with each other beyond that is not in the records.
"""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd

from dpcore.arrays import Array, Floats, Ints
from dpcore.domain.columns import MISSING, Column, IntegerColumn
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import RequestError
from dpcore.models.summaries.released.estimates import Links, Pair
from dpcore.models.summaries.released.posterior_tables import chosen, posterior_column, posterior_pair, raked
from dpcore.models.summaries.released.summary_model import SummaryModel
from dpcore.models.summaries.released.summary_parameters import Axis, middles, row_ends
from dpcore.numerals import small, whole
from dpcore.privacy.randomness import public_generator
from dpcore.released.evidence import between
from dpcore.released.release import Release
from dpcore.spreadsheets import frame_csv, safe_cell

MOST_ROWS: Final = 10_000_000
#: Records that are drawn and weighted, however many are wanted: each of them is taken never, once or often.
_DRAWN: Final = 50_000
#: Invented records that are looked at beforehand: more of them only round less.
_LOOKED_AT: Final = 200_000
#: Beyond this a 64-bit float holds not every whole number.
_LARGEST: Final = 2.0**53

WHAT_IT_IS: Final = (
    "Invented records. Nobody in here exists: they were drawn from noisy counts that a first look released.",
    "Good for: writing and testing an analysis before the data come, teaching, demonstrations.",
    "Not for: results. Shares of single columns, and of pairs that were counted and kept, are right but for noise "
    "and chance in drawing; nothing else is.",
    "Not for: rare groups, three columns together, anybody in particular, models that are to be used.",
)


@dataclass(frozen=True)
class Branch:
    """An axis with the one that it follows; a root follows none."""

    axis: int
    follows: int | None


class Source:
    """What records are drawn from: tables without negative counts that agree on every column, and a forest.

    Parameters
    ----------
    likely : bool
        Whether the tables are the most plausible ones behind the noise, whose shares are nearest to the true
        ones. If not they are the estimates, which have about as much structure as the true ones.

    Attributes
    ----------
    columns : list of arrays
        Counts of each axis.
    pairs : mapping of (int, int) to array
        Counts of the pairs that tell more than noise would.
    forest : tuple of Branch
        Axes in an order in which each comes after the one that it follows.
    """

    def __init__(self, model: SummaryModel, *, likely: bool = True) -> None:
        own, axes = model.estimates, range(len(model.axes))
        columns = [posterior_column(own, axis) for axis in axes]
        in_order = [axis.in_order(size) for axis, size in zip(model.axes, model.sizes, strict=True)]
        told = {
            (a, b): posterior_pair(own, (a, b), columns[a], columns[b], (in_order[a], in_order[b]))
            for a, b in model.pairs
        }
        kept = {pair: one.table for pair, one in told.items() if one.nats > 0}
        self.columns = columns if likely else [own.consistent((axis,)) for axis in axes]
        self.pairs = kept if likely else {pair: own.consistent(pair) for pair in kept}
        self.forest = _forest(len(model.axes), sorted(self.pairs, key=lambda pair: (-told[pair].nats, pair)))

    def given(self, branch: Branch) -> Floats:
        """Counts of an axis in each cell of the one that it follows: shape (its cells or 1, own cells)."""
        if branch.follows is None:
            return self.columns[branch.axis][None, :]
        if branch.follows < branch.axis:
            return self.pairs[branch.follows, branch.axis]
        return self.pairs[branch.axis, branch.follows].T


def _forest(axes: int, pairs: Sequence[Pair]) -> tuple[Branch, ...]:
    links = Links(axes, ())
    neighbours: dict[int, list[int]] = {axis: [] for axis in range(axes)}
    for first, second in pairs:
        if not links.linked((first, second)):
            links.add((first, second))
            neighbours[first].append(second)
            neighbours[second].append(first)
    made: list[Branch] = []
    for root in range(axes):
        waiting: list[Branch] = [Branch(root, None)]
        while waiting:
            branch = waiting.pop()
            if all(branch.axis != one.axis for one in made):
                made.append(branch)
                waiting += [Branch(other, branch.axis) for other in neighbours[branch.axis]]
    return tuple(made)


def invented(model: SummaryModel, schema: Schema, rows: int, seed: int | None = None) -> dict[str, pd.DataFrame]:
    """Tables of invented records, by their names.

    Rows of further tables are as many as were counted, with a key and nothing else: of what stands in
    them a first look knows nothing.

    Parameters
    ----------
    rows : int
        Of the main table.
    seed : int or None
        The same seed draws the same records; ``None`` draws others each time.

    Raises
    ------
    RequestError
        If they would have too many rows in further tables.
    """
    if not 0 <= rows <= MOST_ROWS:
        raise ValueError(f"invented records are at most {whole(MOST_ROWS)}")
    check_further_rows(model, schema, rows)
    generator = public_generator(seed)
    codes = draw_codes(Source(model), rows, generator)
    main: dict[str, object] = {}
    for place, axis in enumerate(model.axes):
        if not axis.rows:
            values = values_of(axis, schema, codes[place], generator)
            main[axis.column] = _in_files(schema.column(axis.column), values)
    key = schema.privacy_unit.column
    if key is not None:
        main = {key: np.arange(1, rows + 1), **main}
    tables = {schema.entity: pd.DataFrame(main)}
    for place, axis in enumerate(model.axes):
        if axis.rows:
            tables[axis.table] = _further(axis, schema, codes[place], generator)
    return tables


def check_further_rows(model: SummaryModel, schema: Schema, rows: int) -> None:
    """Refuse so many records that their rows in further tables, on average, are too many to make.

    Raises
    ------
    RequestError
        If there are too many; it says how many records fit.
    """
    each = sum(
        _rows_each(axis, schema, posterior_column(model.estimates, place))
        for place, axis in enumerate(model.axes)
        if axis.rows
    )
    if rows * each > MOST_ROWS:
        raise RequestError(
            f"So many records would have about {whole(rows * each)} rows in further tables, of which "
            f"{whole(MOST_ROWS)} are made at most: choose {whole(math.floor(MOST_ROWS / each))} records or fewer."
        )


def _rows_each(axis: Axis, schema: Schema, counts: Floats) -> float:
    """Rows that a record has in a further table on average, by how many records have how many."""
    return float(counts @ middles(axis.ends(schema) or (), whole=True) / max(counts.sum(), 1e-12))


def draw_codes(source: Source, rows: int, generator: np.random.Generator) -> dict[int, Ints]:
    """Cell of each invented record in each axis."""
    codes = dict[int, Ints]()
    for branch in source.forest:
        before = np.zeros(_DRAWN, dtype=np.int64) if branch.follows is None else codes[branch.follows]
        codes[branch.axis] = _drawn(source.given(branch), before, generator)
    weights = raked(codes, source.pairs) if source.pairs else np.ones(_DRAWN)
    places = chosen(weights, rows, generator)
    return {axis: own[places] for axis, own in codes.items()}


def _drawn(table: Floats, given: Ints, generator: np.random.Generator) -> Ints:
    """A cell for each record, by the row of a table that it is in; where that is empty, by all rows.

    Places are spread evenly over those in the same row, so that shares are met but for rounding.
    """
    whole = table.sum(axis=0)
    whole = whole if whole.sum() > 0 else np.ones_like(whole)
    table = np.where(table.sum(axis=1, keepdims=True) > 0, table, whole)
    below = np.cumsum(table, axis=1) / table.sum(axis=1, keepdims=True)
    found = np.empty(len(given), dtype=np.int64)
    for row in np.unique(given):
        here = np.flatnonzero(given == row)
        place = (generator.permutation(len(here)) + generator.random(len(here))) / len(here)
        found[here] = np.minimum(np.searchsorted(below[row], place, side="right"), table.shape[1] - 1)
    return found


def values_of(axis: Axis, schema: Schema, codes: Ints, generator: np.random.Generator) -> Array:
    """A value in the cell of each record, as the data set has them: even within the cell of a number."""
    column, ends = schema.column(axis.column), axis.ends(schema)
    if ends is None:
        cells = np.asarray([None if cell == MISSING else cell for cell in axis.cells(schema)], dtype=object)
        return cells[codes]
    return between(column, np.array(ends), codes, generator)


def _in_files(column: Column, values: Array) -> object:
    """Whole numbers without a point, where 64 bits hold them."""
    whole = isinstance(column, IntegerColumn) and max(abs(column.lower), abs(column.upper)) < _LARGEST
    return pd.array(values, dtype="Float64").astype("Int64") if whole else values


def _further(axis: Axis, schema: Schema, codes: Ints, generator: np.random.Generator) -> pd.DataFrame:
    child = axis.child(schema)
    ends = np.asarray(row_ends(child))
    first = np.concatenate([[0], ends[:-1] + 1])
    counts = generator.integers(first[codes], ends[codes] + 1)
    owners = np.repeat(np.arange(1, len(codes) + 1), counts)
    empty = {column.name: pd.Series([None] * len(owners), dtype=object) for column in child.columns}
    # Which row of another table a row belongs to was not asked: it is the first one of the same person.
    links = {} if child.parent_key is None else {child.parent_key: np.ones(len(owners), dtype=np.int64)}
    if child.row_key is not None:
        links[child.row_key] = np.arange(len(owners)) - np.repeat(np.cumsum(counts) - counts, counts) + 1
    return pd.DataFrame({schema.key_of(child): owners, **links, **empty})


def expected_errors(model: SummaryModel, rows: int, seed: int | None = None) -> dict[str, float]:
    """How far shares of so many invented records are off at most, on average over cells, as far as noise goes as usual.

    What the noise of the first look does, and how far drawn records are off the tables that they are drawn from.

    Parameters
    ----------
    rows, seed : int
        As in :func:`invented`: of the same seed the same records are looked at, or as many as tell their rounding.
    """
    own, source = model.estimates, Source(model)
    total, size = max(own.total, 1.0), math.sqrt(2 / math.pi)
    codes = draw_codes(source, min(max(rows, 1), _LOOKED_AT), public_generator(seed))
    single = [
        size * own.deviation((axis,)) / total + _apart(counts, codes[axis])
        for axis, counts in enumerate(source.columns)
    ]
    pairs = [
        size * own.deviation(pair) / total + _apart(table.ravel(), codes[pair[0]] * table.shape[1] + codes[pair[1]])
        for pair, table in source.pairs.items()
    ]
    return {
        "columns": float(np.mean(single)),
        "pairs": float(np.mean(pairs)) if pairs else math.nan,
        "pairs kept": float(len(pairs)),
    }


def _apart(counts: Floats, drawn: Ints) -> float:
    """Mean distance between the shares that cells are to have, and those of drawn cells."""
    wanted = counts / max(float(counts.sum()), 1e-12)
    return float(np.abs(np.bincount(drawn, minlength=len(counts)) / len(drawn) - wanted).mean())


def header_of(release: Release) -> tuple[str, ...]:
    """What a file says of itself."""
    card = release.certificate
    spent = f"epsilon {card.epsilon}, delta {small(card.delta)}"
    source = f"Made of release {release.id} of '{release.dataset_name}', {spent}."
    return (*WHAT_IT_IS, " ".join(source.split()))


def as_csv(release: Release, table: pd.DataFrame) -> bytes:
    """Comma-separated values after the lines of :func:`header_of`, each behind a ``#``; values may hold that, too."""
    lines = "".join(f"# {safe_cell(line)}\n" for line in header_of(release))
    return (lines + frame_csv(table)).encode("utf-8")


def as_parquet(release: Release, table: pd.DataFrame) -> bytes:
    """Parquet, with the same lines in the metadata of the file under ``about``."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    made = pa.Table.from_pandas(table, preserve_index=False)
    about = {**(made.schema.metadata or {}), b"about": "\n".join(header_of(release)).encode("utf-8")}
    stream = io.BytesIO()
    pq.write_table(made.replace_schema_metadata(about), stream)
    return stream.getvalue()


WRITERS = {"csv": as_csv, "parquet": as_parquet}


def files_of(release: Release, tables: Mapping[str, pd.DataFrame], kind: str) -> dict[str, bytes]:
    """Every table as a file, by its name without an ending."""
    return {name: WRITERS[kind](release, table) for name, table in tables.items()}
