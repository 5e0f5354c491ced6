"""The parts of the benchmark of boosting machines that could mislead: splits, scores, marks."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import astuple
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from benchmarks import ebm, ebm_coverage, ebm_growth, ebm_splits
from benchmarks.__main__ import app
from benchmarks.datasets import FOLDER_VARIABLE, load
from benchmarks.ebm_fits import CONSTANT, HOUSE, PAPER_MODE, PRIVATE, Fit, fit_split
from benchmarks.ebm_peers import METHODS as PEERS
from benchmarks.ebm_peers import interpreter, peer_fits
from benchmarks.ebm_results import PAPER, PAPER_EPSILONS, Results, parts
from benchmarks.ebm_splits import AUC, RMSE, split, whole
from benchmarks.report import text
from dpcore.domain.columns import OTHER, IntegerColumn, NumericColumn
from dpcore.domain.encoding import encode_categories
from dpcore.domain.schemas.schema import Schema

needs_data = pytest.mark.skipif(FOLDER_VARIABLE not in os.environ, reason="needs the benchmark data")
#: The paper's method with fewer and larger steps, for speed.
_SHORT = {"method": "random_splits", "epochs": 30, "learning_rate": 0.1}
#: A stand-in that refuses bounds which do not cover the data, and predicts what it was told.
_FAKE = """
class DPExplainableBoostingRegressor:
    def __init__(self, *, epsilon, delta, composition, feature_types, privacy_bounds,
                 privacy_target_min, privacy_target_max):
        assert composition == "gdp" and delta == 1e-5
        self.kinds, self.bounds = feature_types, privacy_bounds
        self.low, self.high = privacy_target_min, privacy_target_max

    def fit(self, X, y):
        for place, kind in enumerate(self.kinds):
            values = X.iloc[:, place]
            assert (kind == "continuous") == (place in self.bounds)
            if kind == "continuous":
                low, high = self.bounds[place]
                assert low <= values.min() <= values.max() <= high
        assert self.low <= y.min() and y.max() <= self.high

    def predict(self, X):
        return X["alcohol"].to_numpy()

class DPExplainableBoostingClassifier:
    pass
"""
_PLAIN = """
class ExplainableBoostingRegressor:
    def __init__(self, *, interactions, outer_bags, feature_types):
        assert (interactions, outer_bags) == (0, 1)

    def fit(self, X, y):
        self.mean = y.mean()

    def predict(self, X):
        return X["alcohol"].to_numpy() * 0 + self.mean

ExplainableBoostingClassifier = ExplainableBoostingRegressor
"""


def _rows(schema: Schema, rows: int) -> pd.DataFrame:
    """Random records of a schema."""
    source = np.random.default_rng(7)
    columns: dict[str, Any] = {}
    for column in schema:
        if isinstance(column, NumericColumn):
            values = source.uniform(column.lower, column.upper, rows)
            columns[column.name] = values.round() if isinstance(column, IntegerColumn) else values
        else:
            columns[column.name] = source.choice(column.classes, rows)
    return pd.DataFrame(columns)


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Small tables in the form of two of the data sets, whose target follows from one column."""
    folder = Path(ebm_splits.__file__).parent / "schemas"
    wine = _rows(Schema.from_file(folder / "wine_quality.yaml"), 600)
    wine["quality"] = np.where(wine["alcohol"] > 11.5, 8, 4)
    telco = _rows(Schema.from_file(folder / "telco_churn.yaml"), 600)
    telco["Churn"] = np.where(telco["tenure"] < 36, "Yes", "No")
    telco.loc[::50, "TotalCharges"] = np.nan
    for name, frame in (("wine_quality", wine), ("telco_churn", telco)):
        frame.to_csv(tmp_path / f"{name}.csv.gz", index=False)
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    monkeypatch.setitem(PRIVATE, PAPER_MODE, _SHORT)
    ebm_splits.whole.cache_clear()
    yield tmp_path
    ebm_splits.whole.cache_clear()


@needs_data
@pytest.mark.parametrize("name", ebm.DATA)
def test_the_public_schemas_hold_every_record(name: str) -> None:
    data = load(name)
    assert len(data.frame) <= data.schema.max_rows
    for column in data.schema:
        values = data.frame[column.name]
        if isinstance(column, NumericColumn):
            assert column.lower <= values.min() <= values.max() <= column.upper, column.name
        else:
            codes = encode_categories(column, values)
            assert (codes != column.cells.index(OTHER)).all(), column.name


