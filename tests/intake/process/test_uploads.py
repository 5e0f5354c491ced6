"""Reading uploads from outside: whatever is in them, there is an answer or a sentence."""

from __future__ import annotations

import logging
import os
import resource
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpcore import disk
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import FrostglassError, IngestError, RequestError, SchemaError
from dpcore.intake.process import limits, readers
from dpcore.intake.process.limits import Limits, stored_bytes
from dpcore.intake.process.uploads import Incoming, ask, headers_of, parse_schema
from dpcore.workspace.database.database import open_database
from dpcore.workspace.files.store import Store
from tests.support.files import upload_fuzzer
from tests.support.files.hostile_files import cyclic_sqlite, endless_parquet, swelling_parquet
from tests.support.files.stored_uploads import BY_PERSON, ONE, store
from tests.support.rows import for_each
from tests.support.texts import lacking

GIB = 1 << 30


#: Stores a file, and says when rows have been read.
ASKER = """
import sys
from pathlib import Path
from tests.support.files.stored_uploads import BY_PERSON, store
def watch(_, rows):
    if rows:
        print(rows, flush=True)
store(Path(sys.argv[1]), BY_PERSON, Path(sys.argv[2]), watch=watch)
"""


class _StopError(Exception):
    pass


def refusal(question: str, files: Any, **details: Any) -> str:
    with pytest.raises(FrostglassError) as caught:
        ask(question, files, **details)
    assert caught.value.__cause__ is None
    return str(caught.value)


def not_stored(source: Path, schema: Schema, folder: Path) -> str:
    with pytest.raises(IngestError) as caught:
        store(source, schema, folder)
    return str(caught.value)


@pytest.fixture
def few_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FROSTGLASS_UPLOAD_SECONDS", "2")


def test_a_file_is_stored_by_the_process_that_reads_it(tmp_path: Path) -> None:
    file = tmp_path / "x.csv"
    file.write_text("a\n" + "1\n7\n" * 30)
    told: list[tuple[str, int]] = []
    table = store(file, ONE, tmp_path / "out", watch=lambda *place: told.append(place))
    assert len(table.public_frame()) == 60
    assert told


def test_little_that_becomes_much_runs_into_the_limit_of_memory(tmp_path: Path) -> None:
    file = swelling_parquet(tmp_path / "x.parquet")
    assert file.stat().st_size < 1000
    many = ONE.model_copy(update={"max_rows": 10_000})
    most = Limits.of([file], many).memory
    assert most < 2.01 * GIB
    assert f"more memory than the {most >> 20} MiB" in not_stored(file, many, tmp_path / "out")


def test_rows_without_end_are_not_read_beyond_the_row_limit(tmp_path: Path) -> None:
    file = endless_parquet(tmp_path / "x.parquet", 20_000_000)
    read: list[int] = []
    with pytest.raises(IngestError, match="more rows than the declared limit"):
        store(file, ONE, tmp_path / "out", watch=lambda _, rows: read.append(rows))
    assert max(read) <= 1_000_000


@pytest.mark.usefixtures("few_seconds")
def test_rows_without_end_of_one_person_run_into_the_limit_of_time(tmp_path: Path) -> None:
    file = endless_parquet(tmp_path / "x.parquet", 60_000_000)
    assert "longer than the 2 seconds" in not_stored(file, BY_PERSON, tmp_path / "out")


@pytest.mark.usefixtures("few_seconds")
def test_a_tree_that_never_ends_runs_into_a_limit(tmp_path: Path) -> None:
    file = cyclic_sqlite(tmp_path / "x.sqlite")
    schema = BY_PERSON.model_copy(update={"entity": "t"})
    assert "took" in not_stored(file, schema, tmp_path / "out")
    told = refusal("look", [file], source=file, table="t", kinds={"a": None})
    assert "took" in told


