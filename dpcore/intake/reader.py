"""The program that reads uploads, so that no other has to: ``python -m dpcore.intake.reader``.

A file from anywhere may take all memory, never end, or bring its reader down. So each question
about one is answered by a process of its own, under the limits of
:class:`dpcore.intake.limits.Limits`: a copy of this program (by ``fork``, so that libraries are
loaded once), which answers one question and is gone, with everything that it read. Questions and
answers are lines of JSON; the rows of an upload leave the process in the stored form alone, which
it writes into a folder that it is given. What libraries print, which may quote values, is thrown
away.
"""

from __future__ import annotations

import csv
import json
import os
import resource
import select
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO

#: Without questions for so many seconds, this program ends.
_IDLE = 600
_OPEN_FILES = 128
#: Most characters of one value in a CSV file.
_LONGEST_VALUE = 1 << 24
#: What a form may be made of: the page that draws it has no limits of its own.
_MOST_TABLES, _MOST_COLUMNS = 100, 3000
_TOO_MANY = (
    f"A form can be made for at most {_MOST_TABLES} tables with {_MOST_COLUMNS} columns in all. "
    "Export the tables that matter to a file of their own, or use the command line with a schema "
    "file."
)
#: Reports of rows are this many rows apart, at least.
_REPORT_ROWS = 20_000

Tell = Callable[[str, int], None]


def main() -> None:
    """Answer questions from standard input until it ends."""
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    _silence()
    _load()
    _say(answers, ready=True)
    questions = sys.stdin.buffer
    while select.select([questions], [], [], _IDLE)[0]:
        line = questions.readline()
        if not line:
            return
        child = os.fork()
        if not child:
            _answer(json.loads(line), answers)
            os._exit(0)
        _until_ended_or_left(child, questions)
        _, status = os.waitpid(child, 0)
        with suppress(BrokenPipeError):  # Whoever asked has gone.
            _say(answers, ended=os.waitstatus_to_exitcode(status))


def _until_ended_or_left(child: int, questions: BinaryIO) -> None:
    """Wait for a copy, and end it if whoever asked has gone: nobody wants its answer."""
    if not hasattr(os, "pidfd_open"):
        return
    try:
        ended = os.pidfd_open(child)
    except OSError:  # No such thing on this machine: its limits of time end it.
        return
    try:
        waiting = select.poll()
        waiting.register(questions, 0)  # A hang-up is told all the same.
        waiting.register(ended, select.POLLIN)
        if ended not in (place for place, _ in waiting.poll()):
            os.kill(child, signal.SIGKILL)
    finally:
        os.close(ended)


def _silence() -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (1, 2):
        os.dup2(nowhere, stream)


def _load() -> None:
    import duckdb  # noqa: F401
    import pyarrow

    import dpcore.intake.suggestions  # noqa: F401

    pyarrow.set_cpu_count(1)
    csv.field_size_limit(_LONGEST_VALUE)


def _say(answers: BinaryIO, **message: Any) -> None:
    answers.write(json.dumps(message, default=str).encode() + b"\n")


def _answer(question: Mapping[str, Any], answers: BinaryIO) -> None:
    """Answer one question, in a process of its own."""
    from dpcore.errors import FrostglassError

    _confine(**question["limits"])

    def tell(step: str, rows: int) -> None:
        _say(answers, step=step, rows=rows)

    try:
        result = _ANSWERS[question["ask"]](tell, **question["with"])
    except FrostglassError as error:
        _say(answers, fault=type(error).__name__, text=str(error))
    except MemoryError:
        _say(answers, failed="memory")
    except Exception as error:  # noqa: BLE001 - its text may quote values; its kind is enough
        _say(answers, failed="unforeseen", kind=type(error).__name__)
    else:
        _say(answers, result=result)


def _confine(memory: int, seconds: int, written: int) -> None:
    """Let the system end this process if it takes more than it may."""
    limits = {
        resource.RLIMIT_AS: memory,
        resource.RLIMIT_FSIZE: written,
        resource.RLIMIT_NOFILE: _OPEN_FILES,
        resource.RLIMIT_CORE: 0,  # A core dump would hold records.
    }
    for kind, most in limits.items():
        _limit(kind, most)
    _limit(resource.RLIMIT_CPU, seconds, 5)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    os.nice(5)
    with suppress(OSError):  # Where memory runs short, Linux ends this process before any other.
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")


def _limit(kind: int, most: int, grace: int = 0) -> None:
    """Set one limit, or the one that is there already if it is lower.

    With a grace the process is warned, by a signal that tells why it ends, before it is killed.
    """
    there = resource.getrlimit(kind)[1]
    hard = min(most + grace, sys.maxsize if there == resource.RLIM_INFINITY else there)
    with suppress(ValueError, OSError):  # Not every system knows every limit.
        resource.setrlimit(kind, (min(most, hard - bool(grace)), hard))


