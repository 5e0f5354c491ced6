"""Table 1 as a file says what its means are."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest

from dpcore.domain.schemas.schema import Schema
from dpcore.models.registry import LEARNERS
from dpcore.models.summaries.released.reading import readings
from dpcore.models.summaries.released.summary_model import NoisyTable, SummaryModel
from dpcore.models.summaries.released.summary_parameters import axes_of
from dpcore.models.summaries.released.summary_reading import columns_table, table_one_table
from dpcore.models.summaries.released.table_one import TableOne, table_one
from dpcore.rehearsal import rehearse
from dpcore.report.table_one import table_one_document, table_one_rows

COSTS = {"name": "cost", "type": "real", "lower": 0, "upper": 1_000_000}
DIED = {"name": "died", "type": "boolean"}


def schema(**shape) -> Schema:
    return Schema.from_mapping({"name": "ward", "max_rows": 20_000, "columns": [DIED, {**COSTS, **shape}]})


def look(own: Schema) -> tuple[SummaryModel, TableOne, float]:
    """A first look at 20,000 costs, most of them small, half of them of people who died; and their mean."""
    draw, column = np.random.default_rng(1), own.column("cost")
    costs = np.clip(draw.lognormal(np.log(2_000), 1.18, 20_000), 0, 1_000_000)
    axes = axes_of(own, None)
    counts = np.zeros(tuple(axis.size(own) for axis in axes))
    ends = (column.lower, *column.inner_edges, column.upper)
    counts[:2, : len(ends) - 1] = np.histogram(costs, ends)[0] / 2
    flat = tuple((counts + draw.normal(0, 2, counts.shape)).ravel().tolist())
    table = NoisyTable(axes=(0, 1), counts=flat, deviation=2)
    model = SummaryModel(axes=axes, sizes=counts.shape, tables=(table,), by=0, gaussian=True, count_margin=4)
    return model, table_one(model, own), float(costs.mean())


@pytest.mark.parametrize("shape", [{"bins": 8}, {"edges": [500, 1_000, 2_000, 4_000, 8_000]}])
def test_a_mean_is_held_wherever_in_their_ranges_the_numbers_lie(shape) -> None:
    own = schema(**shape)
    model, table, mean = look(own)
    [line] = [line for line in table.lines if line.kind == "mean"]
    [of_all] = [reading.mean for reading in readings(model, own) if reading.mean is not None]
    assert all(amount.low <= mean <= amount.high for amount in (*line.groups, of_all))


def test_a_file_says_what_a_mean_is() -> None:
    own = schema(bins=8)
    model, table, _ = look(own)
    shown, learner = table_one_table(model, own, table), LEARNERS["summaries"]
    release = rehearse(learner, own, learner.plan(own, "", Decimal(1), {"by": "died"}))
    assert "middle of its range" in table_one_document(release, shown)
    assert "middle of its range" in " ".join(table_one_rows(shown)["Value"])
    assert "middle of its range" in shown.caption
    assert "middle of its range" in columns_table(readings(model, own), own).caption
    without = table_one_table(model, own, replace(table, lines=table.lines[:1]))
    assert "middle of its range" not in table_one_document(release, without)
    assert "middle of its range" not in without.caption
