"""The same records, divided among partitions at random."""

from __future__ import annotations

import numpy as np
import pytest

from dpcore.arrays import Ints
from dpcore.data.execution.executors import LOCAL, Executor
from dpcore.data.packing import pack_rows, unpack, whole_words
from dpcore.data.partition import ChildRecords, Partition
from dpcore.data.table import PrivateTable
from dpcore.learning.learner import Run
from dpcore.models.registry import LEARNERS
from dpcore.privacy.randomness import SeededRandom
from dpcore.released.release import make_release


def divided(table: PrivateTable, count: int, seed: int = 0, executor: Executor = LOCAL) -> PrivateTable:
    """A table of one partition in ``count`` partitions, some of them empty if it is small."""
    (whole,) = table.partitions
    homes = np.random.default_rng(seed).integers(0, count, table.schema.max_rows)
    homes[-1] = count - 1
    present = whole.present
    fullest = int(np.bincount(homes[present], minlength=count).max())
    rows = whole_words(fullest + 1 + seed % 70)
    return PrivateTable(
        table.schema, [_taken(whole, present[homes[present] == home], rows) for home in range(count)], executor
    )


def _taken(whole: Partition, places: Ints, rows: int) -> Partition:
    """Only the records at some places, in a partition of so many rows."""
    children = [_taken_child(child, places, rows) for child in whole.children.values()]
    holdout = unpack(whole.parts[1], whole.rows)[places]
    codes, numbers = (list(array[:, places]) for array in (whole.codes, whole.numbers))
    return Partition.build(whole.schema, codes, numbers, holdout, children, ids=whole.ids[places], rows=rows)


def _taken_child(child: ChildRecords, places: Ints, rows: int) -> ChildRecords:
    codes = np.zeros((*child.codes.shape[:2], rows), dtype=child.codes.dtype)
    codes[:, :, : len(places)] = child.codes[:, :, places]
    held = np.zeros((len(child.rows), rows), dtype=np.bool_)
    for slot, own in zip(held, child.rows, strict=True):
        slot[: len(places)] = unpack(own, child.codes.shape[2])[places]
    if child.links is None:
        return ChildRecords(child.table, codes, pack_rows(held))
    links = np.zeros((len(child.rows), rows), dtype=child.links.dtype)
    links[:, : len(places)] = child.links[:, places]
    return ChildRecords(child.table, codes, pack_rows(held), links)


#: What is asked for by a parameter, not by a method, and seldom drawn; and how to see it in a model.
ASKED = [
    pytest.param("summaries", {"pairs": 2}, lambda model: model["found"], id="summaries-pairs"),
    pytest.param("summaries", {"pairs": 2, "delta": "0.001"}, lambda model: model["found"], id="summaries-gaussian"),
    pytest.param("rule_list", {"antecedents": "dp_fim"}, lambda model: model["antecedent_count"], id="rule_list-mined"),
    pytest.param(
        "ebm", {"pairs": 1}, lambda model: [term for term in model["terms"] if len(term["axes"]) == 2], id="ebm-pairs"
    ),
]


def content(family, plan, table):
    told = []
    run = Run(table, plan, SeededRandom(3), lambda *step: told.append(step))
    release = make_release(family, plan, LEARNERS[family].run(run), secure=False)
    return release.model_dump_json(exclude={"id": True, "certificate": {"created"}}), told
