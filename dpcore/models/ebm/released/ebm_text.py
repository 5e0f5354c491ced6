"""Explainable boosting machines as plain text for a terminal."""

from __future__ import annotations

from dpcore.models.ebm.released.ebm_model import EBMModel
from dpcore.models.ebm.released.ebm_words import EBMWords
from dpcore.released.plain_text import text_table
from dpcore.released.release import Release


def ebm_text(release: Release, model: EBMModel) -> str:
    """One line per term, the most important first, then what the shapes say."""
    words = EBMWords(model, release.domain, release.target)
    rows = [
        [
            term.name,
            words.amount(term.importance).lstrip("+"),
            words.mark(term),
            "" if term.clear else "within the noise",
        ]
        for term in model.ranked()
    ]
    table = text_table(["column", "adds or takes on average", model.mark_words, ""], rows)
    return "\n\n".join([table, "\n".join(words.reading())])
