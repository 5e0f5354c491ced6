"""Alternative texts begin with what a figure shows, not with what its axes are."""

from __future__ import annotations

import pytest

from dpcore.models.redescriptions.released.reading import alike_people
from dpcore.models.released import parse_model
from dpcore.models.trees.released.tree_reading import group_numbers
from dpcore.numerals import percent
from dpcore.plots.ilp.ilp import ilp_alt
from dpcore.plots.rule_list import rule_list_alt
from dpcore.plots.trees.tree import tree_alt
from tests.support.results import reports
from tests.support.results.content import content


def alt(case: str) -> str:
    return content(reports.release(case)).pictures[0].alt


def test_a_rule_list_begins_with_the_rules_of_highest_and_lowest_chance() -> None:
    release = reports.release("rule list")
    chances = [rule.estimates[1] for rule in parse_model(release).rules]
    high, low = chances.index(max(chances)), chances.index(min(chances))
    first = rule_list_alt(release).partition(" If ")[0]
    assert f"number {high + 1} has the highest noisy chance" in first
    assert f"({percent(chances[high])}), number {low + 1} the lowest ({percent(chances[low])})" in first


def test_a_tree_begins_with_the_groups_of_highest_and_lowest_chance() -> None:
    release = reports.release("tree")
    model = parse_model(release)
    chances = {number: model.nodes[place].estimates[1] for place, number in group_numbers(model).items()}
    high, low = (end(chances, key=chances.__getitem__) for end in (max, min))
    told = tree_alt(model, release.target)
    assert f"Group {high} has the highest noisy chance" in told
    assert f"group {low} the lowest ({percent(chances[low])})" in told


def test_clauses_begin_with_how_many_they_cover() -> None:
    release = reports.release("relational rules")
    model = parse_model(release)
    covered = sum(group.noisy_counts[model.positive] for group in model.groups[:-1])
    everybody = sum(group.noisy_counts[model.positive] for group in model.groups)
    assert ilp_alt(release).startswith(f"The clauses cover {covered:,} of {everybody:,} ")


def test_importances_and_shares_begin_with_the_largest() -> None:
    ranked = parse_model(reports.release("shapes")).ranked()
    clear = sum(term.clear for term in ranked)
    assert f"counts most. {clear} of {len(ranked)} columns or pairs stand out" in alt("shapes")
    most, *_ = parse_model(reports.release("forest")).columns_used()
    assert f"about {most.column} tell most: {percent(most.told)}" in alt("forest").partition("All columns")[0]


def test_redescriptions_begin_with_the_best_that_is_kept() -> None:
    release = reports.release("redescriptions")
    found = parse_model(release).extract(release.domain)
    best = found.pruned(found.suggested_support)[0]
    alike = alike_people(best.interval[0], found.counted)
    assert alt("redescriptions").startswith(f"The best one kept says that these are {alike}: ")


@pytest.mark.parametrize("case", ["rule list of three classes", "tree of three classes"])
def test_several_classes_have_no_single_highest_chance(case: str) -> None:
    assert "the lowest" not in alt(case)
