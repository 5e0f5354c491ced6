"""Rows that belong to rows, from a large DuckDB file to a clause that speaks of them."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dpcore.domain.schemas.schema import Schema
from dpcore.intake.joins.relations import CHUNK_ROWS
from dpcore.models.released import parse_model
from dpcore.service import Service
from dpcore.workspace.ledger.requests import RunRequest
from tests.support.tables.database_files import database_file
from tests.support.tables.nested_relations import SCHEMA

PATIENTS, STAYS, LABS = 4_500, 3, 8
#: Clauses of both: drugs of a stay are not needed here.
_CHILDREN: list[dict[str, Any]] = [child for child in SCHEMA["children"] if child["name"] != "drug"]
MOST = {"stay": STAYS, "lab": STAYS * LABS}
CLINIC = Schema.from_mapping(
    SCHEMA
    | {"max_rows": 5_000, "children": [{**child, "max_rows_per_person": MOST[child["name"]]} for child in _CHILDREN]}
)
RULE = """ill(P, yes) :-
    has_stay(P, A), kind(A, urgent), stay_has_lab(A, B), test(B, k), value_above(B, 4)."""


def clinic(seed: int) -> dict[str, pd.DataFrame]:
    """Patients who are ill if a high value of potassium was found in an urgent stay, not before or after it.

    Stays are numbered within each patient, and no table is in any order.
    """
    rng = np.random.default_rng(seed)
    stays = pd.MultiIndex.from_product([range(PATIENTS), range(STAYS)], names=["id", "stay_id"]).to_frame(index=False)
    stays["day"] = stays["stay_id"]
    stays["kind"] = rng.choice(["planned", "urgent", "moved"], len(stays))
    labs = stays[["id", "stay_id", "kind"]].loc[stays.index.repeat(LABS)].rename(columns={"stay_id": "of"})
    labs["test"] = rng.choice(["k", "na"], len(labs))
    labs["value"] = rng.choice([2, 7], len(labs), p=[0.85, 0.15])
    found = labs[(labs["kind"] == "urgent") & (labs["test"] == "k") & (labs["value"] > 4)]
    people = pd.DataFrame({"id": range(PATIENTS), "sex": rng.choice(["f", "m"], PATIENTS)})
    people["ill"] = np.where(people["id"].isin(found["id"]), "yes", "no")
    tables = {"patient": people, "stay": stays, "lab": labs.drop(columns="kind")}
    return {name: frame.sample(frac=1, random_state=seed, ignore_index=True) for name, frame in tables.items()}


def test_a_large_database_of_rows_of_rows_becomes_a_clause(service: Service, tmp_path: Path) -> None:
    """It comes in by several pieces, and what a lab belongs to is kept: the clause and its counts are right."""
    tables = clinic(1)
    assert len(tables["lab"]) > CHUNK_ROWS
    source = database_file(tmp_path / "clinic.duckdb", tables)
    info = service.add_dataset(source, CLINIC, budget=Decimal(40))
    wanted = {"max_variables": 1, "clauses": 1, "quantifiers": ("exists", "within"), "evaluate": False}
    request = RunRequest(dataset_id=info.id, algorithm="ilp", target="ill", epsilon=Decimal(40), parameters=wanted)
    run = service.submit(request, "n")
    release = service.release(str(service.run(run).release_id))
    model = parse_model(release)
    assert model.prolog(CLINIC, "ill") == RULE
    ill = int((tables["patient"]["ill"] == "yes").sum())
    [covered, others] = (group.noisy_counts for group in model.groups)
    assert np.abs(np.subtract([*covered, *others], [0, ill, PATIENTS - ill, 0])).max() <= 8
