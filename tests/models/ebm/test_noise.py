"""What noise does to a released machine: small scores, honest bands, few false alarms."""

import math
from functools import cache

import numpy as np
import pytest

from dpcore.models.ebm.learning.random_splits import RandomSplits
from dpcore.models.ebm.learning.steps import AllBins
from dpcore.models.ebm.released.bands import Band
from tests.support.learning import ebm_cases as cases
from tests.support.rows import for_each
from tests.support.tables.small_tables import schema_of

COLUMNS = [f"x{i}" for i in range(6)]
SLOW_STAY = pytest.param("stay", marks=pytest.mark.slow)


def largest(model):
    return max(float(np.abs(term.scores).max()) for term in model.terms)


def noise_frame(rows, features, seed):
    """Targets that follow nothing."""
    draw, data = np.random.default_rng(10_000 + seed), cases.frame(rows, features, seed)
    data["ill"] = draw.choice(["yes", "no"], rows)
    data["stage"] = draw.choice(["i", "ii", "iii"], rows)
    data["stay"] = np.clip(10 + 5 * draw.normal(size=rows), -10, 30)
    return data


@pytest.mark.parametrize("target", ["ill", "stage", "stay"])
@pytest.mark.parametrize(("fits", "most"), [(7, 0), pytest.param(20, 1, marks=pytest.mark.slow)])
def test_a_small_budget_gives_small_scores_and_says_that_they_are_unclear(target, fits, most):
    domain, models = cases.schema(target=target), []
    for seed in range(fits):
        private = cases.table(cases.frame(1000, seed=seed), domain)
        models.append(cases.fit(private, target, "0.05", seed)[1])
        cases.check_finite(models[-1])
    assert max(map(largest, models)) < {"ill": 1.5, "stage": 2.0, "stay": 20.0}[target]
    assert sum(model.clear for model in models) <= most


@pytest.mark.parametrize("epsilon", ["0.05", "1"])
@pytest.mark.parametrize(("fits", "most"), [(6, 0), pytest.param(12, 1, marks=pytest.mark.slow)])
def test_an_adversarial_range_of_the_target_does_no_harm(epsilon, fits, most):
    """Values within a thousandth of the declared range, and one person at its end."""
    domain = schema_of(
        [
            *({"name": f"x{i}", "type": "real", "lower": 0, "upper": 1, "bins": 8} for i in (0, 1)),
            {"name": "stay", "type": "real", "lower": 0, "upper": 1e6, "bins": 1},
        ],
        1000,
        privacy_unit={"column": "person"},
    )
    clear = []
    for seed in range(fits):
        data = cases.frame(1000, 2, seed)
        data["stay"] = np.random.default_rng(seed).random(1000) * 1000
        data.loc[0, "stay"] = 1e6
        _, model = cases.fit(cases.table(data, domain), "stay", epsilon, seed)
        cases.check_finite(model)
        assert largest(model) < (0.5e6 if epsilon == "0.05" else 0.02e6)
        clear.append(model.clear)
    assert epsilon != "0.05" or sum(clear) <= most


@pytest.mark.parametrize("target", ["ill", "stage", SLOW_STAY])
@pytest.mark.parametrize("fits", [3, pytest.param(10, marks=pytest.mark.slow)])
def test_terms_of_pure_noise_are_seldom_called_clear(target, fits):
    """Ten columns that tell nothing, 5,000 rows, epsilon 1."""
    domain, clear = cases.schema(9, 5000, target=target), []
    for seed in range(fits):
        private = cases.table(noise_frame(5000, 9, seed), domain)
        _, model = cases.fit(private, target, "1", seed)
        clear += [term.clear for term in model.terms]
    assert np.mean(clear) <= 0.05


def alike(seed, rows):
    """Targets that follow nothing, of 300 people with five equal rows each; or each row said to be a person."""
    data = noise_frame(300, 6, seed)
    data[COLUMNS] = np.floor(6 * data[COLUMNS])
    data = data.loc[data.index.repeat(5)]
    data = data if rows == 5 else data.assign(person=np.arange(len(data)))
    columns = [{"name": name, "type": "integer", "lower": 0, "upper": 5, "bins": 6} for name in COLUMNS]
    target = {"name": "stay", "type": "real", "lower": -10, "upper": 30, "bins": 4}
    unit = {"column": "person", "max_rows_per_person": rows}
    return cases.table(data, schema_of([*columns, target], 1500, privacy_unit=unit))


def test_a_person_with_several_rows_counts_as_one_where_a_column_stands_out():
    """Positive control: the same rows and noise, each row said to be a person."""
    clear = {1: 0, 5: 0}
    for seed in range(3):
        for rows in clear:
            _, model = cases.fit(alike(seed, rows), "stay", str(20 * rows), seed, epochs=20)
            clear[rows] += sum(term.clear for term in model.terms)
    # Of 18 terms; more than 5 have a chance of 1e-3 at most.
    assert clear[5] <= 5, clear
    assert clear[1] > 6, clear


@for_each("rows", [1, 5])
@for_each(("step", "method"), [(AllBins, "all_bins"), (RandomSplits, "random_splits")])
def test_chance_in_who_is_in_the_data_is_that_of_people(rows, step, method, monkeypatch):
    known, asked, unknown, of = [], [], step.unknown, Band.of

    def watched(*given, **noise):
        asked.append(given)
        return of(*given, **noise)

    monkeypatch.setattr(step, "unknown", lambda *place: known.append(unknown(*place)) or known[-1])
    monkeypatch.setattr(Band, "of", watched)
    cases.fit(alike(0, rows), "stay", str(rows), method=method, epochs=3)
    unit = 40  # The range of the target.
    for doubt, (_, _, sampling, *_) in zip(known, asked[: len(known)], strict=True):
        np.testing.assert_allclose(sampling, rows * unit**2 * doubt.sampling)


@cache
def apart(target, epsilon, runs, rows=3000):
    """How far the scores of every term are from those of the same run without noise, and their errors."""
    domain, found = cases.schema(4, rows, target=target), []
    for seed in range(runs):
        private = cases.table(cases.frame(rows, 4, seed, correlation=0.5), domain)
        _, noisy = cases.fit(private, target, epsilon, seed)
        with cases.quiet_replicates():
            _, quiet = cases.fit(private, target, epsilon, seed)
        for term, truth in zip(noisy.terms, quiet.terms, strict=True):
            assert term.axes == truth.axes
            found.append((np.abs(np.asarray(term.scores) - truth.scores), np.asarray(term.errors)))
    return found


def coverage(*asked, factor=1.0, **more):
    """Share of bins whose band holds the score that the same run without noise gives."""
    return float(np.mean([np.mean(far <= factor * 1.96 * errors) for far, errors in apart(*asked, **more)]))


@pytest.mark.parametrize("target", ["ill", "stay"])
def test_noise_bands_cover(target):
    assert 0.9 <= coverage(target, "1", 4) <= 0.985


@pytest.mark.parametrize("target", ["ill", SLOW_STAY])
def test_narrow_bands_would_be_found_out(target):
    """Bands of a mean of 25 fits instead of 5: narrower by the root of 5."""
    assert coverage(target, "1", 4, factor=1 / math.sqrt(5)) < 0.8


@pytest.mark.slow
@for_each("epsilon", ["0.5", "1", "4"])
@for_each("target", ["ill", "stage", "stay"])
def test_noise_bands_cover_long_form(target, epsilon):
    assert 0.925 <= coverage(target, epsilon, 80, rows=5000) <= 0.975
