"""Whole runs that mine redescriptions, as black boxes."""

from dataclasses import replace

import pytest

from dpcore.audit import redescriptions
from dpcore.audit.redescriptions import AUDITS, LinkedRuns, PairCountRuns, PairRuns, PoolRuns
from dpcore.models.redescriptions.learning import pool, starts
from dpcore.models.redescriptions.learning import redescription_learner as learner
from dpcore.privacy.mechanisms import GeometricMechanism


@pytest.mark.parametrize("sound", [PairCountRuns(), PairRuns(), LinkedRuns(), PoolRuns()])
def test_the_two_inputs_differ_in_one_person(sound):
    without, more = sound._frame(0), sound._frame(1)
    assert set(more["person"]) - set(without["person"]) == {len(without)}
    assert more[: len(without)].equals(without)
    assert len(more) == len(without) + 10, "of whose rows ingestion keeps one"
    assert set(sound(0, 20)) | set(sound(1, 20)) <= set(range(2**12))


def test_an_audit_leaves_the_engine_as_it_was():
    before = (GeometricMechanism.release, learner.pair_weight, learner.per_block, starts.LEVERAGE, pool.PAIR_SCORE)
    for make in AUDITS:
        for broken in make().controls.values():
            broken(1, 1)
    after = (GeometricMechanism.release, learner.pair_weight, learner.per_block, starts.LEVERAGE, pool.PAIR_SCORE)
    assert before == after


def test_leaves_without_noise_tell_on_the_person():
    broken = replace(PairCountRuns(), broken=redescriptions._exact_leaves)
    assert [set(broken(side, 40) % 2) for side in (0, 1)] == [{0}, {1}]
    assert set(PairCountRuns()(0, 40) % 2) == {0, 1}
