"""One way to run every suite: its grid of cells, measured, kept as JSON lines and brought to results."""

from __future__ import annotations

import json
import math
import multiprocessing
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import asdict, astuple, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.progress import track

from benchmarks.declared import LeftOutError, Quick, Suite
from benchmarks.results import Cell, Line, Result, summarised
from benchmarks.suites import find
from dpcore.errors import BudgetError, RequestError

_ROOT: Final = Path(__file__).parents[1]


@dataclass
class Choice:
    """What to measure of a suite: ``None`` is everything."""

    data: Sequence[str] | None = None
    methods: Sequence[str] | None = None
    epsilons: Sequence[float] | None = None
    seeds: int | None = None
    quick: bool = False
    rivals: bool = True
    """Whether programs take part that need an environment of their own."""
    workers: int = 1
    kept: Path | None = None
    """File of JSON lines: cells that it holds are not measured again, others are added."""
    minutes: float = math.inf
    """No cell is begun after so many."""
    options: dict[str, Any] = field(default_factory=dict)


def cells(suite: Suite, choice: Choice) -> Iterator[Cell]:
    """All that was chosen: every cell has one seed before any has two."""
    short = suite.quick if choice.quick else Quick(seeds=suite.seeds)
    data = _chosen(suite.data, choice.data) if choice.data else short.data or suite.data
    methods = _chosen(suite.methods, choice.methods) if choice.methods else short.methods or suite.methods
    epsilons = choice.epsilons or short.epsilons or suite.epsilons
    plain, once = set(suite.plain) if suite.epsilons else set(suite.methods), set(suite.once)
    for seed in range(choice.seeds or min(short.seeds, suite.seeds)):
        for name in data:
            for epsilon in (None, *epsilons):
                for method in methods:
                    cell = Cell(name, method, epsilon, seed)
                    fits = (method in plain) == (epsilon is None) and not (method in once and seed)
                    possible = choice.rivals or method not in suite.programs
                    if fits and possible and not suite.skip(cell):
                        yield cell


def _chosen(known: Sequence[str], asked: Sequence[str]) -> list[str]:
    """Those of the names that are asked for, or begin with what is asked for."""
    return [name for name in known if any(chooses(known, own, name) for own in asked)]


def chooses(known: Sequence[str], asked: str, name: str) -> bool:
    """Whether a name is chosen: the very name, or a beginning of several."""
    return name == asked if asked in known else name.startswith(asked)


class Kept:
    """Lines in a file of JSON lines, or nowhere.

    Parameters
    ----------
    path : Path or None
        Made with the first line.
    suite : Suite
        Whose lines; others may be in the file, too.
    options : mapping
        Numbers and flags among them change what is measured: lines with others do not count.
    """

    def __init__(self, path: Path | None, suite: Suite, options: Mapping[str, Any]) -> None:
        chosen = {name: value for name, value in options.items() if isinstance(value, int)}
        self._path, self._mark = path, {"suite": suite.name, **chosen}

    def lines(self) -> dict[Cell, Mapping[str, Any] | LeftOutError]:
        """What was kept, by cell. A line that was cut off is left out."""
        found = {}
        for line in self._path.read_text().splitlines() if self._path and self._path.exists() else ():
            content = _read(line)
            if content is not None and content["of"] == self._mark:
                missed = content.get("missed")
                found[Cell(*content["cell"])] = (
                    LeftOutError(missed[0], within=missed[1]) if missed else content["figures"]
                )
        return found

    def keep(self, cell: Cell, found: Mapping[str, Any] | LeftOutError) -> None:
        """Add a line; it begins a line of its own, though the last one was cut off. Only what took too long is kept
        of what was left out.
        """
        if self._path is None or (isinstance(found, LeftOutError) and found.within is None):
            return
        told = {"missed": [found.reason, found.within]} if isinstance(found, LeftOutError) else {"figures": dict(found)}
        cut = self._path.exists() and not self._path.read_text().endswith("\n")
        with self._path.open("a") as file:
            file.write("\n" * cut + json.dumps({"of": self._mark, "cell": astuple(cell), **told}) + "\n")


def _read(line: str) -> dict[str, Any] | None:
    try:
        content: dict[str, Any] = json.loads(line)
    except json.JSONDecodeError:
        return None
    return content


@dataclass
class Outcome:
    """What a run of a suite found."""

    lines: list[Line]
    results: list[Result]
    notes: list[str]


