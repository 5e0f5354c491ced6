"""Texts that the figures of explainable boosting machines share: hover, titles, ticks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dpcore.domain.columns import Column
from dpcore.models.ebm.released.ebm_model import Term
from dpcore.models.ebm.released.ebm_words import EBMWords, factor
from dpcore.numerals import minus, whole
from dpcore.plots.style import safe, shorten
from dpcore.plots.ticks import nice_ticks
from dpcore.released.evaluation import Z95

#: Scores of nearly empty bins are shown up to so many times the largest of the others.
_REACH = 2.0
_FEWEST_TICKS = 3
#: Longer titles of an axis get a second line.
_ONE_LINE = 38


def details(words: EBMWords, term: Term, outputs: Sequence[int], truth: Sequence[int] | None) -> list[str]:
    """What pointing at each bin tells: name, scores with their noise, noisy count."""
    names = words.bins(term)
    start = "" if len(term.axes) > 1 else f"{term.name}: "
    return [
        "<br>".join(
            [
                f"<b>{safe(shorten(start + name, 90))}</b>",
                *(_score(words, term, place, code) for code in outputs),
                f"noisy count {noisy_count(term, place)}, 95%{_true(truth, place)}",
            ]
        )
        for place, name in enumerate(names)
    ]


def _score(words: EBMWords, term: Term, place: int, output: int) -> str:
    score, error = term.scores[place][output], term.errors[place][output]
    label = f"{safe(words.outcome(output))}: " if words.model.task == "multiclass" else ""
    return f"{label}adds {words.told(score, error)}"


def noisy_count(term: Term, place: int) -> str:
    """Noisy records of a bin, with the noise on them: ``112 ±440``."""
    return minus(f"{whole(term.noisy_counts[place])} ±{whole(Z95 * term.count_errors[place])}")


def _true(truth: Sequence[int] | None, place: int) -> str:
    return "" if truth is None else f"; true count {whole(truth[place])}"


def title(words: EBMWords, outputs: Sequence[int]) -> str:
    """What the scores of a figure are added to."""
    if len(outputs) > 1:
        return f"adds to the score of each<br>value of {safe(shorten(words.target, 40))}"
    effect = f"adds to {words.effect(outputs[0])}"
    if len(effect) <= _ONE_LINE:
        return safe(effect)
    start, of, whom = effect.partition(" of ")
    return "<br>".join(safe(shorten(line, _ONE_LINE)) for line in (start + of, whom) if line)


def axis_title(column: Column) -> str:
    """Name of a column, with its unit if it has one."""
    unit = getattr(column, "unit", "")
    return safe(f"{column.name} ({unit})" if unit else column.name)


def score_limits(term: Term, outputs: Sequence[int]) -> tuple[float, float]:
    """Ends of an axis of scores, 0 included.

    Noise of bins that next to nobody falls into may leave the picture: it would flatten
    everything else.
    """
    scores, errors = (np.asarray(x)[:, list(outputs)] for x in (term.scores, term.errors))
    filled = np.asarray(term.noisy_counts) > Z95 * np.asarray(term.count_errors)
    filled |= not filled.any()
    low = float((scores - Z95 * errors)[filled].min())
    high = float((scores + Z95 * errors)[filled].max())
    most = _REACH * max(abs(low), abs(high))
    low = min(0.0, low, max(-most, float(scores.min())))
    high = max(0.0, high, min(most, float(scores.max())))
    margin = 0.06 * max(high - low, 1e-9)
    return low - margin, high + margin


def score_ticks(words: EBMWords, low: float, high: float, about: int = 6) -> dict[str, Any]:
    """Ticks of an axis of scores; log-odds also as a factor of the odds."""
    marks = nice_ticks(low, high, about)
    if len(marks) < _FEWEST_TICKS:
        marks = nice_ticks(low, high, 2 * about)
    texts = [minus(f"{mark:+,g}") if mark else "0" for mark in marks]
    if words.model.task == "binary":
        texts = [f"{text} (odds × {factor(mark)})" for text, mark in zip(texts, marks, strict=True)]
    return {"tickvals": marks, "ticktext": texts}
