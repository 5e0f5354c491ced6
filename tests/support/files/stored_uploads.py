"""Uploads that the process of a reader stores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dpcore.data.table import PrivateTable
from dpcore.domain.schemas.schema import Schema
from dpcore.intake.process.uploads import Incoming

ONE = Schema.from_text("{name: one, max_rows: 1000, columns: [{name: a, type: integer, lower: 0, upper: 9, bins: 3}]}")


BY_PERSON = Schema.from_mapping(ONE.model_dump() | {"privacy_unit": {"column": "who"}})


def store(source: Path, schema: Schema, folder: Path, **more: Any) -> PrivateTable:
    folder.mkdir(exist_ok=True)
    Incoming(source, schema, **more).save(folder)
    return PrivateTable.open(folder)
