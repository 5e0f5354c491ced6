"""A table as hospitals export it, from the file to a data set that is right: with how many actions, and how fast."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from playwright.sync_api import Locator, Page, expect

from dpcore.data.building.ingest import frame_chunks
from dpcore.domain.schemas.schema import Schema
from dpcore.intake.check.examination import Examination
from dpcore.service import Service
from tests.support.admissions import admissions
from tests.support.app_server import Server, serve
from tests.support.browser_steps import settled

pytestmark = pytest.mark.browser
#: What looking at a large file may take on a busy machine, in milliseconds.
_LONG = 180_000


class Hand:
    """The custodian's hand: every click, choice of a file and entry counts as one action."""

    def __init__(self, page: Page) -> None:
        self.page, self.actions = page, 0

    def click(self, place: Locator) -> None:
        self.actions += 1
        place.click()

    def bring(self, file: Path) -> None:
        self.actions += 1
        self.page.locator("input[type=file]").first.set_input_files(file)

    def fill(self, label: str | re.Pattern[str], text: str) -> None:
        self.actions += 1
        entry = self.page.get_by_label(label).first
        entry.fill(text)
        entry.press("Tab")
        settled(self.page)


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Server]:
    with serve(tmp_path / "home", FROSTGLASS_WORKERS="0") as running:
        yield running


def store(page: Page, server: Server, file: Path, columns: int) -> tuple[Schema, int]:
    """Bring a file, let its values say what the columns are, store it: the schema, and the actions it took."""
    hand = Hand(page)
    page.goto(f"{server.url}/custodian")
    expect(page.get_by_role("heading", name="Custodian")).to_be_visible()
    hand.bring(file)
    expect(page.get_by_role("heading", name="Describe it")).to_be_visible(timeout=_LONG)
    hand.click(page.get_by_role("button", name="Look at their values"))
    hand.click(page.get_by_role("button", name=f"Look at the values of the {columns - 1} columns shown"))
    expect(page.get_by_text("To answer (0)")).to_be_visible(timeout=_LONG)
    hand.fill(re.compile("^Name"), "admissions")
    hand.fill(re.compile("^Row limit"), "3000")
    hand.click(page.get_by_role("combobox", name="Which of a person's rows"))
    hand.click(page.get_by_role("option", name="The last"))
    order = page.get_by_role("combobox", name="Their order")
    hand.click(order)
    order.fill("admission_date")
    hand.click(page.get_by_role("option", name="admission_date", exact=True))
    hand.fill("Total ε", "5")
    hand.click(page.get_by_role("button", name="Check and store"))
    expect(page.get_by_text("'admissions' is stored")).to_be_visible(timeout=_LONG)
    with Service(server.home, workers=0) as service:
        [info] = service.datasets()
        schema: Schema = info.schema
    return schema, hand.actions


def expected(name: str) -> dict[str, Any]:
    """What a column of the invented admissions is, to somebody who knows them."""
    plain = re.sub(r"^part\d_", "", name)
    if plain in RIGHT:
        return RIGHT[plain]
    if plain.startswith("has_condition"):
        return {"type": "boolean"}
    assert plain.startswith("drug_"), plain
    return {"type": "categorical", "categories": ("Down", "No", "Steady", "Up")}


RIGHT: dict[str, dict[str, Any]] = {
    "race": {"categories": ("AfricanAmerican", "Asian", "Caucasian", "Other"), "missing_codes": ("?",)},
    "gender": {"categories": ("Female", "Male", "Unknown/Invalid")},
    "age": {"type": "ordinal", "categories": tuple(f"[{low}-{low + 10})" for low in range(0, 100, 10))},
    "admission_date year": {"type": "integer", "lower": 2019, "upper": 2022},
    "discharge_date year": {"type": "integer", "lower": 2019, "upper": 2022},
    "admission_type_id": {"categories": ("1", "2", "3", "5", "6")},
    "discharge_disposition_id": {"categories": ("1", "3", "6", "11")},
    **{name: {"type": "integer", "lower": 0} for name in ("time_in_hospital", "num_lab_procedures", "num_medications")},
    **{name: {"type": "integer", "lower": 0} for name in ("number_outpatient", "number_emergency", "number_inpatient")},
    "systolic_bp": {"type": "integer", "unit": "mmHg", "missing_codes": ("-9",)},
    "creatinine_mg_dl": {"type": "real", "unit": "mg/dL", "missing_codes": ("99",)},
    "bmi": {"type": "real", "unit": "kg/m2"},
    "smoking_status": {"categories": ("Former", "NEVER", "current")},
    "insurance": {"categories": ("Private", "public", "self pay")},
    "primary_diagnosis": {"type": "categorical", "origin": "standard table"},
    "secondary_diagnosis": {"type": "categorical", "missing_codes": ("?",)},
    "max_glu_serum": {"categories": (">200", ">300", "Norm")},
    "readmitted": {"categories": ("<30", ">30", "NO")},
    "survived": {"type": "boolean"},
}


def check(schema: Schema, rows: pd.DataFrame) -> None:
    """Every column is what it should be, and no value is lost."""
    for column in schema:
        found = {field: getattr(column, field) for field in expected(column.name)}
        assert found == expected(column.name), column.name
    examination = Examination(schema)
    list(examination.of(frame_chunks(rows)))
    assert not [finding.sentence for finding in examination.findings() if finding.lost > 0.01 * finding.rows]


@pytest.mark.slow
def test_fifty_columns_of_admissions_are_stored_right(page: Page, empty: Server, tmp_path: Path) -> None:
    rows = admissions(2000)
    file = tmp_path / "admissions.csv"
    rows.to_csv(file, index=False)
    schema, actions = store(page, empty, file, len(rows.columns))
    assert actions <= 25
    assert (schema.privacy_unit.column, schema.privacy_unit.chosen) == ("patient_nbr", "the last by 'admission_date'")
    assert len(list(schema)) == len(rows.columns) - len(["patient_nbr", "encounter_id", "discharge_note"])
    check(schema, pd.read_csv(file, dtype=str, keep_default_na=False))
