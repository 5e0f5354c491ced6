"""Pairs: coarse sides, residuals without surprises, and the private choice."""

from decimal import Decimal
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from dpcore.models.ebm.learning.grid import Bins, FineCells, feature_cells
from dpcore.models.ebm.learning.kernels import PAIR_STEPS
from dpcore.models.ebm.learning.pairs import choose_pairs, coarsen
from dpcore.models.ebm.learning.records import Binning, Layout, cell_codes, labels_of
from dpcore.models.ebm.learning.scores import Shapes, pair_tables
from dpcore.models.ebm.learning.start import BoostingStart
from dpcore.privacy.mechanisms import ExponentialMechanism
from dpcore.privacy.randomness import SeededRandom
from tests.oracles import ebm_oracle as oracle
from tests.support.learning import ebm_cases as cases
from tests.support.learning.ebm_cases import WIDE
from tests.support.rows import for_each
from tests.support.tables import toy_people
from tests.support.tables.small_tables import schema_of

SCHEMA = toy_people.schema(columns=WIDE)


def side_of(name, seed):
    draw = np.random.default_rng(seed)
    cells = FineCells.of(SCHEMA.column(name))
    noisy = draw.exponential(50, len(cells)) * (draw.random(len(cells)) < 0.7)
    bins = Bins.merge(cells, noisy, 3.0, 64, 4.0)
    counts = np.maximum(bins.noisy_counts, 0.5)
    return bins, counts, coarsen(SCHEMA, bins, counts)


@for_each("name", ["age", "smoker", "region", "town"])
def test_a_side_is_a_coarser_partition(name):
    for seed in range(20):
        bins, counts, side = side_of(name, seed)
        assert len(side.groups) == len(bins.axis)
        assert 1 <= len(side.axis) <= 8
        assert sorted(set(side.groups.tolist())) == list(range(len(side.axis)))
        np.testing.assert_allclose(side.counts, [counts[side.groups == g].sum() for g in range(len(side.axis))])
        if bins.axis.edges is not None:
            assert set(side.axis.edges) <= set(bins.axis.edges)
            expected = np.searchsorted(side.axis.edges, bins.axis.edges, side="left")
            assert side.groups[:-2].tolist() == expected.tolist()
            assert np.count_nonzero(side.groups == side.groups[-1]) == 1
        else:
            assert side.axis.groups == tuple(side.groups)


def test_few_categories_are_kept_and_many_keep_the_most_frequent():
    _, _, region = side_of("region", 1)
    assert region.groups.tolist() == [0, 1, 2, 3, 4]
    for seed in range(5):
        _, counts, town = side_of("town", seed)
        alone = [g for g in range(8) if np.count_nonzero(town.groups == g) == 1]
        assert len(alone) == 7
        kept = counts[np.isin(town.groups, alone)]
        assert kept.min() >= counts[~np.isin(town.groups, alone)].max()


@for_each("target", ["ill", "stage", "age"])
def test_pair_tables_are_the_residuals_per_cell(target):
    """Of all pairs at once, under shapes that are no longer flat."""
    table = toy_people.table(toy_people.schema(max_rows=400), toy_people.frame(300))
    schema, (own,), numbers = table.schema, table.partitions, target == "age"
    cells, draw = feature_cells(schema, target), np.random.default_rng(1)
    binnings = tuple(Binning.of((place, np.arange(len(cell)))) for place, cell in enumerate(cells))
    base = np.zeros(3 if target == "stage" else 1)
    shapes = Shapes(schema, Layout(target, "all", binnings), base, 1)
    values = [draw.normal(size=(len(cell), len(base))) for cell in cells]
    for feature, shape in enumerate(values):
        shapes.put(feature, [shape])
    sides = [Binning.of((place, np.arange(len(cell)) % 3)) for place, cell in enumerate(cells)]
    pairs, clip = [(0, 1), (1, 3), (0, 2)], 0.3 if numbers else 1.0
    found = table.total(pair_tables, shapes, sides, pairs, clip)
    codes, labels = cell_codes(own, target), labels_of(own, target, "all")
    scores = oracle.scores_of(base, values, codes, numbers)
    exact = oracle.residuals(labels, scores, numbers, clip) * (PAIR_STEPS / clip)
    for (first, second), one in zip(pairs, found, strict=True):
        cell = 3 * (codes[first] % 3).astype(int) + codes[second] % 3
        for output, row in enumerate(exact):
            expected = np.bincount(cell, row, 9)
            assert np.abs(one[output].ravel() - expected).max() <= 300 * 2


