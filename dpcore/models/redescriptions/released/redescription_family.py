"""Redescriptions, as all who read them know the family; what follows from released counts is computed again."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from decimal import ROUND_DOWN, Decimal
from functools import partial
from typing import Final

import numpy as np

from dpcore.arrays import Ints
from dpcore.domain.conditions import Condition, split_conditions, threshold_conditions
from dpcore.domain.schemas.schema import Schema
from dpcore.models.redescriptions.released.reading import read_redescriptions
from dpcore.models.redescriptions.released.redescription_model import RedescriptionModel
from dpcore.models.redescriptions.released.redescription_parameters import RedescriptionParameters
from dpcore.models.redescriptions.released.tree_pair import TreePair
from dpcore.privacy.budgets import EPSILON_STEP, row_epsilon
from dpcore.released.derived import check_certificate, check_counts, count_scales, demand, is_gaussian
from dpcore.released.evidence import Evidence, Groups, Records
from dpcore.released.family import ReleasedFamily
from dpcore.released.noisy_counts import sum_tail
from dpcore.released.release import Release

#: Steps of the budget that count people.
PAIRS, LEAVES = "pairs of leaves", "left leaves"
#: Target of a pair whose trees are drawn together for each other.
EACH_OTHER = "each other"

_SAMPLERS: Final = {
    "exact_pairs": "exact pairs of conditions",
    "lookahead": "exact lookahead",
    "alt_expm": "exponential mechanism, split by split",
    "alt_mcmc": "Markov chain over trees",
    "mcmc_tree_pair": "Markov chain over pairs of trees",
}


def view_conditions(
    schema: Schema, columns: Sequence[str], *, reserved: bool, either_way: bool = False
) -> tuple[Condition, ...]:
    """Every public split over the columns of a view, each once.

    Parameters
    ----------
    reserved : bool
        Also split on ``(missing)`` and ``(other)``.
    either_way : bool
        Ordered columns: ``>`` at every edge beside ``<=``. They are not each other's negation:
        ``(missing)`` satisfies neither, so it may stand with either side.
    """
    wanted = set(columns)
    literals = [item for item in split_conditions(schema, "", reserved=reserved) if item.column in wanted]
    if either_way:
        for column in (item for item in schema if item.name in wanted and item.ordered):
            thresholds = threshold_conditions(column, reserved=False)
            literals += [item for item in thresholds if item.first > 0]
    return tuple(literals)


def sampler_words(chosen: RedescriptionParameters) -> str:
    """How the trees are drawn."""
    pool = chosen.method == "mcmc_tree_pair" and chosen.sampler == "pool"
    return "pool of random pairs of trees" if pool else _SAMPLERS[chosen.method]


def rebuilt_pairs(release: Release, model: RedescriptionModel) -> RedescriptionModel:
    """The pairs with every number that follows from the rest."""
    chosen = RedescriptionParameters.model_validate(release.parameters)
    check_certificate(release, sampler_words(chosen), chain=chosen.uses_chain)
    demand(model.left_columns == chosen.left and model.right_columns == chosen.right)
    demand(chosen.starts is not None and len(model.pairs) == chosen.starts * chosen.rounds)
    places = [divmod(number, chosen.rounds) for number in range(len(model.pairs))]
    demand([(pair.start, pair.round) for pair in model.pairs] == places)
    targets = _targets(release, chosen)
    known, calls = [_splits(release, columns, chosen) for columns in (chosen.left, chosen.right)], len(model.pairs)
    demand((LEAVES in release.certificate.budget_split) == bool(chosen.margins))
    pairs = []
    for pair in model.pairs:
        demand(pair.target in targets and pair.left.depth == pair.right.depth == chosen.depth)
        demand(set(pair.left.splits) <= known[0] and set(pair.right.splits) <= known[1])
        pairs.append(_rebuilt(release, pair, calls))
    return model.model_copy(update={"pairs": tuple(pairs)})


def _splits(release: Release, columns: tuple[str, ...] | None, chosen: RedescriptionParameters) -> set[Condition]:
    """What trees over a view may ask."""
    either_way = chosen.method == "exact_pairs"
    return set(view_conditions(release.domain, columns or (), reserved=chosen.reserved_splits, either_way=either_way))


def _targets(release: Release, chosen: RedescriptionParameters) -> set[str]:
    """What the first tree of a search may be grown for, in words."""
    if chosen.method == "exact_pairs":
        return {EACH_OTHER}
    names = [*(chosen.left or ()), *(chosen.right or ())]
    if not chosen.house:
        return set(names)
    conditions = view_conditions(release.domain, names, reserved=chosen.reserved_splits)
    return {condition.text(release.domain) for condition in conditions}


def _rebuilt(release: Release, pair: TreePair, calls: int) -> TreePair:
    most, gaussian = release.domain.max_rows, is_gaussian(release.certificate)
    demand(pair.gaussian == gaussian and (pair.noisy_left is None) == (LEAVES not in release.certificate.budget_split))
    pair = pair.model_copy(update={"count_scale": _scale(release, pair.count_scale, PAIRS, calls)})
    check_counts((count for row in pair.noisy_counts for count in row), pair.count_margin, most)
    if pair.noisy_left is None or pair.left_scale is None:
        return pair
    second = _scale(release, pair.left_scale, LEAVES, calls)
    check_counts(pair.noisy_left, sum_tail(second, 1, 0.95, gaussian=gaussian), most)
    return pair.model_copy(update={"left_scale": second})


def _scale(release: Release, given: float, step: str, calls: int) -> float:
    """Of the noise on the counts of one of so many tables that share a step evenly.

    That of Gaussian noise follows but for the rounding of its part.
    """
    if is_gaussian(release.certificate):
        low, high = (end * math.sqrt(calls) for end in count_scales(release, step))
        return min(max(given, low), high)
    rows = release.domain.privacy_unit.max_rows_per_person
    own: Decimal = row_epsilon(release.certificate.budget_split[step], rows) / calls
    return 1 / float(own.quantize(EPSILON_STEP, rounding=ROUND_DOWN))


class RedescriptionEvidence(Evidence):
    """How many records are in each pair of leaves."""

    def groups(self) -> Iterator[Groups]:
        """Records by their leaves in both trees, pair by pair."""
        for pair in self.model.pairs:
            counts = np.asarray(pair.noisy_counts, dtype=np.float64).ravel()
            yield Groups(partial(_leaves, pair), counts, pair.count_scale * (1.0 if pair.gaussian else 1.5))

    def columns(self) -> set[str]:
        """Columns of the splits on both sides."""
        sides = [tree for pair in self.model.pairs for tree in (pair.left, pair.right)]
        return {split.column for tree in sides for split in tree.splits}


def _leaves(pair: TreePair, records: Records) -> Ints:
    frame, schema = records.main, records.schema
    left, right = pair.left.apply(frame, schema), pair.right.apply(frame, schema)
    return np.asarray(left * pair.right.leaf_count + right)


REDESCRIPTIONS: Final = ReleasedFamily(
    name="redescriptions",
    title="Redescriptions",
    lead="Two ways of naming nearly the same people: one by the columns on the left, such as "
    "diagnoses, one by those on the right, such as treatments. Learned privately.",
    parameters=RedescriptionParameters,
    model=RedescriptionModel,
    read=read_redescriptions,
    rebuilt=rebuilt_pairs,
    evidence=RedescriptionEvidence,
    methods={
        "exact_pairs": "Both sides at once (recommended)",
        "lookahead": "Back and forth, exact trees",
        "alt_expm": "AltExpM (question by question)",
        "alt_mcmc": "AltMCMC (random walk over trees)",
        "mcmc_tree_pair": "MCMCTreePair (both trees together)",
    },
    targeted=False,
    views=True,
    counted="a count of one pair of groups",
    rehearsed={"pool_size": 20_000, "steps": 10_000},
)
