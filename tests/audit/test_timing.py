"""What a run does with records, and how long it takes, is the same for all of them as long as outputs are."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType, FrameType, ModuleType
from typing import Any

import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher

from dpcore.audit import timing
from dpcore.audit.replay.methods import METHODS, ReplayMethod
from dpcore.audit.replay.tape import Forced, Recording
from dpcore.audit.timing import StepTime, TableMemory, compare_facts, compare_method, longest_plan, tables_of
from dpcore.data import counting
from dpcore.learning.learner import Run
from dpcore.models.registry import get_learner
from dpcore.models.trees.learning import contingency

IDS = [f"{method.family}: {method.name}" for method in METHODS]
#: A chain goes where its records lead it: which of its moves is taken is the one thing that differs.
NO_CHAINS = [method for method in METHODS if not any(word in method.name for word in ("chain", "mcmc"))]
ROWS = 64


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS, ids=IDS)
def test_no_step_takes_longer_for_some_records(method: ReplayMethod) -> None:
    steps = compare_method(method)
    assert not [step for step in steps if step.differs]
    assert any(step.ratio for step in steps)


@pytest.mark.slow
@pytest.mark.parametrize("name", timing.FACTS)
def test_no_learning_of_facts_takes_longer_for_some_records(name: str) -> None:
    assert not [step for step in compare_facts(name) if step.differs]


@pytest.mark.slow
def test_a_search_that_follows_its_values_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing, "_MOST_RUNS", timing._LEAST_RUNS)
    monkeypatch.setattr(
        counting,
        "cells_between",
        lambda edges, values, side: np.searchsorted(edges, values, side=side).astype(np.uint32),
    )
    (step,) = compare_facts(timing.FACTS[0])
    assert step.differs


@pytest.mark.parametrize("method", [pytest.param(own, id=f"{own.family}: {own.name}") for own in NO_CHAINS])
def test_every_line_runs_equally_often_for_all_records(method: ReplayMethod) -> None:
    with as_python():
        first, *others = flows(method)
    for other in others:
        assert (first - other) + (other - first) == Counter()


def test_a_branch_on_a_record_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def walked(codes: Any, columns: Any, onward: Any, steps: int, numbers: Any) -> Any:
        found = np.zeros(codes.shape[1], dtype=np.int64)
        for row in range(len(found)):
            if codes[:, row].any():
                found[row] = 0
        return found

    monkeypatch.setattr(contingency, "walked", walked)
    method = next(own for own in METHODS if own.name == "diffp_id3")
    with as_python():
        first, *others = flows(method, [walked.__code__])
    assert any(first != other for other in others)


def flows(method: ReplayMethod, more: list[CodeType] | None = None) -> Iterator[Counter[tuple[str, int]]]:
    """How often a run on each table goes through each line of the engine, outputs forced."""
    rng = method.generator(0)
    plan, learner = longest_plan(rng, method, ROWS), get_learner(method.family)
    tables = tables_of(rng, plan.schema)
    recorded, room = Recording(0), TableMemory(tables["half"])
    learner.run(Run(room.holding(tables["half"]), plan, recorded, recorded.tick))
    for table in tables.values():
        forced = Forced(recorded.events)
        yield traced(lambda: learner.run(Run(room.holding(table), plan, forced, forced.tick)), more or [])  # noqa: B023


def traced(program: Callable[[], object], more: list[CodeType]) -> Counter[tuple[str, int]]:
    """How often each line runs, of what sees records."""
    lines = Counter[tuple[str, int]]()

    def of_code(code: CodeType) -> bool:
        return code in more or any(part in code.co_filename for part in ("/dpcore/data/", "/learning/"))

    def local(frame: FrameType, event: str, _: object) -> Any:
        if event == "line":
            lines[frame.f_code.co_filename, frame.f_lineno] += 1
        return local

    before = sys.gettrace()
    sys.settrace(lambda frame, event, argument: local if of_code(frame.f_code) else None)
    try:
        program()
    finally:
        sys.settrace(before)
    return lines


@contextmanager
def as_python() -> Iterator[None]:
    """Kernels as they are written, not compiled: then their lines can be followed."""
    changed: list[tuple[ModuleType, str, object]] = []
    for name, module in list(sys.modules.items()):
        for key, value in list(vars(module).items()) if name.startswith("dpcore.") else ():
            if isinstance(value, Dispatcher):
                changed.append((module, key, value))
                setattr(module, key, value.py_func)
            elif key == "popcount":
                changed.append((module, key, value))
                setattr(module, key, np.bitwise_count)
    try:
        with np.errstate(all="ignore"):
            yield
    finally:
        for module, key, value in changed:
            setattr(module, key, value)


def test_times_are_compared_part_by_part_if_these_are_long_enough() -> None:
    steps = ["growing", "growing", "checking", "end of the run"]
    times = {"empty": [np.array([0.010, 1e-4, 0.010, 1e-5])] * 4, "full": [np.array([0.0102, 2e-4, 0.012, 3e-5])] * 4}
    found = {name: own for name, *own in timing._judged(steps, times)}
    assert found["growing"][2:] == [pytest.approx(1.02), pytest.approx(1.0)]
    assert found["checking"][2:] == [pytest.approx(1.2), pytest.approx(1.0)]
    assert found["end of the run"][2:] == [None, None]


def test_what_two_halves_of_the_runs_on_one_table_differ_by_is_noise() -> None:
    times = {"empty": [np.array([0.010]), np.array([0.013])] * 6, "full": [np.array([0.013])] * 12}
    ((*_, ratio, noise),) = timing._judged(["growing"], times)
    assert (ratio, noise) == (pytest.approx(1.3), pytest.approx(1.3))
    assert not StepTime("tree", "one", "growing", 1, {}, ratio, noise).differs
