"""Relational rules as texts, bars and numbers that are known before a run."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import pytest

from dpcore.domain.schemas.schema import Schema
from dpcore.models.ilp.language.hypotheses import Hypotheses, condition_texts, hypotheses
from dpcore.models.ilp.released.ilp_reading import clause_texts, prolog_program
from dpcore.models.registry import get_learner
from dpcore.models.released import parse_model
from dpcore.plots.ilp.ilp import ilp_alt, ilp_figure
from tests.support.results.small_theories import ATOMS, BOTH, DROPPED, release_of
from tests.support.tables.small_trains import SCHEMA, TARGET


def space(epsilon: str = "1", schema: Schema = SCHEMA, **parameters: Any) -> Hypotheses:
    plan = get_learner("ilp").plan(schema, TARGET, Decimal(epsilon), parameters)
    return hypotheses(plan)


# Before a run


def test_the_space_of_one_condition_can_be_counted_by_hand():
    found = space(literals=["car: length = short", "car: length = long"], max_literals=1)
    assert (found.conditions, found.clauses) == (2, 3)  # Nobody asked, short, long.
    both = space(literals=["car: length = short", "year > 1950"], max_literals=2, quantifiers=["exists"])
    assert (both.conditions, both.clauses) == (2, 4)


@pytest.mark.parametrize(("epsilon", "conditions", "columns"), [("0.1", 3, 1), ("0.02", 12, 4), ("0.5", 12, 4)])
def test_the_least_number_of_people_solves_theorem_3(epsilon, conditions, columns):
    """Values of one column exclude each other: each column counts once."""
    literals = list(ATOMS)[:conditions]
    found = space(epsilon, literals=literals, max_literals=4)

    def bound(people: int) -> float:
        return math.log(2**columns * 0.9) / (2 * (0.1 * people + 1))

    assert bound(found.needed) <= float(epsilon) * (1 + 1e-9) < bound(found.needed - 1)


def test_enough_people_follow_from_the_budget_of_one_clause():
    found = space("1", literals=["car: length = short"], max_literals=1, clauses=2, count_share=0.5, length_prior=False)
    assert found.clauses == 2
    assert found.enough == math.ceil(math.log(2 / 0.1) / (0.25 * 0.95 * 0.1)), "a part tells what people weigh"


def test_more_of_everything_asks_for_more_people():
    usual = space()
    assert space(clauses=4).enough > usual.enough
    assert space(positive_weight=3).enough > usual.enough
    assert space("2").enough < usual.enough
    assert space("2").needed < usual.needed


def test_people_set_aside_are_not_learned_from():
    assert space().people == 1600
    assert space(evaluate=False).people == 2000


def test_counting_every_clause_is_noisier_the_more_there_are():
    few = space(method="naive", max_literals=1)
    many = space(method="naive", max_literals=2)
    assert space().choice_margin is None
    ratio = many.choice_margin / few.choice_margin
    assert 2 < ratio < many.clauses / few.clauses, "conditions on one column exclude each other"
    level = space(method="relevance_aware", max_literals=2)
    assert level.choice_margin > few.choice_margin


def test_the_bottom_clause_holds_every_condition_and_nothing_else():
    found = space(literals=["car: length = short", "car: roof in closed", "year > 1950"])
    assert found.bottom.splitlines() == [
        "direction(T, east) :-",
        "    year_above(T, 1950),",
        "    has_car(T, A),",
        "    length(A, short),",
        "    roof_in(A, closed).",
    ]


def test_conditions_stand_by_table_with_and_without_missing_ones():
    texts = condition_texts(SCHEMA, TARGET)
    assert list(texts) == ["train", "car"]
    assert texts["train"] == {"year <= 1950": "year <= 1950 years", "year > 1950": "year > 1950 years"}
    assert texts["car"]["car: length = short"] == "length = short"
    assert "any car at all" in texts["car"].values()
    assert not any(TARGET in name for own in texts.values() for name in own)
    more = condition_texts(SCHEMA, TARGET, reserved=True)
    assert "car: length = (missing)" in more["car"]
    assert set(texts["car"]) < set(more["car"])
    for own in more.values():
        assert space(literals=list(own), reserved_literals=True).conditions == len(own)


# After a run


def test_clauses_are_told_in_order():
    first, second, rest = clause_texts(release_of(*BOTH))
    assert (first.title, second.title, rest.title) == ("Clause 1", "Clause 2", "No clause")
    assert first.words.startswith("any train with a car that has length = short")
    assert second.words == "any other train with year <= 1950"
    assert (rest.words, rest.prolog) == ("every other train", "")
    assert first.prolog.startswith("direction(T, east) :-")


def test_the_program_holds_what_predicts_and_comments_out_the_rest():
    lines = prolog_program(release_of(*BOTH)).splitlines()
    program = [line for line in lines if line and not line.startswith("%")]
    assert program == ["direction(T, east) :-", "    has_car(T, A), length(A, short), weight_above(A, 3.5)."]
    assert "%     year_up_to(T, 1950)." in lines
    assert any("west: 40, east: 310" in line for line in lines)


def test_a_name_with_a_line_break_stays_in_its_comment():
    text = prolog_program(release_of(*BOTH, dataset_name="a\nhalt."))
    assert "halt." in text
    assert not any(line.startswith("halt") for line in text.splitlines())


@pytest.mark.parametrize(("most", "one", "rows"), [(1, "person", "people"), (4, "record", "records")])
def test_clauses_are_about_people_or_about_their_records(most, one, rows):
    unit = {"column": "train_id", "max_rows_per_person": most}
    content = SCHEMA.model_dump(mode="json") | {"entity": "person", "children": [], "privacy_unit": unit}
    release = release_of((DROPPED, (77, 60), True), (None, (500, -4), False), schema=Schema.from_mapping(content))
    assert [text.words for text in clause_texts(release)] == [f"any {one} with year <= 1950", f"every other {one}"]
    assert ilp_figure(release).layout.xaxis.title.text == f"noisy number of {rows}"
    assert f"cover 60 of 56 {rows} with direction = east" in ilp_alt(release)
    first, last = parse_model(release).reading(release.domain, TARGET)
    assert first.startswith(f"A {one} with year")
    assert last.startswith(f"Every other {one}: ")
