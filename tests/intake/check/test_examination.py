"""What the custodian is told of a schema that does not fit, before anything is stored."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcore.domain.columns import COLUMN_ADAPTER
from dpcore.domain.encoding import encode
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import IngestError
from dpcore.intake.check.examination import SHARE_LOST, Examination, Finding
from dpcore.intake.columns.corrections import corrections
from dpcore.service import Service
from dpcore.workspace.people.users import User
from tests.support.rows import for_each
from tests.support.tables.admissions import admissions


def schema(*columns: dict[str, Any], **more: Any) -> Schema:
    return Schema.from_mapping({"name": "s", "max_rows": 100_000, "columns": list(columns), **more})


def finding(column: dict[str, Any], values: Any, chunks: int = 1) -> Finding:
    looking = Examination(schema({"name": "x", **column}))
    frame = pd.DataFrame({"x": values})
    for piece in np.array_split(np.arange(len(frame)), chunks):
        list(looking.of(iter([frame.iloc[piece]])))
    [found] = looking.findings()
    return found


def category(*names: str, **more: Any) -> dict[str, Any]:
    return {"type": "categorical", "categories": list(names), **more}


AGE = {"type": "integer", "lower": 0, "upper": 110, "bins": 11}


@pytest.mark.parametrize("chunks", [1, 3])
def test_values_are_counted(chunks):
    found = finding(category("a", "b"), ["a", "b", "b", "c", "c", "d", "", None, "NA"], chunks)
    assert (found.rows, found.known, found.missing, found.unmatched) == (9, 6, 3, 3)
    assert found.strange == [("c", 2), ("d", 1)]
    assert found.needs_yes
    assert "3 of 6 values fit nowhere: 'c' 2, 'd' 1" in found.sentence


def test_missing_values_of_a_column_that_never_misses_one_need_a_yes():
    found = finding(category("a", "b", missing="never"), ["a", "b", "", "a"])
    assert found.needs_yes
    assert "1 of 4 values are missing, though the schema says that none is" in found.sentence
    assert not finding(category("a", "b", missing="never"), ["a", "b"]).sentence


def test_numbers_are_counted():
    found = finding(AGE | {"missing_codes": ["-9"]}, ["30", "41", "200", "-1", "-9", "-9.0", "x", "", "500"])
    assert (found.known, found.missing, found.unmatched, found.below, found.above) == (6, 3, 1, 1, 2)
    assert found.strange == [("x", 1)]
    assert (
        "1 of 6 values fits nowhere: 'x' 1; 1 value is below the lowest; 2 values are above the highest"
        in found.sentence
    )


def test_a_column_that_fits_says_nothing():
    for column, values in (
        (category("a", "b"), ["a", "b"] * 20),
        (AGE, [1, 50, 90.0]),
        ({"type": "boolean"}, [True, False]),
        (category("F", matching="loose") | {"categories": ["f", "m"]}, ["F", "M"]),
    ):
        found = finding(column, values)
        assert not found.sentence
        assert not found.needs_yes


@for_each(
    ("column", "values", "words"),
    [
        (category("a", "b"), ["a"] * 30, "all values that fit are the same"),
        (category("a", "b"), [""] * 30, "every value is missing"),
        (category("a", "b"), ["c"] * 30, "no value fits"),
        (AGE, ["7"] * 9, "all values that fit lie in one bin"),
        (AGE, [500, 600, 3, 4], "2 values are above the highest"),
    ],
)
def test_columns_that_tell_nothing_need_a_yes(column, values, words):
    found = finding(column, values)
    assert words in found.sentence
    assert found.needs_yes


def test_a_bin_of_nearly_all_numbers_is_told_without_asking():
    costs = {"type": "integer", "lower": 0, "upper": 1_000_000, "bins": 8}
    found = finding(costs, [4_000] * 91 + [500_000] * 9)
    assert "more than 90% of the values lie in one bin, 0 to 125000, " in found.sentence
    assert not found.needs_yes
    assert Finding.read(found.written()) == found
    assert not finding(costs, [4_000] * 90 + [500_000] * 10).sentence
    assert not finding({**AGE, "bins": None, "edges": [0, 9]}, [0] * 99 + [20]).sentence  # A bin of 0 alone.
    assert finding({**AGE, "bins": None, "edges": [1, 9]}, [0] * 99 + [20]).sentence


def test_a_wrong_guess_becomes_a_question_with_its_answer():
    guesses = {
        "gender": (category("female", "male"), "matching", "loose"),
        "readmitted": ({"type": "boolean"}, "categories", ["<30", ">30", "NO"]),
        "age": (AGE, "categories", [f"[{low}-{low + 10})" for low in range(0, 100, 10)]),
        "race": (category("Caucasian", "AfricanAmerican", "Asian", "Other"), "missing_codes", ["?"]),
    }
    frame = admissions(3000)
    for name, (column, field, value) in guesses.items():
        found = finding(column, frame[name])
        assert found.sentence
        assert found.needs_yes or name == "race"
        offered = [each.change for each in found.corrections]
        assert any(change.get(field) == value for change in offered), (name, offered)
        change = next(change for change in offered if change.get(field) == value)
        kept = {} if "type" in change else column
        assert finding({**kept, **change}, frame[name]).lost <= 0.02 * len(frame)


def test_the_nearest_category_is_offered():
    column = COLUMN_ADAPTER.validate_python({"name": "x", **category("never smoked", "formerly smoked")})
    offered = corrections(column, Counter({"never_smoked": 9, "former smoked": 4}), column.categories)
    assert offered[0].change["categories"] == ["never_smoked", "former smoked"]
    assert offered[0].change["origin"] == "looked up"
    assert offered[0].words.startswith("Spell as in the file: 'never_smoked' for 'never smoked'")


@for_each("column", [AGE, {"type": "real", "lower": 10, "upper": 80, "bins": 7}, {"type": "boolean"}])
def test_numbers_with_a_decimal_comma_are_told_and_not_made_categories(column):
    found = finding(column, ["18,1", "24,5", "31,0", "?"] * 9)
    assert "holds numbers with a decimal comma: tick 'Decimal comma' (--decimal-comma)" in found.sentence
    assert [each.words for each in found.corrections] == ["Take '?' for missing"]
    assert Finding.read(found.written()) == found
    assert "comma" not in finding(column, ["high", "low", "31,0"] * 9).sentence


def test_a_single_number_with_a_comma_does_not_speak_for_a_column():
    found = finding(AGE, [*[f"{n}.5" for n in range(60)], "31,0"])
    assert found.sentence == "'x': 1 of 61 values fits nowhere: '31,0' 1."
    assert not found.corrections


def test_nothing_is_listed_where_everything_differs():
    found = finding(category("a"), [f"note {number}" for number in range(5000)])
    assert found.kinds == 5000
    assert len(found.strange) == 20
    assert found.sentence.endswith("and 4,980 more; no value fits.")
    assert not found.corrections


@settings(max_examples=60)
@given(
    values=st.lists(st.sampled_from(["a", "b", "A", "zz", "", "7", "99", None, "300", "NA"]), min_size=1, max_size=40),
    column=st.sampled_from([category("a", "b"), category("a", "b", matching="loose"), AGE, {"type": "boolean"}]),
)
def test_no_column_loses_its_values_without_a_yes(values, column):
    declared = schema({"name": "x", **column})
    made = declared.column("x")
    codes, numbers = encode(made, pd.Series(values, dtype=object))
    cells = [made.cells[code] for code in codes]
    known = [value for value in values if value not in {"", None, "NA"}]
    lost = sum(cell == "(other)" for cell in cells)
    lost += sum(cell == "(missing)" for cell in cells) - (len(values) - len(known))
    if numbers is not None:
        plain = pd.to_numeric(pd.Series(values, dtype=object), errors="coerce").to_numpy(dtype=float)
        lost += int(((plain < 0) | (plain > 110)).sum())
    looking = Examination(declared)
    list(looking.of(iter([pd.DataFrame({"x": pd.Series(values, dtype=object)})])))
    [found] = looking.findings()
    assert found.lost == lost
    if lost > SHARE_LOST * len(known):
        with pytest.raises(IngestError, match="would lose values"):
            looking.check()
    yes = Examination(declared, ["x"])
    list(yes.of(iter([pd.DataFrame({"x": pd.Series(values, dtype=object)})])))
    yes.check()


def test_a_yes_to_one_loss_is_none_to_another():
    ages = pd.DataFrame({"x": [*range(20, 110), *[999] * 6]})
    before = schema({"name": "x", **AGE})
    looking = Examination(before)
    list(looking.of(iter([ages])))
    [found] = looking.findings()
    for declared, refused in ((before, False), (schema({"name": "x", **AGE, "upper": 9, "bins": 3}), True)):
        again = Examination(declared, [found.yes])
        list(again.of(iter([ages])))
        if refused:
            with pytest.raises(IngestError, match="96 values are above the highest"):
                again.check()
        else:
            again.check()


def test_a_yes_does_not_depend_on_the_order_of_rows():
    values = [f"note {number % 40}" for number in range(200)]
    first, second = (finding(category("a"), given) for given in (values, values[::-1]))
    assert first.yes == second.yes
    assert first.yes != finding(category("a"), [*values, "note 7"]).yes
    assert "note" not in first.yes


@pytest.mark.parametrize("as_file", [False, True])
def test_nothing_is_stored_and_nothing_spent_without_a_yes(tmp_path: Path, as_file: bool):
    frame = admissions(300)
    declared = schema(
        {"name": "gender", **category("female", "male")},
        {"name": "readmitted", **category("NO", ">30", "<30")},
        privacy_unit={"column": "patient_nbr", "max_rows_per_person": 2},
    )
    frame.to_csv(tmp_path / "a.csv", index=False)
    source: Any = tmp_path / "a.csv" if as_file else frame
    with closing(Service(tmp_path / "home", workers=0)) as service:
        found = {each.column: each for each in service.examine(source, declared) if each.of_values}
        assert found["gender"].needs_yes
        assert not found["readmitted"].needs_yes
        with pytest.raises(IngestError, match=r"'gender': .* fit nowhere: 'Female'"):
            service.add_dataset(source, declared, budget=Decimal(1))
        assert not service.datasets()
        yes = [found["gender"].yes, "person:rows-dropped"]
        stored = service.add_dataset(source, declared, budget=Decimal(1), accepted=yes)
        assert [info.id for info in service.datasets()] == [stored.id]
        with pytest.raises(Exception, match="custodian"):
            service.acting(User("ann", frozenset({"analyst"}))).examine(source, declared)


def test_child_tables_are_looked_at_too():
    looking = Examination(
        schema(
            {"name": "a", "type": "boolean"},
            privacy_unit={"column": "id"},
            children=[{"name": "drug", "max_rows_per_person": 3, "columns": [{"name": "code", **category("X")}]}],
        )
    )
    list(looking.of(iter([pd.DataFrame({"id": [1, 2], "a": ["yes", "no"]})])))
    list(looking.of(iter([pd.DataFrame({"id": [1, 1, 2], "code": ["X", "Y", "Y"]})]), "drug"))
    with pytest.raises(IngestError, match=r"'drug.code': 2 of 3 values fit nowhere: 'Y' 2"):
        looking.check()
