"""The service takes several tables as it takes one: all or nothing."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dpcore import demo
from dpcore.data.table import PrivateTable
from dpcore.demo.truth import Demo
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import IngestError, LossError
from dpcore.service import Service
from tests.support.tables.database_files import database_file
from tests.support.tables.small_trains import BARE_TEXT
from tests.support.workspaces.accounts import amounts
from tests.support.workspaces.fake_learner import small_schema

TRAINS = pd.DataFrame({"train_id": [1, 2, 3], "direction": ["west", "east", "west"]})
CARS = pd.DataFrame({"train_id": [1, 1, 3, 9], "length": ["short", "long", "long", "short"]})
SCHEMA = Schema.from_text(BARE_TEXT)


def stored_cars(service: Service, tmp_path: Path) -> list[str]:
    [info] = service.datasets()
    table = PrivateTable.open(tmp_path / "home" / "datasets" / info.id)
    return sorted(table.public_child("car")[0]["length"])


def sources(folder: Path) -> dict[str, Any]:
    TRAINS.to_csv(folder / "trains.csv", index=False)
    CARS.to_parquet(folder / "cars.parquet", index=False)
    database_file(folder / "trains.sqlite", {"train": TRAINS, "car": CARS})
    return {
        "files": {"train": folder / "trains.csv", "car": str(folder / "cars.parquet")},
        "frames": {"train": TRAINS, "car": CARS},
        "database": folder / "trains.sqlite",
        "path as text": str(folder / "trains.sqlite"),
    }


@pytest.mark.parametrize("kind", ["files", "frames", "database", "path as text"])
def test_several_tables_are_stored(service: Service, tmp_path: Path, kind: str) -> None:
    source = sources(tmp_path)[kind]
    with pytest.raises(LossError, match="'car': 1 of 4 rows names somebody in 'train_id' who is not in the main table"):
        service.add_dataset(source, SCHEMA, budget=Decimal(2))
    info = service.add_dataset(source, SCHEMA, budget=Decimal(2), accepted=["car"])
    assert info.schema == SCHEMA
    assert amounts(service.balance(info.id)).left == 2
    assert stored_cars(service, tmp_path) == ["long", "long", "short"]


@pytest.mark.parametrize(
    ("kind", "schema", "sentence"),
    [
        ("one file", SCHEMA, "several tables: 'train', 'car'"),
        ("one frame", SCHEMA, "several tables: 'train', 'car'"),
        ("files", small_schema(), "one table only"),
        ("no cars", SCHEMA, "'car' of the schema is missing"),
        ("strange cars", SCHEMA, "is found in the main table"),
        ("cars without key", SCHEMA, "'car' has no column 'train_id'"),
    ],
)
def test_what_does_not_fit_stores_nothing(
    service: Service, tmp_path: Path, kind: str, schema: Schema, sentence: str
) -> None:
    known = sources(tmp_path)
    known |= {
        "one file": known["files"]["train"],
        "one frame": TRAINS,
        "no cars": {"train": TRAINS},
        "strange cars": {"train": TRAINS, "car": CARS.assign(train_id=77)},
        "cars without key": {"train": TRAINS, "car": CARS.drop(columns="train_id")},
    }
    with pytest.raises(IngestError) as caught:
        service.add_dataset(known[kind], schema, budget=Decimal(2))
    assert sentence in str(caught.value)
    assert service.datasets() == []
    assert not list((tmp_path / "home" / "datasets").iterdir())


def test_a_demonstration_may_have_several_tables(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Demo(TRAINS, SCHEMA, "Planted.", "trains", children={"car": CARS[CARS["train_id"] < 9]})
    monkeypatch.setattr(demo, "DEMOS", {"trains": lambda: made})
    [info] = service.add_demo_datasets()
    assert (info.name, info.public, info.truth) == ("trains", True, "Planted.")
    assert stored_cars(service, tmp_path) == ["long", "long", "short"]
    assert service.add_demo_datasets() == [info]
