"""What the OMOP common data model says of its columns."""

from __future__ import annotations

from dpcore.domain.columns import COLUMN_ADAPTER, MAX_CATEGORIES
from dpcore.domain.schemas.origins import DICTIONARY, STANDARD
from dpcore.intake.columns.guesses import LEFT_OUT
from dpcore.intake.dictionaries.omop import TABLES, columns_of, common_concepts, standard_concepts
from dpcore.intake.profile.suggestions import suggest_relations
from tests.support.rows import for_each

NAMES = {
    "person": "person_id gender_concept_id year_of_birth month_of_birth race_concept_id location_id",
    "visit_occurrence": "visit_occurrence_id person_id visit_concept_id visit_start_date discharged_to_concept_id",
    "condition_occurrence": "person_id condition_concept_id condition_type_concept_id stop_reason",
    "drug_exposure": "person_id drug_concept_id days_supply refills quantity sig",
    "measurement": "person_id measurement_concept_id operator_concept_id value_as_number",
    "observation": "person_id observation_concept_id observation_type_concept_id value_as_string",
}


@for_each("table", TABLES)
def test_every_column_is_complete_or_left_out(table):
    columns = columns_of(table, NAMES[table].split())
    kept = [column for column in columns if column["type"] != LEFT_OUT]
    assert kept
    assert all(COLUMN_ADAPTER.validate_python(column).origin == STANDARD for column in kept)
    assert "person_id" not in {column["name"] for column in columns}


def test_a_vocabulary_at_hand_lists_its_standard_concepts():
    rows = [
        {"concept_id": 8507, "concept_name": "MALE", "domain_id": "Gender", "standard_concept": "S"},
        {"concept_id": 8532, "concept_name": "FEMALE", "domain_id": "Gender", "standard_concept": "S"},
        {"concept_id": 45766035, "concept_name": "Feminine gender", "domain_id": "Gender", "standard_concept": None},
    ]
    [gender] = columns_of("person", ["gender_concept_id"], standard_concepts(rows))
    assert gender["categories"] == ["8507", "8532", "0"]
    assert gender["origin"] == DICTIONARY


def test_of_a_large_vocabulary_the_common_concepts_are_listed():
    many = {str(number): f"condition {number}" for number in range(201000, 201000 + 2 * MAX_CATEGORIES)}
    [condition] = columns_of("condition_occurrence", ["condition_concept_id"], {"Condition": many})
    assert set(condition["categories"]) == {*common_concepts("Condition"), "0"}
    assert condition["labels"]["201826"] == "condition 201826"


def test_tables_of_an_omop_data_base_are_known_when_they_are_drafted(tmp_path):
    files = {name: tmp_path / f"{name}.csv" for name in ("person", "visit_occurrence", "billing")}
    for name, path in files.items():
        path.write_text(NAMES.get(name, "person_id price visit_concept_id").replace(" ", ",") + "\n", encoding="utf-8")
    draft = suggest_relations(files, "person", "person_id")
    assert COLUMN_ADAPTER.validate_python(draft["columns"][0]).labels[0].label
    visit, billing = draft["children"]
    kept = {column["name"] for column in visit["columns"] if column["type"] != LEFT_OUT}
    assert kept == {"visit_concept_id", "discharged_to_concept_id"}
    assert "labels" not in billing["columns"][1], "a table that the standard does not have"
