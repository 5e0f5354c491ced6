"""``python -m benchmarks``: list the suites, run one, or make the page of their results.

python -m benchmarks                 the suites
python -m benchmarks rules --quick   run one; --write keeps its results in benchmarks/results
python -m benchmarks docs            make docs/benchmarks.md of what is kept there
python -m benchmarks screenshots --folder FOLDER
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from rich.console import Console

from benchmarks.declared import Suite
from benchmarks.page import PAGE, page
from benchmarks.results import FOLDER, Stored
from benchmarks.runner import Choice, cells, chooses, run
from benchmarks.suites import SUITES, find

#: Columns of tables that go into a file or another program.
_WIDTH = 160


def main(arguments: Sequence[str]) -> None:
    """Do what the command line says."""
    name, *more = arguments or ["--help"]
    if name in SUITES:
        # Homes of benchmarks are temporary, and so are their witnesses.
        with TemporaryDirectory() as folder, patch.dict(os.environ, {"FROSTGLASS_WITNESS": folder}):
            _run(find(name), more)
    elif name == "docs":
        PAGE.write_text(page(), encoding="utf-8")
    elif name == "screenshots":
        from benchmarks.screenshots import pictures

        for file in pictures(Path(_screenshots(more).folder)):
            print(file)
    else:
        print(__doc__, *(f"    {own:22}{about}" for own, (_, about) in SUITES.items()), sep="\n")
        sys.exit(0 if name in ("-h", "--help") else 2)


def _screenshots(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks screenshots")
    parser.add_argument("--folder", required=True, help="where the pictures go")
    return parser.parse_args(arguments)


def parser_of(suite: Suite) -> argparse.ArgumentParser:
    """Options of every suite, and its own."""
    name = suite.name
    parser = argparse.ArgumentParser(f"python -m benchmarks {name}", description=SUITES[name][1], allow_abbrev=False)
    some = {"action": "append", "help": "only this, or what begins with it; repeatable"}
    parser.add_argument("--quick", action="store_true", help="the short form")
    parser.add_argument("--data", **some)
    parser.add_argument("--method", **some)
    parser.add_argument("--epsilon", type=float, **some)
    parser.add_argument("--seeds", type=int, help="measurements of each cell, each of other records or noise")
    parser.add_argument("--no-rivals", action="store_true", help="leave out programs that are installed apart")
    for option, default in suite.options.items():
        kind = {"action": "store_true"} if default is False else {"type": type(default), "default": None}
        parser.add_argument(f"--{option}", help=f"default: {default}", **kind)
    parser.add_argument("--kept", type=Path, help="file of cells: those that it holds are not measured again")
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin no cell after so many")
    parser.add_argument("--workers", type=int, default=1, help="processes side by side; seconds are longer then")
    parser.add_argument("--write", action="store_true", help=f"keep the results in benchmarks/results/{name}.json")
    parser.add_argument("--json", type=Path, help="write the results to this file instead")
    return parser


def _run(suite: Suite, arguments: Sequence[str]) -> None:
    parser = parser_of(suite)
    given = parser.parse_args(arguments)
    for what, asked, known in (("data", given.data, suite.data), ("method", given.method, suite.methods)):
        for own in asked or ():
            if not any(chooses(known, own, one) for one in known):
                parser.error(f"unknown {what} {own}; known: {', '.join(known)}")
    own_options = {option: value for option in suite.options if (value := getattr(given, option)) is not None}
    choice = Choice(given.data, given.method, given.epsilon, given.seeds, given.quick, not given.no_rivals)
    choice.workers, choice.kept, choice.minutes, choice.options = given.workers, given.kept, given.minutes, own_options
    if not any(cells(suite, choice)):
        parser.error("nothing to measure is left of this choice")
    found, console = run(suite, choice), Console(width=None if sys.stdout.isatty() else _WIDTH)
    for layout in suite.layouts:
        if table := layout.table(found.results):
            console.print(table.rich())
    for note in found.notes:
        console.print(note)
    path = given.json or (FOLDER / f"{suite.name}.json" if given.write else None)
    if path:
        stored = Stored.read(path)
        stored.add(command_of(suite.name, vars(given)), found.results, found.notes)
        stored.write(path)


def command_of(name: str, given: Mapping[str, Any]) -> str:
    """The command as it is told to others: a path or an address is a machine's own, so it stands there by name."""
    words = ["python -m benchmarks", name]
    for option, value in given.items():
        if option in ("json", "write", "workers", "minutes") or value in (None, False):
            continue
        values = value if isinstance(value, list) else [value]
        if isinstance(value, Path) or "/" in str(value):
            values = [option.upper()]
        spelled = f"--{option.replace('_', '-')}"
        words += (
            [spelled] if value is True else [f'{spelled} "{v}"' if " " in str(v) else f"{spelled} {v}" for v in values]
        )
    return " ".join(words)


if __name__ == "__main__":
    main(sys.argv[1:])
