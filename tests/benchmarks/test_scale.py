"""The register of the benchmark of scale is what it says, and every case can be measured."""

from __future__ import annotations

import pytest

from benchmarks import scale
from dpcore.data.building import division
from dpcore.data.table import PrivateTable


@pytest.fixture
def register(tmp_path, monkeypatch):
    monkeypatch.setattr(division, "PARTITION_ROWS", 700)
    scale.generate(tmp_path, 2000)
    return tmp_path


def test_everybody_is_there_once(register):
    table = PrivateTable.open(register)
    assert len(table.partitions) == 3
    assert table.total(scale.one_way).sum() == 2000 * 20
    assert len(table.public_frame()) == 2000
    assert 0.1 < (table.public_frame()[scale.TARGET] == "yes").mean() < 0.9
    assert scale.conjunctions(2000) > 120**3 / 6


@pytest.mark.parametrize("case", [*scale.GOALS, "reading", "DuckDB"])
def test_every_case_is_measured(register, case):
    found = scale.measure(case, register)
    assert min(found["seconds"], found["memory"]) > 0