def _source(source: Any) -> Any:
    """Files as they were named in a question."""
    return {n: Path(p) for n, p in source.items()} if isinstance(source, dict) else Path(source)


def _header(_: Tell, path: str) -> list[str]:
    from dpcore.intake.files import read_header

    return read_header(Path(path))


def _headers(_: Tell, source: Any) -> dict[str, Any]:
    from dpcore.errors import IngestError
    from dpcore.intake.relations import read_headers

    headers = read_headers(_source(source))
    columns = sum(len(header.columns) for header in headers.values())
    if len(headers) > _MOST_TABLES or columns > _MOST_COLUMNS:
        raise IngestError(_TOO_MANY)
    return {name: asdict(header) for name, header in headers.items()}


def _shared_columns(_: Tell, left: str, right: str) -> list[str]:
    from dpcore.intake.joining import shared_columns

    return shared_columns(Path(left), Path(right))


def _draft(_: Tell, path: str) -> dict[str, Any]:
    from dpcore.intake.suggestions import suggest_schema

    return suggest_schema(Path(path))


def _joint_draft(_: Tell, left: str, right: str, key: str) -> dict[str, Any]:
    from dpcore.intake.suggestions import suggest_joint_schema

    return suggest_joint_schema(Path(left), Path(right), key)


def _relations_draft(_: Tell, source: Any, entity: str, key: str | None) -> dict[str, Any]:
    from dpcore.intake.suggestions import suggest_relations

    return suggest_relations(_source(source), entity, key)


def _column(_: Tell, path: str, name: str, kind: str | None = None) -> dict[str, Any]:
    from dpcore.intake.suggestions import suggest_column

    return suggest_column(Path(path), name, kind)


def _table_column(_: Tell, source: Any, table: str, name: str, kind: str | None = None) -> dict[str, Any]:
    from dpcore.intake.suggestions import suggest_table_column

    return suggest_table_column(_source(source), table, name, kind)


def _joint_column(_: Tell, left: str, right: str, key: str, name: str, kind: str | None = None) -> dict[str, Any]:
    from dpcore.intake.suggestions import suggest_joint_column

    return suggest_joint_column(Path(left), Path(right), key, name, kind)


def _schema(_: Tell, text: str) -> str:
    from dpcore.domain.schema import Schema

    return Schema.from_text(text).to_json(indent=None)


def _check(_: Tell, source: Any, schema: str) -> None:
    from dpcore.domain.schema import Schema
    from dpcore.intake.relations import check_headers

    check_headers(Schema.model_validate_json(schema), _source(source))


def _check_joint(_: Tell, left: str, right: str, schema: str) -> None:
    from dpcore.domain.schema import Schema
    from dpcore.intake.joining import join_key, joint_columns

    declared = Schema.model_validate_json(schema)
    together = joint_columns(Path(left), Path(right), join_key(declared))
    for column in declared:
        together.place(column.name)


def _store(tell: Tell, source: Any, schema: str, folder: str, right: str | None = None) -> None:
    from dpcore.data.ingest import ingest
    from dpcore.disk import needing_room
    from dpcore.domain.schema import Schema
    from dpcore.intake.relations import rows_for
    from dpcore.privacy.randomness import SecureRandom

    declared = Schema.model_validate_json(schema)
    second = None if right is None else Path(right)
    rows, children = rows_for(declared, _source(source), second)
    told = {name: _counted(pieces, tell, name) for name, pieces in children.items()}
    table = ingest(_counted(rows, tell, declared.entity), declared, SecureRandom(), told)
    tell("", 0)
    with needing_room(Path(folder)):
        table.save(Path(folder))


def _counted(pieces: Iterator[Any], tell: Tell, table: str) -> Iterator[Any]:
    """The same rows; how many there were so far is told now and then."""
    rows = told = 0
    for piece in pieces:
        yield piece
        rows += len(piece)
        if rows - told >= _REPORT_ROWS:
            tell(table, rows)
            told = rows


_ANSWERS: Mapping[str, Callable[..., Any]] = {
    "header": _header,
    "headers": _headers,
    "shared columns": _shared_columns,
    "draft": _draft,
    "joint draft": _joint_draft,
    "relations draft": _relations_draft,
    "column": _column,
    "table column": _table_column,
    "joint column": _joint_column,
    "schema": _schema,
    "check": _check,
    "check joint": _check_joint,
    "store": _store,
}


if __name__ == "__main__":
    main()
