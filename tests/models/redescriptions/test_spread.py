"""Where later searches may look: a function of what was released, whatever that is."""

from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from dpcore.domain.conditions import Condition
from dpcore.models.redescriptions.learning.diversity import best_found, telling_columns, unused
from dpcore.models.redescriptions.released.redescription_family import view_conditions
from dpcore.models.redescriptions.released.tree_pair import Tree, TreePair
from dpcore.privacy.randomness import SeededRandom
from tests.support.learning.redescription_cases import PLAIN, rows_of, run, schema, table
from tests.support.rows import for_each

SCHEMA = schema(PLAIN)


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
    told = told_by(pair_of(counts, left, scale=scale, alone=alone), SCHEMA)
    assert told
    assert told <= {"left0", "left1", "right0", "right1"}


@for_each("fill", [0, -1, -(10**9), 1, 10**9])
def test_flat_tables_block_all_columns_of_the_pair(fill):
    told = told_by(pair_of(np.full((4, 4), fill)), SCHEMA)
    assert told == {"left0", "left1", "right0", "right1"}


def test_a_condition_that_adds_nothing_stays_free():
    """left0 goes with right0; the other two are toss-ups."""
    counts = np.kron([[500, 0], [0, 500]], np.full((2, 2), 1))
    assert told_by(pair_of(counts), SCHEMA) == {"left0", "right0"}


def test_unused_pairs_speak_of_no_used_column():
    literals = view_conditions(SCHEMA, SCHEMA.view("left"), reserved=False)
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
