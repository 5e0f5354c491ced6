"""Tables of the OMOP common data model 5.4: what their columns mean is a standard.

Concepts have numbers that are the same everywhere. Those of a vocabulary at hand are taken, else the common ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from dpcore.domain.columns import MAX_CATEGORIES
from dpcore.domain.schemas.origins import DICTIONARY, STANDARD
from dpcore.intake.columns.concepts import concepts as concepts_of
from dpcore.intake.columns.guesses import LEFT_OUT

#: The column that says whose row it is, in every table.
PERSON: Final = "person_id"
#: Lists of common concepts, by domain; of drugs there is none.
_COMMON: Final = {
    "Gender": "gender",
    "Race": "race",
    "Ethnicity": "ethnicity",
    "Visit": "visit",
    "Condition": "common condition",
    "Measurement": "common measurement",
    "Type Concept": "kind of record",
    "Meas Value Operator": "operator",
}
#: The number of a concept that no standard concept stands for.
_NONE = ("0", "no matching concept")
#: Columns with concepts, by table: the domain that they come from, and what people call them.
_CONCEPTS: Final[dict[str, dict[str, tuple[str, str]]]] = {
    "person": {
        "gender_concept_id": ("Gender", "Gender"),
        "race_concept_id": ("Race", "Race"),
        "ethnicity_concept_id": ("Ethnicity", "Ethnicity"),
    },
    "visit_occurrence": {
        "visit_concept_id": ("Visit", "Visit"),
        "visit_type_concept_id": ("Type Concept", "Record of the visit"),
        "admitted_from_concept_id": ("Visit", "Admitted from"),
        "discharged_to_concept_id": ("Visit", "Discharged to"),
    },
    "condition_occurrence": {
        "condition_concept_id": ("Condition", "Condition"),
        "condition_type_concept_id": ("Type Concept", "Record of the condition"),
    },
    "drug_exposure": {
        "drug_concept_id": ("Drug", "Drug"),
        "drug_type_concept_id": ("Type Concept", "Record of the drug"),
    },
    "measurement": {
        "measurement_concept_id": ("Measurement", "Measurement"),
        "measurement_type_concept_id": ("Type Concept", "Record of the measurement"),
        "operator_concept_id": ("Meas Value Operator", "Operator"),
    },
    "observation": {
        "observation_concept_id": ("Observation", "Observation"),
        "observation_type_concept_id": ("Type Concept", "Record of the observation"),
    },
}
_NUMBERS: Final[dict[str, dict[str, dict[str, object]]]] = {
    "person": {
        "year_of_birth": {"lower": 1900, "upper": 2030, "bins": 13, "label": "Year of birth"},
        "month_of_birth": {"lower": 1, "upper": 12, "bins": 4, "label": "Month of birth"},
    },
    "drug_exposure": {
        "days_supply": {"lower": 0, "upper": 365, "edges": [7, 14, 30, 60, 90, 180], "label": "Days of supply"},
        "refills": {"lower": 0, "upper": 24, "edges": [0, 1, 3, 6, 12], "label": "Refills"},
    },
}

#: Names of concepts by their numbers, by domain.
Concepts = Mapping[str, Mapping[str, str]]
TABLES: Final = tuple(_CONCEPTS)


def common_concepts(domain: str) -> Mapping[str, str]:
    """Common standard concepts of a domain, from the table that comes with the program."""
    return concepts_of(_COMMON.get(domain, ""))


def standard_concepts(rows: Iterable[Mapping[str, object]]) -> Concepts:
    """The standard concepts of a vocabulary, from the rows of its table ``concept``."""
    standard = (row for row in rows if row.get("standard_concept") == "S")
    return _by_domain((str(row["concept_id"]), str(row["concept_name"]), str(row["domain_id"])) for row in standard)


def _by_domain(concepts: Iterable[tuple[str, str, str]]) -> Concepts:
    found: dict[str, dict[str, str]] = {}
    for number, name, domain in concepts:
        found.setdefault(domain, {})[number] = name
    return found


def columns_of(table: str, names: Iterable[str], concepts: Concepts | None = None) -> list[dict[str, object]]:
    """What the standard says of columns, for a schema; the type is ``"leave out"`` where it lists no values.

    Parameters
    ----------
    table : str
        Such as ``person``; a name that the standard does not know leaves every column out.
    names : iterable of str
        The columns that there are. That of the person is passed over.
    concepts : mapping, optional
        A vocabulary at hand, see :func:`standard_concepts`. A domain with more concepts than a
        column may have categories gives the common ones, under the vocabulary's names.
    """
    return [_column(table.lower(), name, concepts or {}) for name in names if name.lower() != PERSON]


def _column(table: str, name: str, concepts: Concepts) -> dict[str, object]:
    plain = name.lower()
    if plain in _NUMBERS.get(table, {}):
        return {"name": name, "type": "integer", **_NUMBERS[table][plain], "origin": STANDARD}
    domain, label = _CONCEPTS.get(table, {}).get(plain, ("", ""))
    listed, origin = _listed(concepts.get(domain, {}), common_concepts(domain))
    if not listed:
        return {"name": name, "type": LEFT_OUT}
    labels = {**listed, **dict([_NONE])}
    return {
        "name": name,
        "type": "categorical",
        "label": label,
        "categories": list(labels),
        "labels": {number: text[:200] for number, text in labels.items()},
        "origin": origin,
    }


def _listed(known: Mapping[str, str], common: Mapping[str, str]) -> tuple[Mapping[str, str], str]:
    if known and len(known) < MAX_CATEGORIES:
        return known, DICTIONARY
    return {number: known.get(number, name) for number, name in common.items()}, STANDARD
