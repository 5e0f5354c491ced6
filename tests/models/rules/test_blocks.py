"""Blocks of two rules against full enumeration: their distribution, and what one row changes in it."""

import itertools
import math
from decimal import Decimal
from functools import cache

import numpy as np
import pytest

from dpcore.learning.exact_draws.balance import FULL_WEIGHT, expected_shares, posterior_counts, weigh_classes
from dpcore.learning.learner import no_progress
from dpcore.models.rules.learning.block_choice import choose_parts
from dpcore.models.rules.learning.blocks import Block, BlockDrawer, _Later, _left_value, block_count, block_weight
from dpcore.models.rules.learning.following import Following
from dpcore.models.rules.learning.prior import ListPrior
from dpcore.privacy.randomness import SeededRandom
from tests.oracles import rules_oracle
from tests.oracles.mechanisms_oracle import FALSE_ALARM, chi_square
from tests.support.learning.enumerated_lists import ALL, PLAIN, ROWS, SCHEMA, TINY
from tests.support.learning.enumerated_lists import antecedents as _antecedents
from tests.support.learning.enumerated_lists import prior_of as _prior
from tests.support.rows import for_each
from tests.support.tables.small_tables import domain, neighbours, table_of

EPSILON = Decimal(1)
#: Class counts that cost so much have no noise.
EXACTLY = Decimal(10_000)
UNEVEN = (1500, FULL_WEIGHT)


@cache
def _lists():
    """Every list of at most two rules that a block may make, with its prior."""
    following, prior = Following.of(_antecedents(), SCHEMA), _prior()
    weights, none = np.exp(prior.log_weights()), np.array([], dtype=np.int64)
    ends = [prior.end_probability(place) for place in (0, 1)]
    chances = {(): ends[0]}
    for first in np.flatnonzero(following.after(none)).tolist():
        go = (1 - ends[0]) * weights[first]
        chances[(first,)] = go * ends[1]
        for second in np.flatnonzero(following.after(np.array([first]))).tolist():
            chances[first, second] = go * (1 - ends[1]) * weights[second]
    return chances


@cache
def _groups(rows):
    """People per rule and class, of every list."""
    labels, held = [row[2] for row in rows], [PLAIN[m] for m in range(len(PLAIN))]
    return [rules_oracle.capture_counts(rows, labels, [held[m] for m in members], 2) for members in _lists()]


@cache
def _outcomes(quarters=0):
    """Every list with, unless later blocks divide those left, every class of its groups."""
    drawn = {members: len(members) + (len(members) < 2 or not quarters) for members in _lists()}
    return [(own, classes) for own, groups in drawn.items() for classes in itertools.product((0, 1), repeat=groups)]


@cache
def _logs(rows, max_rows, quarters=0, times=1.0, worth=UNEVEN):
    """Log-probability of every outcome."""
    weight = times * block_weight(EPSILON, ALL, 2, max_rows).value
    found = []
    for (members, chance), groups in zip(_lists().items(), _groups(rows), strict=True):
        divided = quarters if len(members) == 2 else 0
        drawn = groups[:-1] if divided else groups
        logs = np.full((), math.log(chance) + (weight * _left(groups[-1], worth, divided) if divided else 0.0))
        for group in drawn:
            logs = np.add.outer(logs, weight * np.array(worth) * np.array(group) - math.log(2))
        found.append(logs.ravel())
    every = np.concatenate(found)
    return every - np.logaddexp.reduce(every)


def _left(counts, worth, quarters):
    each = [own * int(n) for own, n in zip(worth, counts, strict=True)]
    return (quarters * max(each) + (4 - quarters) * sum(each)) // 4


@pytest.mark.parametrize("blocks", [1, 2])
def test_blocks_are_drawn_with_their_enumerated_probabilities(blocks):
    """Lists and the classes of their groups; of the first block of two, those of the rules that it puts."""
    draws, whole = 1000, posterior_counts(sum(_groups(tuple(ROWS))[0]), 1 / float(EXACTLY), None)
    worth, source = tuple(weigh_classes(whole).tolist()), SeededRandom(5)
    weight = block_weight(EPSILON, ALL, 2, SCHEMA.max_rows)
    drawn_so = tuple(Block(EXACTLY, EPSILON, weight, divided=place < blocks - 1) for place in range(blocks))
    drawer = BlockDrawer(table_of(SCHEMA, ROWS), "y", "all", _antecedents(), _prior(), drawn_so)
    logs = _logs(tuple(ROWS), SCHEMA.max_rows, 0 if blocks == 1 else 1, worth=worth)
    told = [expected_shares(whole, c) for c in (0, 1)]
    observed = dict.fromkeys(_outcomes(0 if blocks == 1 else 1), 0)
    for _ in range(draws):
        drawn = drawer.draw(source, no_progress)
        members = tuple(drawn.members.tolist()[:2])
        groups = len(members) if blocks == 2 and len(members) == 2 else len(members) + 1
        classes = tuple(int(np.allclose(told[1], own)) for own in drawn.expected[:groups])
        observed[members, classes] += 1
    expected = draws * np.exp(logs)
    assert chi_square(list(observed.values()), expected) > FALSE_ALARM
    other = draws * np.exp(_logs(tuple(ROWS), SCHEMA.max_rows, 0 if blocks == 1 else 1, 6.0, worth))
    assert chi_square(list(observed.values()), other) < FALSE_ALARM, "six times the weight would be seen"


