"""Redescriptions as sentences, and what a reader may look for."""

from __future__ import annotations

from collections.abc import Sequence

from dpcore.redescriptions.found import Redescription

#: Below this a p-value is only called small.
_SMALL = 0.001


def p_words(p_value: float) -> str:
    """A p-value as it is written: ``p < 0.001`` or ``p = 0.012``."""
    return f"p < {_SMALL}" if p_value < _SMALL else f"p = {p_value:.2g}"


def interval_words(item: Redescription) -> str:
    """The 95 % interval of the Jaccard index for the noise alone."""
    low, high = item.interval
    return f"{low:.2f} to {high:.2f}"


def sentence(item: Redescription) -> str:
    """What a redescription says, with its noisy numbers."""
    either = item.support + item.left_only + item.right_only
    return (
        f"{_capital(item.left)}: nearly the same people as {item.right}. Of about "
        f"{either:,.0f} people for whom at least one of the two holds, both hold for about "
        f"{item.support:,.0f} (±{item.support_margin:,}); noisy Jaccard index {item.jaccard:.2f}, "
        f"{interval_words(item)} for the noise. By chance it would be {item.chance:.2f} "
        f"({p_words(item.p_value)})."
    )


def matching(found: Sequence[Redescription], words: str) -> tuple[Redescription, ...]:
    """Those in which all of some words occur: in the conditions or in a column's name."""
    wanted = words.casefold().split()
    return tuple(item for item in found if all(word in _searched(item) for word in wanted))


def _searched(item: Redescription) -> str:
    texts = (item.left, item.right, item.left_query, item.right_query, *sorted(item.columns))
    return "\n".join(texts).casefold()


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
