"""People set aside in the suite of rehearsals, and what results are measured by."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from benchmarks import rehearsal_data
from benchmarks.__main__ import app
from benchmarks.datasets import BenchData
from benchmarks.rehearsal_data import Measure, real
from dpcore.domain.schemas.schema import Schema
from dpcore.released.evidence import Records

ROWS = 400


@pytest.fixture
def made_up(monkeypatch: pytest.MonkeyPatch) -> pd.DataFrame:
    """Four columns, of which the first and the third say the same."""
    schema = Schema.from_mapping(
        {
            "name": "four",
            "max_rows": 500,
            "columns": [{"name": name, "type": "boolean"} for name in "abc"]
            + [{"name": "t", "type": "boolean", "target": True}],
        }
    )
    draw = np.random.default_rng(1)
    same, *others = draw.choice(["yes", "no"], (3, ROWS))
    frame = pd.DataFrame({"a": same, "b": others[0], "c": same, "t": others[1]})
    monkeypatch.setattr(rehearsal_data, "load", lambda _name: BenchData("four", frame, schema))
    return frame


@pytest.mark.parametrize("name", ["titanic", "titanic halves"])
def test_those_set_aside_are_others_than_those_a_run_sees(made_up: pd.DataFrame, name: str) -> None:
    own = real(name)
    stored = own.table.public_frame("all" if name in rehearsal_data.VIEWS else "train")
    assert 0 < own.aside.records.rows < ROWS / 2
    assert len(stored) + own.aside.records.rows == ROWS
    assert real(name, 1).aside.records.main.iloc[:5].equals(own.aside.records.main.iloc[:5]) is False


def test_redescriptions_are_measured_exactly_on_other_people(made_up: pd.DataFrame) -> None:
    own = real("titanic halves")
    _, model = own.run("redescriptions", "50", 1)
    assert own.aside.of("redescriptions", model) == 1
    swapped = own.aside.records.main.assign(c=own.aside.records.main["b"].to_numpy())
    others = Records(own.schema, {own.schema.entity: swapped})
    assert Measure.on(own.kind, own.target, others).of("redescriptions", model) < 0.7


def test_more_runs_are_of_rehearsals_after_a_first_look_alone() -> None:
    outcome = CliRunner().invoke(app, ["rehearsal", "--runs", "3"])
    assert outcome.exit_code == 2
    assert "goes with --looks" in outcome.output
