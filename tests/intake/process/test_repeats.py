"""Exports of REDCap with repeats: records and what repeats are tables of their own."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from dpcore.data.table import PrivateTable
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import IngestError
from dpcore.intake.dictionaries.drafts import Draft
from dpcore.intake.dictionaries.reading import read_dictionary
from dpcore.intake.process.repeats import divide, repeats_of
from dpcore.intake.process.storing import examine_table, store_table

HEADER = (
    "field_name,form_name,field_type,field_label,select_choices_or_calculations,"
    "text_validation_type_or_show_slider_number,text_validation_min,text_validation_max\n"
)
FIELDS = f"""{HEADER}study_no,base,text,Record,,,,
age,base,text,Age,,integer,18,100
sex,base,radio,Sex,"0, f | 1, m",,,
sbp,pressure,text,Systolic,,integer,60,250
drug,drugs,radio,Drug,"1, a | 2, b",,,
"""


def export(events: bool = False) -> pd.DataFrame:
    """200 records, each with two pressures and one drug; with events these are of repeated visits."""
    rows = []
    for record in range(200):
        head = {"study_no": record, "redcap_event_name": "start"}
        rows.append(head | {"age": 20 + record % 70, "sex": record % 2})
        rows += [_again(head, "pressure", n, events) | {"sbp": 100 + record % 90} for n in (1, 2)]
        rows.append(_again(head, "drugs", 1, events) | {"drug": 1 + record % 2})
    order = ["study_no", "redcap_event_name", "redcap_repeat_instrument", "redcap_repeat_instance"]
    frame = pd.DataFrame(rows, dtype=object)
    return frame[[*order, *(name for name in frame if name not in order)]].fillna("")


def _again(head: dict[str, object], kind: str, number: int, events: bool) -> dict[str, object]:
    place = {"redcap_event_name": kind} if events else {"redcap_repeat_instrument": kind}
    return head | {"redcap_repeat_instrument": ""} | place | {"redcap_repeat_instance": number}


@pytest.fixture(params=[False, True], ids=["instruments", "events"])
def files(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, Path]:
    data, dictionary = tmp_path / "data.csv", tmp_path / "dictionary.csv"
    export(request.param).to_csv(data, index=False)
    dictionary.write_text(FIELDS)
    return data, dictionary


def described(files: tuple[Path, Path]) -> Schema:
    draft = read_dictionary(files[1])
    divide(draft, repeats_of(files[0]))
    assert [line for line in draft.unknown if "How many rows of a person are kept" in line]
    draft.limit(1000)
    for child in draft.content["children"]:
        child["max_rows_per_person"] = 2
    return Schema.from_mapping(draft.content)


def test_no_value_of_a_record_is_lost_and_what_repeats_is_kept(files: tuple[Path, Path], tmp_path: Path) -> None:
    declared = described(files)
    assert [column.name for column in declared] == ["age", "sex"]
    assert [(child.name, [column.name for column in child.columns]) for child in declared.children] == [
        ("pressure", ["sbp"]),
        ("drugs", ["drug"]),
    ]
    found = examine_table(declared, files[0])
    assert not [each.sentence for each in found if each.needs_yes]
    assert [each.missing for each in found if each.of_values] == [0] * 4
    (tmp_path / "t").mkdir()
    store_table(tmp_path / "t", declared, files[0])
    table = PrivateTable.open(tmp_path / "t")
    assert len(table.public_frame()) == 200
    assert table.public_frame()["age"].notna().all()


def test_such_an_export_as_one_table_needs_a_yes(files: tuple[Path, Path]) -> None:
    content = {"name": "s", "max_rows": 1000, "columns": [{"name": "sex", "type": "boolean"}]}
    one = Schema.from_mapping(content | {"privacy_unit": {"column": "study_no", "max_rows_per_person": 4}})
    [found] = [each for each in examine_table(one, files[0]) if each.needs_yes and not each.of_values]
    assert "600 of 800 rows are of repeating instruments" in found.sentence


def test_rows_of_a_record_that_is_not_there_are_told(tmp_path: Path) -> None:
    rows = export()
    rows[~((rows["age"] != "") & (rows["study_no"].astype(int) < 40))].to_csv(tmp_path / "a.csv", index=False)
    (tmp_path / "d.csv").write_text(FIELDS)
    declared = described((tmp_path / "a.csv", tmp_path / "d.csv"))
    said = {each.place: each for each in examine_table(declared, tmp_path / "a.csv") if each.needs_yes}
    assert "80 of 400 rows name somebody in 'study_no' who is not in the main table" in said["pressure"].sentence


def test_an_export_without_records_or_with_odd_names_is_refused(tmp_path: Path) -> None:
    draft = read_dictionary_of(tmp_path)
    only = export().drop(columns=["age", "sex"])
    only.to_csv(tmp_path / "a.csv", index=False)
    draft.content["columns"] = draft.content["columns"][2:]
    with pytest.raises(IngestError, match="No column of the file has a value outside of repeating instruments"):
        divide(draft, repeats_of(tmp_path / "a.csv"))
    export().replace({"pressure": "p" * 300}).to_csv(tmp_path / "a.csv", index=False)
    with pytest.raises(IngestError, match="cannot be the name of a table"):
        divide(read_dictionary_of(tmp_path), repeats_of(tmp_path / "a.csv"))


def read_dictionary_of(folder: Path) -> Draft:
    (folder / "d.csv").write_text(FIELDS)
    return read_dictionary(folder / "d.csv")
