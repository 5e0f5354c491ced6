"""What the browser shows when home and database do not fit, and of runs that have vanished."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dpcore.workspace.database.database_tables import jobs
from dpcore.workspace.database.transactions import write
from dpcore.workspace.ledger.ledger import Ledger
from dpcore.workspace.ledger.requests import RunRequest
from pages.components.visitor import access
from tests.support.pages.page_tools import ROOT, checked, errors, open_page, words
from tests.support.pages.ward_runs import add_ward


def folder() -> Path:
    return Path(os.environ["FROSTGLASS_HOME"])


def test_every_page_says_what_is_wrong_until_it_is_put_right() -> None:
    add_ward()
    access.installation().close()
    access.forget()
    database = folder() / "frostglass.db"
    kept = database.read_bytes()
    database.write_bytes(b"")
    for name in ("data_sets", "custodian", "learn"):
        shown = open_page(name)
        assert [item.value for item in shown.title] == ["This installation cannot be used now"]
        assert "The database is empty or missing" in words(shown)
        assert str(folder()) not in words(shown)  # Paths are for who has a terminal.
        assert not shown.sidebar.selectbox
    assert database.read_bytes() == b""
    database.write_bytes(kept)
    assert "ward" in words(open_page())


def test_every_page_says_why_a_home_cannot_be_used() -> None:
    folder().write_text("")
    for name in ("data_sets", "custodian"):
        shown = open_page(name)
        assert [item.value for item in shown.title] == ["This installation cannot be used now"]
        assert "a file stands where a folder should be" in words(shown)
        assert "Put that right, or correct FROSTGLASS_HOME" in words(shown).replace("\\", "")
    folder().unlink()
    assert "This installation" not in str([item.value for item in open_page().title])


@pytest.mark.parametrize("setting", ["FROSTGLASS_MEMORY", "FROSTGLASS_WORKERS"])
def test_every_page_says_which_setting_is_no_number(setting: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setenv(setting, "4 GB")
        access.forget()
        for name in ("data_sets", "custodian"):
            shown = open_page(name)
            assert [item.value for item in shown.title] == ["This installation cannot be used now"]
            assert f"{setting} must be a whole number" in words(shown).replace("\\", "")
    assert "This installation" not in str([item.value for item in open_page().title])


def test_a_home_that_cannot_be_used_does_not_stop_the_server(tmp_path: Path) -> None:
    """Nor is anything received into another folder, should the home be put right meanwhile."""
    place = tmp_path / "file"
    place.write_text("")
    code = "import tempfile, app; print(tempfile.gettempdir())"
    environment = {**os.environ, "FROSTGLASS_HOME": str(place)}
    told = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert told.stdout.strip() == str(place / "spool"), told.stderr


def test_a_custodian_ends_a_run_whose_machine_has_vanished() -> None:
    dataset = add_ward()
    engine = access.installation()._engine
    request = RunRequest(dataset_id=dataset, algorithm="tree", target="died", epsilon="0.5")
    quiet = access.installation()._jobs
    quiet.start = lambda run_id: None  # type: ignore[method-assign]
    run = access.installation().submit(request, "n")
    claim = jobs.update().where(jobs.c.run_id == run)
    claim = claim.values(state="running", worker="vanished 1 0.0")
    write(engine, lambda connection: connection.execute(claim))
    Ledger(engine).touch(run)
    shown = open_page("custodian")
    assert "Runs that cannot be seen from this machine" in words(shown)
    checked(shown.button(key="stranded-end").click().run())
    assert "Say why the run is ended" in errors(shown)
    shown.text_input(key="stranded-why").set_value("scrapped")
    checked(shown.button(key="stranded-end").click().run())
    assert "The run is ended." in words(shown)
    assert "Runs that cannot be seen" not in words(shown)
    assert access.installation().run(run).charged
