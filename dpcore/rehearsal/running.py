"""A rehearsal: the same run on invented records. Free; its randomness is seeded."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from decimal import Decimal
from typing import get_args

from pydantic import BaseModel, Field

from dpcore.data.building.ingest import frame_chunks, ingest
from dpcore.data.table import PrivateTable
from dpcore.domain.columns import BooleanColumn, CategoricalColumn, IntegerColumn
from dpcore.domain.schemas.schema import ChildTable, PrivacyUnit, Schema
from dpcore.errors import FrostglassError
from dpcore.learning.learner import Learner, Run
from dpcore.privacy.randomness import SeededRandom
from dpcore.rehearsal.shape import Shape, shape_of
from dpcore.released.parameters import LEAST_STEPS
from dpcore.released.plan import RunPlan
from dpcore.released.release import Release, make_release

#: Parameters that choose other code.
_WAYS = {"method", "sampler"}
#: Parameters that only make the same code run longer.
_FEW = {"steps": LEAST_STEPS, "mcmc_steps": LEAST_STEPS, "pool_size": 10}
#: What is rehearsed so that code is compiled.
_TINY = Schema(
    name="warm-up",
    max_rows=64,
    privacy_unit=PrivacyUnit(column="who"),
    columns=(
        BooleanColumn(name="yes_no", target=True, view="left"),
        CategoricalColumn(name="kind", categories=("a", "b", "c"), view="left"),
        IntegerColumn(name="number", lower=0, upper=9, bins=3, view="right"),
    ),
    children=(
        ChildTable(
            name="visits",
            max_rows_per_person=4,
            columns=(BooleanColumn(name="first"), IntegerColumn(name="day", lower=0, upper=9, bins=3)),
        ),
    ),
)
#: Added to a seed for the coins of ingestion and for the run: one stream must not serve two.
_COINS, _RUN = 1_000_000, 2_000_000


class Rehearsal(Release):
    """The release of a rehearsal."""

    shaped_by: tuple[str, ...] = Field(default=(), exclude=True)
    """Ids of the releases that shaped the invented records; empty for the schema alone."""


def rehearse(
    learner: Learner,
    schema: Schema,
    plan: RunPlan,
    *,
    releases: Sequence[Release] = (),
    seed: int = 1,
) -> Rehearsal:
    """Run a plan's request on invented records and return a release marked as not private.

    Of a very large domain, only some rows are rehearsed; of a very long search, only its
    beginning.

    Parameters
    ----------
    releases : sequence of Release
        Earlier releases of the data set, whose results shape the records.
    """
    shape = shape_for(learner, schema, plan, releases)
    table = invented_table(shape, seed)
    again, model = run_on(learner, table, plan, seed)
    release = make_release(
        learner.name,
        again,
        model,
        secure=False,
        dataset_id="rehearsal",
        dataset_name=f"rehearsal of {schema.name}"[:128],
    )
    return Rehearsal(**dict(release), shaped_by=shape.used)


def shape_for(learner: Learner, schema: Schema, plan: RunPlan, releases: Sequence[Release]) -> Shape:
    """The shape of invented records for a plan."""
    if not learner.targeted:
        views = (plan.parameters.left, plan.parameters.right) if learner.family.views else ()
        return shape_of(schema, "", releases, views)
    number = learner.family.predicts_number(schema, plan.target)
    return shape_of(schema, plan.target, releases, number=number, relational=learner.family.relational)


def invented_table(shape: Shape, seed: int) -> PrivateTable:
    """Invented records as a learner reads them."""
    small = shape.schema.invented().model_copy(update={"max_rows": shape.rows})
    frame, children = shape.draw(shape.rows, seed)
    further = {name: frame_chunks(content) for name, content in children.items()}
    return ingest(frame_chunks(frame), small, SeededRandom(seed + _COINS), further)


def run_on(learner: Learner, table: PrivateTable, plan: RunPlan, seed: int) -> tuple[RunPlan, BaseModel]:
    """Run a plan, in its form, on invented records, with a limited amount of work."""
    limited = _limited(learner, plan.parameters)
    again = learner.plan(table.schema, plan.target, plan.epsilon, limited, plan.delta)
    return again, learner.run(Run(table, again, SeededRandom(seed + _RUN)))


def _limited(learner: Learner, parameters: BaseModel) -> dict[str, object]:
    given, most = parameters.model_dump(), learner.family.rehearsed
    return given | {name: min(given[name], limit) for name, limit in most.items()}


def warm_up(learner: Learner, *, by_default: bool = True) -> None:
    """Rehearse tiny runs, so that compiled code is ready before the first real ones.

    The secure samplers are loaded too.

    Parameters
    ----------
    by_default : bool
        Warm up what a run needs if nothing is chosen, else its other methods and other targets.
    """
    if by_default:
        _rehearse_tiny(learner, "yes_no", {})
        return
    for target in ("kind", "number") if learner.targeted else ():
        with suppress(FrostglassError):  # Not every learner predicts every target.
            _rehearse_tiny(learner, target, {})
    fields = learner.parameters.model_fields
    for name in _WAYS & fields.keys():
        for way in set(get_args(fields[name].annotation)) - {fields[name].default}:
            _rehearse_tiny(learner, "yes_no", {name: way})


def _rehearse_tiny(learner: Learner, target: str, chosen: dict[str, object]) -> None:
    few = {name: least for name, least in _FEW.items() if name in learner.parameters.model_fields}
    plan = learner.plan(_TINY, target if learner.targeted else "", Decimal(1), few | chosen)
    rehearse(learner, _TINY, plan)
