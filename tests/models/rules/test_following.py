"""Rules that may follow others, against all records that a schema allows."""

import itertools

import numpy as np

from dpcore.domain.conditions import schema_conditions
from dpcore.models.rules.learning.antecedents import Antecedents
from dpcore.models.rules.learning.following import Following
from tests.support.rows import for_each
from tests.support.tables.small_tables import schema_of

COLUMNS = [
    {"name": "age", "type": "real", "lower": 0, "upper": 4, "bins": 4},
    {"name": "kind", "type": "categorical", "categories": ["a", "b", "c"]},
    {"name": "y", "type": "boolean", "target": True},
]
SCHEMA = schema_of(COLUMNS, max_rows=40)
LITERALS = schema_conditions(SCHEMA, "y", thresholds=True, reserved=False)
SINGLES = [(item,) for item in range(len(LITERALS))]
PAIRS = [(a, b) for a, b in itertools.combinations(range(len(LITERALS)), 2) if LITERALS[a].column != LITERALS[b].column]
#: Everybody whom a condition can name.
EVERYBODY = set(itertools.product(range(4), range(3)))


def _captured(itemset):
    met = [LITERALS[item] for item in itemset]
    return {p for p in EVERYBODY if all(m.holds(p[0] if m.column == "age" else p[1]) for m in met)}


@for_each("length", [0, 1, 2, 3])
def test_of_single_conditions_exactly_those_may_follow_that_leave_somebody(length):
    following = Following.of(Antecedents(LITERALS, SINGLES), SCHEMA)
    for chosen in itertools.permutations(range(len(SINGLES)), length):
        left = EVERYBODY.difference(*(_captured(SINGLES[i]) for i in chosen))
        expected = [bool(left & _captured(own)) and bool(left - _captured(own)) for own in SINGLES]
        if left:
            assert following.after(np.array(chosen, dtype=np.int64)).tolist() == expected


def test_what_one_rule_implies_or_leaves_to_nobody_is_not_offered_after_it():
    both = SINGLES + PAIRS
    may = Following.of(Antecedents(LITERALS, both), SCHEMA).after_each(np.array([], dtype=np.int64))
    for i, j in itertools.product(range(len(both)), repeat=2):
        left = EVERYBODY - _captured(both[i])
        assert may[i, j] == (bool(left & _captured(both[j])) and bool(left - _captured(both[j]))), (both[i], both[j])


def test_the_rest_of_a_cut_is_not_a_rule_of_its_own():
    """'IF age <= 1, ELSE IF age > 1' says no more than its first rule."""
    following = Following.of(Antecedents(LITERALS, SINGLES), SCHEMA)
    assert following.kept(np.array([0, 1, 2])).tolist() == [0, 2]
    assert following.kept(np.array([0, 2, 1])).tolist() == [0, 2]


def test_given_conditions_leave_those_whom_none_of_them_names():
    """'age <= 1' and 'kind = a' name few cells; the schema knows more."""
    given = Antecedents([LITERALS[0], LITERALS[6]], [(0, 1), (0,)])
    assert Following.of(given, SCHEMA).kept(np.array([0, 1])).tolist() == [0, 1]


@for_each("seed", range(5))
def test_of_rules_of_two_conditions_exactly_those_may_follow_that_leave_somebody(seed):
    """Whatever lists came before, built rule by rule from those that may follow, until none may."""
    both = SINGLES + PAIRS
    following, random = Following.of(Antecedents(LITERALS, both), SCHEMA), np.random.default_rng(seed)
    held = [_captured(own) for own in both]
    for _ in range(20):
        chosen = np.array([], dtype=np.int64)
        while True:
            left = EVERYBODY.difference(*(held[i] for i in chosen))
            assert left, "everybody else is somebody"
            may = following.after(chosen)
            assert may.tolist() == [bool(left & own) and bool(left - own) for own in held]
            assert following.kept(chosen).tolist() == chosen.tolist()
            if not may.any():
                break
            chosen = np.append(chosen, random.choice(np.flatnonzero(may)))


def test_several_rules_together_leave_nobody_to_another():
    """'age <= 1 and kind = a', then with 'b' and with 'c', leave nobody to 'age <= 1'."""
    kinds = [place for place, own in enumerate(LITERALS) if own.column == "kind"]
    following = Following.of(Antecedents(LITERALS, [(0,), *((0, kind) for kind in kinds)]), SCHEMA)
    assert following.kept(np.array([1, 2, 3, 0])).tolist() == [1, 2, 3]
    assert not following.after(np.array([1, 2, 3])).any()
