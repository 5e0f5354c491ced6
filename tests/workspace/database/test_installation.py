"""Home folder and database belong together; what was stored and spent survives every mix-up."""

from __future__ import annotations

import errno
import gc
import shutil
import sqlite3
import sys
from contextlib import closing
from decimal import Decimal
from pathlib import Path

import pytest
import sqlalchemy as sa
from typer.testing import Result

from dpcore.errors import BudgetError, InstallationError, RequestError
from dpcore.service import Service
from dpcore.workspace.database import installation
from dpcore.workspace.database.database import open_database
from dpcore.workspace.database.engines import connect
from dpcore.workspace.database.home import Home
from dpcore.workspace.database.installation import look, name_of, open_installation
from dpcore.workspace.database.transactions import read, write
from dpcore.workspace.database.witness import NO_LINE, Line
from dpcore.workspace.upkeep.recovery import accept
from tests.support.servers.databases import KINDS, fresh_url
from tests.support.texts import lacking
from tests.support.workspaces.accounts import amounts
from tests.support.workspaces.command_line import at_terminal
from tests.support.workspaces.fake_learner import fake_request, small_frame, small_schema
from tests.support.workspaces.forked import at_once
from tests.support.workspaces.homes import (
    acknowledge,
    contents,
    copy_database,
    fill,
    open_at_once,
    put_back,
    refused,
    spend,
    spent,
)

HALF = Decimal("0.5")
CRASHED = "c0ffee00" * 4


def database(home: Path) -> Path:
    return home / "frostglass.db"


