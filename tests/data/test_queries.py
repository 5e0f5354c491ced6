import itertools
import tracemalloc
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcore.data import queries
from dpcore.data.queries import (
    CAPTURES,
    LogLikelihood,
    capture_counts,
    itemset_counts,
    itemset_sensitivity,
)
from dpcore.domain.conditions import Condition, schema_conditions
from dpcore.errors import RequestError
from tests.oracles import rules_oracle
from tests.support.rows import for_each
from tests.support.tables.small_tables import schema_of, table_of

SCHEMA = schema_of(
    [
        {"name": "x", "type": "boolean"},
        {"name": "c", "type": "categorical", "categories": ["a", "b", "d"]},
        {"name": "n", "type": "integer", "lower": 0, "upper": 50, "edges": [10, 20, 30, 40]},
        {"name": "y", "type": "categorical", "categories": ["p", "q", "r"], "target": True},
    ]
)
CLASSES = 3
CELLS = [len(column.cells) for column in SCHEMA]
THRESHOLDS = schema_conditions(SCHEMA, "y", thresholds=True, reserved=True)

rows = st.tuples(*(st.integers(0, cells - 1) for cells in CELLS))
tables = st.lists(rows, max_size=SCHEMA.max_rows - 1)
literals = st.sampled_from(THRESHOLDS)
rule_lists = st.lists(st.lists(literals, min_size=1, max_size=2), max_size=4)


def _pieces(rules, partition):
    return [_vectors(rules[:2], partition), _vectors(rules[2:], partition)]


def _vectors(rules, partition):
    words = [np.bitwise_and.reduce(partition.literals(rule), axis=0) for rule in rules]
    return np.array(words, dtype=np.uint64).reshape(len(rules), partition.parts.shape[1])


def _plain(rules):
    return [[(SCHEMA.index(item.column), item.first, item.last) for item in rule] for rule in rules]


def _captures(data, rules, part="all", holdout=None):
    table = table_of(SCHEMA, data, holdout)
    return capture_counts(table, "y", part, partial(_vectors, rules))


@given(tables, rule_lists)
def test_capture_counts_agree_with_the_oracle(data, rules):
    labels = [row[3] for row in data]
    expected = rules_oracle.capture_counts(data, labels, _plain(rules), CLASSES)
    np.testing.assert_array_equal(_captures(data, rules), expected)


@given(tables, rows, rule_lists)
def test_one_row_moves_capture_counts_by_their_sensitivity_at_most(data, row, rules):
    change = _captures([*data, row], rules) - _captures(data, rules)
    assert np.abs(change).sum() <= CAPTURES.value
    assert CAPTURES.monotone
    assert np.all(change >= 0)


@given(tables, st.lists(st.booleans(), min_size=12, max_size=12), rows, st.booleans(), rule_lists)
def test_a_row_is_counted_in_its_own_part_only(data, coins, row, coin, rules):
    first, second = coins[: len(data)], [*coins[: len(data)], coin]
    for part in ("train", "holdout"):
        change = _captures([*data, row], rules, part, second) - _captures(data, rules, part, first)
        mine = part == ("holdout" if coin else "train")
        assert np.abs(change).sum() == (mine and row[3] < CLASSES)


def test_captures_witness():
    rule = [Condition(column="x", first=1, last=1)]
    change = _captures([(1, 0, 0, 2)], [rule]) - _captures([], [rule])
    assert np.abs(change).sum() == CAPTURES.value
    assert np.abs(change).sum() > CAPTURES.value - 1, "a smaller sensitivity would be caught"


@given(tables, st.lists(rows, min_size=1, max_size=5), rule_lists)
def test_the_rows_of_a_person_move_captures_by_their_number_at_most(data, person, rules):
    others = data[: SCHEMA.max_rows - len(person)]
    change = _captures([*others, *person], rules) - _captures(others, rules)
    assert np.linalg.norm(change) <= len(person) * CAPTURES.value
    assert np.all(change >= 0)


@given(tables, rows, st.integers(1, 5), rule_lists)
def test_rows_that_are_alike_move_one_capture_by_all_of_their_number(data, row, count, rules):
    known = (*row[:3], row[3] % CLASSES)
    others = data[: SCHEMA.max_rows - count]
    change = _captures([*others, *[known] * count], rules) - _captures(others, rules)
    assert np.linalg.norm(change) == count * CAPTURES.value, "the root of their number would be caught"


def _itemsets(sizes, literals=THRESHOLDS):
    """Every conjunction of the given sizes, at most one literal per column."""
    return [
        list(items)
        for size in sizes
        for items in itertools.combinations(literals, size)
        if len({item.column for item in items}) == size
    ]


