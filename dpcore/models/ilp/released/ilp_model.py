"""The released theory: clauses with noisy counts, to be read and predicted with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from dpcore.arrays import Flags, Floats, Ints
from dpcore.domain.encoding import encode_columns
from dpcore.domain.schemas.schema import Schema
from dpcore.frozen import FrozenModel
from dpcore.models.ilp.language.clause import Clause
from dpcore.models.ilp.language.prolog import Prolog
from dpcore.models.ilp.released.clause_columns import clause_columns
from dpcore.models.ilp.released.ilp_tables import Frames, rows_of_case, rows_of_people, split_tables
from dpcore.models.ilp.released.ilp_words import clause_words, one_row, rows_in_words
from dpcore.numerals import whole
from dpcore.released.cases import possible_cells
from dpcore.released.evaluation import Evaluation
from dpcore.released.noisy_counts import NOISE_ALONE, are_nobody, is_told, told_share, what_fits


class CoveredGroup(FrozenModel):
    """The people whom a clause covers and no earlier one; or those whom none does."""

    clause: Clause | None
    """``None`` for the people whom no clause covers."""
    noisy_counts: tuple[int, ...]
    """These people per class, in the training part, with noise; may be negative."""
    estimates: tuple[float, ...]
    """Class probabilities, summing to 1."""
    intervals: tuple[tuple[float, float], ...]
    """95 % interval of each estimate for the noise alone."""
    kept: bool
    """Whether the clause predicts: its noisy coverage, weights included, is positive."""


class ILPModel(FrozenModel):
    """A theory: the first clause that covers a person decides.

    If it is kept, the person is predicted positive, or else not; so is everybody whom no clause
    covers.
    """

    classes: tuple[str, ...]
    positive: int
    """Code of the class that the clauses describe."""
    groups: tuple[CoveredGroup, ...]
    """One per clause, in the order of their choice, and one for everybody else."""
    count_margin: int
    """Noise on each count stays within plus or minus this, with 95 % confidence."""
    clause_count: int
    """How many clauses each could be chosen from."""
    evaluation: Evaluation | None
    sides: tuple[int, int] | None = None
    """Noisy numbers of people without the positive class and with it, which tell how much each side weighs; ``None`` if
    weights were given."""
    sides_margin: int = 0
    """Noise on each of these stays within plus or minus this, with 95 % confidence."""
    alike: bool | None = None
    """Whether both sides weigh alike by these numbers, as the positive class is rare or somebody wants it. Of releases
    that do not say, they do if there are such numbers."""

    @property
    def clauses(self) -> tuple[Clause, ...]:
        """Every clause of the theory, also those that do not predict."""
        return tuple(group.clause for group in self.groups if group.clause is not None)

    @property
    def labels(self) -> tuple[int, ...]:
        """Predicted class of each group."""
        return predicted_labels(
            [group.kept for group in self.groups], np.array([group.estimates for group in self.groups]), self.positive
        )

    def first_clause(self, frames: Frames, schema: Schema) -> Ints:
        """Group of each person of the main table: the first clause that covers, or the last.

        Columns that a table lacks count as missing. If a table is lacking, nobody has such rows.
        All rows of a person count here, also beyond the number that ingestion keeps: where
        people have more, a theory was learned from a choice of them. Of rows that come at once, the
        one that stands first comes first.

        Raises
        ------
        RequestError
            If a table has rows but no key, or no column that tells their order, or to which row each belongs,
            where a clause asks for it, or the schema describes no such table.
        """
        main, children = split_tables(frames, schema)
        covers = self._covers(main, children, schema)
        first = np.full(len(main), len(self.clauses), dtype=np.int64)
        for position in range(len(self.clauses) - 1, -1, -1):
            first[covers[position]] = position
        return first

    def possible_groups(self, frames: Frames, schema: Schema) -> tuple[int, ...]:
        """Groups that one case may be in, where empty fields of its tables are not known.

        The main table has one row; all rows of other tables are its own, and stand in the order of
        time unless a column tells it. Groups may be told that two unknown values, each alone
        possible, together rule out.
        """
        main, children = split_tables(frames, schema)
        asked = clause_columns(self.clauses)
        person = possible_cells(main.iloc[0].to_dict(), schema, asked.columns.get("", ()))
        rows = rows_of_case(children, schema, asked)
        found = []
        for place, clause in enumerate(self.clauses):
            surely, possibly = clause.verdict(person, rows)
            found += [place] if possibly else []
            if surely:
                return tuple(found)
        return (*found, len(self.clauses))

    def _covers(self, main: pd.DataFrame, children: Mapping[str, pd.DataFrame], schema: Schema) -> list[Flags]:
        asked = clause_columns(self.clauses)
        person = encode_columns(main, schema, asked.columns.get("", ()))
        rows = rows_of_people(main, children, schema, asked)
        return [clause.holds(person, rows, len(main)) for clause in self.clauses]

    def predict(self, frames: Frames, schema: Schema) -> Ints:
        """Predicted class code of each person."""
        return np.asarray(self.labels)[self.first_clause(frames, schema)]

    def predict_proba(self, frames: Frames, schema: Schema) -> Floats:
        """Class probabilities of each person: shape (n_people, n_classes)."""
        estimates = np.array([group.estimates for group in self.groups])
        return np.asarray(estimates[self.first_clause(frames, schema)])

    def count_records(self, frames: Frames, schema: Schema, target: str) -> tuple[tuple[int, ...], ...]:
        """Exact people per group and class, without noise. For public records only."""
        main, _ = split_tables(frames, schema)
        codes = encode_columns(main, schema, [target])[target]
        known = codes < len(self.classes)
        counts = np.zeros((len(self.groups), len(self.classes)), dtype=np.int64)
        np.add.at(counts, (self.first_clause(frames, schema)[known], codes[known]), 1)
        return tuple(tuple(int(count) for count in row) for row in counts)

    def prolog(self, schema: Schema, target: str) -> str:
        """The theory in Prolog notation, one clause after another."""
        return "\n".join(self.prolog_clauses(schema, target))

    def prolog_clauses(self, schema: Schema, target: str) -> list[str]:
        """Each clause in Prolog notation."""
        writer, label = Prolog(schema), self.classes[self.positive]
        return [writer.clause(clause, target, label) for clause in self.clauses]

    def program(self, schema: Schema, target: str) -> list[str]:
        """The clauses that predict, as a program that needs no order; "" for each other one.

        A clause is not for people whom an earlier one covers that does not predict.
        """
        writer, label = Prolog(schema), self.classes[self.positive]
        earlier: list[Clause] = []
        lines = []
        for group in self.groups:
            if group.clause is None:
                continue
            lines.append(writer.clause(group.clause, target, label, earlier) if group.kept else "")
            if not group.kept:
                earlier.append(group.clause)
        return lines

    def reading(self, schema: Schema, target: str) -> list[str]:
        """The theory in plain sentences, one per group."""
        return [self._sentence(place, schema, target) for place in range(len(self.groups))]

    def _sentence(self, place: int, schema: Schema, target: str) -> str:
        group, one = self.groups[place], one_row(schema)
        if group.clause is None:
            who = f"Every other {one}" if self.clauses else f"Every {one}"
        else:
            opening = ("An" if one[:1].lower() in "aeiou" else "A") if place == 0 else "Any other"
            who = f"{opening} {one} {clause_words(group.clause, schema)}"
        doubt = "" if group.kept or group.clause is None else " This clause does not predict it."
        if are_nobody(group.noisy_counts):
            return f"{who}: too few records to estimate it, as the noisy counts add up to none.{doubt}"
        label = f"{target} = {self.classes[self.positive]}"
        if not is_told(group, self.positive, self.count_margin):
            return f"{who}: the chance of {label} is {what_fits(group, self.positive)}.{doubt}"
        return f"{who}: {label} for about {told_share(group, self.positive, self.count_margin, NOISE_ALONE)}.{doubt}"

    def weighing(self, schema: Schema, target: str) -> str:
        """What noisy counts of both sides say of their weights, in a sentence; empty if weights were given."""
        if self.sides is None:
            return ""
        others, described = (max(0, count) for count in self.sides)
        what = (
            "Both sides weigh alike"
            if self.alike is not False
            else f"Every {one_row(schema)} weighs the same, as noisy counts do not show that the value is rare"
        )
        return (
            f"{what}: {target} = {self.classes[self.positive]} for about {rows_in_words(schema, described)}, and not "
            f"for about {whole(others)}, by counts with noise of their own: ±{whole(self.sides_margin)}, 95%."
        )

    def to_frame(self, schema: Schema, target: str, prolog: Sequence[str] | None = None) -> pd.DataFrame:
        """Table twin of the theory: one row per group, every number labelled noisy.

        Parameters
        ----------
        prolog : sequence of str, optional
            The clauses as they are written over the names in the records, if this schema has others.
        """
        written = [*(self.prolog_clauses(schema, target) if prolog is None else prolog), ""]
        rows = []
        for place, (group, clause) in enumerate(zip(self.groups, written, strict=True)):
            row: dict[str, object] = {"clause": place + 1 if group.clause else "none", "prolog": clause}
            row["predicted"] = self.classes[self.labels[place]]
            for code, label in enumerate(self.classes):
                row[f"noisy estimate: {label}"] = group.estimates[code]
                row[f"from: {label}"], row[f"to: {label}"] = group.intervals[code]
                row[f"noisy count: {label}"] = group.noisy_counts[code]
            rows.append(row)
        return pd.DataFrame(rows)


def predicted_labels(kept: Sequence[bool], estimates: Floats, positive: int) -> tuple[int, ...]:
    """Class of each group: the positive one if its clause is kept, or else the likeliest other."""
    others = estimates.copy()
    others[:, positive] = -1.0
    return tuple(positive if keep else int(row.argmax()) for keep, row in zip(kept, others, strict=True))
