"""The command line as a user meets it: output, files, exit codes, one-line errors."""

from __future__ import annotations

import inspect
import os
import re
import shutil
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pandas as pd
import pytest
import yaml
from typer.testing import CliRunner

from dpcore.commands import app
from dpcore.demo import DEMOS
from dpcore.domain.schemas.schema import Schema
from dpcore.models.released import parse_model
from dpcore.released.release import Release
from tests.support.rows import for_each
from tests.support.workspaces.command_line import HOME, call, refuse, run

FIT = ("fit", "rule-list", "breast_cancer", "--target", "diagnosis", "--sampler", "pool", "--pool-size", "200")


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a CSV file, its schema file and an installation with both, as ``stored`` makes it."""
    folder = tmp_path_factory.mktemp("prepared")
    demo = DEMOS["breast_cancer"]()
    data, schema = folder / "cells.csv", folder / "cells.yaml"
    demo.frame.to_csv(data, index=False)
    schema.write_text(demo.schema.to_yaml(), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(HOME, str(folder / "home"))
        patch.delenv("FROSTGLASS_DATABASE_URL", raising=False)
        run("data", "add", data, "--schema", schema, "--budget", "2")
    return folder


@pytest.fixture
def files(home: Path, prepared: Path) -> tuple[Path, Path]:
    """A CSV file and its schema file."""
    data, schema = (Path(shutil.copy(prepared / name, home)) for name in ("cells.csv", "cells.yaml"))
    return data, schema


@pytest.fixture
def stored(files: tuple[Path, Path]) -> None:
    """The data set ``breast_cancer`` with a budget of 2."""
    data, schema = files
    run("data", "add", data, "--schema", schema, "--budget", "2")


@pytest.fixture(scope="module")
def roomy(prepared: Path) -> Path:
    """An installation with the same data set and a budget for many runs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(HOME, str(prepared / "roomy"))
        patch.delenv("FROSTGLASS_DATABASE_URL", raising=False)
        run("data", "add", prepared / "cells.csv", "--schema", prepared / "cells.yaml", "--budget", "20")
    return prepared / "roomy"


@pytest.fixture
def shared(home: Path, roomy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same, of many tests that spend on it."""
    monkeypatch.setenv(HOME, str(roomy))


@pytest.fixture
def unchanged(home: Path, prepared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same, of many tests that change nothing."""
    monkeypatch.setenv(HOME, str(prepared / "home"))


@pytest.mark.parametrize(
    "options",
    [
        ("tree",),
        ("tree", "--pure"),
        ("tree", "--method", "adiffp", "--criterion", "gini"),
        ("tree", "--method", "diffp_c45", "--depth", "3"),
        ("tree", "--method", "sulq_id3", "--depth", "2"),
        ("tree", "--blocks", "2", "--blocks", "1", "--leaf-share", "0.3", "--no-prune"),
        ("forest", "--trees", "3"),
        ("forest", "--method", "random_trees", "--sharing", "split", "--trees", "4"),
    ],
)
@pytest.mark.usefixtures("shared")
def test_trees_and_forests_are_fitted_printed_and_written(home: Path, options: tuple[str, ...]) -> None:
    path = home / "result.json"
    common = ("breast_cancer", "--target", "diagnosis", "--epsilon", "0.5")
    kind, *more = options
    quoted = run("fit", kind, *common, *more, "--quote")
    assert "would promise epsilon = 0.50;" in quoted
    assert "It takes a few seconds and" in quoted
    text = run("fit", kind, *common, *more, "-o", path)
    assert f"{kind.capitalize()} for 'diagnosis'" in text
    release = Release.from_json(path.read_text())
    assert release.kind == kind
    composed = "--pure" not in options
    assert ("It takes 0.1555 % of the budget" in quoted) == composed
    assert release.certificate.epsilon == Decimal("0.5")
    assert release.certificate.delta == (Decimal("8e-6") if composed else 0)
    assert "epsilon = 0.50" in text
    model = parse_model(release)
    assert model.columns() == () or model.columns()[0] in text


EBM = ("fit", "ebm", "breast_cancer", "--epsilon", "0.5")


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--pairs", "1", "--max-bins", "8"),
        ("--method", "random_splits", "--epochs", "3", "--leaves", "2", "--no-evaluate"),
    ],
)
@pytest.mark.usefixtures("shared")
def test_shapes_are_fitted_printed_and_written(home: Path, options: tuple[str, ...]) -> None:
    path, target = home / "result.json", ("--target", "diagnosis")
    quoted = run(*EBM, *target, *options, "--quote")
    assert "would promise epsilon = 0.50;" in quoted
    assert "It takes 0.1555 % of the budget" in quoted
    text = run(*EBM, *target, *options, "-o", path)
    assert "Shape functions for 'diagnosis'" in text
    assert "epsilon = 0.50, delta = 8 · 10⁻⁶" in text
    assert f"ρ = {Release.from_json(path.read_text()).certificate.rho:f} (zero-concentrated" in text
    assert "Before any column counts, the chance of diagnosis = malignant is" in text
    assert ("Checked on people who were set aside" in text) == ("--no-evaluate" not in options)
    release = Release.from_json(path.read_text())
    assert release.kind == "ebm"
    for term in parse_model(release).terms:
        assert term.name in text


