"""Relational rules on the command line: options, output, refusals."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from dpcore.commands import app
from dpcore.commands.shell import open_service
from dpcore.commands.text import release_text
from dpcore.demo.trains import clauses_theory, draw_trains, trains_schema
from dpcore.models.ilp.language.ilp_parameters import ILPParameters
from dpcore.models.ilp.released.ilp_text import NO_PREDICTION
from dpcore.models.released import parse_model
from dpcore.released.release import Release
from dpcore.workspace.ledger.requests import RunRequest

THEORY = clauses_theory(1)
SCHEMA = trains_schema(THEORY, columns=4, max_rows=2_000)
FIT = ("fit", "ilp", "trains", "--target", "direction", "--epsilon", "2")
RULE = """direction(T, east) :-
    has_car(T, A), length(A, short), roof_in(A, closed), load(A, triangle)."""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installation in the working folder, with trains that one rule tells apart."""
    monkeypatch.setenv("FROSTGLASS_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("FROSTGLASS_DATABASE_URL", raising=False)
    monkeypatch.chdir(tmp_path)
    frame, children = draw_trains(THEORY, 1_500, seed=1)
    with open_service() as service:
        service.add_dataset({"train": frame, **children}, SCHEMA, budget=Decimal(5))
    return tmp_path


def call(*args: object) -> Result:
    return CliRunner().invoke(app, [str(arg) for arg in args])


def run(*args: object) -> str:
    result = call(*args)
    assert result.exit_code == 0, result.output
    return result.stdout


def refuse(*args: object) -> str:
    """The one line a mistaken command leaves on standard error."""
    result = call(*args)
    assert result.exit_code == 2, result.output
    [line] = result.stderr.splitlines()
    assert line.startswith("error: ")
    return line


def test_rules_are_fitted_printed_and_written(home: Path) -> None:
    path = home / "result.json"
    wish = (*FIT, "--clauses", "1", "--max-variables", "1")
    assert "would cost epsilon = 2.00;" in run(*wish, "--quote")
    text = run(*wish, "-o", path)
    assert text.startswith("Relational rules for 'direction' on 'trains'  (release ")
    assert f"\n\n{RULE}\n\n" in text
    head, first, rest = text.split("\n\n")[2].splitlines()
    assert head.split("  ")[:2] == ["clause", "noisy counts (west, east)"]
    assert first.startswith("1  ")
    assert rest.startswith("none  ")
    assert NO_PREDICTION not in text
    assert "\nA train with a car that has length = short, roof in closed (" in text
    assert "\nEvery other train: direction = east for about " in text
    assert "accuracy" in text
    assert "epsilon = 2.00 (clauses 1.60, estimates 0.40)" in text
    release = Release.from_json(path.read_text())
    assert (release.kind, release.target) == ("ilp", "direction")
    west, east = parse_model(release).groups[0].noisy_counts
    assert f"{west}, {east}" in first
    assert run("release", "show", release.id) == run("release", "show", path) == text


def test_options_reach_the_learner(home: Path) -> None:
    path = home / "result.json"
    options = (
        "--positive",
        "west",
        "--method",
        "relevance_aware",
        "--criterion",
        "share",
        "--min-share",
        "0.1",
        "--literals",
        "car: length = short",
        "--literals",
        "car: roof in closed",
        "--max-literals",
        "2",
        "--negation",
        "--quantifiers",
        "exists",
        "--quantifiers",
        "counts",
        "--most-counted",
        "4",
        "--clauses",
        "1",
        "--positive-weight",
        "3",
        "--count-share",
        "0.5",
        "--negative-weight",
        "2",
        "--strict-first",
        "--no-length-prior",
        "--reserved-literals",
        "--no-evaluate",
    )
    text = run(*FIT, *options, "-o", path)
    assert "direction(T, west)" in text
    assert "accuracy" not in text
    release = Release.from_json(path.read_text())
    assert ILPParameters.model_validate(release.parameters) == ILPParameters(
        positive="west",
        method="relevance_aware",
        criterion="share",
        min_share=0.1,
        literals=("car: length = short", "car: roof in closed"),
        max_literals=2,
        negation=True,
        quantifiers=("exists", "counts"),
        most_counted=4,
        clauses=1,
        positive_weight=3,
        count_share=Decimal("0.5"),
        negative_weight=2,
        strict_first=True,
        length_prior=False,
        reserved_literals=True,
        evaluate=False,
    )


def test_a_rule_that_does_not_predict_is_marked() -> None:
    """Of a rehearsal, one rule made useless by hand: fewer positives than negatives."""
    with open_service() as service:
        request = RunRequest(
            dataset_id=service.dataset("trains").id,
            algorithm="ilp",
            target="direction",
            epsilon=Decimal(1),
            parameters={"clauses": 2, "max_variables": 1},
        )
        release = service.rehearse(request)
    content = release.model_dump()
    for place, kept in enumerate((True, False, False)):
        content["model"]["groups"][place]["kept"] = kept
    text = release_text(Release.model_validate(content))
    marked = [line for line in text.splitlines() if line.endswith(NO_PREDICTION)]
    assert [line.split()[0] for line in marked] == ["2"]
    assert text.count("This clause does not predict it.") == 1


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--literals", "car: roof = moon"), "is not a condition of this data set"),
        (("--positive", "north"), "is not a class of 'direction'"),
        (("--max-literals", "9"), "--max-literals"),
        (("--count-share", "1"), "count_share"),
        (("--method", "nonsense"), "nonsense"),
        (("--criterion", "nonsense"), "nonsense"),
        (("--target", "speed"), "no column 'speed'"),
    ],
)
def test_a_wrong_wish_is_one_line_and_costs_nothing(options: tuple[str, ...], sentence: str) -> None:
    assert sentence in refuse(*FIT, *options)
    assert "spent 0.00" in run("ledger", "show", "trains")


def test_rules_are_rehearsed_for_free(home: Path) -> None:
    text = run(*FIT, "--rehearse")
    assert "REHEARSAL" in text
    assert "direction(T, east) :-\n    has_car(T, A)" in text
    assert "spent 0.00" in run("ledger", "show", "trains")
    assert not list(home.glob("release-*.json"))
