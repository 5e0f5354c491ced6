"""Invented records of a shape: that of the schema alone, or what earlier releases revealed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dpcore.arrays import Floats, Ints
from dpcore.domain.schemas.schema import PrivacyUnit, Schema
from dpcore.privacy.randomness import public_generator
from dpcore.rehearsal.hidden import Hidden, hidden_levels, nothing_hidden
from dpcore.rehearsal.knowledge import Knowledge, read
from dpcore.rehearsal.marginals import Marginal, drawn, marginals, tilted
from dpcore.rehearsal.synthetic import synthetic_tables
from dpcore.rehearsal.teacher import Teacher, choose, measured_groups, teach
from dpcore.released.evidence import Groups, Records, is_category
from dpcore.released.release import Release

#: Records invented from the schema alone, unless ``max_rows`` is smaller.
REHEARSAL_ROWS = 20_000
#: Records invented at most, if releases tell how many there are.
SHAPED_ROWS = 50_000
_FEWEST_ROWS = 50
#: Releases used at most, and records from which those of a shape are drawn.
MOST_RELEASES = 8
_POOL, _POOL_OF_TABLES = 60_000, 12_000
#: Added to the seed of the pool: one stream must not serve two.
_OF_POOL = 3_000_000
#: Rounds of fitting the weights to the counts, and how far one step may move a weight.
_ROUNDS, _LAST_ROUNDS, _STEP = 25, 10, 20.0
#: A share of the pool below this is nobody.
_NOBODY = 1e-12
#: How closely columns of which nothing is known follow the predictions: spread of log-odds.
_ECHO = 1.0


@dataclass(frozen=True)
class Pool:
    """Records to draw from."""

    records: Records
    weights: Floats
    """Chance of each: shape (n_records,)."""
    teacher: Teacher | None
    """How the target follows the other columns; ``None``: by an invented effect, unless ``paired``."""
    paired: bool
    """Whether the records, the target among their columns, follow pairs of columns that a first look counted."""


@dataclass(frozen=True)
class Shape:
    """What invented records are drawn from."""

    schema: Schema
    target: str
    views: tuple[tuple[str, ...], ...]
    rows: int
    """Records of a data set of this shape."""
    used: tuple[str, ...] = ()
    """Releases that shaped it, by their ids; empty for the schema alone."""
    pool: Pool | None = None
    """``None`` for the schema alone."""

    @property
    def teacher(self) -> Teacher | None:
        """How the target follows the other columns; ``None``: by an invented effect, unless ``paired``."""
        return None if self.pool is None else self.pool.teacher

    @property
    def paired(self) -> bool:
        """Whether the records, the target among their columns, follow pairs of columns that a first look counted."""
        return self.pool is not None and self.pool.paired

    def draw(self, rows: int, seed: int) -> tuple[pd.DataFrame, dict[str, pd.DataFrame]]:
        """Invent records and their child rows."""
        if self.pool is None:
            return synthetic_tables(self.schema, self.target, rows, seed, self.views)
        generator = public_generator(seed)
        chosen = generator.choice(len(self.pool.weights), rows, p=self.pool.weights)
        tables = _chosen(self.pool.records, chosen)
        frame = tables.pop(self.schema.entity)
        if self.teacher is not None:
            frame[self.target] = self.teacher.values(chosen, generator)
        return frame, tables


def usable(schema: Schema, releases: Sequence[Release]) -> list[Release]:
    """Releases about records of this very schema: the largest budget first, then the newest."""
    described = schema.hash
    fitting = [r for r in releases if r.certificate.schema_hash == described]
    ranked = sorted(fitting, key=lambda r: (r.certificate.epsilon, r.certificate.created), reverse=True)
    return ranked[:MOST_RELEASES]


def shape_of(
    schema: Schema,
    target: str,
    releases: Sequence[Release] = (),
    views: tuple[tuple[str, ...], ...] = (),
    *,
    number: bool = False,
    relational: bool = False,
    seed: int = 1,
) -> Shape:
    """Make the shape that releases reveal; without any, that of the schema.

    Parameters
    ----------
    views : tuple of tuple of str
        Without a target: columns of the two sides, which are to tell of each other.
    number : bool
        Whether the target is to be predicted as a number.
    relational : bool
        Whether it is to be predicted from every table. No first look tells of columns of further ones: records that
        followed its pairs alone would have a target that these tell nothing of, so the invented effect stays.
    """
    read_off = map(read, usable(schema, releases))
    known = [one for one in read_off if one.groups]
    if not known:
        return Shape(schema, target, views, min(schema.max_rows, REHEARSAL_ROWS))
    told = [one.rows for one in known if one.rows > 0]
    most = min(schema.max_rows, SHAPED_ROWS)
    rows = int(np.clip(np.median(told) if told else most, min(_FEWEST_ROWS, most), most))
    best = choose(known, target, number=number)
    whole = not (relational and schema.children)
    pool = _pool(schema, target, known, views, best, seed, whole=whole)
    used = tuple(one.release.id for one in known)
    return Shape(schema, target, views, rows, used, pool)


def _pool(
    schema: Schema,
    target: str,
    known: Sequence[Knowledge],
    views: tuple[tuple[str, ...], ...],
    best: Knowledge | None,
    seed: int,
    *,
    whole: bool,
) -> Pool:
    """A pool of records with the sizes of groups that are known; as a whole, if that may be, by one release."""
    groups = [group for one in known for group in one.groups]
    records = _start(schema, target, views, seed)
    values = _whole(schema, target, known, records.rows, seed) if whole else {}
    records = records.exchanged(values, {})
    if best is None:  # An invented effect stays, unless pairs were counted; the weights follow what is known.
        weights = eased(groups, records, target) if values else fitted_to(groups, records)
        return Pool(records, weights, None, paired=bool(values))
    return _taught(records, known, best, [*groups, *measured_groups(best)], seed, paired=bool(values))


def _whole(schema: Schema, target: str, known: Sequence[Knowledge], rows: int, seed: int) -> dict[str, object]:
    """Values of records that follow one release as a whole: the first that tells of pairs of columns."""
    made = (one.evidence.invented(schema, target, rows, seed + _OF_POOL) for one in known)
    return next((values for values in made if values), {})


def _taught(
    records: Records,
    known: Sequence[Knowledge],
    best: Knowledge,
    groups: Sequence[Groups],
    seed: int,
    *,
    paired: bool,
) -> Pool:
    """A pool whose target follows a release.

    Drawn twice, the second time from what the weights of the first tell of each column; not drawn at
    all, if the records follow counted pairs already.
    """
    schema, target, rows = records.schema, best.release.target, records.rows
    each = marginals(schema, known)
    hidden = _hidden(target, known, each)
    generator = public_generator(seed + _OF_POOL)
    weights = equal = np.full(rows, 1 / rows)
    for _ in range(1 if paired else 2):
        codes: dict[str, Ints] = {}
        if not paired:
            records, codes = _drawn(records, each, hidden, generator)
        values = teach(best, records, equal).values(np.arange(rows), generator)
        records = records.exchanged({target: values}, {})
        weights = eased(groups, records, target) if paired else fitted_to(groups, records)
        each |= {name: each[name].weighted(codes[name], weights) for name in codes}
    teacher = teach(best, records, weights)
    told = {name for one in known for name in one.evidence.columns()} | {target}
    silent = {name: each[name] for name in each if name not in told}
    return Pool(_echoing(records, silent, teacher.groups, generator), weights, teacher, paired=paired)


def _start(schema: Schema, target: str, views: tuple[tuple[str, ...], ...], seed: int) -> Records:
    """Records of the schema alone, one for each person."""
    rows = _POOL_OF_TABLES if schema.children else _POOL
    alone = schema.model_copy(update={"privacy_unit": _one_row_each(schema.privacy_unit)})
    frame, children = synthetic_tables(alone, target, rows, seed, views)
    return Records(schema, {schema.entity: frame, **children})


def _one_row_each(unit: PrivacyUnit) -> PrivacyUnit:
    return unit.model_copy(update={"max_rows_per_person": 1})


def _hidden(target: str, known: Sequence[Knowledge], each: dict[str, Marginal]) -> Hidden:
    """Levels that the columns follow, if a model that adds up scores tells how."""
    for one in known:
        if one.evidence.additive and one.release.target == target:
            return hidden_levels(one.model, each)
    return nothing_hidden()


def _drawn(
    records: Records, each: dict[str, Marginal], hidden: Hidden, generator: np.random.Generator
) -> tuple[Records, dict[str, Ints]]:
    codes = drawn(each, hidden.levels(records.rows, generator), hidden.tilts, generator)
    return _with(records, each, codes, generator), codes


def _with(
    records: Records,
    each: dict[str, Marginal],
    codes: dict[str, Ints],
    generator: np.random.Generator,
) -> Records:
    """The same records with values of the cells that were drawn for some columns."""
    values = {name: each[name].values(codes[name], generator) for name in each}
    cells = {name: codes[name] for name in each if is_category(records.schema, name)}
    return records.exchanged(values, cells)


def _echoing(records: Records, each: dict[str, Marginal], groups: Ints, generator: np.random.Generator) -> Records:
    """The same records, but columns that no release tells of echo what the target follows.

    Columns of real people tell of each other, so there are many ways to predict nearly as well.
    """
    shares = np.bincount(groups) / len(groups)
    tilts = {
        name: tilted(marginal, shares, generator.normal(0, _ECHO, (len(shares), len(marginal.shares))))
        for name, marginal in each.items()
    }
    return _with(records, each, drawn(each, groups, tilts, generator), generator)


def fitted_to(groups: Sequence[Groups], records: Records) -> Floats:
    """Weights, summing to 1, with which groups have the shares that were counted.

    Iterative proportional fitting. A group that no record of the pool is in counts for nothing.
    """
    places = [(group.place(records), group.shares, 0.0) for group in groups]
    return _fitted(np.full(records.rows, 1 / records.rows), places, _ROUNDS)


def eased(groups: Sequence[Groups], records: Records, target: str) -> Floats:
    """The same for hundreds of groups, which contradict each other by their noise.

    They are met as far as noise, one standard deviation of it, does not explain what is missing; those of the
    target as they were counted, since they come last. To meet each of them exactly would leave few records with
    most of the weight, and a target that follows the others less than was counted.
    """
    places = [
        (group.place(records), group.shares, group.error / max(float(group.counts.sum()), 1.0)) for group in groups
    ]
    about = [
        (codes, shares, 0.0)
        for (codes, shares, _), group in zip(places, groups, strict=True)
        if target in group.columns
    ]
    weights = _fitted(np.full(records.rows, 1 / records.rows), places, _ROUNDS)
    return _fitted(weights, about, _LAST_ROUNDS)


def _fitted(weights: Floats, places: Sequence[tuple[Ints, Floats, float | Floats]], rounds: int) -> Floats:
    """Weights moved towards the shares of groups, to within what noise explains."""
    for _ in range(rounds):
        for codes, shares, slack in places:
            now = np.bincount(codes, weights, len(shares))
            wanted = np.clip(now, np.maximum(shares - slack, 0.0), shares + slack)
            ratio = np.divide(wanted, now, out=np.ones_like(now), where=now > _NOBODY)
            weights = weights * np.clip(ratio, 1 / _STEP, _STEP)[codes]
            weights /= weights.sum()
    return weights


def _chosen(pool: Records, chosen: Ints) -> dict[str, pd.DataFrame]:
    """Records of a pool, some several times, with their child rows under new keys."""
    schema, unit = pool.schema, pool.schema.privacy_unit
    frame = pool.main.iloc[chosen].reset_index(drop=True)
    if unit.column is not None:
        frame[unit.column] = np.arange(len(chosen)) // unit.max_rows_per_person
    found = {schema.entity: frame}
    for child in schema.children:
        rows, key = pool.tables[child.name], schema.key_of(child)
        owners = rows[key].to_numpy()
        order = np.argsort(owners, kind="stable")
        first = np.searchsorted(owners[order], chosen, side="left")
        counts = np.searchsorted(owners[order], chosen, side="right") - first
        ends = np.cumsum(counts)
        inside = np.arange(int(ends[-1])) - np.repeat(ends - counts, counts)
        taken = rows.iloc[order[np.repeat(first, counts) + inside]].reset_index(drop=True)
        found[child.name] = taken.assign(**{key: np.repeat(np.arange(len(chosen)), counts)})
    return found
