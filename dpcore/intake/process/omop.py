"""Data bases in the OMOP common data model 5.4, as persons with child tables.

What is read of one is public: lists of standard concepts beside this module, which say for each
line where it comes from. Conditions and drugs are groups of the list that OHDSI describes every
population with; who has a condition below one of them in the vocabulary has it.
"""

from __future__ import annotations

import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from dpcore.domain.schemas.origins import STANDARD
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import IngestError, RequestError
from dpcore.intake.columns.concepts import concepts
from dpcore.intake.process.uploads import headers_of
from dpcore.intake.sources.sources import ENDING, Served

_PLACE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
#: The table that says which concepts lie below which; vocabularies need not be loaded.
ANCESTORS = "concept_ancestor"
#: Persons that there may be, if nothing else is said.
MAX_ROWS = 100_000
#: Rows of further tables that are kept of each person.
_VISITS, _KEPT = 10, 20
#: No concept that is standard; gender and race that are unknown.
_NONE = ["0", "8551", "8552"]
_LEVEL = (
    "CASE WHEN t.value_as_number < t.range_low THEN 'low' WHEN t.value_as_number > t.range_high THEN 'high' "
    "WHEN t.value_as_number IS NOT NULL AND (t.range_low IS NOT NULL OR t.range_high IS NOT NULL) THEN 'normal' END"
)


def place_of(table: str, within: str = "") -> str:
    """A table in its schema of the data base.

    Raises
    ------
    RequestError
        If the schema has no plain name.
    """
    if within and not _PLACE.fullmatch(within):
        raise RequestError("Name the schema of the data base that holds the OMOP tables in letters, digits and '_'.")
    return f"{within}.{table}" if within else table


def served(database: str, within: str = "") -> Served:
    """What a source file for a data base says: see :func:`tables`.

    Raises
    ------
    RequestError
        If the operator has set no data base of this name, or see :func:`place_of`.
    """
    with TemporaryDirectory() as folder:
        probe = Path(folder) / f"probe{ENDING}"
        probe.write_text(Served(database, {ANCESTORS: place_of(ANCESTORS, within)}).text(), encoding="utf-8")
        try:
            ancestors = bool(headers_of(probe))
        except IngestError:
            ancestors = False
    return Served(database, tables(within, ancestors=ancestors))


def tables(within: str = "", *, ancestors: bool) -> dict[str, str]:
    """Queries by the names of tables in the schema of :func:`schema`, for a source file.

    Parameters
    ----------
    within : str
        Schema of the data base that holds the tables.
    ancestors : bool
        Whether it holds :data:`ANCESTORS`; if not, only conditions and drugs that are themselves
        on a list are read.
    """

    def listed(kind: str, table: str, column: str, *, below: bool = False, more: str = "") -> str:
        concept = "a.ancestor_concept_id" if below else f"t.{column}"
        join = f" JOIN {place_of(ANCESTORS, within)} a ON a.descendant_concept_id = t.{column}" if below else ""
        return (
            f"SELECT DISTINCT t.person_id, {concept} AS {kind}{more} FROM {place_of(table, within)} t{join} "
            f"WHERE {concept} IN ({', '.join(concepts(kind))})"
        )

    facts = ", ".join(f"{kind}_concept_id AS {kind}" for kind in ("gender", "race", "ethnicity"))
    visits = "person_id, visit_concept_id AS visit, visit_start_date, visit_end_date"
    return {
        "person": f"SELECT person_id, year_of_birth, {facts} FROM {place_of('person', within)}",
        "visit": f"SELECT {visits} FROM {place_of('visit_occurrence', within)}",
        "condition": listed("condition", "condition_occurrence", "condition_concept_id", below=ancestors),
        "drug": listed("drug", "drug_exposure", "drug_concept_id", below=ancestors),
        "measurement": listed("measurement", "measurement", "measurement_concept_id", more=f", {_LEVEL} AS level"),
        "observation": listed("observation", "observation", "observation_type_concept_id"),
    }


def schema(name: str, max_rows: int = MAX_ROWS) -> Schema:
    """The public description of what :func:`tables` reads; nothing of it comes from records."""
    born = {"name": "year_of_birth", "type": "integer", "lower": 1900, "upper": 2030, "bins": 13, "origin": STANDARD}
    days = {
        "name": "days",
        "type": "integer",
        "lower": 0,
        "upper": 90,
        "edges": [1, 3, 7, 14, 30],
        "unit": "days",
        "derive": {"days_from": "visit_start_date", "to": "visit_end_date"},
        "origin": STANDARD,
    }
    level = {"name": "level", "type": "ordinal", "categories": ["low", "normal", "high"], "origin": STANDARD}
    return Schema.from_mapping(
        {
            "name": name,
            "description": "An OMOP data base: persons, their visits, and groups of what was recorded.",
            "entity": "person",
            "max_rows": max_rows,
            "privacy_unit": {"column": "person_id", "max_rows_per_person": 1},
            "columns": [born, *map(_coded, ("gender", "race", "ethnicity"))],
            "children": [
                _child("visit", _VISITS, days),
                _child("condition", _KEPT),
                _child("drug", _KEPT),
                _child("measurement", _KEPT, level),
                _child("observation", len(concepts("observation"))),
            ],
        }
    )


def _child(name: str, kept: int, *more: dict[str, Any]) -> dict[str, object]:
    return {"name": name, "max_rows_per_person": kept, "columns": [_coded(name), *more]}


def _coded(kind: str) -> dict[str, object]:
    """A column of concepts, under names that people read."""
    named = concepts(kind)
    return {
        "name": kind,
        "type": "categorical",
        "categories": list(named),
        "labels": named,
        "missing_codes": _NONE,
        "origin": STANDARD,
    }
