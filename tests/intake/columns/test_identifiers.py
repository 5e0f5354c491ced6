"""What identifies people is never listed, by its name nor by its values."""

from __future__ import annotations

from collections import Counter
from typing import Any
from uuid import UUID

import pandas as pd

from dpcore.domain.columns import CategoricalColumn
from dpcore.intake.columns.corrections import corrections
from dpcore.intake.columns.guesses import LEFT_OUT, guess
from dpcore.intake.columns.identifiers import suggest_person
from dpcore.intake.profile.column_profiles import drafts_of
from tests.support.rows import for_each

UUIDS = [str(UUID(int=(n + 5) * 7**40 % 2**128)) for n in range(60)]


def look(name: str, values: list[Any], kind: str | None = None) -> tuple[dict[str, Any], str]:
    found = drafts_of([pd.DataFrame({name: values})], {name: kind})
    return (found.columns[-1] if found.columns else {}), " ".join(found.notes)


@for_each("kind", [None, "categorical"])
@for_each(
    ("name", "values"),
    [
        ("x", UUIDS * 15),
        ("x", [text.upper() for text in UUIDS[:4]] * 100),
        ("x", [text.replace("-", "") for text in UUIDS] * 15),
        ("Pat.-Nr.", [f"P{100_007 + n}" for n in range(600)]),
        ("x", [f"P{100_007 + n}" for n in range(80)] * 3),
        ("x", [f"A{n:04d}" for n in range(90)] * 4),
        ("x", [f"SITE{n % 3:02d}-{n:04d}" for n in range(95)]),
        ("x", [f"{n:03d}-{n % 90 + 10}-{n + 1000}" for n in range(80)] * 2),
        ("x", [f"19{n % 90 + 10}0101-{n + 1000}" for n in range(80)] * 2),
        ("x", [f"anna{n}@example.org" for n in range(70)] * 2),
        ("x", [f"RSSMRA{n % 90 + 10}A01H{n % 899 + 100}Z" for n in range(70)] * 2),
        ("x", [f"C{n * 7919 % 10**7:07d}" for n in range(95)]),
        ("Patient", [f"{n}" for n in range(40)] * 9),
        ("Nachname", ["Meier", "Huber", "Schmidt"] * 100),
        ("passport_no", ["AB1", "CD2", "EF3"] * 100),
        ("telefon", ["1 23", "4 56", "7 89"] * 100),
    ],
)
def test_what_identifies_is_left_out(name: str, values: list[str], kind: str | None) -> None:
    found, note = look(name, values, kind)
    assert found == ({} if kind else {"name": name, "type": LEFT_OUT})
    assert "holds what identifies people or records" in note


@for_each(
    ("name", "values"),
    [
        ("code", ["E11.9", "I10", "J44.1", "I50.01"] * 100),
        ("diagnosis", [f"I{n % 90 + 10}{n % 10}{n % 7}" for n in range(400)]),
        ("code", ["A02BC01", "N02BE01"] * 100),
        ("site", [f"S{n:04d}" for n in range(12)] * 100),
        ("ward_name", ["north", "south"] * 100),
        ("hospital_id", ["1", "2", "3"] * 100),
        ("admission_type_id", [str(n) for n in range(8)] * 100),
        ("income", [str(20_000 + 137 * n) for n in range(300)]),
        ("platelets", [str(150_000 + 1_000 * (n % 250)) for n in range(300)]),
        ("admitted", ["2024-01-31", "2021-03-04"] * 100),
        ("admitted", ["20240131", "20210304"] * 100),
    ],
)
def test_what_is_no_identifier_is_kept(name: str, values: list[str]) -> None:
    found, note = look(name, values)
    assert not note
    assert found["type"] != LEFT_OUT


@for_each(
    ("header", "person"),
    [
        (["Id", "PATIENT", "START"], "PATIENT"),
        (["Fallnummer", "Pat.-Nr.", "Station"], "Pat.-Nr."),
        (["visit_id", "henkilötunnus"], "henkilötunnus"),
        (["sample_id", "Proband"], "Proband"),
        (["student", "user_id"], "user_id"),
        (["encounter_id", "hospital_patient_id"], "hospital_patient_id"),
        (["numero_paciente", "edad"], "numero_paciente"),
        (["hospital_id", "ward", "visit_number"], None),
        (["type_of_patient", "age"], None),
    ],
)
def test_the_person_is_proposed_in_other_languages_and_before_a_number_of_anything(
    header: list[str], person: str | None
) -> None:
    assert suggest_person(header) == person
    if person is not None:
        assert guess(person)["type"] == LEFT_OUT


def test_identifiers_that_fit_nowhere_are_not_offered_as_categories() -> None:
    column = CategoricalColumn(name="x", categories=("a", "b"))
    assert not corrections(column, Counter(UUIDS), [])
    assert corrections(column, Counter({"c": 4}), [])
