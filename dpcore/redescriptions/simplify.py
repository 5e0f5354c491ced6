"""Unions of boxes in their simplest form: fewest conditions, then fewest numbers and names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import Final

from dpcore.redescriptions.regions import Box, Domain

#: Cells of each of some columns, in a fixed order, as bits.
Cube = tuple[int, ...]
#: Groups of cells of one column of which every combination is tried.
_FEW: Final = 6


def simplified(
    boxes: Iterable[Box], domain: Domain, outside: Iterable[Box] | None = None
) -> list[Box]:
    """A union of boxes as boxes that hold the very same records in fewer words.

    Boxes are widened as far as the union allows, in every order of their columns; those that
    others cover are left out, the longest first; then cells are taken off again where that
    shortens a condition. Never more conditions than at first; the order of the boxes does not
    matter, and doing it twice changes nothing.

    Parameters
    ----------
    outside : iterable of Box or None
        Boxes that hold all other records, such as the other leaves of the tree; worked out if
        not given.

    Returns
    -------
    list of Box
        Shortest first. Empty if there is nothing; a single box without conditions if it is
        everything.
    """
    given = list(boxes), None if outside is None else list(outside)
    names = {name for box in [*given[0], *(given[1] or ())] for name in box}
    space = _Space(sorted(names, key=domain.place), domain)
    best = space.ordered({space.cube(box) for box in given[0] if all(box.values())})
    rest = [space.everything] if given[1] is None else [space.cube(box) for box in given[1]]
    if given[1] is None:
        for cube in best:
            rest = [piece for other in rest for piece in _without(other, cube)]
    if best and not rest:
        return [{}]
    while True:
        shorter = space.trimmed(space.needed(space.widest(best, rest), best))
        if space.cost(shorter) >= space.cost(best):
            return [space.box(cube) for cube in best]
        best = shorter


def covered(cube: Cube, cubes: Sequence[Cube]) -> bool:
    """Whether every combination of cells in ``cube`` is in at least one of ``cubes``."""
    for place, other in enumerate(cubes):
        if all(a & b for a, b in zip(cube, other, strict=True)):
            later = cubes[place + 1 :]
            return all(covered(piece, later) for piece in _without(cube, other))
    return not all(cube)


def _without(cube: Cube, other: Cube) -> Iterator[Cube]:
    """What is left of a cube without another one, in pieces that do not overlap."""
    if not all(a & b for a, b in zip(cube, other, strict=True)):
        yield cube
        return
    rest = list(cube)
    for place, cells in enumerate(other):
        if rest[place] & ~cells:
            yield (*rest[:place], rest[place] & ~cells, *rest[place + 1 :])
            rest[place] &= cells


class _Space:
    """Some columns of a schema in a fixed order."""

    def __init__(self, names: Sequence[str], domain: Domain) -> None:
        self._names = names
        self.everything: Cube = tuple(domain.everything(name) for name in names)
        self._ordered = [domain.column(name).ordered for name in names]
        self._lengths: dict[tuple[int, int], int] = {}

    def cube(self, box: Box) -> Cube:
        """A box with every column named."""
        return tuple(
            box.get(name, cells) for name, cells in zip(self._names, self.everything, strict=True)
        )

    def box(self, cube: Cube) -> Box:
        """A cube as a box that names the columns which matter."""
        every = zip(self._names, cube, self.everything, strict=True)
        return {name: cells for name, cells, everything in every if cells != everything}

    def ordered(self, cubes: Iterable[Cube]) -> list[Cube]:
        """Shortest first, then by the columns they speak of."""
        return sorted(cubes, key=lambda cube: (*self._cost(cube), self._speaks(cube), cube))

    def cost(self, cubes: Sequence[Cube]) -> tuple[int, int, int]:
        """Conditions, numbers and names in them, cubes."""
        costs = [self._cost(cube) for cube in cubes]
        return sum(cost[0] for cost in costs), sum(cost[1] for cost in costs), len(cubes)

    def _cost(self, cube: Cube) -> tuple[int, int]:
        said = self._speaks(cube)
        return len(said), sum(self._length(place, cube[place]) for place in said)

    def _speaks(self, cube: Cube) -> list[int]:
        return [place for place, cells in enumerate(cube) if cells != self.everything[place]]

    def _length(self, place: int, cells: int) -> int:
        """Ends of ranges in an ordered column; names of cells, or of those left out, in others."""
        if (place, cells) not in self._lengths:
            everything = self.everything[place]
            ends = ((cells ^ (cells >> 1)) & (everything >> 1)).bit_count()
            names = min(cells.bit_count(), (everything & ~cells).bit_count())
            self._lengths[place, cells] = ends if self._ordered[place] else names
        return self._lengths[place, cells]

    def widest(self, cubes: Iterable[Cube], rest: Iterable[Cube]) -> list[Cube]:
        """All cubes to which some widen, column by column, without touching the rest."""
        limits = [[(place, cube[place]) for place in self._speaks(cube)] for cube in rest]
        waiting, ends = list(cubes), set[Cube]()
        seen = set(waiting)
        while waiting:
            cube = waiting.pop()
            wider = set(self._wider(cube, limits))
            if not wider:
                ends.add(cube)
            waiting += wider - seen
            seen |= wider
        return self.ordered(ends)

    def _wider(self, cube: Cube, limits: Iterable[list[tuple[int, int]]]) -> Iterator[Cube]:
        """The cube with one column as wide as it can be."""
        barred = [0] * len(cube)
        for limit in limits:
            apart = [(place, cells) for place, cells in limit if not cube[place] & cells]
            if len(apart) == 1:  # Only this column keeps the two apart.
                place, cells = apart[0]
                barred[place] |= cells
        for place in self._speaks(cube):
            cells = self.everything[place] & ~barred[place]
            if cells != cube[place]:
                yield (*cube[:place], cells, *cube[place + 1 :])

    def needed(self, cubes: Sequence[Cube], wanted: Sequence[Cube]) -> list[Cube]:
        """Some of the cubes that still cover what is wanted; the longest are spared first."""
        kept = list(cubes)
        for cube in reversed(cubes):
            others = [other for other in kept if other != cube]
            if all(covered(one, others) for one in wanted):
                kept = others
        return kept

    def trimmed(self, cubes: Sequence[Cube]) -> list[Cube]:
        """The same union with cells taken off where that shortens a condition."""
        kept = list(cubes)
        for number in reversed(range(len(kept))):
            others = kept[:number] + kept[number + 1 :]
            for place in self._speaks(kept[number]):
                kept[number] = self._trim(kept[number], place, others)
        return self.ordered(kept)

    def _trim(self, cube: Cube, place: int, others: Sequence[Cube]) -> Cube:
        """Take off cells of one column that the others cover, if it then takes fewer words."""
        spare = [
            part
            for part in _parts(cube[place], [other[place] for other in others])
            if covered((*cube[:place], part, *cube[place + 1 :]), others)
        ]
        best = cube[place]
        for less in _sums(spare):
            cells = cube[place] & ~less
            if cells and self._length(place, cells) < self._length(place, best):
                best = cells
        return (*cube[:place], best, *cube[place + 1 :])


def _parts(cells: int, marks: Iterable[int]) -> list[int]:
    """Cells in groups that every mark holds whole or not at all."""
    parts = [cells]
    for mark in marks:
        parts = [piece for part in parts for piece in (part & mark, part & ~mark) if piece]
    return parts


def _sums(parts: Sequence[int]) -> Iterator[int]:
    """Unions of some of the parts, few first; of one part and of all if there are many."""
    sizes = range(1, len(parts) + 1) if len(parts) <= _FEW else (1, len(parts))
    for size in sizes:
        for chosen in combinations(parts, size):
            yield sum(chosen)
