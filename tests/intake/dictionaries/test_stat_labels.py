"""Labels of values in files of SPSS, Stata and SAS."""

from __future__ import annotations

import pandas as pd
import pyreadstat

from dpcore.domain.schemas.origins import DICTIONARY, STANDARD
from dpcore.domain.schemas.schema import Schema
from dpcore.intake.dictionaries.reading import read_dictionary

FRAME = pd.DataFrame(
    {
        "patient_id": [1.0, 2.0],
        "sex": [1.0, 2.0],
        "smoker": [0.0, 1.0],
        "stage": [1.0, 3.0],
        "heart_rate": [70.0, 80.0],
        "children": [0.0, 2.0],
        "age": [54.0, -9.0],
    }
)
LABELS = {
    "sex": {1.0: "male", 2.0: "female", 9.0: "not asked"},
    "smoker": {0.0: "No", 1.0: "Yes"},
    "stage": {1.0: "early", 2.0: "middle", 3.0: "late"},
    "children": {0.0: "none"},
    "age": {-9.0: "refused"},
}


def _spss(tmp_path):
    path = tmp_path / "clinic.sav"
    pyreadstat.write_sav(
        FRAME,
        path,
        column_labels={"sex": "Sex of the patient"},
        variable_value_labels=LABELS,
        missing_ranges={"sex": [9.0], "age": [-9.0]},
        variable_measure={"stage": "ordinal"},
        variable_format={"heart_rate": "F3.0", "age": "F3.0", "children": "F2.0"},
    )
    return path


def test_an_spss_file_tells_codes_labels_and_missing_values(tmp_path):
    draft = read_dictionary(_spss(tmp_path))
    known = {column["name"]: column for column in draft.content["columns"]}
    assert draft.content["privacy_unit"]["column"] == "patient_id"
    assert known["sex"] == {
        "name": "sex",
        "label": "Sex of the patient",
        "type": "categorical",
        "categories": ["1", "2"],
        "labels": {"1": "male", "2": "female"},
        "missing_codes": ["9"],
        "origin": DICTIONARY,
    }
    assert known["smoker"]["type"] == "boolean"
    assert known["stage"]["type"] == "ordinal"
    assert (known["heart_rate"]["type"], known["heart_rate"]["origin"]) == ("integer", STANDARD)
    assert (known["age"]["missing_codes"], known["age"]["upper"]) == (["-9"], 110)
    assert draft.unknown == ["The lowest and the highest plausible value is not said of 'children'."]


def test_it_is_complete_where_only_names_and_labels_are_needed(tmp_path):
    path = tmp_path / "clinic.dta"
    names = ["patient_id", "sex", "stage", "age"]
    labels = {name: {int(code): label for code, label in LABELS[name].items()} for name in ("sex", "stage")}
    pyreadstat.write_dta(FRAME[names].astype("int32"), path, variable_value_labels=labels)
    draft = read_dictionary(path, "clinic")
    assert not draft.unknown
    draft.limit(1000)
    assert [column.type for column in Schema.from_mapping(draft.content)] == ["categorical", "categorical", "integer"]
