"""How often each key of a file occurs: exact, by hashes of 8 bytes, whose key nobody keeps."""

from __future__ import annotations

from typing import Final

import numpy as np

from dpcore.arrays import Array, Ints

#: Keys that wait to be counted together, at least: a few at a time would be slow.
_CALM: Final = 200_000
_TYPE: Final = np.dtype([("key", np.uint64), ("plain", np.uint64), ("steps", np.uint8), ("rows", np.int64)])


class KeyCounts:
    """Counts by key, with a hash of what is left of each key without its spelling, and what that took away."""

    def __init__(self) -> None:
        self._counted = np.zeros(0, dtype=_TYPE)
        self._new: list[Array] = []
        self._waiting = 0

    def add(self, keys: Array, rows: Ints, plain: Array | None = None, steps: Array | None = None) -> None:
        """Count rows of different keys."""
        some = np.zeros(len(keys), dtype=_TYPE)
        some["key"], some["rows"] = keys, rows
        some["plain"] = keys if plain is None else plain
        if steps is not None:
            some["steps"] = steps
        self._new.append(some)
        self._waiting += len(some)
        if self._waiting > max(len(self._counted), _CALM):
            self._count()

    def _count(self) -> None:
        every = np.concatenate([self._counted, *self._new])
        every = every[np.argsort(every["key"], kind="stable")]
        firsts = np.flatnonzero(np.diff(every["key"], prepend=~every["key"][:1]))
        self._counted = every[firsts]
        if len(firsts):
            self._counted["rows"] = np.add.reduceat(every["rows"], firsts)
        self._new, self._waiting = [], 0

    @property
    def counted(self) -> Array:
        """One entry for each key: ``key``, ``plain``, ``steps`` and ``rows``."""
        if self._new:
            self._count()
        return self._counted

    def alike(self) -> tuple[int, int, int]:
        """How many keys share what is left of them with another, how many groups they are, and what differs.

        The last has bit ``i`` for :data:`dpcore.domain.identifiers.STEPS` ``[i]``.
        """
        found = self.counted
        order = np.argsort(found["plain"], kind="stable")
        plain, steps = found["plain"][order], found["steps"][order]
        firsts = np.flatnonzero(np.diff(plain, prepend=~plain[:1]))
        if not len(firsts):
            return 0, 0, 0
        sizes = np.diff(firsts, append=len(plain))
        some, every = np.bitwise_or.reduceat(steps, firsts), np.bitwise_and.reduceat(steps, firsts)
        several = sizes > 1
        differing = np.where(some & ~every, some & ~every, some)[several]
        return int(sizes[several].sum()), int(several.sum()), int(np.bitwise_or.reduce(differing, initial=0))
