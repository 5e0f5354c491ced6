"""From files or frames to a stored table: what is to be learned first, then all rows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sized
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, TypeVar

import pandas as pd

from dpcore.data.building.ingest import partitions_of
from dpcore.data.building.people import People, people_for
from dpcore.data.stored.storage import save_partitions
from dpcore.disk import needing_room
from dpcore.domain.schemas.schema import Schema
from dpcore.intake.check.examination import AnyFinding, Examination
from dpcore.intake.joins.relations import Source, rows_for
from dpcore.intake.process.learning import learn_schema
from dpcore.intake.profile.identifier_candidates import identifier_candidates
from dpcore.privacy.randomness import SecureRandom
from dpcore.released.learning_plan import LearningPlan

#: Told which table is being read, and how many rows of it were.
Tell = Callable[[str, int], None]
_Rows = TypeVar("_Rows", bound=Sized)
#: Reports of rows are this many rows apart, at least.
_REPORT_ROWS: Final = 20_000


def _nobody(_table: str, _rows: int) -> None:
    pass


def store_table(
    folder: Path,
    schema: Schema,
    source: Source | pd.DataFrame,
    right: str | Path | None = None,
    *,
    accepted: Collection[str] = (),
    keep: bool = False,
    after: Path | None = None,
    plan: LearningPlan | None = None,
    tell: Tell = _nobody,
) -> str:
    """Write a table into an empty folder, with its schema.

    Parameters
    ----------
    source, right
        See :func:`dpcore.intake.joins.relations.rows_for`.
    accepted : collection of str
        Columns that may lose values; of those that are learned that is the point, and needs no yes.
    keep : bool
        Whether the keys of people are kept: see :mod:`dpcore.data.building.people`.
    after : Path, optional
        Folder of a table that keeps them, whose rows are taken in too.
    plan : LearningPlan, optional
        What is learned of the schema first.

    Returns
    -------
    str
        How many people there are in how many rows, and of further rows, how many are about people who were stored
        before; for the custodian alone.

    Raises
    ------
    IngestError
        If the rows do not fit, or a column would lose values that nobody accepted.
    """
    people = people_for(keep, after)
    with needing_room(folder), TemporaryDirectory(dir=folder) as between:
        if plan is not None:
            schema = _learned(plan, source, right, Path(between), tell)
        learned = () if plan is None else tuple(plan.questions)
        stored = None if after is None else people
        further = identifier_candidates(schema, source, right)
        examination = Examination(schema, accepted, learned=learned, whole=after is None, stored=stored, beside=further)
        rows, children = rows_for(schema, source, right, examination.keys.meet, further)
        told = {name: counted_rows(examination.of(pieces, name), tell, name) for name, pieces in children.items()}
        counted = counted_rows(examination.of(rows), tell, schema.entity)
        partitions = partitions_of(counted, schema, SecureRandom(), told, Path(between), people)
        examination.check()
        tell("", 0)
        save_partitions(folder, schema, partitions)
        if people is not None:
            people.save(folder)
        return examination.told()


def examine_table(
    schema: Schema,
    source: Source | pd.DataFrame,
    right: str | Path | None = None,
    *,
    after: Path | None = None,
    tell: Tell = _nobody,
) -> list[AnyFinding]:
    """How the values and rows of a source fit; nothing is stored.

    Parameters
    ----------
    source, right
        See :func:`dpcore.intake.joins.relations.rows_for`.
    after : Path, optional
        Folder of a table that keeps keys, to which these are further rows.

    Raises
    ------
    IngestError
        If something cannot be read.
    """
    stored = None if after is None else People.of(after)
    further = identifier_candidates(schema, source, right)
    examination = Examination(schema, whole=after is None, stored=stored, beside=further)
    rows, children = rows_for(schema, source, right, examination.keys.meet, further)
    for name, pieces in {"": rows, **{child.name: children[child.name] for child in schema.parents_first}}.items():
        for _ in counted_rows(examination.of(pieces, name), tell, name or schema.entity):
            pass
    return examination.findings()


def _learned(
    plan: LearningPlan, source: Source | pd.DataFrame, right: str | Path | None, folder: Path, tell: Tell
) -> Schema:
    rows, _ = rows_for(plan.schema, source, right)
    counted = counted_rows(rows, tell, f"{plan.schema.entity}, to learn")
    with TemporaryDirectory(dir=folder) as between:
        return learn_schema(plan, counted, SecureRandom(), Path(between))


def counted_rows(pieces: Iterator[_Rows], tell: Tell, table: str) -> Iterator[_Rows]:
    """The same rows; how many there were so far is told now and then."""
    rows = told = 0
    for piece in pieces:
        yield piece
        rows += len(piece)
        if rows - told >= _REPORT_ROWS:
            tell(table, rows)
            told = rows
