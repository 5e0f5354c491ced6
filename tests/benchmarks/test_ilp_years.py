"""Beneficiaries with earlier years: which records the suite of relational rules makes of them."""

from __future__ import annotations

import os

import pytest

from benchmarks import ilp, ilp_years
from benchmarks.datasets import FOLDER_VARIABLE
from benchmarks.ilp_methods import ALIKE

_NEEDS_DATA = pytest.mark.skipif(FOLDER_VARIABLE not in os.environ, reason="needs the benchmark data")


def test_they_are_a_part_that_can_be_chosen() -> None:
    assert ilp_years.NAME in ilp.DATA
    assert ilp.Request([ilp_years.NAME]).wants(ilp_years.NAME)
    assert not ilp.Request([ilp_years.NAME]).facts


@_NEEDS_DATA
@pytest.mark.parametrize(("outcome", "share"), [("stroke_tia", 0.024), ("alzheimer", 0.167)])
def test_each_has_two_rows_of_earlier_years_and_nothing_of_the_last(outcome: str, share: float) -> None:
    schema, main, rows = ilp_years.beneficiaries(outcome)
    assert len(main) == 9710
    assert main[schema.targets[0]].mean() == pytest.approx(share, abs=0.001)
    assert set(main) == {"who", "birth_year", "sex", "race", ilp_years.target(outcome)}
    assert set(rows["year"]) == {2008, 2009}
    assert (rows.groupby("who").size() == 2).all()
    assert set(rows["who"]) == set(main["who"])
    assert set(rows[outcome]) == {0, 1}


@_NEEDS_DATA
def test_rules_rank_other_beneficiaries_better_than_chance() -> None:
    assert ilp_years.area("ischemic_heart_disease", ALIKE, 0) > 0.65