PAIRS = ("fit", "redescriptions", "breast_cancer", "--epsilon", "1")
VIEWS = ("--left", "mean_radius", "--left", "mean_texture", "--right", "mean_area", "--right", "mean_concavity")


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--starts", "2", "--depth", "2", "--tree-share", "0.3", "--reserved-splits"),
        ("--method", "alt_expm", "--depth", "2", "--rounds", "2", "--no-margins"),
        ("--method", "alt_mcmc", "--depth", "2", "--steps", "1000"),
        ("--method", "mcmc_tree_pair", "--depth", "2", "--steps", "1000"),
        (
            "--method",
            "mcmc_tree_pair",
            "--depth",
            "2",
            "--sampler",
            "pool",
            "--pool-size",
            "50",
            "--sensitivity",
            "published",
        ),
    ],
)
@pytest.mark.usefixtures("stored")
def test_redescriptions_are_fitted_printed_and_written(home: Path, options: tuple[str, ...]) -> None:
    path = home / "result.json"
    chain = bool({"alt_mcmc", "mcmc_tree_pair"} & {*options}) and "pool" not in options
    assert "would promise epsilon = 1.00;" in run(*PAIRS, *VIEWS, *options, "--quote")
    if chain:
        assert "only the custodian of the data set can allow them" in refuse(*PAIRS, *VIEWS, *options)
        run("data", "chains", "breast_cancer", "--allow", "--note", "a trial", "--yes")
    text = run(*PAIRS, *VIEWS, *options, "-o", path)
    assert text.startswith("Redescriptions on 'breast_cancer'  (release ")
    assert "accuracy" not in text
    assert ("epsilon = 1.00 (pure" if chain else "epsilon = 1.00, delta = 8 · 10⁻⁶") in text
    release = Release.from_json(path.read_text())
    assert (release.kind, release.target) == ("redescriptions", "")
    assert release.parameters["left"] == ["mean_radius", "mean_texture"]
    assert parse_model(release).right_columns == ("mean_area", "mean_concavity")
    [line] = run("release", "list").splitlines()[1:]
    assert "redescriptions  breast_cancer  -  " in line


@pytest.mark.usefixtures("stored")
def test_markov_chains_are_allowed_after_a_question_and_disallowed_again() -> None:
    chain = (*FIT, "--epsilon", "0.1", "--sampler", "mcmc")
    assert ", 0 % spent" in run("ledger", "show", "breast_cancer")
    switch = ("data", "chains", "breast_cancer")
    asked = call(*switch, "--allow", "--note", "a trial")
    assert "reveal whether one person is in the data" in asked.output
    assert asked.exit_code != 0
    assert "only the custodian" in refuse(*chain)
    assert "The custodian allows Markov chains" in run(*switch, "--allow", "--note", "a trial", "--yes")
    assert "private, Markov chains allowed" in run("data", "list")
    assert "The custodian allows Markov chains" in run(*FIT, "--epsilon", "0.1", "--quote")
    told = run(*chain)
    assert "Allowed by the custodian: runs on this data set whose guarantee is conditional" in told
    assert "zero-concentrated" not in told
    run(*switch, "--forbid")
    assert "only the custodian" in refuse(*chain)
    lines = run("ledger", "log", "--kind", "allow", "--kind", "forbid").splitlines()
    assert ["a trial" in line for line in lines[1:]] == [True, False]


