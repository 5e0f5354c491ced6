"""Commands that have a schema learned privately as a data set is stored."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from dpcore.report.certificate import certificate_lines
from dpcore.service import Service
from tests.support.rows import for_each
from tests.support.workspaces.accounts import amounts
from tests.support.workspaces.command_line import HOME, call, refuse, run

COLUMNS = [
    {"name": "age", "type": "integer", "lower": 0, "upper": 150, "learn": {"bins": 4}},
    {"name": "ward", "type": "categorical", "learn": True},
    {"name": "died", "type": "boolean", "target": True},
]


@pytest.fixture(autouse=True)
def home(home: Path) -> Path:
    """A file of 4,000 people, and a schema with marks."""
    rng = np.random.default_rng(0)
    wards = rng.choice(["ICU", "Ward A"], 4000)
    wards[17] = "the only one"
    frame = pd.DataFrame({"age": rng.integers(20, 90, 4000), "ward": wards, "died": rng.choice(["yes", "no"], 4000)})
    frame.to_csv("clinic.csv", index=False)
    write_schema("clinic")
    return home


def write_schema(name: str, columns: list[dict[str, object]] = COLUMNS) -> None:
    content = {"name": name, "max_rows": 5000, "columns": columns}
    Path(f"{name}.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")


def add(*more: str, schema: str = "clinic") -> tuple[str, ...]:
    return ("data", "add", "clinic.csv", "--schema", f"{schema}.yaml", *more)


def test_what_was_learned_is_charged_and_on_record(home: Path) -> None:
    told = run(*add("--budget", "9", "--learn", "1"))
    assert "Learned privately on" in told
    assert "facts of 'age', 'ward'" in told
    with Service(home / "home", workers=0) as service:
        schema = service.dataset("clinic").schema
        balance = service.total_balance("clinic")
    assert schema.column("ward").categories == ("ICU", "Ward A")
    assert schema.column("ward").origin == schema.column("age").origin == "learned privately"
    assert len(schema.column("age").edges) == 3
    assert amounts(balance).spent > 0
    assert amounts(balance).spent == balance.cap - amounts(balance).left
    shown = run("ledger", "show", "clinic")
    [line] = [line for line in shown.splitlines() if " learn " in line]
    assert "facts of 2 columns, privately" in line
    assert line.split()[4] == "1.00"
    [opened] = [line for line in shown.splitlines() if " open " in line]
    assert "set aside" in opened


def test_nothing_is_stored_or_shown_if_it_does_not_fit_the_budget(home: Path) -> None:
    told = refuse(*add("--budget", "1", "--learn", "5"))
    assert "Not enough budget: learning the schema would take" in told
    assert "None" not in run("data", "list")
    assert "clinic" not in run("data", "list")
    assert not list((home / "home" / "incoming").iterdir())


def test_marks_and_an_epsilon_belong_together(home: Path) -> None:
    assert "Something is to be learned of 'age', 'ward'" in refuse(*add("--budget", "3"))
    write_schema("plain", [COLUMNS[2]])
    assert "No column is marked 'learn: true'" in refuse(*add("--budget", "3", "--learn", "1", schema="plain"))
    assert "clinic" not in run("data", "list")


def test_a_data_set_that_shares_a_budget_pays_from_it() -> None:
    run(*add("--budget", "9", "--learn", "0.5"))
    write_schema("more")
    shared = ("--same-people-as", "clinic")
    assert "only when a budget is opened" in refuse(*add(*shared, "--learn", "1", schema="more"))
    write_schema("more", [COLUMNS[0], COLUMNS[2]])
    assert "Not enough budget" in refuse(*add(*shared, "--learn", "10", schema="more"))
    spent = run("ledger", "show", "clinic").count(" learn ")
    run(*add(*shared, "--learn", "1", schema="more"))
    assert run("ledger", "show", "clinic").count(" learn ") == spent + 1


def test_what_a_failed_learning_saw_is_not_told(home: Path) -> None:
    text = Path("clinic.csv").read_text(encoding="utf-8")
    Path("clinic.csv").write_text(text + "".join(f"30,secret {i},yes\n" for i in range(20_001)), encoding="utf-8")
    Path("clinic.yaml").write_text(
        Path("clinic.yaml").read_text(encoding="utf-8").replace("5000", "50000"), encoding="utf-8"
    )
    told = refuse(*add("--budget", "9", "--learn", "1"))
    assert re.search("'ward' has more than 20,000 different values", told)
    assert "secret" not in told
    assert "clinic" not in run("data", "list")


def test_a_budget_that_is_used_up_meanwhile_keeps_nothing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpcore.service.datasets.check_learning", lambda _pot, _loss: None)
    assert "Not enough budget: learning the schema" in refuse(*add("--budget", "1", "--learn", "5"))
    assert "clinic" not in run("data", "list")
    assert not list((home / "home" / "datasets").iterdir())


def test_whoever_reads_a_result_is_told_what_was_learned(home: Path) -> None:
    run(*add("--budget", "9", "--learn", "0.5"))
    told = run("fit", "rule-list", "clinic", "--target", "died", "--epsilon", "0.5")
    assert "learned from the records with privacy noise" in told
    assert "Learned privately on" in told
    with Service(home / "home", workers=0) as service:
        [release] = service.releases("clinic")
    assert "facts of 'age', 'ward'" in certificate_lines(release)["What was learned of them"]
    run("report", "clinic", release.id, "--output", "dossier.html")
    assert "Learned privately on" in Path("dossier.html").read_text(encoding="utf-8")


def test_a_folder_that_was_never_entered_is_charged_as_it_is_adopted(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(*add("--budget", "9", "--learn", "0.5"))
    [folder] = (home / "home" / "datasets").iterdir()
    monkeypatch.setenv(HOME, str(home / "other"))
    run("data", "list")
    shutil.copytree(folder, home / "other" / "datasets" / folder.name)
    run("data", "adopt", folder.name, "--budget", "9", "--note", "found")
    with Service(home / "other", workers=0) as service:
        opened, learned = service.ledger_entries("clinic")
        certificate = service.dataset("clinic").schema.learned
    assert certificate is not None
    assert (learned.kind, learned.rho, opened.delta) == ("learn", certificate.rho, certificate.threshold_delta)


# What was learned elsewhere


@pytest.fixture
def learned(home: Path) -> Path:
    """A schema with what was learned, as the data set exports it whose budget has paid."""
    run(*add("--budget", "9", "--learn", "1"))
    return exported(home, "clinic")


def exported(home: Path, dataset: str) -> Path:
    path = home / f"{dataset}-exported.yaml"
    with Service(home / "home", workers=0) as service:
        path.write_text(service.dataset(dataset).schema.to_yaml(), encoding="utf-8")
    return path


NEW, SHARED = ("--budget", "9"), ("--same-people-as", "clinic")


def edited(path: Path, *more: str, name: str = "again", **changes: object) -> tuple[str, ...]:
    """How a data set is added with that schema, under another name and with other fields."""
    content = yaml.safe_load(path.read_text(encoding="utf-8")) | {"name": name} | changes
    kept = {field: value for field, value in content.items() if value is not None}
    Path(f"{name}.yaml").write_text(yaml.safe_dump(kept), encoding="utf-8")
    return add(*more, schema=name)


def claims(path: Path, **changes: object) -> dict[str, object]:
    return {"learned": yaml.safe_load(path.read_text(encoding="utf-8"))["learned"] | changes}


def lines(dataset: str, kind: str) -> list[str]:
    return [line for line in run("ledger", "show", dataset).splitlines() if f" {kind} " in line]


def test_a_learned_schema_is_charged_again_where_its_budget_is_not(home: Path, learned: Path) -> None:
    """The same people, the same facts: a new budget does not get them for nothing."""
    run("data", "remove", "clinic", "--note", "a new start", "--yes")
    told = run(*edited(learned, *NEW))
    assert ", 0 % spent" not in told
    assert "Learned privately on" in told
    with Service(home / "home", workers=0) as service:
        first, second = (service.ledger_entries(name) for name in ("clinic", "again"))
    amounts = [
        [(line.epsilon, line.delta, line.rho) for line in found if line.kind == "learn"] for found in (first, second)
    ]
    assert amounts[0] == amounts[1]
    assert first[0].delta == second[0].delta > 0, "set aside too"
    assert "that came with the schema" in lines("again", "learn")[0]


def test_the_budget_that_has_paid_for_a_schema_pays_once(learned: Path) -> None:
    before = run("ledger", "show", "clinic").partition("\n")[0]
    run(*edited(learned, *SHARED))
    run(*edited(learned, "--replaces", "clinic", name="third"))
    assert len(lines("again", "learn")) == 1
    assert before == run("ledger", "show", "clinic").partition("\n")[0]


def test_another_budget_that_is_shared_pays_for_numbers_and_has_nothing_set_aside_for_categories(
    home: Path, learned: Path
) -> None:
    write_schema("other", [COLUMNS[2]])
    run(*add("--budget", "9", schema="other"))
    shared = ("--same-people-as", "other")
    assert "was opened without" in refuse(*edited(learned, *shared))
    write_schema("numbers", [COLUMNS[0], COLUMNS[2]])
    run(*add("--budget", "9", "--learn", "0.5", schema="numbers"))
    run(*edited(exported(home, "numbers"), *shared))
    assert len(lines("other", "learn")) == 1


@for_each(
    "changes",
    [
        {"rho": "0.000001"},
        {"epsilon": "0.01"},
        {"asked": "2"},
        {"asked": "-1"},
        {"asked": "1e-30"},
        {"delta": "0"},
        {"delta": "2"},
        {"threshold_delta": "0"},
        {"threshold_delta": "0.5"},
        {"definition": "pure"},
        {"rho": "1e30"},
        {"columns": []},
    ],
)
def test_a_price_that_contradicts_itself_is_refused(learned: Path, changes: dict[str, object]) -> None:
    told = refuse(*edited(learned, *NEW, **claims(learned, **changes)))
    assert any(said in told for said in ("contradicts itself", "learned privately", "learned.")), told
    assert "again" not in run("data", "list")


def test_learned_facts_without_a_price_are_refused(home: Path, learned: Path) -> None:
    told = refuse(*edited(learned, *NEW, learned=None))
    assert "'age', 'ward' are marked 'learned privately', but neither" in told
    told = refuse(*edited(learned, *NEW, **claims(learned, columns=["ward"])))
    assert "'age' is marked 'learned privately'" in told
    told = refuse(*edited(learned, *NEW, learned=None, origin="learned privately"))
    assert "'age', 'ward'" in told
    assert len(list((home / "home" / "datasets").iterdir())) == 1, "nothing was stored"


def test_facts_that_were_exchanged_beneath_a_paid_price_are_charged(learned: Path) -> None:
    """The line is that of other facts."""
    columns = yaml.safe_load(learned.read_text(encoding="utf-8"))["columns"]
    other = [{**columns[0], "edges": [41.5, 60.5]}, *columns[1:]]
    told = refuse(*edited(learned, *SHARED, columns=other))
    assert "was opened without" in told
    fewer = [{**columns[0], "edges": columns[0]["edges"][1:]}, {**columns[1], "categories": ["ICU"]}, *columns[2:]]
    run(*edited(learned, *SHARED, "--accept", "ward", columns=fewer))
    assert len(lines("again", "learn")) == 1, "a part of what was paid for"


def test_a_learned_schema_that_does_not_fit_the_budget_is_refused_before_files_are_read(
    learned: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dpcore.service.datasets.table_of", lambda *_, **__: pytest.fail("files were read"))
    assert "Not enough budget: learning the schema would take" in refuse(*edited(learned, "--budget", "0.1"))
    assert "choose a larger one" in refuse(*edited(learned, *NEW, "--delta", "0"))


def test_a_dictionary_brings_what_was_learned_with_its_price(learned: Path) -> None:
    content = yaml.safe_load(learned.read_text(encoding="utf-8")) | {"name": "again"}
    learned.write_text(yaml.safe_dump(content), encoding="utf-8")
    for form in ("frictionless", "csvw"):
        run("schema", "export", learned, "--format", form, "--output", f"{form}.json")
        told = call("data", "add", "clinic.csv", "--dictionary", f"{form}.json", "--budget", "0.1")
        assert "error: Not enough budget: learning the schema would take" in told.stderr
    run("data", "add", "clinic.csv", "--dictionary", "csvw.json", *NEW)
    assert len(lines("again", "learn")) == 1
