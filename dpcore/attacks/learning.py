"""Whether a schema that was learned privately can be had a second time without its price."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd

from dpcore.attacks.result import AttackResult
from dpcore.domain.schemas.learnable_schema import LearnableSchema
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import FrostglassError
from dpcore.service import Service

_BUDGET = Decimal(9)
_SCHEMA = {
    "name": "clinic",
    "max_rows": 1000,
    "columns": [
        {"name": "age", "type": "integer", "lower": 0, "upper": 150, "learn": {"bins": 4}},
        {"name": "ill", "type": "boolean", "target": True},
    ],
}


def learning_attack() -> AttackResult:
    """Learn a schema, remove the data set, and store the same records again with what was learned."""
    frame = pd.DataFrame({"age": [20 + place % 60 for place in range(400)], "ill": ["yes", "no"] * 200})
    seen, cheaper = [], False
    with TemporaryDirectory() as folder, Service(Path(folder), workers=0) as service:
        first = service.add_dataset(frame, LearnableSchema.from_mapping(_SCHEMA), learn=Decimal(1), budget=_BUDGET)
        price = service.total_balance(first.id).spent
        service.remove_records(first.id, note="to store them again")
        content = first.schema.to_mapping()
        for way, changes in _ways(content).items():
            kept = {name: value for name, value in (content | changes).items() if value is not None}
            try:
                again = service.add_dataset(frame, Schema.from_mapping(kept | {"name": way}), budget=_BUDGET)
            except FrostglassError:
                seen.append(f"{way}: refused")
                continue
            spent = service.total_balance(again.id).spent
            seen.append(f"{way}: {spent} of {price} charged")
            cheaper |= spent < price
    tried = "the same records with the exported schema, its price left out, or lowered"
    return AttackResult("learned facts for nothing", tried, "; ".join(seen), cheaper)


def _ways(content: Mapping[str, Any]) -> dict[str, dict[str, object]]:
    """Changes of the exported schema, by their name."""
    learned = content["learned"]
    return {
        "as exported": {},
        "without its price": {"learned": None},
        "with a smaller rho": {"learned": learned | {"rho": "0.000001"}},
        "with a smaller epsilon": {"learned": learned | {"epsilon": "0.001"}},
        "of other columns": {"learned": learned | {"columns": ["ill"]}},
    }