def test_another_database_by_mistake_removes_nothing(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(home)
    before = contents(home)
    other = tmp_path / "other.db"
    ended = at_terminal(monkeypatch, home, f"sqlite:///{other}", "data", "list")
    assert contents(home) == before != {}
    assert ended.exit_code == 2
    assert ended.stderr.strip() == f"error: {installation.LOST}"
    assert not other.exists()  # No empty ledger is started.
    assert spent(home, f"sqlite:///{database(home)}") == HALF


@pytest.mark.parametrize("how", ["missing", "emptied"])
def test_a_lost_database_starts_no_empty_ledger(home: Path, how: str) -> None:
    fill(home)
    kept = database(home).read_bytes()
    if how == "missing":
        database(home).unlink()
    else:
        database(home).write_bytes(b"")
    refused(home, None, installation.LOST)
    assert how == "emptied" or not database(home).exists()
    database(home).write_bytes(kept)
    assert spent(home) == HALF


def test_a_damaged_database_is_refused_without_a_traceback(home: Path) -> None:
    fill(home)
    database(home).write_bytes(b"this is no database, but long enough to look like one " * 100)
    before = contents(home)
    with pytest.raises(InstallationError, match="cannot be read"):
        Service(home, workers=0)
    assert contents(home) == before


@pytest.mark.parametrize("kind", KINDS)
def test_an_emptied_server_is_refused(kind: str, home: Path, tmp_path: Path) -> None:
    url, other = fresh_url(kind, tmp_path), fresh_url(kind, tmp_path / "second")
    fill(home, url)
    refused(home, other, installation.LOST)
    if kind == "sqlite":
        assert not (tmp_path / "second").exists()
        return
    tables = read(connect(other), lambda connection: sa.inspect(connection).get_table_names())
    assert tables == []  # Nothing was made in it.


@pytest.mark.parametrize("kind", KINDS)
def test_the_database_of_another_installation_is_refused(kind: str, home: Path, tmp_path: Path) -> None:
    url, other = fresh_url(kind, tmp_path), fresh_url(kind, tmp_path / "second")
    fill(home, url)
    fill(tmp_path / "another", other)
    refused(home, other, installation.OTHER)
    refused(tmp_path / "another", url, installation.OTHER)
    assert spent(home, url) == spent(tmp_path / "another", other) == HALF


@pytest.mark.parametrize("kind", KINDS)
def test_two_machines_on_one_database_must_share_the_home(kind: str, home: Path, tmp_path: Path) -> None:
    url = fresh_url(kind, tmp_path)
    Service(home, url, workers=0).close()
    refused(tmp_path / "elsewhere", url, installation.OTHER)


@pytest.mark.parametrize("kind", KINDS)
def test_an_older_database_is_refused_until_somebody_says_what_it_forgot(kind: str, home: Path, tmp_path: Path) -> None:
    from tests.support.workspaces.backups import back_up, restore

    url = fresh_url(kind, tmp_path)
    fill(home, url)
    copy = back_up(url, tmp_path)
    with Service(home, url, workers=0) as service:
        late = service.add_dataset(small_frame(), small_schema("late"), budget=Decimal(1))
    spend(home, url, first=1)
    gc.collect()
    restore(url, copy)
    refused(home, url, installation.OLDER)
    facts = look(Home(home), url)
    with pytest.raises(RequestError, match="not the code"):
        accept(home, url, code="00000000", note="why", close=True)
    with pytest.raises(RequestError, match="Say in the note"):
        accept(home, url, code=facts.code, note=" ", close=True)
    refused(home, url, installation.OLDER)
    acknowledge(home, url, close=True, note="the disk broke")
    with pytest.raises(RequestError, match="nothing to accept"):
        accept(home, url, code=facts.code, note="again", close=True)
    with Service(home, url, workers=0) as service:
        assert service.total_balance("small").left == 0
        lines = service.ledger_entries("small")
        assert [line.kind for line in lines[-2:]] == ["accept", "caps"]
        assert lines[-2].note.endswith("the disk broke")
        assert lines[-2].note.startswith("The ledger ended at line 4; line 8 had been seen.")
        with pytest.raises(BudgetError):
            service.submit(fake_request(service.dataset("small").id), "more")
        [orphan] = service.orphans()  # Stored since the copy: still on disk, to be adopted.
        assert (orphan.id, orphan.name, orphan.state) == (late.id, "late", "unknown")


def test_a_copy_with_another_past_is_refused(home: Path, tmp_path: Path) -> None:
    """Its ledger is as long as the one that the home has seen, but says something else."""
    fill(home)
    copy_database(database(home), tmp_path / "copy.db")
    copy = tmp_path / "copied"
    shutil.copytree(home, copy)
    acknowledge(copy, f"sqlite:///{database(copy)}")
    spend(home, first=1, runs=2)
    with pytest.raises(InstallationError):
        Service(home, f"sqlite:///{database(copy)}", workers=0)
    # Even with the right identifier, a line that differs gives it away.
    put_back(tmp_path / "copy.db", database(home))
    engine = open_database(f"sqlite:///{database(home)}")
    with Service(tmp_path / "x", workers=0):
        pass
    for _ in range(6):
        write(
            engine,
            lambda c: c.exec_driver_sql(
                "INSERT INTO ledger_entries (kind, time, dataset_id, account, epsilon, delta, rho, note) "
                "SELECT 'caps', time, dataset_id, account, 0, 0, 0, 'x' FROM ledger_entries LIMIT 1"
            ),
        )
    engine.dispose()
    refused(home, None, installation.OLDER)


@pytest.mark.parametrize("what", ["copied", "restored in place", "copied over"])
def test_a_copied_home_is_refused(home: Path, tmp_path: Path, what: str) -> None:
    fill(home)
    copy = tmp_path / "copy"
    shutil.copytree(home, copy)
    if what == "restored in place":
        spend(home, first=1)
        shutil.rmtree(home)
        shutil.copytree(copy, home)
        copy = home
    if what == "copied over":  # The files keep their numbers.
        spend(home, first=1)
        shutil.copytree(copy, home, dirs_exist_ok=True)
        copy = home
    refused(copy, None, installation.COPIED)
    acknowledge(copy, f"sqlite:///{database(copy)}")
    assert spent(copy) == HALF
    if what == "copied":
        assert spent(home) == HALF  # The original is as it was.


def test_a_moved_home_goes_on(home: Path, tmp_path: Path) -> None:
    fill(home)
    moved = home.rename(tmp_path / "moved")
    assert spent(moved) == HALF


@pytest.mark.parametrize("kind", KINDS)
def test_after_a_copy_of_the_home_is_accepted_the_original_is_refused(kind: str, home: Path, tmp_path: Path) -> None:
    url = fresh_url(kind, tmp_path)
    fill(home, url)
    copy = tmp_path / "copy"
    shutil.copytree(home, copy)
    refused(copy, url, installation.COPIED)
    with Service(home, url, workers=0) as running:
        acknowledge(copy, url)
        with pytest.raises(InstallationError):  # A program that was left running is stopped too.
            running.submit(fake_request(running.dataset("small").id), "late")
    refused(home, url, installation.OTHER)
    assert spent(copy, url) == HALF


def test_a_home_without_its_file_is_refused(home: Path, tmp_path: Path) -> None:
    """As after restoring data sets and database onto a new machine."""
    fill(home)
    (home / "installation.json").unlink()
    refused(home, None, installation.OTHER)
    (home / "installation.json").write_text("{}")
    refused(home, None, installation.DAMAGED)
    acknowledge(home, f"sqlite:///{database(home)}")
    assert spent(home) == HALF


@pytest.mark.parametrize("kind", KINDS)
def test_a_database_without_its_identifier_is_refused(kind: str, home: Path, tmp_path: Path) -> None:
    url = fresh_url(kind, tmp_path)
    fill(home, url)
    with sa.create_engine(url).begin() as connection:
        connection.exec_driver_sql("DELETE FROM installation")
    refused(home, url, installation.OTHER)


@pytest.mark.parametrize("kind", KINDS)
def test_tables_without_a_line_beside_restored_records_are_lost(kind: str, home: Path, tmp_path: Path) -> None:
    url = fresh_url(kind, tmp_path)
    open_database(url).dispose()
    (home / "datasets" / CRASHED).mkdir(parents=True)
    refused(home, url, installation.LOST)


def test_a_database_that_is_exchanged_under_a_running_program_is_refused(home: Path, tmp_path: Path) -> None:
    fill(home)
    copy_database(database(home), tmp_path / "copy.db")
    spend(home, first=1)
    with Service(home, workers=0) as service:
        request = fake_request(service.dataset("small").id)
        database(home).rename(tmp_path / "aside.db")
        with pytest.raises(InstallationError) as caught:
            service.submit(request, "gone")
        assert str(caught.value) == installation.EXCHANGED
        (tmp_path / "aside.db").rename(database(home))
        service.submit(request, "back")
    with Service(home, workers=0) as service:
        service._engine.dispose()
        put_back(tmp_path / "copy.db", database(home))
        with pytest.raises(InstallationError) as caught:
            service.submit(request, "older")
        assert str(caught.value) == installation.OLDER


def test_a_restored_copy_refunds_and_repeats_no_run_that_was_under_way(home: Path) -> None:
    """A run that had read nothing when the copy was made may have read records since."""
    nobody = (sys.executable, "-c", "import sys; sys.stdin.read()")
    fill(home, runs=0)
    with Service(home, workers=1, worker_command=nobody) as service:
        run = service.submit(fake_request(service.dataset("small").id), "n")
        copy_database(database(home), home / "copy.db")
        service.cancel(run)
    put_back(home / "copy.db", database(home))
    refused(home, None, installation.OLDER)
    acknowledge(home, f"sqlite:///{database(home)}")
    with Service(home, workers=0) as service:
        assert service.run(run).state == "interrupted"
        assert service.cancel(run).charged
        assert amounts(service.total_balance("small")).reserved == HALF
        assert service.releases() == []


def test_starting_anew_keeps_the_records_as_orphans_without_a_budget(home: Path) -> None:
    fill(home)
    database(home).unlink()
    acknowledge(home, f"sqlite:///{database(home)}")
    with Service(home, workers=0) as service:
        assert service.datasets() == []
        [orphan] = service.orphans()
        service.adopt(orphan.id, note="the disk broke")
        assert service.total_balance("small").left == 0
        with pytest.raises(BudgetError):
            service.submit(fake_request(orphan.id), "n")
        [opened] = service.ledger_entries("small")
        assert (opened.kind, opened.actor) == ("open", "local")
        assert opened.note == "adopted; what was spent before is in no ledger. the disk broke"


def test_a_mixture_of_two_databases_is_refused(home: Path) -> None:
    """A line that an index does not know is what a log of changes leaves in another's file."""
    fill(home)
    index = "name = 'ledger_by_dataset'"
    with closing(sqlite3.connect(database(home))) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        [known] = connection.execute(f"SELECT * FROM sqlite_schema WHERE {index}").fetchall()
        connection.execute(f"DELETE FROM sqlite_schema WHERE {index}")
        connection.commit()
    with closing(sqlite3.connect(database(home))) as connection:
        connection.execute(
            "INSERT INTO ledger_entries (kind, time, dataset_id, account, epsilon, delta, rho, note) "
            "SELECT 'charge', time, dataset_id, account, 1, 0, 1, '' FROM ledger_entries WHERE sequence = 1"
        )
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("INSERT INTO sqlite_schema VALUES (?, ?, ?, ?, ?)", known)
        connection.commit()
    refused(home, None, installation._BROKEN)


def test_what_remains_of_a_lost_database_is_kept_and_not_mixed_in(home: Path) -> None:
    fill(home)
    database(home).write_bytes(b"")
    Path(f"{database(home)}-wal").write_bytes(b"last words")
    acknowledge(home, f"sqlite:///{database(home)}")
    [kept] = home.glob("frostglass.db-wal.lost-*")
    assert kept.read_bytes() == b"last words"


def test_the_operator_is_told_what_is_wrong_and_how_to_go_on(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = fill(home)
    url = f"sqlite:///{tmp_path / 'other.db'}"

    def call(*words: str) -> Result:
        return at_terminal(monkeypatch, home, url, *words)

    shown = call("installation", "show")
    assert shown.exit_code == 0
    assert not lacking(shown.stdout, installation.LOST, f"data adopt {dataset}")
    code = look(Home(home), url).code
    assert f"--code {code}" in shown.stdout
    words = ("installation", "accept", "--code", code, "--note", "lost")
    without = call(*words)
    assert without.exit_code == 2
    assert "--budgets" in without.stderr
    done = call(*words, "--budgets", "close")
    assert done.exit_code == 0
    assert done.stdout.startswith("WARNING: accepted. This ledger has forgotten")
    assert call("data", "list").exit_code == 0
    assert "They fit." in call("installation", "show").stdout


def test_a_server_that_is_away_is_said_in_a_sentence(home: Path) -> None:
    pytest.importorskip("psycopg")
    with pytest.raises(InstallationError, match="does not answer"):
        Service(home, "postgresql://nobody@127.0.0.1:9/none?connect_timeout=2", workers=0)
    assert Home(home).binding() is None


def test_a_crash_between_the_two_bindings_is_mended(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(installation, "name_database", die)
        with pytest.raises(KeyboardInterrupt):
            Service(home, workers=0)
    binding = Home(home).binding()
    assert binding is not None
    with Service(home, workers=0) as service:
        assert read(service._engine, name_of) == binding.installation


def test_a_first_upload_that_was_killed_does_not_lock_its_owner_out(home: Path) -> None:
    Service(home, workers=0).close()
    (home / "datasets" / CRASHED).mkdir()
    with Service(home, workers=0) as service:
        assert [orphan.id for orphan in service.orphans()] == [CRASHED]


def test_the_mark_follows_what_is_committed_and_never_goes_back(home: Path) -> None:
    fill(home)
    place = Home(home)
    binding = place.binding()
    assert binding is not None
    assert binding.mark == look(place, f"sqlite:///{database(home)}").newest != NO_LINE
    assert not place.copied()
    place.advance(Line(1, "older"))
    assert place.binding() == binding
    assert (home / "installation.json").stat().st_mode & 0o777 == 0o600
    assert (home / "installation.json").stat().st_size == 512


def test_a_mark_that_cannot_be_written_does_not_undo_what_is_committed(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError("no space left on device")

    fill(home, runs=0)
    with Service(home, workers=0) as service:
        monkeypatch.setattr(Home, "advance", fail)
        service.charge("small", HALF, note="spent elsewhere")
        assert amounts(service.total_balance("small")).spent == HALF


def test_processes_may_start_on_a_new_home_at_once(home: Path) -> None:
    assert at_once(open_at_once, str(home), 3) == [0, 0, 0]
    engine = open_installation(home, f"sqlite:///{database(home)}")
    binding = Home(home).binding()
    assert binding is not None
    assert read(engine, name_of) == binding.installation


# A home that cannot be used


def unusable(home: Path) -> str:
    with pytest.raises(InstallationError) as caught:
        Service(home, workers=0)
    assert str(home) not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("place", ["home", "home/deeper", "home/incoming"])
def test_a_file_in_the_place_of_a_folder_is_a_sentence(tmp_path: Path, place: str) -> None:
    file = tmp_path / ("home/incoming" if place.endswith("incoming") else "home")
    file.parent.mkdir(exist_ok=True)
    file.write_text("")
    told = unusable(tmp_path / place.removesuffix("/incoming"))
    assert not lacking(told, "a file stands where a folder should be", "FROSTGLASS_HOME")


@pytest.mark.parametrize(
    ("number", "sentence"),
    [
        (errno.EACCES, "this program may not write there"),
        (errno.EROFS, "this program may not write there"),
        (errno.ENOSPC, "The disk of the home folder is full. Nothing is lost. Make room on it"),
        (errno.EIO, "Input/output error"),
    ],
)
def test_a_disk_that_refuses_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, sentence: str
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(number, "refused", "/secret/path")

    monkeypatch.setattr("dpcore.workspace.database.home.TemporaryFile", refuse)
    assert sentence in unusable(tmp_path / "home")


def test_a_disk_that_is_full_when_the_database_is_made_is_a_sentence(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def small(url: str) -> sa.Engine:
        engine = connect(url)
        sa.event.listen(engine, "begin", lambda made: made.exec_driver_sql("PRAGMA max_page_count = 2"))
        return engine

    monkeypatch.setattr("dpcore.workspace.database.database.connect", small)
    assert "The disk of the home folder is full" in unusable(home)
