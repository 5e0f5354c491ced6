from pathlib import Path

import pytest

from dpcore.intake.suggestions import suggest_schema


@pytest.mark.parametrize(
    ("header", "person"),
    [
        ("admission_id,patient_id,age", "patient_id"),
        ("id,PatientID,age", "PatientID"),
        ("admission_id,age", None),
        ("room_number,age", None),
        ("age,id", "id"),
    ],
)
def test_only_an_identifier_of_people_is_proposed_as_the_person(
    tmp_path: Path, header: str, person: str | None
) -> None:
    """Protecting an admission where a person was meant would weaken the promise."""
    file = tmp_path / "data.csv"
    file.write_text(header + "\n1,2,3\n")
    draft = suggest_schema(file)
    assert draft["person_column"] == person
    kept = {column["name"] for column in draft["columns"] if column["type"] != "leave out"}
    assert kept == {"age"}