def _supports(data, itemsets):
    table = table_of(SCHEMA, data)
    return itemset_counts(table, "y", "all", partial(_pieces, itemsets))


#: A row meets at most: one cell of x and of c, one side of each of the four edges of n.
MET = {"x": 1, "c": 1, "n": 4}


def _columns(itemsets):
    return [tuple(item.column for item in itemset) for itemset in itemsets]


@given(tables, rows, st.integers(1, 3), st.randoms(use_true_random=False))
def test_one_row_moves_supports_by_their_sensitivity_at_most(data, row, size, random):
    itemsets = _itemsets([size])
    chosen = random.sample(itemsets, random.randint(1, min(60, len(itemsets))))
    before, after = _supports(data, chosen), _supports([*data, row], chosen)
    labels = [r[3] for r in data]
    np.testing.assert_array_equal(before, rules_oracle.supports(data, labels, _plain(chosen), CLASSES))
    sensitivity = itemset_sensitivity(_columns(chosen), MET)
    assert sensitivity.monotone
    assert np.all(after >= before)
    assert (after - before).sum() <= sensitivity.value


@given(st.integers(1, 3), st.integers(1, 60), st.booleans(), st.randoms(use_true_random=False))
def test_no_row_is_in_more_itemsets_than_their_sensitivity(size, count, excluding, random):
    """Every row of the domain, against candidates of thresholds or of cells."""
    literals = schema_conditions(SCHEMA, "y", thresholds=False, reserved=True)
    everything = _itemsets([size], literals if excluding else THRESHOLDS)
    chosen = random.sample(everything, min(count, len(everything)))
    met = dict.fromkeys(MET, 1) if excluding else MET
    most = max(
        sum(all(item.holds(row[SCHEMA.index(item.column)]) for item in itemset) for itemset in chosen)
        for row in itertools.product(*(range(cells) for cells in CELLS[:3]))
    )
    assert most <= itemset_sensitivity(_columns(chosen), met).value <= len(chosen)


@for_each("size", [1, 2, 3])
def test_supports_witness_with_all_itemsets(size):
    """The row x = yes, c = a, n in the third bin meets one side of every edge."""
    itemsets = _itemsets([size])
    change = (_supports([(1, 0, 2, 0)], itemsets) - _supports([], itemsets)).sum()
    sensitivity = itemset_sensitivity(_columns(itemsets), MET).value
    assert change == sensitivity == {1: 6, 2: 9, 3: 4}[size]
    once = itemset_sensitivity(_columns(itemsets), dict.fromkeys(MET, 1)).value
    assert change > once, "counting a column of thresholds once would be caught"


def test_supports_witness_of_a_few_sets_of_columns():
    """Many candidates on two of three pairs of columns: a row is in two of them."""
    cells = schema_conditions(SCHEMA, "y", thresholds=False, reserved=False)
    itemsets = [i for i in _itemsets([2], cells) if "x" in {item.column for item in i}]
    change = (_supports([(1, 0, 2, 0)], itemsets) - _supports([], itemsets)).sum()
    assert change == itemset_sensitivity(_columns(itemsets), dict.fromkeys(MET, 1)).value == 2
    assert len(itemsets) > 3


ALPHAS = [
    (1.0, 1.0),
    (0.5, 0.5),
    (1e-6, 1.0),
    (250.0, 3.0),
    (1.0, 1.0, 1.0),
    (0.1, 2.0, 7.5, 1.0),
    (1.0,) * 50,
    (1e-9, 1e6),
]
SIZES = [1, 2, 3, 17, 1000, 100_000]


@pytest.mark.crossed
@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("max_rows", SIZES)
def test_every_step_of_the_tables_is_monotone_and_bounded(alpha, max_rows):
    """Exhaustive: adding a row of class c to a rule with n_c of n rows, for all n_c <= n < N."""
    likelihood = LogLikelihood.tabulate(alpha, max_rows)
    class_steps = np.diff(likelihood.class_table, axis=1)
    total_steps = np.diff(likelihood.total_table)
    highest = np.maximum.accumulate(class_steps, axis=1) - total_steps
    lowest = np.minimum.accumulate(class_steps, axis=1) - total_steps
    assert likelihood.sensitivity.monotone
    assert highest.max() <= 0
    assert -lowest.min() <= likelihood.sensitivity.value


