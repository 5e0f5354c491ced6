"""Unions of boxes in their simplest form: fewest conditions, then fewest numbers and names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import Final

from dpcore.models.redescriptions.released.tree_pair import Box, Domain

#: Cells of each of some columns, in a fixed order, as bits.
Cube = tuple[int, ...]
#: Columns that matter, with their cells.
_Limits = list[tuple[int, int]]
#: Groups of cells of one column of which every combination is tried.
_FEW: Final = 6


def simplified(boxes: Iterable[Box], domain: Domain, outside: Iterable[Box] | None = None) -> list[Box]:
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
    some = list(boxes)
    others = None if outside is None else list(outside)
    names = {name for box in [*some, *(others or ())] for name in box}
    space = Space(names, domain)
    inside = [space.cube(box) for box in some if all(box.values())]
    if others is None:
        return space.simplified(inside, space.rest(inside))
    return space.simplified(inside, [space.cube(box) for box in others])


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


class Space:
    """Some columns of a schema, and what is known about cubes over them."""

    def __init__(self, names: Iterable[str], domain: Domain) -> None:
        self._names = sorted(names, key=domain.place)
        self.everything: Cube = tuple(domain.everything(name) for name in self._names)
        self._ordered = [domain.column(name).ordered for name in self._names]
        self._limits: dict[Cube, _Limits] = {}
        self._lengths: dict[tuple[int, int], int] = {}

    def cube(self, box: Box) -> Cube:
        """A box with every column named."""
        every = zip(self._names, self.everything, strict=True)
        return tuple(box.get(name, cells) for name, cells in every)

    def box(self, cube: Cube) -> Box:
        """A cube as a box that names the columns which matter."""
        return {self._names[place]: cells for place, cells in self._said(cube)}

    def rest(self, cubes: Iterable[Cube]) -> list[Cube]:
        """What no cube holds, in pieces that do not overlap."""
        pieces = [self.everything]
        for cube in cubes:
            pieces = [piece for other in pieces for piece in _without(other, cube)]
        return pieces

    def simplified(self, inside: Iterable[Cube], outside: Sequence[Cube]) -> list[Box]:
        """As :func:`simplified`, of cubes."""
        best = self._sorted(set(inside))
        if best and not outside:
            return [{}]
        while True:
            shorter = self._trimmed(self._needed(self._widest(best, outside), best))
            if self._cost(shorter) >= self._cost(best):
                return [self.box(cube) for cube in best]
            best = shorter

    def _said(self, cube: Cube) -> _Limits:
        """The columns that matter, with their cells."""
        if cube not in self._limits:
            every = enumerate(zip(cube, self.everything, strict=True))
            self._limits[cube] = [(place, cells) for place, (cells, all_) in every if cells != all_]
        return self._limits[cube]

    def _sorted(self, cubes: Iterable[Cube]) -> list[Cube]:
        """Shortest first, then by the columns they refer to."""

        def key(cube: Cube) -> tuple[int, int, list[int], Cube]:
            said = self._said(cube)
            return len(said), self._length(cube), [place for place, _ in said], cube

        return sorted(cubes, key=key)

    def _cost(self, cubes: Sequence[Cube]) -> tuple[int, int, int]:
        """Conditions, numbers and names in them, cubes."""
        conditions = sum(len(self._said(cube)) for cube in cubes)
        return conditions, sum(self._length(cube) for cube in cubes), len(cubes)

    def _length(self, cube: Cube) -> int:
        return sum(self._words(place, cells) for place, cells in self._said(cube))

    def _words(self, place: int, cells: int) -> int:
        """Ends of ranges in an ordered column; names of cells, or of those left out, in others."""
        if (place, cells) not in self._lengths:
            everything = self.everything[place]
            ends = ((cells ^ (cells >> 1)) & (everything >> 1)).bit_count()
            names = min(cells.bit_count(), (everything & ~cells).bit_count())
            self._lengths[place, cells] = ends if self._ordered[place] else names
        return self._lengths[place, cells]

    def _widest(self, cubes: Iterable[Cube], outside: Sequence[Cube]) -> list[Cube]:
        """All cubes to which some widen, column by column, without touching those outside."""
        limits = [self._said(cube) for cube in outside]
        waiting, ends = list(cubes), set[Cube]()
        seen = set(waiting)
        while waiting:
            cube = waiting.pop()
            wider = set(self._wider(cube, limits))
            if not wider:
                ends.add(cube)
            waiting += wider - seen
            seen |= wider
        return self._sorted(ends)

    def _wider(self, cube: Cube, limits: Sequence[_Limits]) -> Iterator[Cube]:
        """The cube with one column as wide as it can be."""
        barred = [0] * len(cube)
        for limit in limits:
            apart = [(place, cells) for place, cells in limit if not cube[place] & cells]
            if len(apart) == 1:  # Only this column keeps the two apart.
                place, cells = apart[0]
                barred[place] |= cells
        for place, cells in self._said(cube):
            most = self.everything[place] & ~barred[place]
            if most != cells:
                yield (*cube[:place], most, *cube[place + 1 :])

    def _needed(self, cubes: Sequence[Cube], wanted: Sequence[Cube]) -> list[Cube]:
        """Some of the cubes that still cover what is wanted; the longest are spared first."""
        kept = list(cubes)
        for cube in reversed(cubes):
            others = [other for other in kept if other != cube]
            if all(covered(one, others) for one in wanted):
                kept = others
        return kept

    def _trimmed(self, cubes: Sequence[Cube]) -> list[Cube]:
        """The same union with cells taken off where that shortens a condition."""
        kept = list(cubes)
        for number in reversed(range(len(kept))):
            others = kept[:number] + kept[number + 1 :]
            for place, cells in self._said(kept[number]):
                if self._words(place, cells) > 1:
                    kept[number] = self._trim(kept[number], place, others)
        return self._sorted(kept)

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
            if cells and self._words(place, cells) < self._words(place, best):
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
