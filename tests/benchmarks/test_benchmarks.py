"""The parts of the tree benchmark that could mislead: folds, tests, encodings, tables."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from benchmarks import cross_validation, trees, trees_growth, trees_peers
from benchmarks.__main__ import app
from benchmarks.cross_validation import encoded, fold, fold_numbers, p_value, verdict
from benchmarks.datasets import FOLDER_VARIABLE, load
from benchmarks.report import text
from benchmarks.trees_methods import HOUSE, score_fold
from benchmarks.trees_peers import PeerScore, best_encodings, interpreter, score_peers
from benchmarks.trees_results import Results, parts, references

#: A stand-in that predicts the largest class of its training records, and that refuses bounds
#: or classes which do not cover the data.
_FAKE = """
import numpy as np

class DecisionTreeClassifier:
    def __init__(self, *, epsilon, bounds, classes, shuffle=None):
        self.bounds, self.classes = bounds, classes

    def fit(self, X, y):
        low, high = self.bounds
        assert low.shape == high.shape == (X.shape[1],)
        assert (low <= X).all() and (X <= high).all() and np.isin(y, self.classes).all()
        self.most = np.bincount(y).argmax()

    def predict(self, X):
        return np.full(len(X), self.most)

class RandomForestClassifier(DecisionTreeClassifier):
    def predict(self, X):
        return np.full(len(X), -1)
"""


@pytest.fixture
def nursery(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[pd.DataFrame]:
    """A part of Nursery's grid; the class follows from two columns."""
    columns = {
        "parents": ["usual", "pretentious", "great_pret"],
        "has_nurs": ["proper", "less_proper", "improper", "critical", "very_crit"],
        "form": ["complete", "foster"],
        "children": ["1", "more"],
        "housing": ["convenient", "critical"],
        "finance": ["convenient", "inconv"],
        "social": ["nonprob"],
        "health": ["recommended", "priority", "not_recom"],
    }
    frame = pd.DataFrame(itertools.product(*columns.values()), columns=list(columns))
    usual = frame["parents"] == "usual"
    frame["class"] = np.where(usual, "priority", "spec_prior")
    frame.loc[frame["health"] == "not_recom", "class"] = "not_recom"
    frame.to_csv(tmp_path / "nursery.csv.gz", index=False)
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    for cached in (cross_validation.encoded, cross_validation.fold):
        cached.cache_clear()
    yield frame
    for cached in (cross_validation.encoded, cross_validation.fold):
        cached.cache_clear()


@given(st.lists(st.integers(0, 3), min_size=1, max_size=200), st.integers(2, 10))
def test_folds_share_every_class_evenly(labels: list[int], count: int) -> None:
    classes = np.array(labels)
    numbers = fold_numbers(classes, count, 0)
    for label in set(labels):
        sizes = np.bincount(numbers[classes == label], minlength=count)
        assert len(sizes) == count
        assert sizes.max() - sizes.min() <= 1


def test_folds_are_the_same_every_time_and_others_for_another_shuffle() -> None:
    labels = np.repeat([0, 1], 500)
    assert (fold_numbers(labels, 10, 0) == fold_numbers(labels, 10, 0)).all()
    assert (fold_numbers(labels, 10, 0) != fold_numbers(labels, 10, 1)).any()


def test_the_paired_test_agrees_with_a_table_of_the_t_distribution() -> None:
    """With 9 degrees of freedom the two-sided 5 % point is 2.262."""
    spread = np.array([-1.0, 1.0] * 5)
    error = spread.std(ddof=1) / np.sqrt(10)
    other = np.zeros(10)
    assert p_value((spread + 2.263 * error).tolist(), other.tolist()) < 0.05
    assert p_value((spread + 2.261 * error).tolist(), other.tolist()) > 0.05


def test_the_sign_says_which_is_better() -> None:
    low, high = [0.70, 0.71, 0.72, 0.70], [0.80, 0.82, 0.81, 0.80]
    assert (verdict(high, low), verdict(low, high), verdict(low, low)) == ("+", "-", "=")
    assert verdict([0.9, 0.1], [0.2, 0.8]) == "="
    assert verdict([0.9], [0.1]) == "=", "a single fold proves nothing"


def test_a_fold_keeps_training_and_test_records_apart(nursery: pd.DataFrame) -> None:
    found = [fold("nursery", 5, 0, number) for number in range(5)]
    assert sum(len(one.test) for one in found) == len(nursery)
    for one in found:
        assert int(np.bitwise_count(one.table.partitions[0].members("all")).sum()) == one.training.sum()
        assert not one.training[one.test.index].any()
        codes = one.encoded.data.schema.column("class").classes
        assert [codes[label] for label in one.test_labels] == one.test["class"].tolist()


