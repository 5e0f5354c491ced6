"""Cut points that are named: no method asks for another, and a first look tells them from its counts alone."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpcore import DPRuleListClassifier, DPSummary
from dpcore.data.building.ingest import frame_chunks, ingest
from dpcore.data.table import PrivateTable
from dpcore.domain.conditions import read_cuts
from dpcore.errors import RequestError
from dpcore.learning.learner import Run
from dpcore.models.registry import LEARNERS
from dpcore.privacy.randomness import SeededRandom
from dpcore.released.release import Release, make_release
from tests.support.rows import for_each
from tests.support.tables.small_tables import ward

SCHEMA = ward(
    {"name": "age", "type": "integer", "lower": 0, "upper": 100, "bins": 20},
    {"name": "pressure", "type": "real", "lower": 50, "upper": 250, "bins": 40},
    {"name": "stage", "type": "ordinal", "categories": ["I", "II", "III"]},
    {"name": "visits", "type": "integer", "lower": 0, "upper": 30, "edges": [0, 1, 10]},
    {"name": "ill", "type": "boolean", "target": True},
    max_rows=2000,
    holdout_percent=0,
)
CUTS = ("age: 60", "pressure: 100, 150")
#: Codes of the last cells below these cuts.
PLACES = {"age": {11}, "pressure": {9, 19}}
RUNS = {
    "tree": [{}, {"method": "adiffp"}, {"method": "diffp_id3"}, {"method": "diffp_c45"}, {"method": "sulq_id3"}],
    "forest": [{}, {"method": "rfdiffp"}],
    "rule_list": [
        {},
        {"numeric_literals": "intervals"},
        {"sampler": "pool", "pool_size": 500},
        {"antecedents": "dp_fim", "min_support": 0.0, "sampler": "pool", "pool_size": 500},
    ],
}


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    """What each column tells of the target lies between the cut points that are named."""
    draw = np.random.default_rng(1)
    age, pressure = draw.integers(0, 101, 1500), draw.uniform(50, 250, 1500)
    chance = 0.1 + 0.4 * (age > 45) + 0.4 * (pressure > 125)
    return pd.DataFrame(
        {
            "age": age,
            "pressure": pressure,
            "stage": draw.choice(["I", "II", "III"], 1500),
            "visits": np.where(draw.random(1500) < 0.8, 0, draw.integers(0, 31, 1500)),
            "ill": np.where(draw.random(1500) < chance, "yes", "no"),
        }
    )


@pytest.fixture(scope="module")
def table(frame: pd.DataFrame) -> PrivateTable:
    return ingest(frame_chunks(frame), SCHEMA, SeededRandom(0))


def used(content: Any) -> Iterator[tuple[str, int]]:
    """Column and code of the last cell below each cut in a model, as it is released."""
    if isinstance(content, dict):
        if "branches" in content:
            branches = content["branches"]
            known = len(SCHEMA.column(content["column"]).classes)
            yield from ((content["column"], code) for code in range(known - 1) if branches[code] != branches[code + 1])
        if "first" in content:
            yield content["column"], content["first"] - 1
            yield content["column"], content["last"]
        content = list(content.values())
    if isinstance(content, list):
        for part in content:
            yield from used(part)


@for_each(("family", "chosen"), [(name, own) for name, all_ in RUNS.items() for own in all_])
def test_no_method_cuts_elsewhere(family: str, chosen: dict[str, Any], table: PrivateTable) -> None:
    learner, found = LEARNERS[family], set[tuple[str, int]]()
    for cuts in (CUTS, ()):
        plan = learner.plan(SCHEMA, "ill", Decimal(20), {**chosen, "cut_points": cuts})
        made = make_release(family, plan, learner.run(Run(table, plan, SeededRandom(2))), secure=False)
        ends = {(column.name, end) for column in SCHEMA for end in (-1, len(column.classes) - 1)}
        inside = {(name, place) for name, place in used(made.model) if name in PLACES} - ends
        if cuts:
            assert all(place in PLACES[name] for name, place in inside)
            found = inside
        else:
            assert any(place not in PLACES[name] for name, place in inside)
    assert found


@for_each("family", RUNS)
def test_what_cannot_be_cut_at_is_refused_before_it_costs(family: str) -> None:
    learner = LEARNERS[family]
    for chosen, fault in (
        ({"cut_points": ("age: 63",)}, "'63' is not a cut point of 'age'"),
        ({"cuts_from": "f" * 32}, "Name the cut points too"),
    ):
        with pytest.raises(RequestError, match=fault):
            learner.plan(SCHEMA, "ill", Decimal(1), chosen)


def look(frame: pd.DataFrame, epsilon: float = 50) -> DPSummary:
    return DPSummary(epsilon=epsilon, schema=SCHEMA, random_state=4).fit(frame)


def test_a_first_look_tells_groups_of_about_equally_many_people(frame: pd.DataFrame) -> None:
    told = look(frame).cut_points()
    assert [text.partition(":")[0] for text in told] == ["age", "pressure", "visits"]
    for name, places in read_cuts(SCHEMA, told[:2]).items():
        ends = np.array([-np.inf, *(SCHEMA.column(name).inner_edges[place] for place in places), np.inf])
        sizes = np.histogram(frame[name], np.nextafter(ends, np.inf))[0]
        assert (len(sizes), sizes.min() > 1500 / 16, sizes.max() < 1500 / 4) == (8, True, True)
    # Four in five have no visits: others are divided further all the same.
    assert told[2] == "visits: 0, 1, 10"


def test_noise_divides_nobody(frame: pd.DataFrame) -> None:
    """Where noise hides all people, the few cut points that are left tell nothing: the schema's stay."""
    points = [len(read_cuts(SCHEMA, look(frame, epsilon).cut_points()).get("pressure", ())) for epsilon in (0.02, 50)]
    assert points[0] < points[1] == 7


def test_they_follow_the_released_counts_alone(frame: pd.DataFrame) -> None:
    """The same release tells the same points, read from its file; whatever the noise, they are the schema's."""
    noisy = look(frame, 0.001)
    again = DPSummary.from_release(Release.from_json(noisy.release_.to_json()))
    assert again.cut_points() == noisy.cut_points()
    LEARNERS["tree"].plan(SCHEMA, "ill", Decimal(1), {"cut_points": again.cut_points()})


def test_the_certificate_says_where_they_come_from(frame: pd.DataFrame) -> None:
    told = look(frame)
    rows = DPRuleListClassifier(
        epsilon=2, schema=SCHEMA, cut_points=told.cut_points(), cuts_from=told.release_.id, random_state=1
    ).fit(frame.drop(columns="ill"), frame["ill"])
    release = Release.from_json(rows.release_.to_json())
    assert release.certificate.cuts_from == told.release_.id
    assert tuple(release.parameters["cut_points"]) == told.cut_points()
    before = release.model_dump(mode="json")
    del before["certificate"]["cuts_from"], before["parameters"]["cut_points"], before["parameters"]["cuts_from"]
    old = Release.model_validate(before)
    assert old.certificate.cuts_from == ""
    assert DPRuleListClassifier.from_release(old).cut_points == ()