@pytest.mark.parametrize(
    "ending",
    [signal.SIGSEGV, *(pytest.param(other, marks=pytest.mark.slow) for other in (signal.SIGABRT, signal.SIGBUS))],
)
def test_a_reader_that_is_brought_down_costs_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: signal.Signals
) -> None:
    monkeypatch.setattr(readers, "READER_COMMAND", _reader_that(f"os.kill(os.getpid(), {ending})"))
    monkeypatch.setattr(readers, "_idle", [])
    file = tmp_path / "x.csv"
    file.write_text("a\n1\n")
    for _ in range(2):
        assert "crashes the program" in refusal("header", [file], path=file)


def test_an_error_that_nobody_foresaw_is_told_by_its_kind_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    code = "print('CANARY', file=sys.stderr), print('CANARY'), {}['CANARY']"
    monkeypatch.setattr(readers, "READER_COMMAND", _reader_that(code))
    monkeypatch.setattr(readers, "_idle", [])
    file = tmp_path / "x.csv"
    file.write_text("a\n1\n")
    with caplog.at_level(logging.DEBUG):
        assert "something in it is not as it should be" in refusal("header", [file], path=file)
    assert "KeyError" in caplog.text
    assert "CANARY" not in caplog.text


def _reader_that(does: str) -> tuple[str, ...]:
    """A reader one of whose questions is answered by an expression instead."""
    code = (
        f"import os, sys; from dpcore.intake.process import reader; answer = lambda *_, **__: ({does}); "
        "reader._load = lambda: {'header': answer}; reader.main()"
    )
    return (sys.executable, "-c", code)


def test_a_reader_works_from_any_folder_and_is_told_no_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readers, "_idle", [])
    monkeypatch.setenv("FROSTGLASS_DATABASE_URL", "postgresql://CANARY")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    Path("x.csv").write_text("a\n1\n")
    assert ask("header", [Path("x.csv")], path=Path("x.csv")) == ["a"]
    told = Path(f"/proc/{readers._idle[0]._process.pid}/environ").read_bytes()
    assert b"CANARY" not in told


def test_a_reader_that_ended_by_itself_costs_no_other_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """The number of a process that is gone may be another's."""
    ended: list[int] = []
    monkeypatch.setattr(readers, "_idle", [])
    parse_schema(ONE.to_yaml())
    [reader] = readers._idle
    process = reader._process
    process.kill()
    process.wait()
    monkeypatch.setattr(readers.os, "killpg", lambda number, _: ended.append(number))
    assert parse_schema(ONE.to_yaml()).finished() == ONE
    assert not ended
    reader.end()
    assert not ended


def test_an_application_with_many_files_open_can_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 2000:
        pytest.skip("this machine lets no process open so many files")
    monkeypatch.setattr(readers, "_idle", [])
    resource.setrlimit(resource.RLIMIT_NOFILE, (2000 if 0 <= soft < 2000 else soft, hard))
    with ExitStack() as many:
        many.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        for _ in range(1100):
            many.callback(os.close, os.open(os.devnull, os.O_RDONLY))
        assert parse_schema(ONE.to_yaml()).finished() == ONE
        readers._idle.pop().end()


def test_a_limit_that_is_lower_already_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_CPU, (20, 20)); "
        "from dpcore.intake.process import reader; reader.main()"
    )
    monkeypatch.setattr(readers, "READER_COMMAND", (sys.executable, "-c", code))
    monkeypatch.setattr(readers, "_idle", [])
    assert parse_schema(ONE.to_yaml()).finished() == ONE
    readers._idle.pop().end()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux chooses so")
