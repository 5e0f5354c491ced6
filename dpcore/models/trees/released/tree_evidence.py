"""What released trees and forests reveal of the records."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dpcore.arrays import Array, Floats, Ints
from dpcore.released.evidence import Evidence, Groups, Records, by_class


class TreeEvidence(Evidence):
    """How many records stop at each node, and their classes."""

    def groups(self) -> Iterator[Groups]:
        """Records by the node where they stop."""
        tree = self.model
        yield by_class(self._leaf, [tree.nodes[p] for p in tree.finals], tree.count_margin)

    def probabilities(self, records: Records) -> Floats:
        """Estimates of the node where a record stops."""
        return np.array([node.estimates for node in self.model.nodes])[self._node(records)]

    def predicted(self, records: Records) -> Array:
        """Label of the node where a record stops."""
        return np.array([node.label for node in self.model.nodes])[self._node(records)]

    def _node(self, records: Records) -> Ints:
        codes = {name: records.cells(name) for name in self.model.columns()}
        found: Ints = self.model.apply_codes(codes, records.rows)
        return found

    def _leaf(self, records: Records) -> Ints:
        return np.searchsorted(np.asarray(self.model.finals), self._node(records))


class ForestEvidence(Evidence):
    """What each tree of a forest reveals, and the mean of their chances."""

    @property
    def apart(self) -> bool:
        """Whether each tree has seen people of its own."""
        return bool(self.model.sharing == "parts")

    def groups(self) -> Iterator[Groups]:
        """Records by the node where they stop, tree by tree."""
        for tree in self.model.trees:
            yield from TreeEvidence(tree).groups()

    def probabilities(self, records: Records) -> Floats:
        """Mean chances of the trees."""
        codes = {name: records.cells(name) for name in self.model.columns()}
        chances: Floats = self.model.chances_of_codes(codes, records.rows)
        return chances
