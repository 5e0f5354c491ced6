"""Redescriptions: how true they are over epsilons, beside the published methods and a search without privacy.

The paper is Mihelčić and Miettinen 2023; what its authors' program said was noted in single runs at an earlier time.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np
import pandas as pd

from benchmarks.datasets import load
from benchmarks.declared import Quick, Suite
from benchmarks.problems import fitted
from benchmarks.redescriptions_greedy import greedy_model
from benchmarks.results import Cell, Layout, Line, Result, mean_and_error
from dpcore.arrays import Ints
from dpcore.data.building.ingest import frame_chunks, ingest
from dpcore.data.table import PrivateTable
from dpcore.demo import DEMOS
from dpcore.demo.truth import PlantedRedescription
from dpcore.domain.encoding import encode_columns
from dpcore.domain.schemas.schema import Schema
from dpcore.models.redescriptions.released.extraction import Constraints
from dpcore.models.redescriptions.released.reading import exact_agreement
from dpcore.models.redescriptions.released.redescription_model import RedescriptionModel
from dpcore.models.redescriptions.released.redescription_set import Redescription
from dpcore.models.redescriptions.released.tree_pair import Tree, TreePair
from dpcore.privacy.randomness import SeededRandom

CMS, MAMMALS, NPAS, PLANTED = "cms", "mammals", "npas", "checkups"
HOUSE, LOOKAHEAD, GREEDY = "exact pairs", "exact lookahead", "greedy, not private"
EXPM, MCMC, PAIR = "AltExpM, 4 starts", "AltMCMC, 4 starts", "MCMCTreePair"
_PUBLISHED: Final = {"depth": 4, "starts": 4}
_TREE_PAIR: Final = {**_PUBLISHED, "method": "mcmc_tree_pair", "tree_share": 0.1}
#: Parameters of each method; the published ones have trees of depth 4, four starts or four rounds.
METHODS: Final[dict[str, dict[str, Any]]] = {
    HOUSE: {},
    LOOKAHEAD: {"method": "lookahead"},
    EXPM: {**_PUBLISHED, "method": "alt_expm", "rounds": 1},
    "AltExpM, 4 rounds": {"method": "alt_expm", "depth": 4, "starts": 1, "rounds": 4},
    MCMC: {**_PUBLISHED, "method": "alt_mcmc", "rounds": 1},
    "AltMCMC, 4 rounds": {"method": "alt_mcmc", "depth": 4, "starts": 1, "rounds": 4},
    PAIR: _TREE_PAIR,
    "MCMCTreePair, balanced": {**_TREE_PAIR, "tree_share": 0.5},
    "MCMCTreePair, pool": {**_TREE_PAIR, "sampler": "pool"},
    "MCMCTreePair, sensitivity 1": {**_TREE_PAIR, "sensitivity": "published"},
}
USUAL, AS_PUBLISHED = "as usual", "all three: as published"
#: How a release is read; all but the first on one data set only.
READINGS: Final[dict[str, Constraints]] = {
    USUAL: Constraints(),
    "no floor above chance": Constraints(min_above_chance=0),
    "p-values for sampling alone": Constraints(noise_aware=False),
    "judged by the Jaccard index": Constraints(score="jaccard"),
    AS_PUBLISHED: Constraints(min_above_chance=0, noise_aware=False, score="jaccard"),
}
_READ_AGAIN: Final = {HOUSE: tuple(READINGS), **dict.fromkeys((EXPM, MCMC, PAIR), (USUAL, AS_PUBLISHED))}
#: A planted redescription is recovered if, on both sides, its people and those of one that was found have at least
#: this Jaccard index.
_RECOVERED: Final = 0.8
#: Noisy support from which the paper keeps redescriptions (its Appendix C.3).
PAPER_SUPPORT: Final = {CMS: 1000.0, MAMMALS: 500.0, NPAS: 200.0}
#: Largest p-value of a redescription that counts as significant.
_SIGNIFICANT: Final = 0.01


@dataclass(frozen=True)
class TwoViews:
    """A public data set seen from two sides; ``codes`` are cells in schema order, shape (n_columns, n_rows)."""

    name: str
    frame: pd.DataFrame
    schema: Schema
    table: PrivateTable
    codes: Ints
    planted: tuple[PlantedRedescription, ...] = ()

    @classmethod
    def of(
        cls, name: str, frame: pd.DataFrame, schema: Schema, planted: tuple[PlantedRedescription, ...] = ()
    ) -> TwoViews:
        """Encode a frame."""
        columns = [column.name for column in schema]
        codes = encode_columns(frame, schema, columns)
        table = ingest(frame_chunks(frame), schema, SeededRandom(0))
        return cls(name, frame, schema, table, np.stack([codes[column] for column in columns]), planted)

    def leaves(self, tree: Tree) -> Ints:
        """Leaf of each row: shape (n_rows,)."""
        names = [column.name for column in self.schema]
        columns = np.array([names.index(split.column) for split in tree.splits])
        first = np.array([split.first for split in tree.splits])
        last = np.array([split.last for split in tree.splits])
        place, rows = np.zeros(self.codes.shape[1], dtype=np.int64), np.arange(self.codes.shape[1])
        for _ in range(tree.depth):
            cells = self.codes[columns[place], rows]
            place = 2 * place + np.where((first[place] <= cells) & (cells <= last[place]), 1, 2)
        return place - len(tree.splits)

    def counts(self, pair: TreePair) -> Ints:
        """Exact numbers of people in each pair of leaves."""
        counts = np.zeros((pair.left.leaf_count, pair.right.leaf_count), dtype=np.int64)
        np.add.at(counts, (self.leaves(pair.left), self.leaves(pair.right)), 1)
        return counts


@lru_cache(maxsize=4)
def two_views(name: str) -> TwoViews:
    """Load and encode a data set."""
    if name == PLANTED:
        demo = DEMOS[PLANTED]()
        return TwoViews.of(name, demo.frame, demo.schema, demo.planted)
    data = load(name)
    return TwoViews.of(name, data.frame, data.schema)


def _measure(cell: Cell, _: Mapping[str, Any]) -> dict[str, Any]:
    return measured(two_views(cell.data), cell.method, cell.epsilon)


def measured(data: TwoViews, method: str, epsilon: float | None) -> dict[str, Any]:
    """Seconds of a run and its first reading, planted redescriptions that it recovered, and what each reading finds."""
    start = time.perf_counter()
    model = (
        greedy_model(data.table)
        if epsilon is None
        else fitted(data.table, "redescriptions", epsilon, METHODS[method]).model
    )
    model.extract(data.schema)
    seconds = time.perf_counter() - start
    again = data.name == CMS and epsilon in (1.0, 0.1)
    names = _READ_AGAIN.get(method, (USUAL,)) if again else (USUAL,)
    planted = {"planted recovered": recovered(model, data)} if data.planted else {}
    readings = {name: reading(model, data, READINGS[name]) for name in names}
    return {"seconds": seconds, **planted, "readings": readings}


def reading(model: RedescriptionModel, data: TwoViews, constraints: Constraints) -> dict[str, Any]:
    """Redescriptions of a release beside the truth: noisy and exact Jaccard index, exact p-value, noisy support,
    whether the interval holds; and the support below which the reader is told to prune.
    """
    said = model.extract(data.schema, constraints)
    exact = exact_agreement([data.counts(pair) for pair in model.pairs], said.found)
    pairs = list(zip(said.found, exact, strict=True))
    return {
        "noisy": [item.jaccard for item in said.found],
        "exact": [true.jaccard for true in exact],
        "p": [true.p_value for true in exact],
        "support": [item.support for item in said.found],
        "held": [bool(item.interval[0] <= true.jaccard <= item.interval[1]) for item, true in pairs],
        "suggested": said.suggested_support,
    }


def recovered(model: RedescriptionModel, data: TwoViews) -> int:
    """How many planted redescriptions are kept at the suggested support."""
    said = model.extract(data.schema)
    sides = [_members(model, data, item) for item in said.pruned(said.suggested_support)]
    return sum(any(item.agreement(data.frame, *side) >= _RECOVERED for side in sides) for item in data.planted)


def _members(model: RedescriptionModel, data: TwoViews, item: Redescription) -> tuple[Any, Any]:
    """People for whom the left side holds, and the right side."""
    pair = model.pairs[item.pair]
    sides = ((pair.left, item.left_leaves), (pair.right, item.right_leaves))
    left, right = (np.isin(data.leaves(tree), leaves) for tree, leaves in sides)
    return left, right


SHARE, MEDIAN, ERROR = "share with a true p < .01", "median true Jaccard index", "mean error of the Jaccard index"
RATIO: Final = "median over that without privacy"
#: Figures of everything that was found, as the authors' program tells them.
_EVERYTHING: Final = ("noisy Jaccard index, everything", "true Jaccard index, everything", "error, everything")


def pooled(readings: Sequence[Mapping[str, Any]], support: float | None = None) -> dict[str, float]:
    """Figures of the redescriptions of several readings from some noisy support on; ``None``: the suggested one.

    Found and kept are per run; without any redescription figures are missing.
    """
    masks = [np.array(own["support"]) >= (own["suggested"] if support is None else support) for own in readings]
    exact, noisy, p, held = (
        np.concatenate([np.array(own[name], dtype=float)[mask] for own, mask in zip(readings, masks, strict=True)])
        for name in ("exact", "noisy", "p", "held")
    )
    figures = {
        "found": float(np.mean([len(mask) for mask in masks])),
        "kept": float(np.mean([mask.sum() for mask in masks])),
        "runs of which nothing is kept": float(sum(not mask.any() for mask in masks)),
    }
    if len(exact):
        low, median, high = np.quantile(exact, (0.25, 0.5, 0.75))
        figures |= {
            SHARE: float(np.mean(p < _SIGNIFICANT)),
            "first quartile": float(low),
            MEDIAN: float(median),
            "third quartile": float(high),
            ERROR: float(np.mean(np.abs(noisy - exact))),
            "coverage of 95 % intervals": float(np.mean(held)),
            "noisy": float(np.mean(noisy)),
            "exact": float(np.mean(exact)),
        }
    return figures


def _conclude(lines: Sequence[Line], _: Sequence[Result]) -> Iterator[Result]:
    runs: dict[tuple[str, str, float | None], list[Mapping[str, Any]]] = {}
    for line in lines:
        place = line.cell.data, line.cell.method, line.cell.epsilon
        runs.setdefault(place, []).append(line.figures["readings"])
    for place, own in runs.items():
        yield from _results(place, [one[USUAL] for one in own])
        greedy = runs.get((place[0], GREEDY, None))
        if greedy:
            yield from _ratio(place, [one[USUAL] for one in own], [one[USUAL] for one in greedy])
        if len(own[0]) > 1:
            for name in own[0]:
                yield from _results((place[0], f"{place[1]}, read {name}", place[2]), [one[name] for one in own])


def _results(place: tuple[str, str, float | None], readings: list[Mapping[str, Any]]) -> Iterator[Result]:
    single = [pooled([own]) for own in readings]
    for metric, value in pooled(readings).items():
        if metric not in ("noisy", "exact"):
            known = [own[metric] for own in single if metric in own]
            yield Result(*place, metric, value, mean_and_error(known)[1], len(readings))
    if place[0] in PAPER_SUPPORT and ", read " not in place[1]:
        support = PAPER_SUPPORT[place[0]]
        for metric, value in pooled(readings, support).items():
            if metric not in ("noisy", "exact", "found"):
                yield Result(*place, f"{metric}, the paper's support", value, n=len(readings))
        everything = pooled(readings, 0)
        for metric, name in zip(_EVERYTHING, ("noisy", "exact", ERROR), strict=True):
            yield Result(*place, metric, everything.get(name, math.nan), n=len(readings))


def _ratio(
    place: tuple[str, str, float | None], readings: list[Mapping[str, Any]], greedy: list[Mapping[str, Any]]
) -> Iterator[Result]:
    """Median over that of the greedy search, from the same support on."""
    ours, theirs = pooled(readings).get(MEDIAN), pooled(greedy, readings[0]["suggested"]).get(MEDIAN)
    if ours is not None and theirs:
        yield Result(*place, RATIO, ours / theirs, n=len(readings))


#: What the authors' program said of all that it found, in single runs: noisy and true Jaccard index, and error.
_REPORTED: Final = {
    (MAMMALS, EXPM, 10.0): (0.541, 0.483, 0.077),
    (MAMMALS, MCMC, 10.0): (0.616, 0.578, 0.070),
    (MAMMALS, PAIR, 10.0): (0.440, 0.384, 0.064),
    (MAMMALS, EXPM, 1.0): (0.761, 0.341, 0.440),
    (MAMMALS, MCMC, 1.0): (0.755, 0.362, 0.411),
    (MAMMALS, PAIR, 1.0): (0.694, 0.317, 0.383),
    (MAMMALS, EXPM, 0.1): (0.717, 0.158, 0.599),
    (MAMMALS, MCMC, 0.1): (0.729, 0.198, 0.562),
    (MAMMALS, PAIR, 0.1): (0.710, 0.268, 0.501),
    (CMS, EXPM, 1.0): (0.54, 0.08),
    (CMS, MCMC, 1.0): (0.50, 0.21),
    (CMS, PAIR, 1.0): (0.44, 0.17),
}
_GOALS: Final = {(1.0, MEDIAN): 0.6, (1.0, SHARE): 0.9, (1.0, ERROR): 0.02, (1.0, RATIO): 0.8, (0.1, SHARE): 0.7}
_ROWS: Final = {"rows": ("data", "epsilon", "method"), "columns": ("metric",)}
_COMMON: Final = (SHARE, "first quartile", MEDIAN, "third quartile", ERROR, "coverage of 95 % intervals")
_LAST: Final = ("runs of which nothing is kept",)

REDESCRIPTIONS = Suite(
    "redescriptions",
    _measure,
    (CMS, MAMMALS, NPAS, PLANTED),
    (*METHODS, GREEDY),
    [
        Layout(
            **_ROWS,
            metrics=("found", "kept", *_COMMON, *_LAST, RATIO, "planted recovered"),
            title="From the suggested support on",
            where=lambda own: ", read " not in own.method,
            spread=False,
        ),
        Layout(
            **_ROWS,
            metrics=tuple(f"{metric}, the paper's support" for metric in ("kept", *_COMMON, *_LAST)),
            title="From the paper's support on",
            spread=False,
        ),
        Layout(
            **_ROWS,
            metrics=("found", "kept", *_COMMON),
            title="Read without what the paper does not have",
            where=lambda own: ", read " in own.method,
            spread=False,
        ),
        Layout(
            **_ROWS, metrics=_EVERYTHING, title="Everything that was found, beside the authors' program", spread=False
        ),
        Layout(metrics=("seconds",), title="Seconds of a run and its reading", spread=False),
    ],
    (1.0, 0.1, 0.01),
    seeds=10,
    plain=(GREEDY,),
    once=(GREEDY,),
    quick=Quick(data=(CMS, PLANTED), methods=(HOUSE, PAIR, GREEDY), epsilons=(1.0, 0.1)),
    published=[
        *(
            Result(data, f"{method}, the authors' program", epsilon, metric, value)
            for (data, method, epsilon), figures in _REPORTED.items()
            for metric, value in zip(_EVERYTHING, figures, strict=False)
        ),
        *(Result(CMS, "goal", epsilon, metric, goal) for (epsilon, metric), goal in _GOALS.items()),
    ],
    conclude=_conclude,
)