@pytest.mark.usefixtures("stored")
def test_a_release_of_redescriptions_is_read_again_for_free(home: Path) -> None:
    """The mean radius tells the mean area: more is found the less is asked for."""
    path, table = home / "result.json", home / "table.csv"
    text = run(*PAIRS, *VIEWS, "-o", path)
    release = Release.from_json(path.read_text())
    again = ("release", "redescriptions", path)
    shown = run(*again)
    assert all(line in shown for line in text.splitlines() if "Noisy Jaccard index: " in line)
    assert run("release", "redescriptions", release.id) == run(*again)
    counts = []
    for least in ("0.2", "0.6", "1"):
        shown = run(*again, "--min-jaccard", least, "--disjuncts", "2", "--csv", table)
        found = pd.read_csv(table)
        table.unlink()
        assert (found["noisy Jaccard index"] >= float(least)).all()
        assert shown.count("Noisy Jaccard index: ") == min(len(found), 20)
        assert shown.startswith(f"{len(found)} redescription" if len(found) else "No two conditions")
        counts.append(len(found))
    assert counts[0] >= counts[1] > 0
    assert "28.16 % spent" in run("ledger", "show", "breast_cancer")


def test_schema_init_reads_the_header_only(home: Path) -> None:
    data = home / "ward.csv"
    data.write_text("patient_id,age,ward,comment\n1,44,secretward,secretcomment\n")
    text = run("schema", "init", data)
    assert "secret" not in text
    draft = yaml.safe_load(text)
    assert draft["privacy_unit"] == {"column": "patient_id", "max_rows_per_person": 1}
    assert [column["name"] for column in draft["columns"]] == ["age", "ward"]
    assert "required" in text


def test_schema_init_suggests_from_values_with_a_warning(home: Path) -> None:
    data, schema = home / "ward.csv", home / "ward.yaml"
    data.write_text("age,ward\n44,north\n50,south\n")
    result = call("schema", "init", data, "--suggest", "ward", "--output", schema)
    assert result.exit_code == 0, result.output
    assert "become public" in result.stderr
    draft = yaml.safe_load(schema.read_text())
    assert draft["columns"][1]["categories"] == ["north", "south"]
    assert "exists already" in refuse("schema", "init", data, "--output", schema)
    assert "max_rows" in refuse("schema", "check", schema)
    schema.write_text(schema.read_text().replace("max_rows:", "max_rows: 100"))
    told = run("schema", "check", schema, "--data", data)
    assert told.startswith("ok: 'ward', 2 columns")
    assert "not protected" not in told
    schema.write_text(f"{schema.read_text()}\nentity: pair of wards\n")
    assert "not protected: Protected is each pair of wards alone." in run("schema", "check", schema)


@pytest.fixture
def two_files(home: Path) -> tuple[Path, Path]:
    """Diagnoses and laboratory values of a few people."""
    left, right = home / "visits.csv", home / "lab.csv"
    left.write_text("patient_id,ward,has_gout,age\n1,north,yes,44\n2,south,no,70\n")
    right.write_text("patient_id,age,urate\n2,50,310\n3,61,520\n")
    return left, right


def test_two_files_make_one_schema_and_one_data_set(home: Path, two_files: tuple[Path, Path]) -> None:
    left, right = two_files
    text = run("schema", "init", left, "--right", right, "--suggest", "ward")
    draft = yaml.safe_load(text)
    assert draft["privacy_unit"] == {"column": "patient_id", "max_rows_per_person": 1}
    views = {column["name"]: column.get("view") for column in draft["columns"]}
    assert views == {
        "ward": "left",
        "has_gout": "left",
        "age_left": "left",
        "age_right": "right",
        "urate": "right",
    }
    assert draft["columns"][0]["categories"] == ["north", "south"]
    draft["max_rows"] = 100
    draft["columns"][-1] = {"name": "urate", "type": "real", "lower": 0, "upper": 900, "bins": 9}
    schema = home / "two.yaml"
    schema.write_text(yaml.safe_dump(draft))
    assert run("schema", "check", schema, "--data", left, "--right", right).startswith("ok:")
    adding = ("data", "add", left, "--right", right, "--schema", schema, "--budget", "2")
    assert "stored: 'visits'" in run(*adding, "--accept", "person")


