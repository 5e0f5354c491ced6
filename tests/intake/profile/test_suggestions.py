from pathlib import Path
from typing import Any

from dpcore.domain.columns import COLUMN_ADAPTER
from dpcore.domain.schemas.origins import STANDARD
from dpcore.intake.columns.guesses import guess, measurements
from dpcore.intake.profile.suggestions import suggest_schema
from tests.support.rows import for_each


@for_each(
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


@for_each(
    ("names", "kind"),
    [
        (["encounter_id", "patient_nbr", "room_number", "admission_date", "discharge_note"], "leave out"),
        (["race", "admission_type_id", "discharge_disposition_id", "diag_1", "max_glu_serum"], "categorical"),
        (["metformin", "change", "readmitted", "age_group", "smoking_status"], "categorical"),
        (["time_in_hospital", "num_lab_procedures", "number_outpatient", "n_falls", "visit_count"], "integer"),
        (["has_condition_1", "died", "survived"], "boolean"),
        (["creatinine_mg_dl", "bmi", "Temp_C"], "real"),
    ],
)
def test_names_of_an_admissions_table_tell_what_they_hold(names: list[str], kind: str) -> None:
    assert {name: guess(name)["type"] for name in names} == dict.fromkeys(names, kind)


def test_every_line_of_the_table_is_a_column_with_a_source() -> None:
    for line in measurements():
        column = COLUMN_ADAPTER.validate_python({"name": line.name, **line.fields})
        assert column.origin == STANDARD
        assert line.source


def test_a_name_without_its_unit_gets_no_limits_where_units_differ() -> None:
    assert guess("creatinine") == {"name": "creatinine", "type": "real"}
    assert guess("creatinine_umol_l")["upper"] == 2650
    assert guess("creatinine_mg_dl")["upper"] == 30
    assert "upper" not in guess("bun_mmol_l")


@for_each(
    ("name", "declared", "expected"),
    [
        ("age", "text", {"type": "categorical"}),
        ("sex", "integer", {"type": "categorical"}),
        ("age", "boolean", {"type": "boolean"}),
        ("number_of_visits", "text", {"type": "categorical"}),
        ("dose", "real", {"type": "real"}),
        ("patient_id", "integer", {"type": "leave out"}),
    ],
)
def test_a_guess_never_contradicts_a_declared_type(name: str, declared: str, expected: dict[str, Any]) -> None:
    assert guess(name, declared) == {"name": name, **expected}
