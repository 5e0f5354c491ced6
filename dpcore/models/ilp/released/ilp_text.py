"""Relational rules as plain text for a terminal."""

from __future__ import annotations

from dpcore.models.ilp.released.ilp_model import ILPModel
from dpcore.released.noisy_counts import told_share
from dpcore.released.plain_text import text_table
from dpcore.released.release import Release

#: What the table says of a rule that is not used to predict.
NO_PREDICTION = "does not predict"


def ilp_text(release: Release, model: ILPModel) -> str:
    """The theory in Prolog, one line per group of people, and the same in words."""
    stored = release.stored
    program = ILPModel.model_validate(stored.model).prolog(stored.domain, stored.target)
    words = "\n".join(model.reading(release.domain, release.target))
    parts = [program, text_table(*_theory_rows(model)), words, model.weighing(release.domain, release.target)]
    return "\n\n".join(filter(None, parts))


def _theory_rows(model: ILPModel) -> tuple[list[str], list[list[str]]]:
    """Head and rows of the table: one row per clause, and one for everybody else."""
    label = model.classes[model.positive]
    head = ["clause", f"noisy counts ({', '.join(model.classes)})", f"noisy share of {label}", ""]
    rows = []
    for number, group in enumerate(model.groups, 1):
        rows.append(
            [
                "none" if group.clause is None else str(number),
                ", ".join(str(count) for count in group.noisy_counts),
                told_share(group, model.positive, model.count_margin),
                "" if group.kept or group.clause is None else NO_PREDICTION,
            ]
        )
    return head, rows
