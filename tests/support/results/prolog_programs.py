"""Programs that SWI-Prolog runs: a second opinion on whom clauses cover."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

from dpcore.domain.schemas.schema import Schema
from dpcore.models.ilp.language.lattice import Lattice
from dpcore.models.ilp.language.prolog import Prolog

#: Without it a test is left out, but not where all that tests need is installed.
needs_prolog = pytest.mark.skipif(
    shutil.which("swipl") is None and not os.environ.get("CI"),
    reason="needs SWI-Prolog: apt-get install swi-prolog-nox",
)
_COUNT = ":- initialization((forall((setof(P, covered(K, P), L), length(L, N)), format('~w ~w~n', [K, N])), halt))."


def program(facts: Iterable[str], schema: Schema, lattice: Lattice, places: Iterable[int]) -> str:
    """Facts about people, and how many of them some clauses cover."""
    writer, rules = Prolog(schema), []
    for place in places:
        goals = [goal for together in writer.body(lattice.clause(place)) for goal in together]
        rules.append(f"covered({place}, P) :- {', '.join(goals)}.")
    return "\n".join([*facts, *rules, _COUNT]) + "\n"


def covered(text: str, folder: Path) -> dict[int, int]:
    """People by clause, where there are any, as Prolog finds them."""
    file = folder / "clauses.pl"
    file.write_text(text, encoding="utf-8")
    done = subprocess.run(["swipl", "-q", str(file)], capture_output=True, text=True, timeout=120, check=True)
    assert done.stderr == ""
    return dict(map(int, line.split()) for line in done.stdout.splitlines())