def run(suite: Suite, choice: Choice) -> Outcome:
    """Measure every chosen cell that is not kept yet; what cannot be measured has a note in its place."""
    wanted = list(cells(suite, choice))
    options = {**suite.options, **choice.options, "quick": choice.quick}
    kept = Kept(choice.kept, suite, options)
    known = {cell: own for cell, own in kept.lines().items() if not _again(own, options)}
    found = {cell: known[cell] for cell in wanted if cell in known}
    skipped = Skipped()
    for cell, own in found.items():
        skipped.note(cell, own)
    end = time.monotonic() + 60 * choice.minutes
    missing = [cell for cell in wanted if cell not in found]
    if missing and choice.minutes > 0:
        with suite.prepare(options) as more:
            todo = (cell for cell in missing if time.monotonic() < end and cell not in skipped)
            measured = _measured(suite, todo, {**options, **(more or {})}, choice.workers)
            for cell, own in track(measured, suite.name, len(missing), console=Console(stderr=True)):
                kept.keep(cell, own)
                skipped.note(cell, own)
                found[cell] = own
    lines = [Line(c, own) for c in wanted if (own := found.get(c)) is not None and not isinstance(own, LeftOutError)]
    refused = dict.fromkeys(str(line.figures["refused"]) for line in lines if "refused" in line.figures)
    return Outcome(lines, concluded(suite, lines), [*skipped.notes, *refused])


def _again(found: Mapping[str, Any] | LeftOutError, options: Mapping[str, Any]) -> bool:
    """Whether what was not finished has more time now."""
    return isinstance(found, LeftOutError) and (found.within or 0) < options.get("longest", math.inf)


def concluded(suite: Suite, lines: Sequence[Line]) -> list[Result]:
    """Results of some lines, what is concluded from them, and published figures of the same data and epsilons."""
    results = summarised(lines)
    results += suite.conclude(lines, results)
    there = {result.data for result in results}
    epsilons = {result.epsilon for result in results} | {None}
    unmeasured = set(suite.methods) - {result.method for result in results}
    published = (own for own in suite.published if own.method not in unmeasured)
    return results + [own for own in published if own.data in there and own.epsilon in epsilons]


class Skipped:
    """What need not be tried again: all of a data set, or a method on it, at larger epsilons too."""

    def __init__(self) -> None:
        self.notes = list[str]()
        self._places = set[tuple[str, ...]]()

    def note(self, cell: Cell, found: Mapping[str, Any] | LeftOutError) -> None:
        """See what became of a cell."""
        if not isinstance(found, LeftOutError) or cell in self:
            return
        self._places.add((cell.data,) if found.everything else (cell.data, cell.method))
        where = cell.data if found.everything else f"{cell.data}, {cell.method}"
        at = "" if found.everything or cell.epsilon is None else f" at ε = {cell.epsilon:g} and above"
        self.notes.append(f"No figures of {where}{at}: {found.reason}")

    def __contains__(self, cell: Cell) -> bool:
        return not self._places.isdisjoint({(cell.data,), (cell.data, cell.method)})


def _measured(
    suite: Suite, todo: Iterator[Cell], options: Mapping[str, Any], workers: int
) -> Iterator[tuple[Cell, Mapping[str, Any] | LeftOutError]]:
    if workers == 1:
        for cell in todo:
            yield cell, attempted(suite, cell, options)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context) as pool:
        going = dict[Future[Any], Cell]()
        while True:
            for cell in islice(todo, workers - len(going)):
                going[pool.submit(_attempted_by_name, suite.name, cell, options)] = cell
            if not going:
                return
            for future in wait(going, return_when=FIRST_COMPLETED).done:
                yield going.pop(future), future.result()


def _attempted_by_name(name: str, cell: Cell, options: Mapping[str, Any]) -> Mapping[str, Any] | LeftOutError:
    return attempted(find(name), cell, options)


def attempted(suite: Suite, cell: Cell, options: Mapping[str, Any]) -> Mapping[str, Any] | LeftOutError:
    """Figures of a cell, or why it has none."""
    try:
        return _in_fresh_process(suite, cell, options) if suite.fresh else suite.measure(cell, options)
    except LeftOutError as fault:
        return fault
    except (RequestError, BudgetError) as refusal:
        return {"refused": f"{cell.data}, {cell.method} at ε = {cell.epsilon} did not run: {refusal}"}


def _in_fresh_process(suite: Suite, cell: Cell, options: Mapping[str, Any]) -> dict[str, Any]:
    """Figures whose peak of memory is that of a process of their own."""
    asked = json.dumps([suite.name, asdict(cell), {**options}], default=str)
    command = [sys.executable, "-m", "benchmarks.runner", asked]
    done = subprocess.run(command, cwd=_ROOT, stdout=subprocess.PIPE, text=True, check=True)  # Its errors are shown.
    found: dict[str, Any] = json.loads(done.stdout)
    if "left out" in found:
        raise LeftOutError(*found["left out"])
    return found


def measure_here(asked: str) -> str:
    """What a fresh process is asked for, and says: a suite's name, a cell and options as JSON, and figures as JSON."""
    name, cell, options = json.loads(asked)
    try:
        found = dict(find(name).measure(Cell(**cell), options))
    except LeftOutError as fault:
        found = {"left out": fault.args}
    return json.dumps(found)


if __name__ == "__main__":
    from benchmarks.runner import measure_here as measure  # Not this copy, whose errors are of another class.

    sys.stdout.write(measure(sys.argv[1]))
