"""Names, notes, pages and dossiers on the command line."""

from __future__ import annotations

import json
import re
import shlex
from decimal import Decimal
from pathlib import Path

import pytest

from dpcore.report.forms.checking import RESULTS, sidecar
from dpcore.service import Service
from dpcore.workspace.ledger.requests import Quote, RunRequest
from dpcore.workspace.results.dossier import Application
from tests.support.workspaces.command_line import HOME, call, refuse, run
from tests.support.workspaces.fake_learner import small_frame, small_schema


def fitted() -> str:
    """Id of a tree on the data set ``small``."""
    with Service(workers=0) as service:
        info = service.add_dataset(small_frame(), small_schema(), budget=Decimal(3), delta=Decimal(0))
        service.add_dataset(small_frame(), small_schema("other"), budget=Decimal(3))
    run("fit", "tree", info.name, "--target", "ill", "--epsilon", "0.5")
    with Service(workers=0) as service:
        return service.releases(info.id)[0].id


@pytest.fixture
def nameless(home: Path) -> str:
    """A release of an installation of a test's own."""
    return fitted()


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """An installation and its release."""
    folder = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(HOME, str(folder))
        patch.delenv("FROSTGLASS_DATABASE_URL", raising=False)
        return folder, fitted()


@pytest.fixture
def release(home: Path, prepared: tuple[Path, str], monkeypatch: pytest.MonkeyPatch) -> str:
    """A release that many tests read, and none changes."""
    folder, made = prepared
    monkeypatch.setenv(HOME, str(folder))
    return made


def test_a_release_is_named_and_listed(nameless: str) -> None:
    assert run("release", "note", nameless) == "name: -\nnote: -\n"
    assert "name: First look" in run("release", "note", nameless, "--name", "First look")
    kept = run("release", "note", nameless, "--note", "Ask again.")
    assert kept == "name: First look\nnote: Ask again.\n"
    listed = run("release", "list").splitlines()
    assert listed[0].split()[:2] == ["id", "name"]
    assert f"{nameless}  First look  tree" in listed[1]
    assert run("release", "note", nameless, "--name", "").startswith("name: -\n")
    assert "16.6667 % spent" in run("ledger", "show", "small")


def test_nothing_that_people_wrote_commands_a_terminal(nameless: str, home: Path) -> None:
    wrote = "a\x1b[2J\u202eb"
    told = run("release", "note", nameless, "--name", wrote, "--note", f"{wrote}\nmore")
    assert told == "name: a\\x1b[2J\\u202eb\nnote: a\\x1b[2J\\u202eb\nmore\n"
    assert "a\\x1b[2J\\u202eb" in run("release", "list")
    with Service(workers=0) as service:
        content = service.release(nameless).to_json()
    (home / "release.json").write_text(content.replace('"dataset_name": "small"', '"dataset_name": "s\\u001b[2J"'))
    shown = run("release", "show", home / "release.json")
    assert "on 's\\x1b[2J'" in shown
    assert "no such release" in refuse("release", "show", wrote)
    assert not any("\x1b" in text for text in (told, shown, refuse("release", "show", wrote)))


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("rule-list", ("--sampler", "pool", "--pool-size", "200", "--no-evaluate")),
        ("tree", ("--blocks", "1", "--blocks", "1")),
        ("tree", ("--pure",)),
    ],
)
def test_output_checkers_read_the_command_that_ran(
    home: Path, monkeypatch: pytest.MonkeyPatch, kind: str, options: tuple[str, ...]
) -> None:
    monkeypatch.setattr("dpcore.report.forms.forms.made", lambda dossier, _: sidecar(dossier, {}, {})[RESULTS])
    with Service(workers=0) as service:
        info = service.add_dataset(small_frame(), small_schema("it's; a set"), budget=Decimal(3))
    run("fit", kind, info.name, "--target", "ill", "--epsilon", "0.5", *options)
    with Service(workers=0) as service:
        [release] = service.releases()
        results = json.loads(service.dossier(info.id, [release.id], Application(), "zip"))["results"]
        asked = service.runs()[0].request
    assert release.certificate.epsilon == Decimal("0.5")
    assert (release.certificate.definition == "pure") == ("--pure" in options)
    command = results["result_1"]["command"]
    assert results["dossier"]["command"] == command
    quote, seen = Service.quote, list[RunRequest]()

    def quoted(service: Service, request: RunRequest) -> Quote:
        seen.append(request)
        return quote(service, request)

    monkeypatch.setattr(Service, "quote", quoted)
    assert "would promise epsilon = 0.50;" in run(*shlex.split(command), "--quote")
    assert seen == [asked]


def test_a_dossier_is_written_once(release: str, home: Path) -> None:
    file = home / "dossier.html"
    arguments = ("report", "small", release, "--output", file, "--finding", "The old <die>")
    arguments += ("--finding", "Twice", "--hypothesis", "Age", "--applicant", "Ward 3")
    call(*arguments)
    html = file.read_text(encoding="utf-8")
    for text in ("<li>The old &lt;die&gt;</li>", "<li>Twice</li>", "<li>Age</li>", "Ward 3"):
        assert text in html
    assert re.search(r"<td>0\.50</td>", html)
    assert "exists already" in refuse(*arguments)
    assert "16.6667 % spent" in run("ledger", "show", "small")


@pytest.mark.parametrize(
    ("name", "start"),
    [("d.pdf", b"%PDF"), ("d.DOCX", b"PK"), ("d.md.zip", b"PK"), ("d.zip", b"PK"), ("d.html", b"<!DOCTYPE html>")],
)
def test_the_ending_says_which_form(release: str, home: Path, name: str, start: bytes) -> None:
    file = home / name
    call("report", "small", release, "--output", file, "--curator", "Hospital")
    content = file.read_bytes()
    assert content.lstrip().startswith(start)
    assert (b"dossier.md" in content) == (".md" in name or name == "d.zip")