@for_each("quarters", range(5))
@for_each("worth", [UNEVEN, (FULL_WEIGHT, 1), (FULL_WEIGHT, FULL_WEIGHT)])
def test_one_row_more_adds_to_those_left_what_it_may(quarters, worth):
    """Between nothing and the largest worth, with whatever class they are worth something."""
    for counts in itertools.product(range(12), repeat=2):
        now, _ = _left_value(np.array(counts), np.array(worth), quarters, 1e-9)
        best = max(own * n for own, n in zip(worth, counts, strict=True))
        assert now == (_left(counts, worth, quarters) if quarters else best)
        for place in (0, 1):
            more = np.array(counts)
            more[place] += 1
            assert 0 <= _left_value(more, np.array(worth), quarters, 1e-9)[0] - now <= FULL_WEIGHT


def _worst(quarters, apart, times=1.0):
    """Tables of up to two rows of some kinds, and one where one row can do much."""
    kinds = domain(TINY)[::apart]
    small = [list(rows) for size in (0, 1, 2) for rows in itertools.combinations_with_replacement(kinds, size)]
    small.append([(0, 0, 0)] * 7)
    pairs = (pair for rows in small for pair in neighbours(TINY, rows))
    return max(
        np.abs(
            _logs(tuple(sorted(less)), TINY.max_rows, quarters, times)
            - _logs(tuple(sorted(more)), TINY.max_rows, quarters, times)
        ).max()
        for less, more in pairs
    )


@pytest.mark.parametrize(
    ("quarters", "apart"),
    [(1, 13), pytest.param(0, 3, marks=pytest.mark.slow), pytest.param(1, 3, marks=pytest.mark.slow)],
)
def test_one_row_changes_no_probability_by_more_than_the_budget(quarters, apart):
    """Given the weights of the classes, which come from noisy counts."""
    assert 0.4 < _worst(quarters, apart) <= float(EPSILON)


@pytest.mark.parametrize("quarters", [0, 1])
def test_three_times_the_weight_would_be_caught(quarters):
    assert _worst(quarters, 32, times=3.0) > 1.5 * float(EPSILON)


def test_no_prior_is_so_small_that_a_rule_is_lost():
    """The best second rule has ninety conditions; e to the logarithm of its own prior would be 0."""
    sizes = np.array([1, 1, 90])
    of_sizes = np.array([0.0, 1.0, *[0.0] * 88, 1e-322])
    prior = ListPrior(np.array([1 - 1e-12, 1e-12, 1e-20]), of_sizes, sizes, np.arange(91), np.bincount(sizes))
    least = 2 * prior.log_weights().min() + 2 * min(*prior.log_turns(0), *prior.log_turns(1))
    assert -128 <= least - 3 * math.log(1000) < -100
    none, ones = np.array([2010, 5000]), np.array([[10, 0], [0, 0], [0, 5000]])
    apart, may, worth = np.zeros((3, 3, 2), dtype=np.int64), ~np.eye(3, dtype=bool), np.array([1, 1])
    later = _Later(none, ones, apart, may, prior.log_weights(), prior.log_turns(1), worth, 0, 1.0)
    bests, rests = later.values()
    assert bests[0] == 10 + 5000 + 2000, "with the long one"
    assert rests[0] > -128
    assert prior.log_turns(2) == (0.0, -math.inf), "a list that may not go on does not"


@for_each("rules", [1, 2, 3, 5, 40])
def test_the_prior_of_a_number_of_rules_goes_on_until_there_are_so_many(rules):
    """Before that a list ends as good as never, but it can: no condition may be left."""
    prior = ListPrior.of_number(_antecedents(), rules, 1.0)
    most = min(rules, len(_antecedents()))
    assert prior.max_rules == most
    assert all(prior.log_turns(place) == (-16.0, 0.0) for place in range(most))
    assert prior.log_turns(most) == (0.0, -math.inf)
    assert np.array_equal(prior.log_weights(), _prior().log_weights())


def _ended(following, members):
    may = following.after(members)
    return not following.after_each(members)[may].any()


@for_each("rules", [1, 2, 3, 5])
@for_each("divided", [True, False])
def test_lists_have_as_many_rules_as_asked_for(rules, divided):
    """Or end where no two rules could follow."""
    weight = block_weight(EPSILON, ALL, 2, SCHEMA.max_rows)
    blocks = tuple(Block(EXACTLY, EPSILON, weight, divided) for _ in range(block_count(rules)))
    prior = ListPrior.of_number(_antecedents(), rules, 1.0)
    drawer = BlockDrawer(table_of(SCHEMA, ROWS), "y", "all", _antecedents(), prior, blocks)
    drawn = [drawer.draw(SeededRandom(seed), no_progress) for seed in range(20)]
    following = Following.of(_antecedents(), SCHEMA)
    assert all(len(own.expected) == len(own.members) + 1 for own in drawn)
    assert all(len(own.members) == rules or _ended(following, own.members) for own in drawn)


@for_each("blocks", [1, 2, 3, 7, 15])
def test_where_there_is_little_to_tell_the_first_block_gets_nearly_all(blocks):
    little, much = (choose_parts(Decimal(signal), 1000, blocks) for signal in ("4.99", "5"))
    assert len(little) == len(much) == blocks
    assert much == [1 / blocks] * blocks
    assert sum(little) == pytest.approx(1)
    assert little[0] == (0.9 if blocks > 1 else 1)
    assert len(set(little[1:])) <= 1
