"""Rivals: what they are told, that reimplemented ones are those of their papers, and what is said if they fail."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import peer, privatree, processes, smooth_lists
from benchmarks.declared import LeftOutError
from benchmarks.problems import diffprivlib, fifth, interpret, split
from benchmarks.processes import FOLDER_VARIABLE, asked, called
from benchmarks.results import VARIANT
from benchmarks.smooth_lists import impurity, local_sensitivity, smooth_sensitivity
from benchmarks.suites import SUITES, ebm, find

#: Stand-ins that refuse bounds or classes which do not cover the data; the tree predicts the largest class of the
#: records it was fitted to.
_FAKES = {
    "diffprivlib/__init__.py": "",
    "diffprivlib/utils.py": "class PrivacyLeakWarning(Warning): pass\n",
    "diffprivlib/models/__init__.py": "from .forest import *\nLogisticRegression = DecisionTreeClassifier\n",
    "diffprivlib/models/forest.py": """
import numpy as np

class DecisionTreeClassifier:
    def __init__(self, *, epsilon, bounds=None, classes=(), shuffle=None, data_norm=None, max_iter=None):
        self.bounds, self.classes, self.norm = bounds, classes, data_norm

    def fit(self, X, y):
        if self.norm is None:
            low, high = self.bounds
            assert low.shape == high.shape == (X.shape[1],)
            assert (low <= X).all() and (X <= high).all() and np.isin(y, self.classes).all()
        else:
            assert (np.linalg.norm(X, axis=1) <= self.norm + 1e-9).all()
        self.most = np.bincount(y).argmax()

    def predict(self, X):
        return np.full(len(X), self.most)

    def predict_proba(self, X):
        return np.stack([1 - X[:, 0], X[:, 0]], axis=1)

class RandomForestClassifier(DecisionTreeClassifier):
    def predict(self, X):
        return np.full(len(X), -1)
""",
    "interpret/__init__.py": "",
    "interpret/privacy.py": """
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
""",
    "interpret/glassbox.py": """
class ExplainableBoostingRegressor:
    def __init__(self, *, interactions, outer_bags, feature_types):
        assert (interactions, outer_bags) == (0, 1)

    def fit(self, X, y):
        self.mean = y.mean()

    def predict(self, X):
        return X["alcohol"].to_numpy() * 0 + self.mean
""",
}


@pytest.fixture
def fakes(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand-ins in place of environments."""
    for name, text in _FAKES.items():
        path = small / "fakes" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.setenv("PYTHONPATH", str(small / "fakes"))
    monkeypatch.setattr(processes, "environment", lambda _: Path(sys.executable))


@pytest.mark.usefixtures("fakes")
def test_interpret_gets_public_bounds_and_the_same_split() -> None:
    own = split("wine_quality", fifth, 1)
    private = interpret(own, 0.5, float(ebm.DELTA), warm=True)
    assert private["scores"].tolist() == own.frame["alcohol"].tolist()
    assert float(private["seconds"]) > 0
    plain = interpret(own, None, float(ebm.DELTA))
    assert plain["scores"] == pytest.approx(own.one.truth[own.learn].mean())


@pytest.mark.usefixtures("fakes")
@pytest.mark.parametrize("encoding", peer.ENCODINGS)
def test_diffprivlib_gets_public_bounds_and_the_same_split(encoding: str) -> None:
    own = split("telco_churn", fifth, 1)
    most = np.bincount(own.one.truth[own.learn]).argmax()
    assert set(diffprivlib(own, f"tree, {encoding}", 0.5)["classes"].tolist()) == {most}
    assert set(diffprivlib(own, f"forest, {encoding}", 0.5)["classes"].tolist()) == {-1}
    assert len(diffprivlib(own, f"logistic regression, {encoding}", 0.5)["scores"]) == own.apart.sum()


def test_a_rival_has_its_bounds_and_its_norm_in_every_encoding() -> None:
    codes = np.array([[0, 2, 0], [1, 0, 0], [1, 1, 0]])
    found = {name: peer.encoded(name, codes, [2, 3, 1]) for name in peer.ENCODINGS}
    assert found["ordinal"].tolist() == [[0, 1, 0], [1, 0, 0], [1, 0.5, 0]]
    assert found["one-hot"].tolist() == [[1, 0, 0, 0, 1, 1], [0, 1, 1, 0, 0, 1], [0, 1, 0, 1, 0, 1]]
    for matrix in found.values():
        assert (matrix >= 0).all()
        assert (matrix <= 1).all()
        assert (np.linalg.norm(matrix, axis=1) <= np.sqrt(3)).all()


