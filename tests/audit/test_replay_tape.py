"""Tapes: what is written down, what is forced, and what a departure looks like."""

from decimal import Decimal

import numpy as np
import pytest

from dpcore.audit.replay.tape import DepartureError, Forced, Recording
from dpcore.privacy.mechanisms import ExponentialMechanism, GeometricMechanism
from dpcore.privacy.randomness import uniforms
from tests.support.rows import for_each

NOISE = GeometricMechanism(1, Decimal(1))
CHOICE = ExponentialMechanism(1, Decimal(1), monotone=True)


class Steps:
    """A chain that takes its words and stops where it started."""

    def __init__(self, state):
        self.state = state

    def run(self, source):
        uniforms(source, 3)
        return self.state


def used(tape, value=0, words=5):
    """What a small run draws from a tape."""
    first = tape.words(words)
    noisy = NOISE.release(np.array([value, 2]), tape)
    index = CHOICE.select(np.array([value, 0, 1]), tape)
    inner = [part.words(2) for part in tape.parts(2)]
    state = tape.settle(Steps(value))
    tape.tick("counting", 1, 1)
    return [first.tolist(), noisy.tolist(), index, np.array(inner).tolist(), state]


@pytest.mark.parametrize("wild", [False, True])
def test_a_forced_run_draws_what_was_drawn_whatever_it_is_given(wild):
    recorded = Recording(3, wild=wild)
    outputs = used(recorded)
    forced = Forced(recorded.events)
    assert used(forced, value=1000) == outputs
    forced.finish()
    assert [own.what for own in forced.events] == [own.what for own in recorded.events]


def test_a_tape_keeps_what_came_from_the_records():
    recorded = Recording(3)
    used(recorded, value=7)
    given = {own.what[0]: own.given for own in recorded.events}
    assert given["noise"].tolist() == [7, 2]
    assert given["choice"].tolist() == [7, 0, 1]
    assert given["walk"].state == 7


def test_no_tape_is_fit_for_private_records():
    assert not Recording(0).secure
    assert not Forced([]).secure


def departures():
    yield "other size of a draw", lambda tape: used(tape, words=6)
    yield (
        "other scale",
        lambda tape: (tape.words(5), GeometricMechanism(2, Decimal(1)).release(np.zeros(2, int), tape)),
    )
    yield "nothing at all", lambda tape: None
    yield "one more draw", lambda tape: (used(tape), tape.words(1))
    yield "one more tick", lambda tape: (used(tape), tape.tick("counting", 1, 1))
    yield "less in a part", _less_in_a_part


def _all_of(departs, forced):
    departs(forced)
    forced.finish()


def _less_in_a_part(tape):
    tape.words(5)
    NOISE.release(np.zeros(2, int), tape)
    CHOICE.select(np.zeros(3, int), tape)
    tape.parts(2)[0].words(2)
    tape.settle(Steps(0))
    tape.tick("counting", 1, 1)


@for_each("departs", [own for _, own in departures()])
def test_every_departure_is_noticed(departs):
    recorded = Recording(3)
    used(recorded)
    forced = Forced(recorded.events)
    with pytest.raises(DepartureError):
        _all_of(departs, forced)


def test_wild_outputs_do_not_follow_the_scores():
    scores = np.array([10_000, 0, 0, 0])
    picks = {CHOICE.select(scores, Recording(seed, wild=True)) for seed in range(60)}
    assert picks == {0, 1, 2, 3}
    assert {CHOICE.select(scores, Recording(seed)) for seed in range(60)} == {0}