def test_a_pair_is_chosen_with_the_chances_of_the_exponential_mechanism(monkeypatch):
    """Sensitivity and budget that each choice is made with; nothing is chosen twice."""
    made = []
    build = ExponentialMechanism.__post_init__

    def watch(self):
        made.append((self.sensitivity, self.epsilon, self.monotone))
        build(self)

    monkeypatch.setattr(ExponentialMechanism, "__post_init__", watch)
    draw = np.random.default_rng(1)
    cells = FineCells.of(SCHEMA.column("region"))
    bins = Bins.merge(cells, np.full(5, 16.0), 1.0, 8, 1.0)
    side = coarsen(SCHEMA, bins, np.full(5, 16.0))
    candidates = list(combinations(range(4), 2))
    exact = draw.integers(-(10**6), 10**6, (6, 1, 5, 5))
    start = BoostingStart(np.zeros(1), np.full(1, 0.25), 1.0, 1.0, np.full(1, 0.25), 80.0, 0.1)
    for count in (1, 3, 6):
        chosen = choose_pairs(exact, [side] * 4, candidates, start, count, Decimal("0.1"), SeededRandom(3))
        assert len(set(chosen)) == count
        assert chosen == sorted(chosen)
        assert all(first < second for first, second in chosen)
    assert made == [(PAIR_STEPS, Decimal("0.1"), False)] * 3


@pytest.mark.parametrize("target", ["ill", "stay"])
def test_a_planted_interaction_is_found(target):
    """Exclusive or of two columns, of which neither tells anything by itself."""
    domain = schema_of(
        [
            *({"name": f"b{i}", "type": "boolean"} for i in range(4)),
            {"name": "x", "type": "real", "lower": 0, "upper": 1, "bins": 4},
            {"name": "ill", "type": "boolean"}
            if target == "ill"
            else {"name": "stay", "type": "real", "lower": 0, "upper": 10, "bins": 2},
        ],
        6000,
        privacy_unit={"column": "person"},
    )
    draw = np.random.default_rng(5)
    data = cases.frame(6000, 0, seed=1)[["person"]]
    for i in range(4):
        data[f"b{i}"] = draw.choice(["yes", "no"], 6000)
    data["x"] = draw.random(6000)
    either = (data["b1"] == "yes") ^ (data["x"] > 0.5)
    data["ill"] = np.where(draw.random(6000) < np.where(either, 0.9, 0.1), "yes", "no")
    data["stay"] = np.clip(np.where(either, 7, 3) + draw.normal(size=6000), 0, 10)
    private = cases.table(data, domain)
    with cases.quiet_replicates():
        _, model = cases.fit(private, target, "4", 2, pairs=1, replicates=3)
    pair = model.terms[-1]
    assert [axis.column for axis in pair.axes] == ["b1", "x"]
    assert pair.clear
    frame = private.public_frame()
    either = (frame["b1"] == "yes") ^ (frame["x"] > 0.5)
    scores = np.asarray(pair.scores)[pair.bins(frame, domain), 0]
    apart = scores[either].mean() - scores[~either].mean()
    assert apart > (2.0 if target == "ill" else 2.5)
    assert all(np.abs(term.scores).max() < 0.4 for term in model.terms[:-1])


@pytest.mark.parametrize("pairs", [1, 3])
def test_predictions_rise_with_a_column_held_so_whatever_else_is_known(pairs):
    """Chosen among all pairs of the other columns, or all of them: none undoes what was held."""
    columns = [{"name": f"x{i}", "type": "real", "lower": 0, "upper": 1, "bins": 4} for i in range(4)]
    domain = schema_of([*columns, {"name": "ill", "type": "boolean"}], 2000)
    draw = np.random.default_rng(6)
    data = pd.DataFrame({name: draw.random(2000) for name in ("x0", "x1", "x2", "x3")})
    either = (data["x0"] > 0.5) ^ (data["x1"] > 0.5)
    data["ill"] = np.where(either, "yes", "no")
    _, model = cases.fit(cases.table(data, domain), "ill", "20", 2, pairs=pairs, increasing=["x0"], epochs=20)
    assert len(model.terms) == 4 + pairs
    ends = np.linspace(0, 1, 9)
    for others in data[["x1", "x2", "x3"]].head(40).to_dict("records"):
        chances = model.predict_proba(pd.DataFrame({"x0": ends, **others}), domain)[:, 1]
        assert np.diff(chances).min() >= 0
