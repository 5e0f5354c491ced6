"""What relational rules say: clauses in words and in Prolog, and the people whom they cover."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from dpcore.domain.conditions import pretty
from dpcore.models.ilp.released.ilp_model import ILPModel
from dpcore.models.ilp.released.ilp_words import clause_words, one_row
from dpcore.privacy.budgets import plain_epsilon
from dpcore.released.blocks import Block, Bullets, Code, Figure, Group, Groups
from dpcore.released.noisy_counts import NOISE_ALONE, told_share
from dpcore.released.release import Release

#: What is said of a clause that is not used to predict.
NO_PREDICTION: Final = "does not predict"


def read_theory(release: Release, model: ILPModel, _short: bool) -> Iterator[Block]:
    """Every clause as a sentence, as a bar, with its people, and the theory as a program."""
    weighing = model.weighing(release.domain, release.target)
    yield Bullets.of(*map(pretty, filter(None, [*model.reading(release.domain, release.target), weighing])))
    yield Figure("ilp", "Clause by clause", (release,))
    yield clause_groups(release, model)
    yield Code(prolog_program(release))


def clause_groups(release: Release, model: ILPModel) -> Groups:
    """Whom each clause covers, and who is left."""
    label = f"{release.target} = {model.classes[model.positive]}"
    groups = [
        Group(
            f"{text.title}:",
            text.title,
            (pretty(text.words[:1].upper() + text.words[1:]),),
            group,
            model.count_margin,
            place,
            code=text.prolog,
            mark="" if not text.prolog else f"predicts {label}" if group.kept else NO_PREDICTION,
        )
        for place, (text, group) in enumerate(zip(clause_texts(release), model.groups, strict=True))
    ]
    caption = f"Clauses: each {one_row(release.domain)} belongs to the first that covers it"
    return Groups(caption, "Clause", tuple(groups), release.target, model.classes, model.positive, remainder=True)


@dataclass(frozen=True)
class ClauseText:
    """One group of a theory as text."""

    title: str
    """``Clause 1``, or who is left."""
    words: str
    """Who is in the group, in plain words."""
    prolog: str
    """The clause in Prolog; empty for the last group."""


def clause_texts(release: Release) -> list[ClauseText]:
    """Every group of a released theory as text, in order."""
    model = ILPModel.model_validate(release.model)
    one = one_row(release.domain)
    texts = [
        ClauseText(
            f"Clause {number}",
            f"any {'' if number == 1 else 'other '}{one} {clause_words(clause, release.domain)}",
            written,
        )
        for number, (clause, written) in enumerate(zip(model.clauses, clauses_in_prolog(release), strict=True), 1)
    ]
    return [*texts, ClauseText("No clause", f"every {'other ' if texts else ''}{one}", "")]


def clauses_in_prolog(release: Release) -> list[str]:
    """Each clause of a released theory over the names in the records."""
    stored = release.stored
    model = ILPModel.model_validate(stored.model)
    return model.prolog_clauses(stored.domain, stored.target)


def prolog_program(release: Release) -> str:
    """A theory as a Prolog program over the names in the records; what does not predict stands in comments."""
    release = release.stored
    model = ILPModel.model_validate(release.model)
    card, label = release.certificate, model.classes[model.positive]
    lines = [
        f"% Relational rules for {_comment(f'{release.target} = {label}')}, learned {card.learned}.",
        f"% Data set {_comment(release.dataset_name)}, epsilon {plain_epsilon(card.epsilon)}. "
        f"Noise on each count: +-{model.count_margin}, 95%.",
    ]
    program = model.program(release.domain, release.target)
    for text, group, written in zip(clause_texts(release), model.groups, program, strict=False):
        counts = ", ".join(
            f"{_comment(name)}: {count}" for name, count in zip(model.classes, group.noisy_counts, strict=True)
        )
        chance = told_share(group, model.positive, model.count_margin, NOISE_ALONE)
        lines += ["", f"% {text.title}. Noisy chance: {chance}. Noisy counts: {counts}."]
        if group.kept:
            lines.append(written)
        else:
            lines.append("% It does not predict: the noisy counts speak against it.")
            lines += [f"% {line}" for line in text.prolog.splitlines()]
    return "\n".join(lines) + "\n"


def _comment(text: str) -> str:
    """Text of a schema on one line."""
    return " ".join(text.split())
