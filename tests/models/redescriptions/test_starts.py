"""Where a search begins: at random without a look, or where the views go together."""

from collections import Counter
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcore.data.packing import unpack
from dpcore.models.redescriptions.learning.redescription_queries import LEVERAGE, STEPS
from dpcore.models.redescriptions.learning.starts import (
    MOST_CLASSES,
    class_count,
    linked_start,
    random_start,
)
from dpcore.models.redescriptions.learning.views import Sides, opposite
from dpcore.models.redescriptions.released.redescription_family import view_conditions
from dpcore.privacy.mechanisms import ExponentialMechanism
from dpcore.privacy.randomness import SecureRandom, SeededRandom
from tests.oracles import redescriptions_oracle as oracle
from tests.oracles.mechanisms_oracle import FALSE_ALARM, chi_square
from tests.support.learning import redescription_cases as cases
from tests.support.learning.redescription_cases import table as table_of
from tests.support.rows import for_each

SCHEMA = cases.schema()
#: Two yes/no columns on the left, one with two edges on the right: 2 x 2 pairs of literals.
TINY = cases.schema(
    [
        {"name": "a", "type": "boolean", "view": "left"},
        {"name": "b", "type": "boolean", "view": "left"},
        {"name": "c", "type": "ordinal", "categories": ["i", "ii", "iii"], "view": "right"},
    ],
    max_rows=64,
)


def sides_of(domain, rows, *, reserved=False):
    columns = {view: domain.view(view) for view in ("left", "right")}
    literals = {view: view_conditions(domain, names, reserved=reserved) for view, names in columns.items()}
    return Sides(table_of(domain, rows), columns, literals)


def flags_of(sides, view, rows):
    """Whether each record satisfies each literal of a view, from its cell codes."""
    places = {column.name: place for place, column in enumerate(sides.table.schema)}
    return np.array(
        [[item.holds(row[places[item.column]]) for item in sides.literals[view]] for row in rows],
        dtype=bool,
    ).reshape(len(rows), len(sides.literals[view]))


def members(sides, start):
    """Whether each record is in each class."""
    (partition,) = sides.table.partitions
    return np.array([unpack(words, partition.rows)[partition.present] for words in start.classes(partition)])


# At random


def test_random_starts_are_even_over_the_columns_of_both_views():
    sides, runs = sides_of(SCHEMA, cases.rows_of(SCHEMA, 30)), 2000
    names = [column.name for column in SCHEMA if column.view]
    found = Counter(random_start(sides, SecureRandom()).text for _ in range(runs))
    assert chi_square([found[name] for name in names], [runs / 5] * 5) > FALSE_ALARM
    assert set(found) == set(names)


@given(st.integers(0, 10**6), st.integers(0, 60), st.integers(0, 5))
def test_classes_of_a_random_start_are_public_cells(seed, people, crowd):
    rows = cases.rows_of(SCHEMA, people, crowd)
    sides = sides_of(SCHEMA, rows)
    start = random_start(sides, SeededRandom(seed))
    column, place = SCHEMA.column(start.text), SCHEMA.index(start.text)
    assert start.view == opposite(column.view)
    assert len(start.classes) == len(column.cells)
    codes = np.array([row[place] for row in rows], dtype=int)
    expected = codes == np.arange(len(column.cells))[:, None]
    assert np.array_equal(members(sides, start), expected)


def test_a_random_start_does_not_look_at_records():
    for seed in range(20):
        crowds = ([], cases.rows_of(SCHEMA, 1), cases.rows_of(SCHEMA, 80, 3))
        starts, told = [], []
        for rows in crowds:
            source = cases.Watched(seed)
            starts.append(random_start(sides_of(SCHEMA, rows), source))
            told.append(source.calls)
        assert len({(start.view, start.text, len(start.classes)) for start in starts}) == 1
        assert told == [[("words", 1)]] * 3


@for_each("bins", [2, 15, 16, 17, 100, 256])
def test_the_cells_of_a_long_column_are_put_together_evenly(bins):
    domain = cases.schema(
        [
            {"name": "x", "type": "real", "lower": 0, "upper": 1, "bins": bins, "view": "left"},
            {"name": "y", "type": "boolean", "view": "right"},
        ],
        max_rows=300,
    )
    rows = [(code, 0) for code in range(bins + 1)]
    sides = sides_of(domain, rows)
    drawn = (random_start(sides, SeededRandom(seed)) for seed in range(50))
    start = next(start for start in drawn if start.text == "x")
    held = members(sides, start)
    assert len(held) == min(MOST_CLASSES, bins + 1)
    assert held.sum(axis=0).tolist() == [1] * len(rows), "everybody is in one class"
    sizes = held.sum(axis=1)
    assert sizes.max() - sizes.min() <= 1
    assert np.all(np.diff(held.argmax(axis=0)) >= 0), "neighbouring cells stay together"
    assert class_count(domain, ("x", "y")) == max(len(held), 4)


# Where the views go together