def test_complete_rows_of_adult_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    schema_columns = [
        "workclass",
        "education",
        "marital_status",
        "occupation",
        "relationship",
        "race",
        "sex",
        "native_country",
        "income",
    ]
    row = ["Private", "10th", "Divorced", "Sales", "Wife", "White", "Female", "Cuba", "<=50K"]
    frame = pd.DataFrame([row, row], columns=schema_columns).assign(age=[30, 40])
    frame.loc[1, "occupation"] = None
    frame.to_csv(tmp_path / "adult.csv.gz", index=False)
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    data = load("adult_categorical")
    assert list(data.frame.columns) == schema_columns
    assert len(data.frame) == 1
    assert data.target == "income"


def test_each_peer_is_shown_in_its_better_encoding() -> None:
    def score(method: str, encoding: str, fold_number: int, accuracy: float) -> PeerScore:
        return PeerScore(method, encoding, 0, fold_number, 1.0, accuracy, 0.1)

    scores = [
        score("diffprivlib tree", "ordinal", 0, 0.9),
        score("diffprivlib tree", "ordinal", 1, 0.1),
        score("diffprivlib tree", "one-hot", 0, 0.6),
        score("diffprivlib tree", "one-hot", 1, 0.6),
        score("diffprivlib forest", "ordinal", 0, 0.8),
        score("diffprivlib forest", "one-hot", 0, 0.7),
    ]
    kept = {(one.method, one.encoding) for one in best_encodings(scores)}
    assert kept == {("diffprivlib tree", "one-hot"), ("diffprivlib forest", "ordinal")}


def test_peers_get_public_bounds_and_the_same_folds(
    nursery: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "diffprivlib" / "models"
    package.mkdir(parents=True)
    (package.parent / "__init__.py").touch()
    (package.parent / "utils.py").write_text("class PrivacyLeakWarning(Warning): pass\n")
    (package / "forest.py").write_text(_FAKE)
    (package / "__init__.py").write_text("from .forest import *\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    python = interpreter(Path(sys.executable))
    assert python is not None
    scores = score_peers(python, "nursery", 3, 1, [0.5])
    labels = encoded("nursery").labels
    numbers = fold_numbers(labels, 3, 0)
    assert len(scores) == 3 * 2 * 2
    for score in scores:
        held_out = labels[numbers == score.fold]
        most = np.bincount(labels[numbers != score.fold]).argmax()
        expected = (held_out == most).mean() if score.method == "diffprivlib tree" else 0.0
        assert score.accuracy == pytest.approx(expected)
    first = score_peers(python, "nursery", 3, 1, [0.5], only_first=True)
    assert {score.fold for score in first} == {0}


@pytest.mark.parametrize("program", ["/nowhere/python", "/bin/true"])
def test_an_environment_without_diffprivlib_is_refused(program: str) -> None:
    with pytest.raises(RuntimeError, match="pip install diffprivlib"):
        interpreter(Path(program))


def test_scores_become_records_and_tables(nursery: pd.DataFrame) -> None:
    methods = [HOUSE, "DiffP-ID3", "largest class", "not private"]
    found = Results("nursery", [1000.0])
    for number in (1, 0):
        found.add(score_fold("nursery", 2, 0, number, methods, [1000.0]))
    found.sort()
    found.seconds = {(HOUSE, 1000.0): [0.5], ("diffprivlib tree", 1000.0): [0.25]}
    records = {(r.method, r.metric): r for r in trees.records([found])}
    assert records[HOUSE, "accuracy"].mean > 0.95
    share = (nursery["class"] == "spec_prior").mean()
    assert records["largest class", "accuracy"].mean == pytest.approx(share, abs=0.02)
    gap = records["largest class", f"accuracy minus that of {HOUSE}"]
    assert gap.mean == pytest.approx(records["largest class", "accuracy"].mean - records[HOUSE, "accuracy"].mean)
    assert records[HOUSE, "seconds"].reference == 0.25
    printed = text([*parts([found], trees.METHODS), *references(list(records.values()))])
    assert "DiffP-ID3" in printed
    assert "0.500 (2.0)" in printed


def test_every_reference_belongs_to_a_method_and_data_set_that_run() -> None:
    for (method, data), (_, epsilons, figures) in trees.REFERENCES.items():
        assert method in trees.METHODS
        assert data in trees.DATA
        assert len(epsilons) == len(figures)
        assert set(epsilons) <= set(trees.EPSILONS)


def test_what_a_request_leaves_out() -> None:
    everything = trees.Request()
    assert everything.names == list(trees.DATA)
    assert everything.wants_growth
    assert not set(trees_peers.METHODS) & set(everything.chosen_methods)
    one = trees.Request(data=["nursery"], methods=[HOUSE], quick=True)
    assert (one.names, one.chosen_methods, one.folds) == (["nursery"], [HOUSE], 2)
    assert not one.wants_growth
    assert trees.Request(data=[trees_growth.DATA]).names == []


@pytest.mark.parametrize("option", ["--data", "--method", "--peers"])
def test_an_unknown_name_is_refused(option: str) -> None:
    outcome = CliRunner().invoke(app, ["trees", option, "nothing such"])
    assert outcome.exit_code == 2


def test_growth_measures_a_block() -> None:
    found = trees_growth.measure(6_400)
    assert found["packed"] == (120 + 2) * 100 * 8
    assert all(seconds > 0 for seconds in found["seconds"])