def test_a_fit_from_file_to_ledger(stored: None, home: Path) -> None:
    assert "breast_cancer" in run("data", "list")
    text = run(*FIT, "--epsilon", "0.5", "--output", home / "list.json")
    assert "IF " in text
    assert "Everyone else" in text
    assert "epsilon = 0.50" in text
    release = Release.from_json((home / "list.json").read_text(encoding="utf-8"))
    assert release.certificate.private
    assert release.parameters["pool_size"] == 200
    assert release.id in run("release", "list", "--dataset", "breast_cancer")
    assert run("release", "show", release.id) == run("release", "show", home / "list.json") == text
    assert Release.from_json(run("release", "show", release.id, "--json")) == release
    ledger = run("ledger", "show", "breast_cancer")
    assert "7.819 % spent, 92.181 % left" in ledger
    assert release.id in ledger


def test_a_terminal_that_cannot_show_a_sign_loses_no_release(stored: None, home: Path) -> None:
    """Such as one of Windows, whose letters are those of code page 1252."""
    file, limited = home / "list.json", CliRunner(charset="cp1252")
    result = limited.invoke(app, [*FIT, "--epsilon", "0.5", "--output", str(file)])
    assert result.exit_code == 0, result.output
    assert Release.from_json(file.read_text(encoding="utf-8")).certificate.private
    again = limited.invoke(app, ["release", "show", str(file)])
    assert again.stdout == result.stdout
    text = run("release", "show", file)
    assert "ρ" in text
    assert again.stdout == text.encode("cp1252", "replace").decode("cp1252")