def scores_of(sides, rows, free=None):
    """Exact leverages in steps, rounded down, of the free literals."""
    left, right = (flags_of(sides, view, rows) for view in ("left", "right"))
    return [
        int(STEPS * oracle.leverage(left[:, i], right[:, j]))
        for i in range(left.shape[1])
        for j in range(right.shape[1])
        if free is None or (i, j) in free
    ]


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("source", "number"),
    [
        (SecureRandom(), 0),
        (SeededRandom(2), 1),
        pytest.param(SecureRandom(), 1, marks=pytest.mark.slow),
        pytest.param(SeededRandom(2), 0, marks=pytest.mark.slow),
    ],
)
def test_linked_starts_follow_the_exponential_mechanism(source, number):
    rows = cases.rows_of(TINY, 40, 1)
    sides, runs, epsilon = sides_of(TINY, rows), 700, Decimal(2)
    found = Counter()
    for _ in range(runs):
        used = set()
        start = linked_start(sides, number, used, epsilon, source)
        assert start.view == ("left" if number == 0 else "right")
        found[start.text, *sorted(used)] += 1
    # What tells the four pairs apart: the column on the left, and the literal on the right.
    texts = {view: [item.text(TINY) for item in sides.literals[view]] for view in ("left", "right")}
    other = "right" if number == 0 else "left"
    names = [sides.literals["left"][i].column for i in range(2)]
    outcomes = Counter()
    for times in (1, 4):
        chances = oracle.softmax(scores_of(sides, rows), times * 2 / (2 * STEPS))
        outcomes = Counter()
        for (i, j), chance in zip([(i, j) for i in range(2) for j in range(2)], chances, strict=True):
            outcomes[texts[other][j if number == 0 else i], names[i], "c"] += runs * chance
        p_value = chi_square([found[key] for key in outcomes], list(outcomes.values()))
        assert p_value > FALSE_ALARM if times == 1 else p_value < FALSE_ALARM
    assert set(found) <= set(outcomes)


@given(st.data())
def test_one_record_moves_the_chances_of_a_start_by_its_budget_at_most(data):
    domain = st.tuples(*(st.integers(0, len(column.cells) - 1) for column in TINY))
    rows, added = data.draw(st.lists(domain, max_size=30)), data.draw(domain)
    epsilon, answers = Decimal("0.7"), []
    mechanism = ExponentialMechanism(LEVERAGE.value, epsilon, LEVERAGE.monotone)
    for people in (rows, [*rows, added]):
        scores = scores_of(sides_of(TINY, people), people)
        answers.append(oracle.softmax(scores, 1 / mechanism.scale))
    assert np.abs(np.log(answers[0] / answers[1])).max() <= 0.7 + 1e-9


def test_the_budget_of_a_start_is_nearly_used_up():
    """One pair gains a person, the only one; many others lose most of one."""
    wide = cases.schema(
        [
            *({"name": f"l{i}", "type": "boolean", "view": "left"} for i in range(40)),
            *({"name": f"r{i}", "type": "boolean", "view": "right"} for i in range(40)),
        ],
        max_rows=200,
    )
    # Of 120 people, 11 hold l1 to l39 and r1 to r39 but not all of them; nobody holds l0 or r0.
    few = [(0, *[1] * 39, 0, *[1] * 39)] * 11
    most = [(0, *[0] * 39, 0, *[1] * 39)] * 98
    rest = [(0, *[0] * 39, 0, *[0] * 39)] * 11
    rows = few + most + rest
    added = (1, *[1] * 39, 1, *[0] * 39)
    epsilon = Decimal(1)
    mechanism = ExponentialMechanism(LEVERAGE.value, epsilon, LEVERAGE.monotone)
    chances = []
    for people in (rows, [*rows, added]):
        scores = scores_of(sides_of(wide, people), people)
        chances.append(oracle.softmax(scores, 1 / mechanism.scale)[0])
    gap = abs(np.log(chances[1] / chances[0]))
    assert 0.85 < gap <= 1


def test_the_target_is_the_literal_of_the_other_view_and_its_complement():
    rows = cases.rows_of(SCHEMA, 70, 2)
    sides = sides_of(SCHEMA, rows)
    for number in range(6):
        start = linked_start(sides, number, set(), Decimal(5), SeededRandom(number))
        other = opposite(start.view)
        texts = [item.text(SCHEMA) for item in sides.literals[other]]
        holds = flags_of(sides, other, rows)[:, texts.index(start.text)]
        assert np.array_equal(members(sides, start), np.stack([holds, ~holds]))
        assert np.bitwise_count(start.classes(sides.table.partitions[0])).sum() == 70, "nobody who is not there"


def test_later_starts_leave_out_columns_until_none_is_left():
    sides = sides_of(SCHEMA, cases.rows_of(SCHEMA, 50))
    used: set[str] = set()
    for number in range(8):
        before = set(used)
        linked_start(sides, number, used, Decimal(1), SeededRandom(number))
        for view in ("left", "right"):
            names = set(SCHEMA.view(view))
            new = (used - before) & names
            assert len(new) == (0 if names <= before else 1)
    assert used == {column.name for column in SCHEMA if column.view}
