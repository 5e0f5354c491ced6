"""True counts of relational rules on public data: against a count by hand of the raw tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dpcore.errors import RequestError
from dpcore.models.ilp.language.clause import Clause, Variable
from dpcore.models.released import parse_model
from dpcore.released.release import Release
from dpcore.service import Service
from dpcore.workspace.files.descriptions import DatasetInfo
from dpcore.workspace.ledger.requests import RunRequest
from tests.support.results.small_theories import ATOMS, release_of
from tests.support.tables.small_trains import SCHEMA, TARGET, trains

Row = dict[str, Any]
#: What each condition means for a raw row.
MEANING: dict[str, Callable[[Row], bool]] = {
    "year > 1950": lambda row: row["year"] > 1950,
    "car: length = short": lambda row: row["length"] == "short",
    "car: roof in closed": lambda row: row["roof"] in {"flat", "peaked"},
    "car: wheels <= 2": lambda row: row["wheels"] <= 2,
    "car: wheels > 2": lambda row: row["wheels"] > 2,
    "car: wheels <= 4": lambda row: row["wheels"] <= 4,
    "car: wheels > 4": lambda row: row["wheels"] > 4,
    "car: weight <= 1.5": lambda row: row["weight"] <= 1.5,
    "car: weight > 1.5": lambda row: row["weight"] > 1.5,
    "car: weight <= 3.5": lambda row: row["weight"] <= 3.5,
    "car: weight > 3.5": lambda row: row["weight"] > 3.5,
}
#: Clauses as conditions on the train, and on cars that must or must not exist.
THEORIES = [
    *([([], [(True, [name])])] for name in MEANING if name.startswith("car")),
    [([], [(True, ["car: length = short", "car: weight > 3.5"])]), (["year > 1950"], [])],
    [
        (["year > 1950"], [(True, ["car: wheels > 4"]), (False, ["car: weight <= 1.5"])]),
        ([], [(False, ["car: roof in closed"])]),
    ],
]


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    with Service(home=tmp_path, workers=0) as running:
        yield running


def add(service: Service, *, public: bool) -> DatasetInfo:
    return service.add_dataset(trains(400), SCHEMA, budget=Decimal(5), public=public)


def released(info: DatasetInfo, theory: Any = THEORIES[0], *, evaluate: bool = False) -> Release:
    """A release of a theory made by hand; its numbers do not matter here."""
    groups = [(clause, (1, 1), clause is not None) for clause in [*(_clause(*body) for body in theory), None]]
    return release_of(*groups, parameters={"evaluate": evaluate}, dataset_id=info.id)


def _clause(conditions: list[str], cars: list[tuple[bool, list[str]]]) -> Clause:
    return Clause(
        atoms=tuple(ATOMS[name] for name in conditions),
        variables=tuple(
            Variable(table="car", atoms=tuple(ATOMS[n] for n in names), negated=not exists) for exists, names in cars
        ),
    )


def counted(theory: Any, frames: dict[str, pd.DataFrame]) -> list[list[int]]:
    """Trains per clause and class, one train after another."""
    cars: dict[int, list[Row]] = {}
    for car in frames["car"].to_dict("records"):
        cars.setdefault(car["train_id"], []).append(car)
    counts = [[0, 0] for _ in range(len(theory) + 1)]
    for train in frames["train"].to_dict("records"):
        own = cars.get(train["train_id"], [])
        place = next((i for i, body in enumerate(theory) if covers(body, train, own)), len(theory))
        counts[place][train[TARGET] == "east"] += 1
    return counts


def covers(body: Any, train: Row, cars: list[Row]) -> bool:
    conditions, variables = body
    return all(MEANING[name](train) for name in conditions) and all(
        any(all(MEANING[name](car) for name in names) for car in cars) == exists for exists, names in variables
    )


@pytest.mark.parametrize("theory", THEORIES)
def test_numbers_of_child_rows_are_counted_exactly(service, theory):
    release = released(add(service, public=True), theory)
    counts = service.true_counts(release)
    assert [list(row) for row in counts] == counted(theory, trains(400))
    assert min(map(sum, counts)) > 0


def test_only_those_whom_it_was_learned_from_are_counted(service):
    info = add(service, public=True)
    everybody = sum(map(sum, service.true_counts(released(info))))
    training = sum(map(sum, service.true_counts(released(info, evaluate=True))))
    assert everybody == 400
    assert 0.7 * 400 < training < 0.9 * 400


def test_a_run_of_the_learner_is_counted_like_its_own_tables(service):
    """With so large an epsilon the noisy counts are the exact ones."""
    info = service.add_dataset(trains(400), SCHEMA, budget=Decimal(1000), public=True)
    request = RunRequest(dataset_id=info.id, algorithm="ilp", target=TARGET, epsilon=Decimal(1000))
    run = service.run(service.submit(request, "once"))
    release = service.release(str(run.release_id))
    noisy = tuple(group.noisy_counts for group in parse_model(release).groups)
    assert service.true_counts(release) == noisy


def test_private_records_are_refused(service):
    with pytest.raises(RequestError, match="private"):
        service.true_counts(released(add(service, public=False)))
