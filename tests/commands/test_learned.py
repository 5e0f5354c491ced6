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
from tests.commands.test_commands import HOME, call, refuse, run

COLUMNS = [
    {"name": "age", "type": "integer", "lower": 0, "upper": 150, "learn": {"bins": 4}},
    {"name": "ward", "type": "categorical", "learn": True},
    {"name": "died", "type": "boolean", "target": True},
]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of 4,000 people, and a schema with marks."""
    monkeypatch.setenv(HOME, str(tmp_path / "home"))
    monkeypatch.delenv("FROSTGLASS_DATABASE_URL", raising=False)
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    wards = rng.choice(["ICU", "Ward A"], 4000)
    wards[17] = "the only one"
    frame = pd.DataFrame({"age": rng.integers(20, 90, 4000), "ward": wards, "died": rng.choice(["yes", "no"], 4000)})
    frame.to_csv("clinic.csv", index=False)
    write_schema("clinic")
    return tmp_path


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
    assert balance.spent > 0
    assert balance.spent == balance.cap - balance.left
    shown = run("ledger", "show", "clinic")
    [line] = [line for line in shown.splitlines() if " learn " in line]
    assert "facts of 2 columns, privately; asked for: epsilon 1" in line
    [opened] = [line for line in shown.splitlines() if " open " in line]
    assert "set aside" in opened


def test_nothing_is_stored_or_shown_if_it_does_not_fit_the_budget(home: Path) -> None:
    told = refuse(*add("--budget", "1", "--learn", "5"))
    assert "Not enough budget: learning the schema would add" in told
    assert "None" not in run("data", "list")
    assert "clinic" not in run("data", "list")
    assert not list((home / "home" / "incoming").iterdir())


def test_marks_and_an_epsilon_belong_together(home: Path) -> None:
    assert "Something is to be learned of 'age', 'ward'" in refuse(*add("--budget", "3"))
    write_schema("plain", [COLUMNS[2]])
    assert "No column is marked 'learn: true'" in refuse(*add("--budget", "3", "--learn", "1", schema="plain"))
    assert "clinic" not in run("data", "list")


def test_without_a_delta_numbers_alone_are_learned() -> None:
    assert "this budget has none: list the categories of 'ward'" in refuse(
        *add("--budget", "3", "--delta", "0", "--learn", "1")
    )
    write_schema("pure", [COLUMNS[0], COLUMNS[2]])
    told = run(*add("--budget", "3", "--delta", "0", "--learn", "1", schema="pure"))
    assert "epsilon = 1 for one person" in told
    assert "spent 1.00" in run("ledger", "show", "pure")


def test_a_data_set_that_shares_a_budget_pays_from_it() -> None:
    run(*add("--budget", "9", "--learn", "0.5"))
    write_schema("more")
    shared = ("--same-people-as", "clinic")
    assert "only when a budget is opened" in refuse(*add(*shared, "--learn", "1", schema="more"))
    write_schema("more", [COLUMNS[0], COLUMNS[2]])
    assert "Not enough budget" in refuse(*add(*shared, "--learn", "5", schema="more"))
    spent = run("ledger", "show", "clinic").count(" learn ")
    run(*add(*shared, "--learn", "1", schema="more"))
    assert run("ledger", "show", "clinic").count(" learn ") == spent + 1


def test_a_check_says_what_would_be_learned() -> None:
    told = run("data", "check", "clinic.csv", "--schema", "clinic.yaml", "--fix", "again.yaml")
    assert "LEARNS 'age': cut points between 4 bins with about as many rows each, within 0 and 150." in told
    assert "LEARNS 'ward': its categories, 1,000 at most, of those that enough people have." in told
    assert "the only one" not in told
    assert yaml.safe_load(Path("again.yaml").read_text(encoding="utf-8"))["columns"][:2] == COLUMNS[:2]
    assert "to be learned privately: 'age'" in run("schema", "check", "clinic.yaml")


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


def test_what_was_learned_is_lost_with_a_data_set_that_is_not_stored(home: Path) -> None:
    write_schema("wrong", [*COLUMNS[:2], {"name": "died", "type": "integer", "lower": 0, "upper": 9, "bins": 3}])
    told = call(*add("--budget", "9", "--learn", "1", schema="wrong")).output
    assert "'died': 4,000 of 4,000 values fit nowhere" in told
    assert "ICU" not in told
    assert "wrong" not in run("data", "list")
    assert not list((home / "home" / "datasets").iterdir())


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
