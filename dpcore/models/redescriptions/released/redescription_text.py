"""Redescriptions as plain text for a terminal."""

from __future__ import annotations

from dpcore.models.redescriptions.released.duplicates import in_full
from dpcore.models.redescriptions.released.redescription_model import RedescriptionModel
from dpcore.models.redescriptions.released.redescription_set import Redescription, RedescriptionSet
from dpcore.numerals import hundredths, whole
from dpcore.released.release import Release

#: Redescriptions that are printed, the best ones.
SHOWN = 20
#: Below this a p-value is only called small.
_SMALL = 0.001


def release_text(release: Release, model: RedescriptionModel) -> str:
    """The best redescriptions under the usual constraints; others are free to try."""
    return redescriptions_text(model.extract(release.domain))


def redescriptions_text(found: RedescriptionSet) -> str:
    """The best redescriptions with their noisy numbers, each side on a line of its own."""
    count = len(found.found)
    if not count:
        return "No redescription satisfies the constraints. Trying others is free."
    head = f"{count} redescription{'' if count == 1 else 's'} of about {found.counted.number(found.people)}"
    best = f"{head}; the best {SHOWN}:" if count > SHOWN else f"{head}:"
    shown = [_text(number, item, found) for number, item in enumerate(found.found[:SHOWN], 1)]
    return "\n\n".join([best, *shown, _advice(found)])


def _text(number: int, item: Redescription, found: RedescriptionSet) -> str:
    (low, high), counted = item.interval, found.counted
    few = f"Below the suggested support: for so few {counted.several}, much of it may be noise."
    alike = f"; {item.similar} similar" if item.similar else ""
    lead = f"{number:>3}. "
    lines = [
        f"Jaccard index {hundredths(item.jaccard)} ({hundredths(low)} to {hundredths(high)}; by chance "
        f"{hundredths(item.chance)}), {counted.number(item.support)} (±{whole(item.support_margin)}), "
        f"{_p_value(item.p_value)}{alike}",
        f"left:  {item.left}",
        f"right: {item.right}",
        *([few] if item.whole_support < found.suggested_support else []),
        *([in_full(item.missing, counted)] if item.missing else []),
    ]
    return lead + f"\n{' ' * len(lead)}".join(lines)


def _p_value(p_value: float) -> str:
    return f"p < {_SMALL}" if p_value < _SMALL else f"p = {p_value:.3f}"


def _advice(found: RedescriptionSet) -> str:
    _, several, whom = found.counted
    return (
        f"The Jaccard index is the share of {several} for {whom} both sides hold among those for {whom} "
        f"at least one does. Below the suggested support of about {found.counted.number(found.suggested_support)} the "
        "noise blurs it."
    )