def test_where_memory_runs_short_a_reader_ends_before_the_application(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = "open('/proc/self/oom_score_adj').read()"
    monkeypatch.setattr(readers, "READER_COMMAND", _reader_that(code))
    monkeypatch.setattr(readers, "_idle", [])
    assert int(ask("header", path="")) == 1000


@for_each("file", ["schema.json", "00000/records.arrow", "00000/bits.arrow"])
def test_a_full_disk_is_a_sentence(tmp_path: Path, file: str) -> None:
    upload, folder = tmp_path / "x.csv", tmp_path / "out"
    upload.write_text("a\n1\n9\n")
    (folder / "00000").mkdir(parents=True)
    (folder / file).symlink_to("/dev/full")
    told = not_stored(upload, ONE, folder)
    assert not lacking(told, "disk of this computer is full", "uploaded files are kept", "Make room")


def test_numpy_does_not_say_why_it_could_not_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nameless = OSError("8 requested and 2 written")
    assert not disk.is_full(nameless, tmp_path)
    monkeypatch.setattr(disk.shutil, "disk_usage", lambda _: SimpleNamespace(free=0))
    assert disk.is_full(nameless, tmp_path)


def test_what_libraries_print_reaches_nobody(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SchemaError):
        parse_schema("name: [CANARY")
    assert capfd.readouterr() == ("", "")


def test_a_reader_ends_with_whoever_asked(tmp_path: Path) -> None:
    """An application that is killed leaves nothing that goes on reading."""
    file = endless_parquet(tmp_path / "x.parquet", 60_000_000)
    asker = subprocess.Popen([sys.executable, "-c", ASKER, str(file), str(tmp_path / "out")], stdout=subprocess.PIPE)
    assert asker.stdout is not None
    assert asker.stdout.readline(), "rows have been read"
    family = psutil.Process(asker.pid).children(recursive=True)
    assert len(family) == 2
    asker.kill()
    asker.wait()
    _, alive = psutil.wait_procs(family, timeout=20)
    assert not alive


def test_a_reader_that_was_started_before_answers_the_first_question(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readers, "_idle", [])
    readers.start()
    readers.start()
    [started] = readers._idle
    assert parse_schema(ONE.to_yaml()).finished() == ONE
    assert readers._idle == [started]
    started.end()


def test_a_reader_that_is_killed_in_the_middle_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held = "import dpcore.data.building.row_buffer as a; a._HELD = 0; "
    code = held + "from dpcore.intake.process import reader; reader.main()"
    monkeypatch.setattr(readers, "READER_COMMAND", (sys.executable, "-c", code))
    monkeypatch.setattr(readers, "_idle", [])
    file = endless_parquet(tmp_path / "x.parquet", 60_000_000)
    engine = open_database(f"sqlite:///{tmp_path / 'frostglass.db'}")
    store, put_down = Store(tmp_path, engine), []

    def kill(_table: str, rows: int) -> None:
        if rows and not put_down:
            put_down.extend((tmp_path / "incoming").glob("*/*/main/*"))
            if put_down:
                psutil.Process().children(recursive=True)[-1].kill()

    with pytest.raises(IngestError, match="more memory"):
        store.add_dataset("x", BY_PERSON, Incoming(file, BY_PERSON, watch=kill), public=False)
    assert put_down, "rows had been put down"
    assert not [*(tmp_path / "incoming").iterdir(), *(tmp_path / "datasets").iterdir(), *store.datasets()]


def test_whoever_waits_can_stop_and_the_next_is_not_kept_waiting(tmp_path: Path) -> None:
    file = endless_parquet(tmp_path / "x.parquet", 60_000_000)

    def stop(_table: str, rows: int) -> None:
        if rows:
            raise _StopError

    with pytest.raises(_StopError):
        store(file, BY_PERSON, tmp_path / "out", watch=stop)
    assert ask("header", [file], path=file) == ["a", "who"]


def test_limits_grow_with_public_sizes_and_are_the_operators(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "x"
    monkeypatch.setattr(limits, "machine_memory", lambda: 1000 * GIB)
    with file.open("wb") as stream:
        stream.truncate(GIB)
    small, large = Limits.of([]), Limits.of([file])
    assert Limits.of([file] * 5).seconds == 50 + 5 * (large.seconds - 50), "time for as much as there is"
    assert (small.memory, small.seconds) == (2 * GIB, 50)
    assert (large.memory, large.seconds) == (10 * GIB, 2098)
    wide = ONE.model_copy(update={"max_rows": 10_000_000})
    assert Limits.of([], wide).memory > 2 * GIB + stored_bytes(wide)
    monkeypatch.setenv("FROSTGLASS_UPLOAD_SECONDS", "7")
    monkeypatch.setenv("FROSTGLASS_UPLOAD_MEMORY", "1024")
    assert (Limits.of([]).memory, Limits.of([]).seconds) == (GIB, 7)
    monkeypatch.setenv("FROSTGLASS_UPLOAD_MEMORY", "much")
    with pytest.raises(RequestError, match="FROSTGLASS_UPLOAD_MEMORY must be a whole number"):
        Limits.of([])


def test_limits_do_not_grow_beyond_what_is_sensible(monkeypatch: pytest.MonkeyPatch) -> None:
    endless = ONE.model_copy(update={"max_rows": 10**30})
    monkeypatch.setattr(limits, "machine_memory", lambda: 24 * GIB)
    most = Limits.of([], endless)
    assert (most.memory, most.seconds) == (24 * GIB, 3200)
    monkeypatch.setattr(limits, "machine_memory", lambda: 1000 * GIB)
    assert Limits.of([], endless).memory == 128 * GIB
    monkeypatch.setattr(limits, "machine_memory", lambda: GIB)
    assert Limits.of([], endless).memory == 2 * GIB, "what the operator says counts"


def test_the_declared_size_of_a_stored_table_is_no_less_than_the_real_one(tmp_path: Path) -> None:
    file = tmp_path / "x.csv"
    file.write_text("a\n1\n9\n")
    store(file, ONE, tmp_path / "out")
    written = sum(path.stat().st_size for path in (tmp_path / "out").rglob("*.arrow"))
    assert written <= stored_bytes(ONE) + 4096


def test_a_column_name_that_is_not_text_is_a_sentence(tmp_path: Path) -> None:
    file = tmp_path / "x.parquet"
    pq.write_table(pa.table({"NAMENAME": [1]}), file)
    file.write_bytes(file.read_bytes().replace(b"NAMENAME", b"\xff\xfe\xfd\xfc\xff\xfe\xfd\xfc"))
    assert "not a readable Parquet" in refusal("header", [file], path=file)


def test_a_date_that_no_calendar_has_is_a_sentence(tmp_path: Path) -> None:
    file = tmp_path / "x.parquet"
    pq.write_table(pa.table({"a": pa.array([2**31 - 1], pa.date32())}), file)
    assert "outside the years 1 to 9999" in not_stored(file, ONE, tmp_path / "out")


@for_each("note", [b"{", b"\xff", b'{"columns": 1}', b"[]"])
def test_notes_of_pandas_in_a_file_are_not_needed(tmp_path: Path, note: bytes) -> None:
    file = tmp_path / "x.parquet"
    table = pa.table({"a": [1, 5]}).replace_schema_metadata({b"pandas": note})
    pq.write_table(table, file)
    assert ask("header", [file], path=file) == ["a"]
    assert len(store(file, ONE, tmp_path / "out").public_frame()) == 2


def test_text_that_is_none_in_a_parquet_file_is_a_sentence(tmp_path: Path) -> None:
    raw = pa.array([b"\xff\xc3("], pa.binary())
    text = pa.Array.from_buffers(pa.string(), 1, raw.buffers())
    file = tmp_path / "x.parquet"
    pq.write_table(pa.table({"a": text}), file)
    assert "not a readable Parquet" in not_stored(file, ONE, tmp_path / "out")


def test_a_name_that_is_not_text_in_a_database_is_a_sentence(tmp_path: Path) -> None:
    file = tmp_path / "x.sqlite"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE t (NAMENAME)")
        connection.commit()
    sound = file.read_bytes()
    for name in (b"\xff\xfe\xfd\xfc\xff\xfe\xfd\xfc", b"NAME\xc3AME"):
        file.write_bytes(sound.replace(b"NAMENAME", name))
        refusal("look", [file], source=file, table="t", kinds={"a": None})
        refusal("headers", [file], source=file)


@for_each("value", ['!!int ""', "!!bool maybe", "!!timestamp nope", "!!float x", "!!set 1", "9" * 5000])
def test_a_tag_that_does_not_fit_its_value_is_a_sentence(value: str) -> None:
    with pytest.raises(SchemaError):
        parse_schema(f"name: {value}")
    with pytest.raises(SchemaError):
        Schema.from_text(f"name: {value}")


def test_thousands_of_unknown_fields_are_listed_in_short() -> None:
    with pytest.raises(SchemaError, match="and 1998 more") as caught:
        parse_schema("".join(f"unknown_{i}: 1\n" for i in range(2000)))
    assert len(str(caught.value)) < 1000


# Many files


@pytest.fixture
def unforeseen(caplog: pytest.LogCaptureFixture) -> Iterator[list[str]]:
    """What readers said about errors that nobody foresaw."""
    found: list[str] = []
    with caplog.at_level(logging.ERROR, "frostglass.uploads"):
        yield found
    found += [record.getMessage() for record in caplog.records if "failed" in record.msg]


def outcome(folder: Path, kind: str, seed: int) -> str:
    """What became of one file of the fuzzer's."""
    content = upload_fuzzer.make(kind, seed)
    place = folder / f"{kind}-{seed}"
    place.mkdir()
    file = place / f"upload.{kind}"
    file.write_bytes(content)
    try:
        if kind == "yaml":
            parse_schema(content.decode("utf-8", "replace"))
        elif seed % 4:
            (place / "out").mkdir()
            Incoming(file, upload_fuzzer.SCHEMA).save(place / "out")
        else:
            source = file if kind in {"sqlite", "duckdb"} else {"t": file}
            headers = headers_of(source).items()
            table, column = next((name, c) for name, header in headers for c in header.columns)
            ask("look", [file], source=source, table=table, kinds={column: None})
    except FrostglassError as sentence:
        return _kind_of(str(sentence))
    except StopIteration:  # A table without columns.
        return "answer"
    finally:
        file.unlink()
    return "answer"


_MARKS = {
    "crashes": "died",
    "not as it should be": "unforeseen",
    "took more": "memory",
    "took longer": "time",
    "cannot be read now": "no reader",
}


def _kind_of(sentence: str) -> str:
    return next((kind for mark, kind in _MARKS.items() if mark in sentence), "sentence")


def fuzz(folder: Path, seeds: range) -> Counter[tuple[str, str]]:
    """How many files of each kind ended how."""
    files = [(kind, seed) for seed in seeds for kind in upload_fuzzer.KINDS]
    with ThreadPoolExecutor(readers.AT_ONCE) as pool:
        ends = list(pool.map(lambda file: outcome(folder, *file), files))
    for file, end in zip(files, ends, strict=True):
        if end not in {"answer", "sentence"}:
            print(*file, end)
    return Counter((kind, end) for (kind, _), end in zip(files, ends, strict=True))


def check(found: Counter[tuple[str, str]], each: int) -> None:
    print(sorted(found.items()))
    ends = Counter[str]()
    for (_, end), count in found.items():
        ends[end] += count
    assert not ends["unforeseen"] + ends["no reader"], found
    for kind in upload_fuzzer.KINDS:
        # Neither are all files sound, nor is all that damage noticed nowhere.
        assert found[kind, "answer"] > 0.02 * each, found
        assert found[kind, "sentence"] > 0.02 * each, found


def test_damaged_files_get_an_answer_or_a_sentence(tmp_path: Path, unforeseen: list[str]) -> None:
    check(fuzz(tmp_path, range(19, 29)), 10)
    assert not unforeseen


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_thousands_of_damaged_files_get_an_answer_or_a_sentence(tmp_path: Path, unforeseen: list[str]) -> None:
    check(fuzz(tmp_path, range(1200)), 1200)
    assert not unforeseen
