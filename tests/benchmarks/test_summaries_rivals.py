"""Invented records beside rivals: what is measured, and what is said of a rival without figures."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks import environments, summaries_models, summaries_rivals
from benchmarks.datasets import BenchData
from benchmarks.environments import FOLDER_VARIABLE, LeftOutError, UnfinishedError, called
from benchmarks.summaries import Truth
from benchmarks.summaries_rivals import COLUMNS, PAIRS, VARIATION, Made, measures
from dpcore.arrays import Ints
from dpcore.domain.encoding import encode_columns
from dpcore.domain.schemas.schema import Schema
from dpcore.models.summaries.released.summary_parameters import axes_of


@pytest.fixture(scope="module")
def truth() -> Truth:
    """Two columns that are the same, and one that has nothing to do with them."""
    own = Schema.from_mapping(
        {
            "name": "three",
            "max_rows": 500,
            "columns": [{"name": name, "type": "boolean"} for name in "ab"]
            + [{"name": "t", "type": "boolean", "target": True}],
        }
    )
    same = np.array(["yes", "no"])[np.arange(400) % 2]
    frame = pd.DataFrame({"a": same, "b": same, "t": np.array(["yes", "no"])[np.arange(400) // 2 % 2]})
    codes = encode_columns(frame, own, list(frame))
    return Truth(BenchData("three", frame, own), axes_of(own, None), {key: it.astype(int) for key, it in codes.items()})


def test_records_themselves_are_not_off(truth: Truth) -> None:
    codes = np.stack([truth.codes[name] for name in "abt"], axis=1)
    found = measures(truth, Made(codes, 1.0))
    assert [found[metric] for metric in (COLUMNS, PAIRS, VARIATION)] == [0, 0, 0]


def test_independent_columns_are_off_where_two_are_the_same(truth: Truth) -> None:
    codes = np.stack([truth.codes["a"], truth.codes["t"], truth.codes["t"]], axis=1)
    found = measures(truth, Made(codes, 1.0))
    assert found[COLUMNS] == 0
    # a with b and b with t are each half wrong; a with t is right.
    assert found[VARIATION] == pytest.approx(1 / 3)


def test_a_first_look_follows_the_pair_and_histograms_do_not(truth: Truth) -> None:
    looked = measures(truth, summaries_rivals.first_look(records=True)(truth, 20.0))[VARIATION]
    alone = measures(truth, summaries_rivals.histograms(truth, 20.0))[VARIATION]
    assert looked < alone / 2


def test_a_rival_that_fails_or_takes_too_long_is_said() -> None:
    with pytest.raises(LeftOutError, match=r"it failed: .*no such thing"):
        called([sys.executable, "-c", "raise SystemExit('no such thing')"], 60, "")
    with pytest.raises(LeftOutError, match="too long"):
        called([sys.executable, "-c", "import time; time.sleep(60)"], 1, "too long")


def test_what_was_not_finished_is_tried_again_with_more_time(
    truth: Truth, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    given = []

    def asked(_name: str, codes: Ints, _sizes: list[int], _epsilon: float, longest: int) -> Made:
        given.append(longest)
        if longest < 100:
            raise UnfinishedError("too long")
        return Made(codes, 90.0)

    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    monkeypatch.setattr(summaries_rivals, "_asked", asked)
    codes = np.zeros((4, 2), dtype=np.int64)
    for longest, seconds in ((75, None), (75, None), (200, 90.0), (200, 90.0)):
        with nullcontext() if seconds else pytest.raises(LeftOutError, match="too long"):
            made = summaries_rivals.rival_records("dpmm aim", codes, [2, 2], 1.0, 0, longest=longest)
            assert made.seconds == seconds
    assert given == [75, 200]  # What was asked once is kept.


def test_an_installation_that_was_not_finished_is_tried_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tried = []

    def slow(command: list[str], _seconds: int, too_long: str) -> str:
        tried.append(command)
        raise UnfinishedError(too_long)

    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    monkeypatch.setattr(environments, "called", slow)
    monkeypatch.setattr(environments.venv, "create", lambda *_, **__: None)
    for _ in range(2):
        with pytest.raises(LeftOutError, match="could not be installed in time"):
            summaries_rivals.rival_records("dpmm aim", np.zeros((4, 2), dtype=np.int64), [2, 2], 1.0, 0)
    assert len(tried) == 2


def test_only_what_is_asked_for_is_measured(truth: Truth, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(summaries_rivals, "Truth", type("Kept", (), {"of": staticmethod(lambda _name: truth)}))
    found = list(summaries_rivals.run(["adult"], [1.0], [summaries_rivals.HISTOGRAMS], quick=True))
    assert {one.method for one in found if not isinstance(one, str)} == {summaries_rivals.HISTOGRAMS}
    assert list(summaries_models.run(["adult"], [1.0], ["first look"], quick=True)) == []


def test_half_a_guess_is_worth_nothing(truth: Truth) -> None:
    apart = np.arange(400) % 5 == 0
    assert summaries_models._plain(truth, apart) == pytest.approx(0.5, abs=0.2)
