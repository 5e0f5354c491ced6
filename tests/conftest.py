"""Settings of the whole test run, and what belongs to which tier of it."""

from __future__ import annotations

import gc
import os
import sqlite3
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

import pytest
import sqlalchemy as sa
from hypothesis import settings
from sqlalchemy.engine import Connection

from dpcore.service import Service
from dpcore.workspace.database import database

TESTS = Path(__file__).parent
#: Folders and files whose tests all bear a mark.
MARKED = {
    "browser": ["browser"],
    "heavy": [
        "audit",
        "benchmarks",
        "browser",
        "commands",
        "demo",
        "intake",
        "pages",
        "rehearsal",
        "service",
        "test_compiled.py",
        "test_package.py",
        "learning/test_sklearn_checks.py",
        "models/test_configurations.py",
        "models/ebm/test_noise.py",
        "workspace/database/test_installation.py",
        "workspace/test_kill_points.py",
        "workspace/test_ledger_concurrency.py",
        "workspace/test_restarts.py",
        "workspace/test_restore_drill.py",
        "workspace/test_sessions.py",
        "workspace/test_stranded_runs.py",
        "workspace/database/test_witness.py",
        "workspace/test_workers.py",
    ],
}

# Machines differ, and the first call of a kernel compiles it: no deadline for one example. The short form
# repeats itself, so that it fails by what was changed; the long one searches anew each time.
settings.register_profile("frostglass", deadline=None, max_examples=20, derandomize=True)
settings.register_profile("thorough", deadline=None, max_examples=1000)
settings.load_profile("frostglass")


def pytest_configure(config: pytest.Config) -> None:
    """Witnesses of the homes of tests are no business of whoever runs them."""
    folder = TemporaryDirectory(prefix="frostglass-witness-")
    os.environ["FROSTGLASS_WITNESS"] = folder.name
    config.add_cleanup(folder.cleanup)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is collected stays until the end: nothing of it is looked through for garbage, now or later.

    What tests leave behind is looked through now and then.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(20_000, 20, 20)
        gc.enable()


def pytest_unconfigure() -> None:
    gc.unfreeze()  # Libraries that count their objects at the end find none left.


@cache
def _marks(path: Path) -> list[str]:
    """Marks of all tests of a file."""
    return [mark for mark, places in MARKED.items() if any(path.is_relative_to(TESTS / place) for place in places)]


@pytest.hookimpl(wrapper=True)
def pytest_pycollect_makeitem(collector: pytest.Collector) -> Generator[None, object, object]:
    """Of a test that is ``crossed``, draw combinations until each value is met; the long form has them all."""
    made = yield
    if not isinstance(made, list) or not any(item.get_closest_marker("crossed") for item in made):
        return made
    further = _further_combinations(made)
    if collector.config.getoption("--hypothesis-profile") != "thorough":
        return [case for case in made if case not in further]
    for case in further:
        case.add_marker("slow")
    return made


def _further_combinations(cases: list[pytest.Function]) -> list[pytest.Function]:
    """Those that are short but have no new value; the drawn ones meet all values about equally often."""
    left = [case for case in cases if not case.get_closest_marker("slow")]
    values = {case: set(enumerate(case.callspec._idlist)) for case in left}
    met: Counter[tuple[int, str]] = Counter()

    def worth(case: pytest.Function) -> tuple[int, int]:
        times = [met[value] for value in values[case]]
        return times.count(0), -sum(times)

    while left:
        case = max(left, key=worth)
        if values[case] <= met.keys():
            break
        met.update(values[case])
        left.remove(case)
    return left


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests by where they lie; what takes long comes first, so that no worker is left with it."""
    for item in items:
        for mark in _marks(item.path):
            item.add_marker(mark)
    items.sort(key=lambda item: sum(item.get_closest_marker(mark) is None for mark in MARKED))


_upgrade: Callable[[Connection], None] = database._upgrade


@cache
def _made_by_upgrades() -> list[str]:
    """What all upgrades, one after the other, make of an empty SQLite database."""
    engine = sa.create_engine("sqlite://")
    with engine.begin() as connection:
        _upgrade(connection)
        made = list(cast(sqlite3.Connection, connection.connection.driver_connection).iterdump())
    return [line for line in made if line not in ("BEGIN TRANSACTION;", "COMMIT;")]


#: What all upgrades say to an empty PostgreSQL database.
_SAID_TO_POSTGRES: list[str] = []


def _upgrade_and_listen(connection: Connection) -> None:
    """Take each step in PostgreSQL, and keep what changes something."""

    def note(_: object, cursor: object, statement: str, *more: object) -> None:
        if not statement.lstrip().startswith("SELECT"):
            _SAID_TO_POSTGRES.append(statement)

    sa.event.listen(connection, "before_cursor_execute", note)
    try:
        _upgrade(connection)
    finally:
        sa.event.remove(connection, "before_cursor_execute", note)


def _upgrade_at_once(connection: Connection) -> None:
    if sa.inspect(connection).get_table_names():
        _upgrade(connection)
    elif connection.dialect.name == "sqlite":
        for line in _made_by_upgrades():
            connection.exec_driver_sql(line)
    elif _SAID_TO_POSTGRES:
        connection.exec_driver_sql(";\n".join(_SAID_TO_POSTGRES))
    else:
        _upgrade_and_listen(connection)


@pytest.fixture(autouse=True)
def upgraded_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty database gets its tables as the upgrades made them once, without taking each step again."""
    monkeypatch.setattr(database, "_upgrade", _upgrade_at_once)


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    """The service on a home of its own, which executes runs in this process."""
    with Service(tmp_path / "home", workers=0) as running:
        yield running
