"""Where a search begins, and where later ones may look: a function of what was released."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from dpcore.data.packing import unpack
from dpcore.domain.conditions import Condition
from dpcore.models.redescriptions.learning.diversity import best_found, telling_columns, unused
from dpcore.models.redescriptions.learning.redescription_queries import LEVERAGE, STEPS
from dpcore.models.redescriptions.learning.starts import MOST_CLASSES, class_count, linked_start, random_start
from dpcore.models.redescriptions.learning.views import Sides, opposite
from dpcore.models.redescriptions.released.redescription_family import view_conditions
from dpcore.models.redescriptions.released.tree_pair import Tree, TreePair
from dpcore.privacy.mechanisms import ExponentialMechanism
from dpcore.privacy.randomness import SecureRandom, SeededRandom
from tests.oracles import redescriptions_oracle as oracle
from tests.oracles.mechanisms_oracle import FALSE_ALARM, chi_square
from tests.support.learning import redescription_cases as cases
from tests.support.learning.redescription_cases import PLAIN, rows_of, run, schema, table
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
        [[item.holds(row[places[item.column]]) for item in sides.literals[view]] for row in rows], dtype=bool
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


PLAIN_SCHEMA = schema(PLAIN)


def pair_of(counts, left=("left0", "left1"), right=("right0", "right1"), scale=1.0, alone=None):
    def tree(view, names):
        root, below = (Condition(column=name, first=1, last=1) for name in names)
        return Tree(view=view, splits=(root, below, below))

    return TreePair(
        start=0,
        round=0,
        target="each other",
        left=tree("left", left),
        right=tree("right", right),
        noisy_counts=tuple(tuple(int(n) for n in row) for row in counts),
        count_scale=scale,
        noisy_left=alone,
        left_scale=None if alone is None else 2 * scale,
    )


def told_by(pair, domain):
    return telling_columns(pair, best_found(pair, domain))


NOISY = st.one_of(st.integers(-5, 5), st.integers(-(10**6), 10**6), st.integers(-(10**11), 10**11))


@settings(max_examples=3 * settings.default.max_examples)
@given(
    hnp.arrays(np.int64, (4, 4), elements=NOISY),
    st.one_of(st.none(), st.tuples(*[NOISY] * 4)),
    st.sampled_from([1e-3, 1.0, 50.0, 1e9]),
    st.sampled_from([("left0", "left1"), ("left0", "left0")]),
)
def test_every_noisy_table_tells_where_to_look_next(counts, alone, scale, left):
    """Nothing may fail after records were read, however the noise falls."""
    told = told_by(pair_of(counts, left, scale=scale, alone=alone), PLAIN_SCHEMA)
    assert told
    assert told <= {"left0", "left1", "right0", "right1"}


@for_each("fill", [0, -1, -(10**9), 1, 10**9])
def test_flat_tables_block_all_columns_of_the_pair(fill):
    told = told_by(pair_of(np.full((4, 4), fill)), PLAIN_SCHEMA)
    assert told == {"left0", "left1", "right0", "right1"}


def test_a_condition_that_adds_nothing_stays_free():
    """left0 goes with right0; the other two are toss-ups."""
    counts = np.kron([[500, 0], [0, 500]], np.full((2, 2), 1))
    assert told_by(pair_of(counts), PLAIN_SCHEMA) == {"left0", "right0"}


def test_unused_pairs_speak_of_no_used_column():
    literals = view_conditions(PLAIN_SCHEMA, PLAIN_SCHEMA.view("left"), reserved=False)
    pairs = np.array(list(product(range(3), repeat=2)))
    for used in ((), ("left1",), ("left0", "left2"), ("right0",)):
        free = unused(literals, pairs, set(used))
        names = [{literals[place].column for place in pair} for pair in pairs]
        assert free.tolist() == [not names_ & set(used) for names_ in names]
    assert unused(literals, pairs, {"left0", "left1", "left2"}).all(), "all, if none is left"


@for_each("seed", range(4))
def test_later_searches_look_elsewhere_as_the_released_tables_say(seed):
    """What a search may use can be worked out from the release alone."""
    wide = schema(
        [{"name": f"{view}{i}", "type": "boolean", "view": view} for view in ("left", "right") for i in range(6)]
    )
    people = table(wide, rows_of(wide, 150, seed))
    _, model = run(people, "5", SeededRandom(seed), method="exact_pairs", starts=5)
    used: set[str] = set()
    for pair in model.pairs:
        for tree in (pair.left, pair.right):
            names = {split.column for split in tree.splits}
            if not set(wide.view(tree.view)) <= used:
                assert not names & used
        used |= told_by(pair, wide)


def test_conditions_of_either_direction_are_listed_once():
    domain = schema()
    for view, reserved in product(("left", "right"), (False, True)):
        one, both = (
            view_conditions(domain, domain.view(view), reserved=reserved, either_way=either) for either in (False, True)
        )
        assert len(set(both)) == len(both)
        assert both[: len(one)] == one
        more = both[len(one) :]
        assert {item.column for item in more} == {
            column.name for column in domain if column.view == view and column.ordered
        }
        assert all(item.first > 0 for item in more)
