"""Which rows of a table satisfy what is asked of the rows that belong to them, slot by slot, on packed bits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from dpcore.arrays import Ints, Words
from dpcore.data.partition import Partition
from dpcore.models.ilp.language.forms import Form
from dpcore.models.ilp.language.nested_conditions import NestedCondition, RowAtom, single
from dpcore.models.ilp.learning.folding import Conjunctions, Slots, fold


def within_vectors(partition: Partition, name: str, atoms: Sequence[NestedCondition]) -> Words:
    """Bit vectors of the rows that satisfy each atom: shape (n_atoms, n_slots, n_words).

    For each slot of the table, the rows that belong to that in it are folded as those of a person are.
    """
    slots, words = len(partition.children[name].rows), partition.parts.shape[1]
    vectors = np.empty((len(atoms), slots, words), dtype=np.uint64)
    for inner, least in dict.fromkeys((atom.inner, atom.least) for atom in atoms):
        chosen = [place for place, atom in enumerate(atoms) if (atom.inner, atom.least) == (inner, least)]
        child = partition.children[inner]
        distinct = dict.fromkeys(single([atoms[place] for place in chosen]))
        asked = {own: number for number, own in enumerate(distinct)}
        rows = np.zeros((len(asked), len(child.rows), words), dtype=np.uint64)
        for own, number in asked.items():
            rows[number] = child.rows_in(own.column, own.cells)
        conjunctions, places = _behind_beginnings([tuple(asked[own] for own in atoms[place].atoms) for place in chosen])
        for slot, belonging in enumerate(child.belonging(slots)):
            none = np.zeros((0, words), dtype=np.uint64)
            vectors[chosen, slot] = fold(Slots(belonging, none, False), rows, conjunctions, Form(least))[places]
    return vectors


def nested_slots(atoms: Sequence[RowAtom], slots: Mapping[str, int]) -> int:
    """Vectors that are held at once to find out what rows belong to which, at most."""
    nested = Counter((atom.table, atom.inner) for atom in atoms if isinstance(atom, NestedCondition))
    own = Counter(atom.table for atom in atoms)
    return max(
        (slots[inner] * (slots[name] + own[inner]) + 2 * count for (name, inner), count in nested.items()), default=0
    )


def nested_work(atoms: Sequence[RowAtom], slots: Mapping[str, int]) -> int:
    """Slots that folding the rows that belong to rows visits, in a word."""
    return sum(
        slots[atom.inner] * slots[atom.table] * atom.least for atom in atoms if isinstance(atom, NestedCondition)
    )


def _behind_beginnings(members: Sequence[tuple[int, ...]]) -> tuple[Conjunctions, Ints]:
    """Conjunctions, each behind its own beginning, and where those stand that are asked for."""
    listed: list[tuple[int, ...]] = []
    places: list[int] = []
    begun: dict[int, tuple[int, ...]] = {}
    for own in members:
        for size in range(1, len(own)):
            if begun.get(size) != own[:size]:
                begun[size] = own[:size]
                listed.append(own[:size])
        begun[len(own)] = own
        places.append(len(listed))
        listed.append(own)
    padded = np.full((len(listed), max(1, *map(len, listed))), -1, dtype=np.int64)
    for place, own in enumerate(listed):
        padded[place, : len(own)] = own
    none = np.zeros(len(listed), dtype=np.int64)
    return Conjunctions(padded, np.array([len(own) for own in listed]), padded, none), np.array(places)