def test_every_rival_is_known_and_every_variant_an_encoding() -> None:
    for name in SUITES:
        suite = find(name)
        assert set(suite.programs) <= set(suite.methods)
        variants = {method.partition(VARIANT)[2].rstrip("]") for method in suite.methods if VARIANT in method}
        assert variants <= set(peer.ENCODINGS)
    assert set(peer.PROGRAMS) == set(processes.PROGRAMS)


def test_a_rival_that_fails_or_takes_too_long_is_said() -> None:
    with pytest.raises(LeftOutError, match=r"it failed: .*no such thing"):
        called([sys.executable, "-c", "raise SystemExit('no such thing')"], 60)
    with pytest.raises(LeftOutError, match="not finished in 1 s") as slow:
        called([sys.executable, "-c", "import time; time.sleep(60)"], 1)
    assert slow.value.within == 1


def test_an_installation_that_was_not_finished_is_tried_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tried: list[Any] = []

    def slow(command: list[str], seconds: float) -> str:
        tried.append(command)
        raise LeftOutError(f"not finished in {seconds} s", within=seconds)

    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    monkeypatch.setattr(processes, "called", slow)
    monkeypatch.setattr(processes.venv, "create", lambda *_, **__: None)
    for _ in range(2):
        with pytest.raises(LeftOutError, match="could not be installed") as left_out:
            asked("dpmm", "aim", {})
        assert left_out.value.within is None, "of the network, not of the program"
    assert len(tried) == 2
    assert not list(tmp_path.glob("*/ready"))


BETA, LEAST = 0.05, 3


@pytest.mark.parametrize("records", range(2, 9))
def test_no_record_moves_an_impurity_by_more_than_the_local_sensitivity_and_one_does(records: int) -> None:
    largest = 0.0
    every = itertools.product(range(records + 1), repeat=3)
    for table in [np.array([[a, b], [c, records - a - b - c]]) for a, b, c in every if a + b + c <= records]:
        for place in itertools.product((0, 1), repeat=2):
            for step in (1, -1):
                other = table.copy()
                other[place] += step
                if other.min() >= 0:
                    largest = max(largest, abs(_impurity(other) - _impurity(table)))
    assert largest == pytest.approx(local_sensitivity(records))


def _impurity(table: np.ndarray) -> float:
    return float(impurity(table[:1].astype(float), table.sum(axis=0).astype(float))[0])


@pytest.mark.parametrize("records", [LEAST, 4, 10, 100, 5000])
def test_the_smooth_sensitivity_is_above_the_local_one_and_moves_by_its_factor_at_most(records: int) -> None:
    here, more = (smooth_sensitivity(count, BETA, LEAST) for count in (records, records + 1))
    assert here >= local_sensitivity(records)
    assert abs(np.log(here / more)) <= BETA + 1e-12


def plain(epsilon_columns: int = 3) -> tuple[Any, Any]:
    """Codes, and classes that follow from one column."""
    codes = np.random.default_rng(0).integers(0, 4, (4000, epsilon_columns))
    return codes, (codes[:, 1] >= 2).astype(np.int64)


@pytest.mark.parametrize("noise", smooth_lists.NOISES)
def test_greedy_lists_find_what_is_plain(noise: smooth_lists.Noise) -> None:
    codes, truth = plain()
    found = smooth_lists.scores(codes, [4, 4, 4], [True, True, False], truth, 1e6, codes, noise=noise)
    assert ((found > 0.5) == truth).all()


def test_private_trees_find_what_is_plain_and_labels_alone() -> None:
    codes, truth = plain()
    for sound in (True, False):
        found = privatree.scores(codes, [4, 4, 4], [True, True, False], truth, 50.0, codes, sound=sound)
        assert (found == truth).all()


def test_categories_are_divided_in_the_order_of_their_shares() -> None:
    codes = np.random.default_rng(0).integers(0, 4, (4000, 1))
    truth = np.isin(codes[:, 0], (0, 2)).astype(np.int64)
    assert (privatree.scores(codes, [4], [False], truth, 50.0, codes, sound=True) == truth).all()


def test_the_expected_error_of_a_label_is_the_worst_over_all_gaps() -> None:
    """For two labels, the expected loss is at most twice the maximum of log(1/p) times the chance to err."""
    p = np.linspace(1e-6, 1, 200_001)
    worst = (2 * np.log(1 / p) * (1 - (1 - (1 - p) ** 2) / (2 * p))).max()
    assert privatree._worst_error() == pytest.approx(worst, rel=1e-4)
