"""Relational rules on the command line: options, output, refusals."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path

import pytest

from dpcore.commands.opening import open_service
from dpcore.demo.trains import clauses_theory, draw_trains, trains_schema
from dpcore.models.ilp.released.ilp_reading import NO_PREDICTION
from dpcore.models.released import parse_model
from dpcore.numerals import whole
from dpcore.released.release import Release
from tests.support.workspaces.command_line import run

THEORY = clauses_theory(1)
SCHEMA = trains_schema(THEORY, columns=4, max_rows=2_000)
FIT = ("fit", "ilp", "trains", "--target", "direction", "--epsilon", "2")
RULE = """direction(T, east) :-
    has_car(T, A), length(A, short), roof_in(A, closed), load(A, triangle)."""


@pytest.fixture(autouse=True)
def home(home: Path) -> Path:
    """An installation in the working folder, with trains that one rule tells apart."""
    frame, children = draw_trains(THEORY, 1_500, seed=1)
    with open_service() as service:
        service.add_dataset({"train": frame, **children}, SCHEMA, budget=Decimal(5))
    return home


def test_rules_are_fitted_printed_and_written(home: Path) -> None:
    path = home / "result.json"
    wish = (*FIT, "--clauses", "1", "--max-variables", "1")
    assert "would promise epsilon = 2.00;" in run(*wish, "--quote")
    text = run(*wish, "-o", path)
    assert text.startswith("Relational rules for 'direction' on 'trains'  (release ")
    assert f"\n{RULE}\n" in text
    [first] = re.findall(r"^Clause 1: .*\n(?:  .*\n)*", text, re.MULTILINE)
    assert re.search(r"^No clause: ", text, re.MULTILINE)
    assert NO_PREDICTION not in text
    assert "\nA train with a car that has length = short, roof in closed (" in text
    assert "\nEvery other train: direction = east for about " in text
    assert "accuracy" in text
    assert re.search(r"choosing clauses epsilon 1\.(80|79)\d*; noisy counts epsilon 0\.20", text)
    assert "the parts are shares of rho" in text
    release = Release.from_json(path.read_text())
    assert (release.kind, release.target) == ("ilp", "direction")
    west, east = parse_model(release).groups[0].noisy_counts
    assert re.search(rf" {whole(west)} ±.* {whole(east)} ±", first, re.DOTALL)
    assert run("release", "show", release.id) == run("release", "show", path) == text