@for_each("alpha", ALPHAS)
@for_each("max_rows", SIZES)
def test_likelihood_witness_attains_its_sensitivity_exactly(alpha, max_rows):
    """N - 1 rows of another class, then one of the class with the smallest alpha."""
    likelihood = LogLikelihood.tabulate(alpha, max_rows)
    rare = int(np.argmin(alpha))
    before = np.zeros((1, len(alpha)), dtype=np.int64)
    before[0, (rare + 1) % len(alpha)] = max_rows - 1
    after = before.copy()
    after[0, rare] += 1
    change = likelihood.utilities(after) - likelihood.utilities(before)
    assert change == -likelihood.sensitivity.value
    assert abs(change) > likelihood.sensitivity.value - 1, "a smaller one would be caught"


@for_each("max_rows", SIZES)
def test_the_thesis_sensitivity_is_recovered_with_public_n(max_rows):
    likelihood = LogLikelihood.tabulate((1.0, 1.0), max_rows)
    value = likelihood.sensitivity.value * likelihood.step
    assert value == pytest.approx(np.log(max_rows + 1), abs=2 * likelihood.step)


def test_the_private_n_would_be_caught():
    """log(n + 1) with the n rows of the smaller table is below what one more row can do."""
    likelihood = LogLikelihood.tabulate((1.0, 1.0), 100)
    before, after = np.array([[9, 0]]), np.array([[9, 1]])
    change = (likelihood.utilities(before) - likelihood.utilities(after)) * likelihood.step
    assert change > np.log(9 + 1) + 0.05
    assert change <= np.log(100 + 1) + likelihood.step


def _counts(size):
    return st.lists(st.lists(st.integers(0, 30), min_size=size, max_size=size), min_size=1, max_size=6)


@given(st.sampled_from(ALPHAS), st.data())
@settings(deadline=None)
def test_utility_is_the_log_likelihood_on_a_grid(alpha, data):
    counts = np.array(data.draw(_counts(len(alpha))))
    likelihood = LogLikelihood.tabulate(alpha, max(1, int(counts.sum())))
    exact = rules_oracle.log_likelihood(counts, alpha)
    terms = 2 * int(counts.sum())
    assert likelihood.utilities(counts) * likelihood.step == pytest.approx(
        exact, abs=(terms + 1) * likelihood.step + 1e-9 * abs(exact)
    )
    assert likelihood.utilities(counts) * likelihood.step <= exact + 1e-9 * (1 + abs(exact))


@given(st.sampled_from(ALPHAS), st.data())
@settings(deadline=None)
def test_one_row_lowers_the_utility_by_its_sensitivity_at_most(alpha, data):
    counts = np.array(data.draw(_counts(len(alpha))))
    rule = data.draw(st.integers(0, len(counts) - 1))
    label = data.draw(st.integers(0, len(alpha) - 1))
    likelihood = LogLikelihood.tabulate(alpha, int(counts.sum()) + 1)
    after = counts.copy()
    after[rule, label] += 1
    change = likelihood.utilities(after) - likelihood.utilities(counts)
    assert -likelihood.sensitivity.value <= change <= 0


@for_each("alpha", ALPHAS)
@for_each("at_once", [1, 7, 100])
def test_tables_made_a_few_rows_at_a_time_are_those_made_at_once(alpha, at_once, monkeypatch):
    whole = LogLikelihood.tabulate(alpha, 250)
    monkeypatch.setattr(queries, "_TERMS_AT_ONCE", at_once * len(alpha))
    parts = LogLikelihood.tabulate(alpha, 250)
    np.testing.assert_array_equal(parts.class_table, whole.class_table)
    np.testing.assert_array_equal(parts.total_table, whole.total_table)
    assert (parts.step, parts.sensitivity) == (whole.step, whole.sensitivity)
    assert whole.class_table.nbytes + whole.total_table.nbytes == LogLikelihood.room(len(alpha), 250)


def test_tables_take_little_more_memory_while_they_are_made():
    tracemalloc.start()
    try:
        LogLikelihood.tabulate((1.0, 1.0), 10_000_000)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 1.5 * LogLikelihood.room(2, 10_000_000)


def test_tables_fit_in_64_bits_at_the_largest_size():
    likelihood = LogLikelihood.tabulate((1.0, 1e-3), 10_000_000)
    assert abs(int(likelihood.class_table[0, -1])) < 2**61
    assert abs(int(likelihood.total_table[-1])) < 2**61
    assert np.all(np.diff(likelihood.total_table)[1:] > 0)


@for_each("alpha", [(0.0, 1.0), (-1.0, 1.0), (float("nan"), 1.0), (float("inf"), 1)])
def test_unusable_alpha_is_refused(alpha):
    with pytest.raises(RequestError, match="Every alpha must be"):
        LogLikelihood.tabulate(alpha, 10)
