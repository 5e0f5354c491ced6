"""What a certificate says about the time that a run takes: it is not part of the guarantee.

``docs/privacy/rule-list.md``, section 9, says where the times come from.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dpcore.released.release import Certificate

_NOISE: Final = "drawing noise takes a little longer for some draws than for others"
_CHOICE: Final = "choosing among candidates takes a time that depends on their exact scores"
_WALK: Final = "a random walk takes a time that depends on the steps that it accepts"
_LEVELS: Final = "a level takes less time where noisy counts, which are not released, left out more"
#: Samplers that add noise and choose nothing, and such steps of others that do choose.
_NOISE_ONLY: Final = frozenset(
    {"sulq_id3", "random_trees", "all_bins", "random_splits", "weighted", "equal", "noisy counts of the whole lattice"}
)
_CHOOSING: Final = frozenset({"choice of pairs"})
#: A step of rule lists that counts level by level what noisy counts above left over.
_MINED: Final = "antecedents"
_SPECIAL: Final = {
    "mcmc": _WALK,
    "Markov chain over trees": _WALK,
    "Markov chain over pairs of trees": _WALK,
    "noisy counts, level by level": _LEVELS,
}


def time_sentence(*cards: Certificate) -> str:
    """What may be learned from the time that some runs took, in one sentence."""
    parts = list(dict.fromkeys(part for card in cards for part in _parts(card)))
    return (
        "no part of the guarantee: the steps follow from public facts and released results, but "
        f"{_joined(parts)}; precise timing of a run may tell something about the records"
    )


def _parts(card: Certificate) -> Iterator[str]:
    """What takes a time of its own in one run; of an unknown sampler, the worst is said."""
    yield _NOISE
    if card.sampler not in _NOISE_ONLY or _CHOOSING & card.budget_split.keys():
        yield _CHOICE
    if card.budget_split.get(_MINED):
        yield _LEVELS
    if card.sampler in _SPECIAL:
        yield _SPECIAL[card.sampler]


def _joined(parts: list[str]) -> str:
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last