def test_openml_forms_are_brought_to_the_schemas(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Path(ebm_splits.__file__).parent / "schemas"
    telco = _rows(Schema.from_file(folder / "telco_churn.yaml"), 20)
    charges = ["' '", *telco["TotalCharges"].round(2).astype(str)[1:]]
    quoted = telco.assign(TotalCharges=charges, Contract="'" + telco["Contract"] + "'")
    wine = _rows(Schema.from_file(folder / "wine_quality.yaml"), 20)
    elevators = _rows(Schema.from_file(folder / "elevators.yaml"), 20)
    stored = {
        "telco-customer-churn": quoted,
        "wine_quality": wine.rename(columns=lambda name: name.replace("_", ".")),
        "elevators": elevators.rename(columns={"goal": "Goal"}),
    }
    monkeypatch.delenv(FOLDER_VARIABLE, raising=False)
    monkeypatch.setattr("benchmarks.datasets._openml", lambda name, version: stored[name].copy())
    found = load("telco_churn").frame
    assert np.isnan(found["TotalCharges"][0])
    assert found["TotalCharges"][1:].tolist() == telco["TotalCharges"].round(2)[1:].tolist()
    assert (found["Contract"] == telco["Contract"]).all()
    pd.testing.assert_frame_equal(load("wine_quality").frame, wine)
    pd.testing.assert_frame_equal(load("elevators").frame, elevators)


def test_every_program_gets_the_same_fifth(small: Path) -> None:
    data = whole("wine_quality")
    tests = data.tests(5)
    assert tests.sum(axis=1).tolist() == [120] * 5
    assert len({tuple(test) for test in tests}) == 5
    for number, test in enumerate(tests):
        one = split("wine_quality", number)
        assert (one.test == test).all()
        assert int(np.bitwise_count(one.table.partitions[0].members("all")).sum()) == 480
        assert len(one.test_frame) == 120


def test_scores_are_the_area_under_the_curve_and_the_root_mean_squared_error(small: Path) -> None:
    number = split("wine_quality", 0)
    truth = number.whole.truth[number.test]
    assert number.whole.metric == RMSE
    assert number.score(truth + 3) == pytest.approx(3)
    label = split("telco_churn", 0)
    truth = label.whole.truth[label.test]
    assert label.whole.metric == AUC
    assert label.score(truth) == 1
    assert label.score(-truth) == 0
    assert (truth == (label.test_frame["Churn"] == "Yes")).all()


def test_the_papers_figures_have_one_shape_and_improve_with_epsilon() -> None:
    assert set(PAPER) == set(ebm.DATA)
    for name, figures in PAPER.items():
        assert len(figures.private) == len(PAPER_EPSILONS)
        assert len(figures.spreads) == len(PAPER_EPSILONS) + 1
        ordered = [*figures.private, figures.plain]
        assert ordered == sorted(ordered, reverse=ordered[0] > ordered[-1]), name
        assert all(round(figure / figures.step, 6).is_integer() for figure in ordered), name


def _results(house: float, paper_mode: float, peer: float) -> Results:
    """Two splits of Adult at epsilon 1, where the paper has .883 with a standard error of .0022."""
    found = Results("adult", AUC, [1.0], encoding=[0.5, 0.7])
    for method, figure in ((HOUSE, house), (PAPER_MODE, paper_mode), (PEERS[0], peer)):
        found.add([Fit(method, 1.0, i, figure + 0.001 * (2 * i - 1), 0.5 + i) for i in (0, 1)])
    return found


def test_better_than_both_means_better_than_the_better_of_both() -> None:
    assert _results(0.90, 0.88, 0.89).margin(1.0) == pytest.approx(0.01)
    assert _results(0.90, 0.88, 0.91).margin(1.0) == pytest.approx(-0.01)
    assert _results(0.90, 0.88, 0.80).margin(1.0) == pytest.approx(0.017)
    assert _results(0.90, 0.88, 0.80).margin(3.0) is None
    lower = Results("wine_quality", RMSE, [1.0])
    lower.add([Fit(HOUSE, 1.0, 0, 0.80, 0.1), Fit(PEERS[0], 1.0, 0, 0.81, 0.1)])
    assert lower.margin(1.0) == pytest.approx(0.01)


def test_the_papers_method_departs_beyond_two_standard_errors_of_the_difference() -> None:
    """Two standard errors are 2 sqrt(.001² + .00224²) = .0049, and .0005 for the rounding."""
    assert _results(0.9, 0.883 + 0.0053, 0.9).departure(1.0) == ""
    assert _results(0.9, 0.883 + 0.0055, 0.9).departure(1.0) == "+"
    assert _results(0.9, 0.883 - 0.0055, 0.9).departure(1.0) == "-"
    lower = Results("california_housing", RMSE, [1.0])
    lower.add([Fit(PAPER_MODE, 1.0, i, 70_000 + i, 0.1) for i in (0, 1)])
    assert lower.departure(1.0) == "+"


def test_marks_are_printed_beside_the_figures() -> None:
    printed = text(parts([_results(0.9012, 0.80, 0.9099)], ebm.METHODS))
    assert "0.9012 ± 0.0010 !" in printed
    assert "0.8000 ± 0.0010 -" in printed
    assert "0.883 ± 0.0022" in printed
    printed = text(parts([_results(0.92, 0.884, 0.9099)], ebm.METHODS))
    assert "0.9200 ± 0.0010│" in printed
    assert "0.8840 ± 0.0010│" in printed


def test_figures_become_records() -> None:
    records = {(r.method, r.metric): r for r in ebm.records([_results(0.9, 0.88, 0.91)])}
    assert records[HOUSE, AUC].mean == pytest.approx(0.9)
    assert records[HOUSE, AUC].reference == 0.883
    assert records[HOUSE, "seconds"].reference == pytest.approx(1.0)
    assert records[PEERS[0], "seconds"].reference is None
    gap = records[PAPER_MODE, f"AUC better than {PEERS[0]} by"]
    assert (gap.mean, gap.stderr) == (pytest.approx(-0.03), pytest.approx(0, abs=1e-9))
    assert records[HOUSE, "AUC better than the better of both by"].mean == pytest.approx(-0.01)


def test_peers_get_public_bounds_and_the_same_splits(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = small / "interpret"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "privacy.py").write_text(_FAKE)
    (package / "glassbox.py").write_text(_PLAIN)
    monkeypatch.setenv("PYTHONPATH", str(small))
    python = interpreter(Path(sys.executable))
    assert python is not None
    fits = peer_fits(python, "wine_quality", 2, [0.5, 1.0], delta=1e-5, plain=True)
    assert [astuple(fit)[:3] for fit in fits] == [
        (PEERS[0], 0.5, 0),
        (PEERS[0], 1.0, 0),
        (PEERS[1], None, 0),
        (PEERS[0], 0.5, 1),
        (PEERS[0], 1.0, 1),
        (PEERS[1], None, 1),
    ]
    for fit in fits:
        one = split("wine_quality", fit.split)
        mean = one.whole.truth[~one.test].mean()
        told = one.test_frame["alcohol"].to_numpy() if fit.method == PEERS[0] else mean
        assert fit.figure == pytest.approx(one.score(told))


@pytest.mark.parametrize("program", ["/nowhere/python", "/bin/true"])
def test_an_environment_without_interpret_is_refused(program: str) -> None:
    with pytest.raises(RuntimeError, match="pip install interpret-core"):
        interpreter(Path(program))


@pytest.mark.parametrize("name", ["telco_churn", pytest.param("wine_quality", marks=pytest.mark.slow)])
def test_each_of_our_methods_finds_the_one_column_that_matters(small: Path, name: str) -> None:
    fits = {fit.method: fit for fit in fit_split(split(name, 0), 0, ebm.METHODS, [100.0])}
    assert set(fits) == {*PRIVATE, CONSTANT}
    for method in PRIVATE:
        if name == "telco_churn":
            assert fits[method].figure > 0.9 > fits[CONSTANT].figure
        else:
            assert fits[method].figure < 0.8 * fits[CONSTANT].figure
        assert fits[method].seconds > 0


def test_the_quick_form_prints_tables_and_writes_records(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ebm, "_QUICK_EPSILONS", (4.0,))
    target = small / "records.json"
    arguments = ["ebm", "--quick", "--data", "wine_quality", "--json", str(target)]
    outcome = CliRunner(env={"FROSTGLASS_PEERS_PYTHON": None}).invoke(app, arguments)
    assert outcome.exit_code == 0, outcome.output
    assert "wine_quality: RMSE" in outcome.output
    assert "pip install interpret-core" in outcome.output
    found = pd.read_json(target)
    assert set(found["method"]) == {HOUSE, PAPER_MODE, CONSTANT, "encoding the records"}
    assert set(found["epsilon"].dropna()) == {4.0}


def test_what_a_request_leaves_out() -> None:
    everything = ebm.Request()
    assert everything.names == list(ebm.DATA)
    assert everything.wants_growth
    assert not set(PEERS) & set(everything.chosen_methods)
    assert set(PEERS) < set(ebm.Request(peers=Path("python")).chosen_methods)
    one = ebm.Request(data=["wine_quality"], methods=[HOUSE], quick=True)
    assert (one.names, one.chosen_methods, one.splits) == (["wine_quality"], [HOUSE], 2)
    assert not one.wants_growth
    assert ebm.Request(data=[ebm_growth.DATA]).names == []


@pytest.mark.parametrize("option", ["--data", "--method", "--peers"])
def test_an_unknown_name_is_refused(option: str) -> None:
    outcome = CliRunner().invoke(app, ["ebm", option, "nothing such"])
    assert outcome.exit_code == 2


@pytest.mark.parametrize("task", ebm_growth.TASKS)
@pytest.mark.slow
def test_growth_measures_whole_fits(task: str) -> None:
    found = ebm_growth.measure(task, 2_000)
    assert len(found["seconds"]) == 3
    assert all(seconds > 0 for seconds in found["seconds"])
    assert found["table"] > 2_000 * ebm_growth.FEATURES * 9


@needs_data
def test_bands_are_held_against_the_same_run_without_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ebm_coverage, "EPSILONS", (1.0,))
    [record] = ebm_coverage.run("ebm", ["heart, 303 rows"], quick=True)
    assert 0.9 < record.mean <= 1
    monkeypatch.setattr(ebm_coverage, "Z95", 0.05)
    [narrow] = ebm_coverage.run("ebm", ["heart, 303 rows"], quick=True)
    assert narrow.mean < 0.3