def test_a_release_is_written_before_it_is_shown(stored: None, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def cannot(_: Release) -> str:
        raise ValueError

    monkeypatch.setattr("dpcore.commands.fit.release_text", cannot)
    assert call(*FIT, "--epsilon", "0.5", "--output", home / "list.json").exit_code == 1
    assert Release.from_json((home / "list.json").read_text(encoding="utf-8")).certificate.private


def test_quote_and_rehearsal_are_free(unchanged: None, home: Path) -> None:
    assert "would promise epsilon = 0.50;" in run(*FIT, "--epsilon", "0.5", "--quote")
    assert "REHEARSAL" in run(*FIT, "--epsilon", "0.5", "--rehearse")
    assert ", 0 % spent" in run("ledger", "show", "breast_cancer")
    assert not list(home.glob("release-*.json"))


def test_the_same_nonce_spends_once(stored: None) -> None:
    for name in ("first.json", "second.json"):
        run(*FIT, "--epsilon", "0.5", "--nonce", "0123456789abcdef", "--output", name)
    assert Path("first.json").read_text() == Path("second.json").read_text()
    assert "7.819 % spent" in run("ledger", "show", "breast_cancer")


@pytest.mark.usefixtures("unchanged", "files")
@for_each(
    ("extra", "sentence"),
    [
        (("--epsilon", "0"), "above 0"),
        (("--epsilon=-1",), "above 0"),
        (("--epsilon", "nan"), "finite"),
        (("--epsilon", "much"), "must be a number"),
        (("--epsilon", "2.5"), "would take 149.7 % of this"),
        (("--epsilon", "1", "--sampler", "magic"), "magic"),
        (("--epsilon", "1", "--given", "mean_radius > 11"), "not a public edge"),
        (("--epsilon", "1", "--tempered-prior"), "mcmc"),
        (("--epsilon", "1", "--target", "fate"), "no column 'fate'"),
        (("--epsilon", "1", "--output", "nowhere/list.json"), "does not exist"),
        (("--epsilon", "1", "--output", "cells.csv"), "exists already"),
    ],
)
def test_a_refused_fit_spends_nothing(extra: tuple[str, ...], sentence: str) -> None:
    assert sentence in refuse(*FIT, *extra)
    assert ", 0 % spent" in run("ledger", "show", "breast_cancer")


def test_a_program_fault_shows_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def burst() -> None:
        raise KeyError("secret")

    monkeypatch.setattr("dpcore.commands.data.open_service", burst)
    result = call("data", "list")
    assert result.exit_code == 1
    assert result.stderr == "error: the program failed (KeyError).\n"


def test_storing_loads_no_compiler_and_no_frames_where_they_are_not_needed() -> None:
    told = (
        "import sys; import dpcore.commands.data, dpcore.service; assert not {'pandas', 'scipy'} & set(sys.modules); "
        "import dpcore.intake.process.storing; assert 'numba' not in sys.modules"
    )
    root = Path(__file__).resolve().parents[2]
    subprocess.run([sys.executable, "-c", told], env={**os.environ, "PYTHONPATH": str(root)}, check=True)


@pytest.mark.parametrize("group", [(), ("schema",), ("data",), ("release",), ("ledger",), ("installation",)])
def test_a_list_says_of_each_command_what_it_says_of_itself(group: tuple[str, ...]) -> None:
    """Lists are made without loading the commands."""
    _, _, listed = run(*group, "--help").partition("Commands:\n")
    for name in re.findall(r"^  (\S+)", listed, re.MULTILINE):
        usage, does, *_ = run(*group, name, "--help").split("\n\n")
        assert f" {name} " in usage
        assert " ".join([name, *does.split()]) in " ".join(listed.split())


def test_module_runs_as_a_program(home: Path, files: tuple[Path, Path]) -> None:
    root = Path(__file__).resolve().parents[2]
    command = [sys.executable, "-m", "dpcore", "schema", "check"]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    good, bad = (
        subprocess.run(
            [*command, str(path)],
            capture_output=True,
            text=True,
            env=environment,
            timeout=120,
            check=False,
        )
        for path in (files[1], home / "absent.yaml")
    )
    assert (good.returncode, good.stderr) == (0, "")
    assert good.stdout.startswith("ok: 'breast_cancer'")
    assert (bad.returncode, bad.stdout) == (2, "")
    assert bad.stderr.startswith("error: ")
    assert bad.stderr.count("\n") == 1


def test_schema_files_of_the_demonstrations_are_templates_to_copy() -> None:
    for name, make in DEMOS.items():
        path = Path(inspect.getfile(make)).with_name(f"{name}.yaml")
        assert Schema.from_file(path) == make().schema


# The delta of a budget


@pytest.mark.usefixtures("stored")
def test_limits_are_changed_one_by_one() -> None:
    assert "budget 3.00 at δ = 10⁻⁵, " in run("ledger", "caps", "breast_cancer", "--budget", "3", "--note", "more")
    assert "budget 3.00 at δ = 10⁻⁶, " in run("ledger", "caps", "breast_cancer", "--delta", "1e-6")
    assert "at most 0.50 per run" in run("ledger", "caps", "breast_cancer", "--run-cap", "0.5", "--analyst-cap", "1")
    assert "budget 3.00, 0 % spent, 100 % left, at most" in run("ledger", "caps", "breast_cancer", "--delta", "0")


@pytest.mark.usefixtures("unchanged")
@for_each(
    ("changes", "sentence"),
    [
        ((), "Give at least one new limit"),
        (("--delta", "0.1"), "too large"),
        (("--delta", "much"), "Delta must be a number"),
        (("--budget", "0"), "above 0"),
        (("--analyst-cap", "-1"), "0 or more"),
    ],
)
def test_a_limit_that_cannot_be_used_is_one_line(changes: tuple[str, ...], sentence: str) -> None:
    assert sentence in refuse("ledger", "caps", "breast_cancer", *changes)
    assert "budget 2.00 at δ = 10⁻⁵, 0 % spent" in run("ledger", "show", "breast_cancer")


@pytest.mark.usefixtures("stored")
def test_a_charge_counts_by_its_rho_or_by_what_a_run_of_this_program_may_have_cost() -> None:
    charge = (
        "ledger",
        "charge",
        "breast_cancer",
        "--epsilon",
        "0.25",
        "--delta",
        "5e-7",
        "--note",
        "from a certificate",
    )
    first = run(*charge, "--rho", "0.0012")
    second = run(*charge)
    lines = [line.split() for line in run("ledger", "show", "breast_cancer").splitlines() if " charge " in line]
    assert lines[0][4:7] == ["0.25", "0.0000005", "0.0012"]
    assert lines[1][4:6] == ["0.25", "0.0000005"]
    assert Decimal(lines[1][6]) > Decimal("0.0012")
    assert ", 1.1328 % spent, " in first
    assert ", 25 % spent, " in second
    for wrong, sentence in (("much", "Rho must be a number"), ("-1", "at least 0"), ("1e-13", "12 decimal places")):
        assert sentence in refuse(*charge, "--rho", wrong)


@for_each("text", ["0", "-1", "4 GB", "1.5", "", "\u00b2"])
def test_a_setting_that_is_no_number_is_told_in_a_sentence(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FROSTGLASS_MEMORY", text)
    assert refuse("data", "list") == "error: FROSTGLASS_MEMORY must be a whole number above 0, for example 8192."
