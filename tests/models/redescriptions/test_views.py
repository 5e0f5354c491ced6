"""Sets of records as public facts describe them, here and in other processes."""

import pickle

import numpy as np

from dpcore.data.execution.executors import LOCAL
from dpcore.models.redescriptions.learning.views import leaf_sets, literal_sets
from dpcore.models.redescriptions.released.redescription_derived import view_conditions
from tests.support.learning import redescription_cases as cases
from tests.support.learning.partitioned import divided

SCHEMA = cases.schema()
LEFT, RIGHT = (view_conditions(SCHEMA, SCHEMA.view(view), reserved=False) for view in ("left", "right"))
#: The first two differ in their conditions alone, the last two in their splits.
SETS = [
    literal_sets(LEFT[:3]),
    literal_sets(RIGHT[:3]),
    leaf_sets(literal_sets(LEFT[:3]), np.array([0, 1, 2])),
    leaf_sets(literal_sets(LEFT[:3]), np.array([0, 2, 1])),
]


class Posted:
    """Kernels and what they are told go through bytes, as if to another process."""

    def total(self, kernel, partitions, *public, **named):
        sent = pickle.loads(pickle.dumps((kernel, public, named)))
        return LOCAL.total(sent[0], partitions, *sent[1], **sent[2])


def test_what_a_partition_keeps_is_told_apart():
    (partition,) = cases.table(SCHEMA, cases.rows_of(SCHEMA, 90)).partitions
    assert len({sets.key for sets in SETS}) == len(SETS)
    for _ in range(2):
        for sets in SETS:
            assert np.array_equal(sets(partition), sets.make(partition, *sets.facts))
            assert len(sets(partition)) == len(sets)


@cases.way
def test_every_question_can_be_asked_elsewhere(way):
    whole = cases.table(SCHEMA, cases.rows_of(SCHEMA, 90))
    chosen = cases.fitting(**way, starts=2, rounds=2)
    models = [cases.run(people, **chosen)[1] for people in (whole, divided(whole, 3, executor=Posted()))]
    assert models[0] == models[1]
