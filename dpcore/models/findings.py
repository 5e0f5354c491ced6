"""What a release says of each column, in a form that two releases of any families can be compared by.

Of a model that predicts, the chance (or number) that it gives is averaged over the same invented cases,
once with every value of a column: a partial dependence (Friedman 2001, section 8.2), free as everything
that is made of a release. Parts that the noise hides are taken as saying nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final, Literal

import numpy as np

from dpcore.arrays import Array, Floats, Ints
from dpcore.domain.columns import RESERVED, Column, IntegerColumn, NumericColumn
from dpcore.domain.schemas.labels import called, cell_called, cells_called
from dpcore.domain.schemas.schema import Schema
from dpcore.models.ilp.language.nested_conditions import single
from dpcore.models.ilp.released.ilp_model import ILPModel
from dpcore.models.redescriptions.released.extraction import Constraints
from dpcore.models.redescriptions.released.redescription_model import RedescriptionModel
from dpcore.models.released import family_of, parse_model
from dpcore.models.summaries.released.reading import readings
from dpcore.models.summaries.released.summary_model import SummaryModel
from dpcore.models.summaries.released.summary_words import cell_words
from dpcore.numerals import percent, whole
from dpcore.privacy.randomness import public_generator
from dpcore.released.evidence import Records
from dpcore.released.noisy_counts import are_nobody
from dpcore.released.release import Release

#: Invented cases over which is averaged, and the seed that makes them the same for all.
_CASES: Final = 200
_SEED: Final = 7
#: A difference between the values of a column that is told: of a chance, or of the range of a number.
_LEAST: Final = 0.02
#: Correlation from which on two releases are said to agree, or below its negative to disagree.
_ALIKE: Final = 0.3

Agreement = Literal["alike", "opposite", "unclear", "named", "one only", "different"]


@dataclass(frozen=True)
class Finding:
    """What one release says of one column."""

    column: str
    """Its name in the records."""
    label: str
    """What people call it."""
    words: str
    """What is said of it, in a few words."""
    strength: float
    """By how much what is predicted differs between its values; what ranks it."""
    profile: Floats | None = None
    """What is predicted on average in each cell; ``None`` if only its use is told: shape (n_cells,)."""
    ends: tuple[Floats, Floats] | None = None
    """Of the 95 % interval of each for noise; ``None`` where what the noise hides is left out."""


def findings(release: Release) -> dict[str, Finding]:
    """What a release says of each column that it says anything of, the strongest first."""
    release = release.stored
    look = _LOOKS.get(release.kind, _dependence if release.target else _nothing)
    told = look(release, parse_model(release))
    ranked = sorted(told, key=lambda item: -item.strength)
    return {item.column: item for item in ranked}


def agreement(items: Sequence[Finding | None]) -> Agreement:
    """How far what several releases say of one column goes together; ``named``: of some only its use is told."""
    known = [item for item in items if item is not None]
    if len(known) < len(items):
        return "one only" if len(known) == 1 else "different"
    profiles = [item.profile for item in known if item.profile is not None]
    comparable = len({profile.shape for profile in profiles}) == 1
    pairs = list(combinations((item for item in known if item.profile is not None), 2)) if comparable else []
    alike = [_correlation(np.asarray(one.profile), np.asarray(other.profile)) for one, other in pairs]
    if any(own <= -_ALIKE and _apart(*pair) for own, pair in zip(alike, pairs, strict=True)):
        return "opposite"
    if len(profiles) < len(known):
        return "named"
    return "alike" if min(alike, default=0.0) >= _ALIKE else "unclear"


def outcome(release: Release) -> str:
    """What directions are about: ``died = yes``, or the name of a number; empty without a target."""
    release = release.stored
    if not release.target:
        return ""
    model, column = parse_model(release), release.domain.column(release.target)
    name, classes = called(release.domain, release.target), getattr(model, "classes", ())
    return f"{name} = {cell_called(column, classes[_shown(model)])}" if classes else name


def _shown(model: Any) -> int:
    """The class that is told of: the second of two, else the last, or the one that clauses describe."""
    return int(getattr(model, "positive", len(model.classes) - 1))


def _apart(one: Finding, other: Finding) -> bool:
    """Whether noise alone does not explain that two profiles differ: some of their intervals do not meet."""
    if one.ends is None or other.ends is None:
        return True
    (low, high), (least, most) = one.ends, other.ends
    return bool(((low > most) | (least > high)).any())


def _correlation(one: Floats, other: Floats) -> float:
    a, b = one - one.mean(), other - other.mean()
    size = float(np.sqrt((a**2).sum() * (b**2).sum()))
    return float((a * b).sum() / size) if size > 0 else 0.0


# Models that predict


def _dependence(release: Release, model: Any) -> Iterator[Finding]:
    """How what is predicted moves with each column of the main table."""
    schema, evidence = release.domain, family_of(release).evidence(_without_what_is_hidden(model))
    classes = getattr(model, "classes", ())
    cases = _cases(schema)
    for name in sorted(evidence.columns()):
        column = schema.column(name)
        filled = _filled(column)
        profile = np.array(
            [_mean(evidence, _with(cases, column, cell), _shown(model) if classes else None) for cell in filled]
        )
        span = float(profile.max() - profile.min())
        scale = 1.0 if classes else _range(schema, release.target)
        if span >= _LEAST * scale:
            yield Finding(name, called(schema, name), _direction(column, filled, profile, classes), span, profile)


def _without_what_is_hidden(model: Any) -> Any:
    """A model in which groups whose interval holds the chance of everybody give just that."""
    for name in ("rules", "nodes"):
        groups = getattr(model, name, None)
        if groups:
            final = groups if name == "rules" else [groups[place] for place in model.finals]
            return model.model_copy(update={name: _neutral(groups, final)})
    terms = getattr(model, "terms", None)
    if terms is not None and hasattr(model, "intercept"):
        return model.model_copy(update={"terms": tuple(term for term in terms if term.clear)})
    return model


def _neutral(groups: Sequence[Any], final: Sequence[Any]) -> tuple[object, ...]:
    """Groups of which those that say nothing give what all the others give together."""
    whole = _shares(final)

    def hidden(group: Any) -> bool:
        inside = all(low <= share <= high for share, (low, high) in zip(whole, group.intervals, strict=True))
        return inside or are_nobody(group.noisy_counts)

    rest = _shares([group for group in final if group.intervals and not hidden(group)] or final)
    return tuple(
        group.model_copy(update={"estimates": rest}) if group.intervals and hidden(group) else group for group in groups
    )


def _shares(groups: Sequence[Any]) -> tuple[float, ...]:
    counts = np.maximum(np.array([group.noisy_counts for group in groups], dtype=np.float64), 0).sum(axis=0)
    return tuple(float(share) for share in counts / max(counts.sum(), 1.0))


def _mean(evidence: Any, records: Records, code: int | None) -> float:
    if code is None:
        return float(np.mean(evidence.predicted(records)))
    return float(evidence.probabilities(records)[:, code].mean())


def _cases(schema: Schema) -> Records:
    """Invented cases: every value of the schema is as common as any other."""
    import pandas as pd

    generator = public_generator(_SEED)
    codes = {column.name: generator.choice(_filled(column), _CASES) for column in schema.columns}
    main = pd.DataFrame({column.name: _values(column, codes[column.name]) for column in schema.columns})
    return Records(schema, {schema.entity: main}, {name: own.astype(np.int64) for name, own in codes.items()})


def _with(cases: Records, column: Column, cell: int) -> Records:
    codes: Ints = np.full(cases.rows, cell, dtype=np.int64)
    return cases.exchanged({column.name: _values(column, codes)}, {column.name: codes})


def _filled(column: Column) -> list[int]:
    """Cells that hold a value."""
    return [code for code, cell in enumerate(column.cells) if cell not in RESERVED]


def _values(column: Column, codes: Ints) -> Array:
    """A value in each of some cells: the upper end of a range, or the category."""
    if not isinstance(column, NumericColumn):
        return np.array(column.cells, dtype=object)[codes]
    points = np.array([column.lower, *column.inner_edges, column.upper], dtype=np.float64)
    low, high = points[:-1][codes], points[1:][codes]
    return np.maximum(np.floor(high), low) if isinstance(column, IntegerColumn) else (low + high) / 2


def _range(schema: Schema, target: str) -> float:
    column = schema.column(target)
    return float(column.upper - column.lower) if isinstance(column, NumericColumn) else 1.0


def _direction(column: Column, filled: list[int], profile: Floats, classes: Sequence[str]) -> str:
    """Where what is predicted is high and low: ``rises with it, 3.0% to 12%``."""
    least, most = _told(float(profile.min()), classes), _told(float(profile.max()), classes)
    if column.ordered:
        third = max(1, len(profile) // 3)
        change, span = profile[-third:].mean() - profile[:third].mean(), profile.max() - profile.min()
        if change > span / 2:
            return f"rises with it, {least} to {most}"
        if change < -span / 2:
            return f"falls with it, {most} to {least}"
    names = cells_called(column)
    high, low = (names[filled[int(place)]] for place in (profile.argmax(), profile.argmin()))
    return f"highest for {high} ({most}), lowest for {low} ({least})"


def _told(value: float, classes: Sequence[str]) -> str:
    return percent(value) if classes else f"{value:,.4g}"


# Releases that predict nothing, or look at several tables


def _clauses(release: Release, model: ILPModel) -> Iterator[Finding]:
    """Columns that clauses ask about, and what they ask."""
    schema = release.domain
    asked: dict[str, dict[str, None]] = {}
    for clause, group in zip(model.clauses, model.groups, strict=False):
        if group.kept:
            signed = [("", atom) for atom in clause.atoms]
            signed += [("not " * part.negated, atom) for part in clause.variables for atom in single(part.atoms)]
            for sign, atom in signed:
                if atom.column:
                    name = f"{atom.table}: {atom.column}" if atom.table else atom.column
                    asked.setdefault(name, {})[f"{sign}{atom.condition(schema)}".replace(" <= ", " ≤ ")] = None
    for name, conditions in asked.items():
        yield Finding(name, name, f"clauses ask for {', '.join(conditions)}", float(len(conditions)))


def _pairs(release: Release, model: RedescriptionModel) -> Iterator[Finding]:
    """Columns that the redescriptions name which are kept, and how many name each."""
    found = model.extract(release.domain, Constraints())
    kept = found.pruned(found.suggested_support)
    for name in sorted({column for item in kept for column in item.columns}):
        own = [item for item in kept if name in item.columns]
        words = f"in {whole(len(own))} of {whole(len(kept))} redescriptions; the best: {own[0].left} ⇔ {own[0].right}"
        yield Finding(name, called(release.domain, name), words, len(own) / len(kept))


def _counted(release: Release, model: SummaryModel) -> Iterator[Finding]:
    """Shares of the cells of each column of which noise alone does not explain that they differ."""
    schema = release.domain
    for item in readings(model, schema):
        shares, ends = item.shares.values, (item.shares.low, item.shares.high)
        if ends[0].max() > ends[1].min():
            most = int(shares.argmax())
            words = f"most often {cell_words(item.axis, schema)[most]} ({percent(float(shares[most]))})"
            name = item.label if item.axis.rows else item.axis.name
            yield Finding(name, called(schema, name), words, float(shares[most]), shares, ends)


def _nothing(_release: Release, _model: Any) -> Iterator[Finding]:
    return iter(())


_LOOKS: Mapping[str, Callable[[Release, Any], Iterator[Finding]]] = {
    "ilp": _clauses,
    "redescriptions": _pairs,
    "summaries": _counted,
}
