"""What a suite declares, and how it says that something has no figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from benchmarks.results import Cell, Layout, Line, Result


class LeftOutError(Exception):
    """A method, or all of a data set, has no figures; the text says why.

    Attributes
    ----------
    everything : bool
        Whether no method can be measured on the data.
    within : float or None
        Seconds in which it was not finished: with more it may be.
    """

    def __init__(self, reason: str, everything: bool = False, within: float | None = None) -> None:
        super().__init__(reason, everything, within)  # All of them, so that it comes back from another process.
        self.reason, self.everything, self.within = reason, everything, within

    def __str__(self) -> str:
        return self.reason


@dataclass(frozen=True)
class Quick:
    """What the short form of a suite takes; ``None``: as usual."""

    data: Sequence[str] | None = None
    methods: Sequence[str] | None = None
    epsilons: Sequence[float] | None = None
    seeds: int = 2


def _nothing(*_: Any) -> Iterator[Result]:
    return iter(())


def _never(_: Cell) -> bool:
    return False


def _as_given(_: Any) -> AbstractContextManager[None]:
    return nullcontext()


@dataclass(frozen=True)
class Suite:
    """What a suite declares."""

    name: str
    measure: Callable[[Cell, Mapping[str, Any]], Mapping[str, Any]]
    """Figures of a cell. The second argument is a mapping: the suite's ``options``, and ``quick``."""
    data: Sequence[str]
    methods: Sequence[str]
    layouts: Sequence[Layout]
    epsilons: Sequence[float] = ()
    seeds: int = 1
    plain: Iterable[str] = ()
    once: Iterable[str] = ()
    """``plain``, ``once``: methods without epsilon, and those whose every run is the same."""
    programs: Mapping[str, str] = field(default_factory=dict)
    """Programs in environments of their own that methods need, by method."""
    quick: Quick = Quick()
    skip: Callable[[Cell], bool] = _never
    """Cells that are not measured."""
    published: Sequence[Result] = ()
    """Figures of papers and goals, shown beside what was measured on the same data."""
    conclude: Callable[[Sequence[Line], Sequence[Result]], Iterable[Result]] = _nothing
    """Further results, from all lines and the results that follow from each cell."""
    options: Mapping[str, Any] = field(default_factory=dict)
    fresh: bool = False
    """Whether each cell is measured in a process of its own."""
    prepare: Callable[[dict[str, Any]], AbstractContextManager[dict[str, Any] | None]] = _as_given
    """A context around all cells: what it yields is added to the options."""
