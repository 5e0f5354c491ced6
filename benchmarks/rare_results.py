"""House methods, private rivals and models without privacy on tables with rare outcomes or few records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rich.table import Table

from benchmarks.environments import LeftOutError
from benchmarks.kept import KeptLines
from benchmarks.rare import SEEN, TABLES, problem
from benchmarks.rare_methods import PROGRAMS
from benchmarks.records import Record, summarise

SUITE: Final = "records"
EPSILONS: Final = (0.1, 1.0, 4.0)
METRIC: Final = "AUC on records set aside"
#: Table, method and epsilon (``None`` without privacy).
Cell = tuple[str, str, float | None]


@dataclass(frozen=True)
class Request:
    """What to measure.

    Attributes
    ----------
    data, epsilons, programs : sequence or None
        ``None`` is all; with ``peers`` false, all that need no environment of their own.
    splits : int
        How often records are set aside.
    kept : Path or None
        File of areas: those that it holds are not measured again.
    """

    data: Sequence[str] | None = None
    epsilons: Sequence[float] | None = None
    programs: Sequence[str] | None = None
    splits: int = 5
    peers: bool = True
    kept: Path | None = None

    def cells(self) -> Iterator[tuple[str, str, float | None]]:
        """Table, program and epsilon of what is learned at once."""
        chosen = self.programs or [name for name, own in PROGRAMS.items() if self.peers or not own.peer]
        for data in TABLES:
            if self.data and data not in self.data:
                continue
            for name in PROGRAMS:
                if name in chosen:
                    for epsilon in (self.epsilons or EPSILONS) if PROGRAMS[name].private else (None,):
                        yield data, name, epsilon


def run(request: Request) -> Iterator[Record | str]:
    """Areas under the curve of every method over splits; a sentence for what was left out."""
    kept = KeptLines(request.kept)
    areas: dict[Cell, dict[int, float]] = {}
    for line in kept.lines():
        areas.setdefault((line["data"], line["method"], line["epsilon"]), {})[line["split"]] = line["area"]
    for data, name, epsilon in request.cells():
        program = PROGRAMS[name]
        found = {
            method: [areas.setdefault((data, variant, epsilon), {}) for variant in program.scored_as(method)]
            for method in program.methods
        }
        all_areas = [own for scored in found.values() for own in scored]
        missing = [number for number in range(request.splits) if any(number not in own for own in all_areas)]
        if missing:
            try:
                _measure(data, name, epsilon, missing, areas, kept)
            except LeftOutError as fault:
                yield f"{data}: not all figures of {name}: {fault}"
        for method, scored in found.items():
            values = _best([[own[number] for number in sorted(own) if number < request.splits] for own in scored])
            if values:
                yield Record(SUITE, data, method, epsilon, METRIC, *summarise(values), len(values), None, "")


def _best(scored: list[list[float]]) -> list[float]:
    """Of the areas in each encoding those with the highest mean, among the encodings with the most splits."""
    return max(scored, key=lambda values: (len(values), sum(values)))


def _measure(
    data: str,
    name: str,
    epsilon: float | None,
    missing: Sequence[int],
    areas: dict[Cell, dict[int, float]],
    kept: KeptLines,
) -> None:
    one = problem(data)
    apart = dict(zip(missing, one.tests(max(missing) + 1)[list(missing)], strict=True))
    for method, split, scores in PROGRAMS[name].learn(one, apart, epsilon):
        area = one.area(apart[split], scores)
        areas[data, method, epsilon][split] = area
        kept.keep({"data": data, "method": method, "epsilon": epsilon, "split": split, "area": area})


def tables(records: list[Record]) -> Iterator[Table]:
    """For each table: methods by epsilon, the private ones first."""
    for name in dict.fromkeys(record.data for record in records):
        own = [record for record in records if record.data == name]
        epsilons = sorted({record.epsilon for record in own if record.epsilon is not None})
        seen = ", ".join(SEEN.get(name, ()))
        told = f"constants chosen or looked at on it: {seen}" if seen else "no constant was chosen on it"
        splits = max(record.n for record in own)
        shown = Table(title=f"{name} ({told}): area under the ROC curve, {splits} splits")
        for heading in ("method", *(f"epsilon {epsilon:g}" for epsilon in epsilons)):
            shown.add_column(heading)
        for method in dict.fromkeys(record.method for record in own):
            cells = {record.epsilon: record for record in own if record.method == method}
            told_once = cells.get(None)
            row = [told_once] * len(epsilons) if told_once else [cells.get(epsilon) for epsilon in epsilons]
            shown.add_row(method, *("" if one is None else _figure(one, splits) for one in row))
        yield shown


def _figure(record: Record, splits: int) -> str:
    fewer = "" if record.n == splits else f" ({record.n} of {splits} splits)"
    return f"{record.mean:.3f} ± {record.stderr:.3f}{fewer}"
