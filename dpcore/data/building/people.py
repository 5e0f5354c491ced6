"""What a table may keep of its people, so that further rows of theirs can be taken in later.

By default nobody keeps the keys by which names are hashed. Where they are kept, the folder holds them
in ``key.json``, and beside each partition ``people.arrow`` with the hashes of each record's person and
the random word of each row: what decides, with rows that come later, which a person keeps.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np

from dpcore.arrays import Array, Ints, Words
from dpcore.data.building.division import new_key
from dpcore.data.packing import unpack
from dpcore.data.stored.storage import stored_people
from dpcore.errors import IngestError
from dpcore.privacy.randomness import SecureRandom

_FILE: Final = "key.json"
_NO_KEYS = (
    "This data set was stored without keys ('--keep-keys'), so nobody in it can be found again and no rows can be "
    "appended. Add the old and the new files together as its next version: 'data add ... --replaces'."
)


class People:
    """Keys under which people are known, and their rows that were stored before.

    Parameters
    ----------
    keys : (str, str)
        For :func:`dpcore.data.building.division.hashes_of`.
    stored : Path, optional
        Folder of the table that they were kept in.
    """

    def __init__(self, keys: tuple[str, str], stored: Path | None = None) -> None:
        self.keys, self._stored = keys, stored

    @classmethod
    def new(cls) -> People:
        """Nobody yet, under keys of their own."""
        return cls((new_key(SecureRandom()), new_key(SecureRandom())))

    @classmethod
    def of(cls, directory: Path) -> People:
        """Those of a stored table. Raises ``IngestError`` if it keeps no keys."""
        check_kept(directory)
        first, second = json.loads((directory / _FILE).read_text(encoding="utf-8"))["keys"]
        return cls((first, second), directory)

    def save(self, directory: Path) -> None:
        """Keep the keys beside a table."""
        (directory / _FILE).write_text(json.dumps({"keys": self.keys}), encoding="utf-8")

    def known(self) -> Iterator[Words]:
        """Hashes, under the first key, of the people whose rows were stored; one for each row."""
        for partition, people in self._partitions():
            yield people[0, partition.present]

    def rows(self, kind: np.dtype[np.void]) -> Iterator[Array]:
        """Rows of the main table that were stored, in the form of an ingestion."""
        for partition, people in self._partitions():
            places = partition.present
            rows = np.zeros(len(places), dtype=kind)
            rows["who"], rows["word"] = people[:2, places].T, people[2, places]
            rows["codes"], rows["numbers"] = partition.codes[:, places].T, partition.numbers[:, places].T
            yield rows

    def child_rows(self, number: int, kind: np.dtype[np.void]) -> Iterator[Array]:
        """The same of a child table of the schema."""
        for partition, people in self._partitions():
            children = list(partition.children.values())
            first = 3 + sum(child.table.max_rows_per_person for child in children[:number])
            child = children[number]
            slots, places = np.nonzero(np.stack([unpack(slot, partition.rows) for slot in child.rows]))
            rows = np.zeros(len(places), dtype=kind)
            rows["who"], rows["word"] = people[:2, places].T, people[first + slots, places]
            rows["codes"] = child.codes[:, slots, places].T
            yield rows

    def _partitions(self) -> Iterator[Any]:
        return iter(()) if self._stored is None else stored_people(self._stored)


def people_for(keep: bool, after: Path | None) -> People | None:
    """Those of a stored table, new ones to be kept, or none."""
    if after is not None:
        return People.of(after)
    return People.new() if keep else None


def are_kept(directory: Path) -> bool:
    """Whether a stored table keeps the keys of its people."""
    return (directory / _FILE).is_file()


def check_kept(directory: Path) -> None:
    """See that it does. Raises ``IngestError``."""
    if not are_kept(directory):
        raise IngestError(_NO_KEYS)


def noted(main: Array, children: list[tuple[Array, Ints, int]], rows: int) -> Words:
    """What is kept of the records of a partition: shape (3 + slots of all child tables, rows).

    Parameters
    ----------
    main : array of shape (n_records,)
        Rows of the main table, in the order of their places.
    children : list of (array, array, int)
        Rows of each child table, the places of their records, and the slots of the table.
    rows : int
        Places of the partition.
    """
    kept = np.zeros((3 + sum(slots for *_, slots in children), rows), dtype=np.uint64)
    kept[:2, : len(main)], kept[2, : len(main)] = main["who"].T, main["word"]
    first = 3
    for own, places, slots in children:
        kept[first + own["slot"].astype(np.int64), places] = own["word"]
        first += slots
    return kept
