"""Blocks of two rules against full enumeration: their distribution, and what one row changes in it."""

import itertools
import math
from decimal import Decimal
from functools import cache

import numpy as np
import pytest

from dpcore.learning.learner import no_progress
from dpcore.models.rules.learning.blocks import BlockDrawer, block_weight, group_value
from dpcore.models.rules.learning.following import Following
from dpcore.models.trees.learning.pair_values import GRID
from dpcore.privacy.randomness import SeededRandom
from tests.models.rules.test_samplers import ALL, PLAIN, ROWS, SCHEMA, TINY, _antecedents, _prior
from tests.oracles import rules_oracle
from tests.oracles.mechanisms_oracle import FALSE_ALARM, chi_square
from tests.support.small_tables import domain, neighbours, table_of

EPSILON = Decimal(1)


def _value(counts, eighths):
    whole = sum(counts)
    impurity = GRID * whole - (GRID * sum(n * n for n in counts) // whole if whole else 0)
    return GRID * whole - impurity * eighths // 8


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
def _logs(rows, max_rows, eighths=8, times=1.0):
    """Log-probability of every list, prior x exp(weight x value), by enumeration."""
    weight = times * block_weight(EPSILON, ALL, 2, max_rows).value
    chances = _lists()
    logs = []
    for (members, chance), groups in zip(chances.items(), _groups(rows), strict=True):
        value = sum(_value(group, 8) for group in groups[:-1]) + _value(groups[-1], eighths if len(members) == 2 else 8)
        logs.append(math.log(chance) + weight * value)
    return np.array(logs) - np.logaddexp.reduce(logs)


@pytest.mark.parametrize("blocks", [1, 2])
def test_blocks_are_drawn_with_their_enumerated_probabilities(blocks):
    """The first block of two counts what it leaves by less."""
    draws = 3000
    weight, source = block_weight(EPSILON, ALL, 2, SCHEMA.max_rows), SeededRandom(5)
    drawer = BlockDrawer(table_of(SCHEMA, ROWS), "y", "all", _antecedents(), _prior(), blocks, weight)
    observed = dict.fromkeys(_lists(), 0)
    for _ in range(draws):
        observed[tuple(drawer.draw(source, no_progress).tolist()[:2])] += 1
    eighths = 8 if blocks == 1 else drawer.eighths(0)
    expected = draws * np.exp(_logs(tuple(ROWS), SCHEMA.max_rows, eighths))
    assert chi_square(list(observed.values()), expected) > FALSE_ALARM


@pytest.mark.parametrize("eighths", range(1, 9))
def test_one_row_more_adds_to_a_group_what_it_may(eighths):
    """At most itself, and it takes away no more: so two blocks move apart by 2 at most."""
    for counts in itertools.product(range(14), repeat=3):
        now = group_value(np.array(counts), eighths)
        assert now == _value(counts, eighths)
        for place in range(3):
            more = np.array(counts)
            more[place] += 1
            assert -GRID <= group_value(more, eighths) - now <= GRID


def _worst(eighths, times=1.0):
    kinds = domain(TINY)[::3]
    small = [list(rows) for size in (0, 1, 2) for rows in itertools.combinations_with_replacement(kinds, size)]
    small.append([(0, 0, 0)] * 7)
    pairs = (pair for rows in small for pair in neighbours(TINY, rows))
    return max(
        np.abs(
            _logs(tuple(map(tuple, less)), TINY.max_rows, eighths, times)
            - _logs(tuple(map(tuple, more)), TINY.max_rows, eighths, times)
        ).max()
        for less, more in pairs
    )


@pytest.mark.parametrize("eighths", [4, 8])
def test_one_row_changes_no_probability_by_more_than_the_budget(eighths):
    assert 0.3 < _worst(eighths) <= float(EPSILON)


def test_three_times_the_weight_would_be_caught():
    assert _worst(8, times=3.0) > float(EPSILON)
