"""Sources of randomness that write down what a run draws, and that force a run to draw the same.

Both are insecure by their nature: nothing that they touch may be released.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpcore.arrays import Ints, Words
from dpcore.privacy.randomness import Choice, Noise, SeededRandom, State, Walk

#: What an observer of a program may know of one thing that it does, and its kind first.
RunFact = tuple[Any, ...]


class DepartureError(Exception):
    """A run did something else than the one before it, though all outputs were the same."""


@dataclass(frozen=True)
class RunEvent:
    """One thing that a run did."""

    what: RunFact
    """What an observer of the program may know: kind, scale, size, or a tick of progress. It must be the same on
    neighbouring tables as long as the outputs are."""
    given: Any = None
    """What came from the records: exact values, scores, or a :class:`dpcore.privacy.randomness.Walk`."""
    output: Any = None
    """What was drawn. For parts that run at the same time, the tape of each."""


@dataclass
class Tape:
    """A source of randomness that keeps what happened, in order.

    Attributes
    ----------
    events : list of RunEvent
    secure : bool
        Never: the ledger and the worker accept the secure source alone.
    """

    events: list[RunEvent] = field(default_factory=list)
    secure = False

    def tick(self, step: str, done: int, total: int) -> None:
        """Note a tick of progress."""
        self._happen(("progress", step, done, total))

    def words(self, count: int) -> Words:
        """Uniform 64-bit words, for public purposes."""
        return np.asarray(self._happen(("words", count)))

    def add(self, noise: Noise, values: Ints) -> Ints:
        """Noisy values, row by row."""
        noisy = [self._happen(("noise", noise, own.shape), own.copy()) for own in values]
        return np.array(noisy, dtype=np.int64).reshape(values.shape)

    def choose(self, choice: Choice, scores: Ints) -> Ints:
        """An index of each row of the scores."""
        return np.array([self._happen(("choice", choice, own.shape), own.copy()) for own in scores], dtype=np.int64)

    def settle(self, walk: Walk[State]) -> State:
        """The last state of a Markov chain. Its steps are taken, whatever is returned."""
        last: State = walk.run(self)
        state: State = self._happen(("walk", type(walk)), walk, last)
        return state

    def parts(self, count: int) -> Sequence[Tape]:
        """A tape for each part."""
        tapes: Sequence[Tape] = self._happen(("parts", count))
        return tapes

    def _happen(self, what: RunFact, given: object = None, drawn: object = None) -> Any:
        """Note an event and return its output."""
        output = self._draw(what, given, drawn)
        self.events.append(RunEvent(what, given, output))
        return output if what[0] == "parts" else deepcopy(output)

    def _draw(self, what: RunFact, given: object, drawn: object) -> object:
        raise NotImplementedError


class Recording(Tape):
    """Draws pseudo-random outputs of the same laws, and keeps them.

    Parameters
    ----------
    seed : int
    wild : bool
        Choose any index with the same chance: a guarantee holds for each output, however
        improbable, and improbable ones show most.
    """

    def __init__(self, seed: int, *, wild: bool = False) -> None:
        super().__init__()
        self._source, self._wild = SeededRandom(seed), wild

    def _draw(self, what: RunFact, given: Any, drawn: object) -> object:
        match what:
            case ("words", count):
                return self._source.words(count)
            case ("noise", noise, _):
                return self._source.add(noise, given[None])[0]
            case ("choice", choice, (size,)):
                wild = int(self._source.words(1)[0]) * size >> 64
                return wild if self._wild else int(self._source.choose(choice, given[None])[0])
            case ("parts", count):
                seeds = self._source.words(count)
                return [Recording(int(seed), wild=self._wild) for seed in seeds]
        return drawn


class Forced(Tape):
    """Returns what another run drew, and refuses to do anything else.

    Parameters
    ----------
    recorded : sequence of RunEvent
        What the other run did.

    Raises
    ------
    DepartureError
        By any method, if the other run did something else at this place.
    """

    def __init__(self, recorded: Sequence[RunEvent]) -> None:
        super().__init__()
        self._recorded = recorded

    def finish(self) -> None:
        """See that everything was done that the other run did.

        Raises
        ------
        DepartureError
            If not.
        """
        for mine, other in pairs(self.events, self._recorded):
            if mine.what != other.what:
                raise DepartureError(_difference(mine, other))

    def _draw(self, what: RunFact, given: object, drawn: object) -> object:  # noqa: ARG002
        place = len(self.events)
        other = self._recorded[place] if place < len(self._recorded) else RunEvent(("end",))
        if other.what != what:
            raise DepartureError(_difference(RunEvent(what), other))
        if what[0] == "parts":
            return [Forced(tape.events) for tape in other.output]
        return other.output


def pairs(first: Sequence[RunEvent], second: Sequence[RunEvent]) -> Iterator[tuple[RunEvent, RunEvent]]:
    """Events of two runs side by side, parts one after another."""
    end = RunEvent(("end",))
    for place in range(max(len(first), len(second))):
        one = first[place] if place < len(first) else end
        two = second[place] if place < len(second) else end
        yield one, two
        if one.what[0] == two.what[0] == "parts":
            for mine, other in zip(one.output, two.output, strict=True):
                yield from pairs(mine.events, other.events)


def _difference(mine: RunEvent, other: RunEvent) -> str:
    return f"{other.what} on one table is {mine.what} on its neighbour"
