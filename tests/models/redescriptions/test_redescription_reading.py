"""Reading redescriptions: words, margins of the noise, exact numbers of public records."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from dpcore.commands.text import blocks_text
from dpcore.domain.counted import PEOPLE
from dpcore.models.redescriptions.released.duplicates import in_full
from dpcore.models.redescriptions.released.reading import (
    agreement_margins,
    alternatives,
    exact_agreement,
    interval_words,
    matching,
    read_found,
    sentence,
    sentences,
)
from tests.support.learning.redescription_tables import exact_margin
from tests.support.results.small_redescriptions import (
    ILL,
    SCALE,
    SCHEMA,
    SEVERAL,
    TREATED,
    literal,
    small_pairs,
    tree,
    tree_pair,
    two_sided_people,
)
from tests.support.rows import for_each

MODEL = small_pairs()
FOUND = MODEL.extract(SCHEMA).found
FRAME = two_sided_people(400)


# Words


def test_a_terminal_says_which_ones_are_below_the_suggested_support():
    found = MODEL.extract(SCHEMA)
    below = "Below the suggested support: for so few people, much of it may be noise."
    assert below not in blocks_text(read_found(found, 0))
    few, *_ = found.found
    parts = dataclasses.replace(found, suggested_support=math.ceil(few.support) + 1)
    told = sentences(parts, parts.found, 20).sentences
    assert [below in one for one in told] == [item.support <= few.support for item in found.found]
    assert below in told[0]


def test_a_sentence_tells_both_sides_and_every_number():
    item = FOUND[0]
    told = sentence(item, PEOPLE)
    either = item.support + item.left_only + item.right_only
    for part in (
        item.left[1:],
        item.right,
        f"{either:,.0f} people for whom at least one of the two holds",
        f"{item.support:,.0f} (±{item.support_margin}",
        f"{item.jaccard:.2f} ({interval_words(item)} for the noise)",
        f"{item.chance:.2f}",
        "(p\u00a0<\u00a00.001)",
        "nearly the same people as those with ",
    ):
        assert part in told, part


def test_where_a_person_may_have_several_rows_records_are_told_of():
    several = MODEL.extract(SEVERAL)
    for item, alone in zip(several.found, FOUND, strict=True):
        assert dataclasses.replace(item, p_value=alone.p_value) == alone
        assert item.p_value > alone.p_value  # The rows of one person may be all alike.
    item = several.found[0]
    either = item.support + item.left_only + item.right_only
    told = f"{sentence(item, several.counted)}\n{blocks_text(read_found(several, 0))}"
    for part in (
        "nearly the same records as those with ",
        f"{either:,.0f} records for which at least one of the two holds",
        f"of about {several.people:,.0f} records",
        f"both hold for about {item.support:,.0f} (±{item.support_margin})",
        "the share of records for which both sides hold",
    ):
        assert part in told, part
    assert "people" not in told + in_full("may", several.counted)


@for_each(
    ("words", "wanted"),
    [
        ("", lambda item: True),
        ("insulin", lambda item: "insulin" in item.columns),
        ("  INSULIN  ward", lambda item: {"insulin", "<i>ward</i>"} <= item.columns),
        ("diabetes_2009", lambda item: "diabetes_2009" in item.columns),
        ("mmol", lambda item: "mmol" in item.left + item.right),
        ("nowhere", lambda item: False),
    ],
)
def test_words_are_looked_for_in_conditions_and_columns(words, wanted):
    assert matching(FOUND, words) == tuple(item for item in FOUND if wanted(item))


def test_a_side_is_told_as_a_list_of_what_suffices():
    for item in FOUND:
        for parts, whole in zip(
            alternatives(item, MODEL.pairs[item.pair], SCHEMA), (item.left, item.right), strict=True
        ):
            assert len(parts) > 1 or parts == (whole,)
    item = FOUND[0]
    leaves = dataclasses.replace(item, left_leaves=(0, 2), right_leaves=(0,))
    both = tree("left", literal("<i>ward</i>", 0), literal("age", 0, 3), literal("diabetes_2008", 1))
    pair = tree_pair(both, tree("right", TREATED), [[1, 1]] * 4)
    left, right = alternatives(leaves, pair, SCHEMA)
    assert [set(part.split(" and ")) for part in left] == [
        {"<i>ward</i> not recorded as <b>A</b>", "diabetes in 2008"},
        {"<i>ward</i> <b>A</b>", "age at most 60 years"},
    ]
    assert right == ("metformin",)


# Noise


def test_margins_are_those_of_sums_of_noisy_counts():
    for item in FOUND:
        pair = MODEL.pairs[item.pair]
        left, right = len(item.left_leaves), len(item.right_leaves)
        cells = left * (4 - right), left * right, (4 - left) * right
        margins = agreement_margins(item, pair, SCHEMA)
        if item.pair == 1:  # Every pair of leaves can be reached.
            for margin, exact in zip(margins, (exact_margin(SCALE, n) for n in cells), strict=True):
                assert exact <= margin <= exact + 1
        assert margins[1] == item.support_margin


def test_leaves_that_nobody_can_reach_carry_no_noise():
    dead = tree_pair(tree("left", *[ILL] * 3), tree("right", TREATED), [[50, 1]] * 4)
    item = dataclasses.replace(FOUND[0], left_leaves=(0, 1), right_leaves=(0,))
    alone = tree_pair(tree("left", ILL), tree("right", TREATED), [[50, 1]] * 2)
    single = dataclasses.replace(FOUND[0], left_leaves=(0,), right_leaves=(0,))
    assert agreement_margins(item, dead, SCHEMA) == agreement_margins(single, alone, SCHEMA)


def test_noise_stays_within_its_margins_as_often_as_promised():
    """95 % of 4000 draws; a false alarm is rarer than 1e-6, half the margin is caught."""
    draw = np.random.default_rng(3)
    p = 1 - math.exp(-1 / SCALE)
    noise = draw.geometric(p, (4000, 4, 4)) - draw.geometric(p, (4000, 4, 4))
    [item] = [item for item in FOUND if item.pair == 1][:1]
    left, right = list(item.left_leaves), list(item.right_leaves)
    moved = np.abs(noise[:, left][:, :, right].sum(axis=(1, 2)))
    margin = agreement_margins(item, MODEL.pairs[1], SCHEMA)[1]
    assert np.mean(moved <= margin) > 0.95 - 5 * math.sqrt(0.05 * 0.95 / 4000)
    assert np.mean(moved <= margin / 2) < 0.95 - 5 * math.sqrt(0.05 * 0.95 / 4000)


# Exact numbers


def test_exact_numbers_are_those_of_the_records():
    tables = MODEL.exact_tables(FRAME, SCHEMA)
    for item, exact in zip(FOUND, exact_agreement(tables, FOUND), strict=True):
        pair = MODEL.pairs[item.pair]
        left = np.isin(pair.left.apply(FRAME, SCHEMA), item.left_leaves)
        right = np.isin(pair.right.apply(FRAME, SCHEMA), item.right_leaves)
        both, either = int((left & right).sum()), int((left | right).sum())
        assert (exact.support, exact.left_only, exact.right_only) == (
            both,
            int((left & ~right).sum()),
            int((~left & right).sum()),
        )
        assert exact.jaccard == pytest.approx(both / either)
        share = left.mean() * right.mean()
        assert exact.p_value == pytest.approx(_tail(both, len(FRAME), share), rel=1e-6, abs=1e-300)


def _tail(least: int, n: int, share: float) -> float:
    """Chance of at least so many successes in n tries, term by term."""
    logs = [
        math.lgamma(n + 1)
        - math.lgamma(k + 1)
        - math.lgamma(n - k + 1)
        + k * math.log(share)
        + (n - k) * math.log1p(-share)
        for k in range(least, n + 1)
    ]
    return math.fsum(map(math.exp, logs))
