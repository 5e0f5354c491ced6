"""The program that reads uploads, so that no other has to: ``python -m dpcore.intake.process.reader``.

A file from anywhere may take all memory, never end, or bring its reader down. So each question
about one is answered by a process of its own, under the limits of
:class:`dpcore.intake.process.limits.Limits`: a copy of this program (by ``fork``, so that libraries are
loaded once), which answers one question and is gone, with everything that it read. Questions and
answers are lines of JSON; the rows of an upload leave the process in the stored form alone, which
it writes into a folder that it is given. What libraries print, which may quote values, is thrown
away.
"""

from __future__ import annotations

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
#: What a form may be made of: the page that draws it has no limits of its own.
_MOST_TABLES, _MOST_COLUMNS = 100, 3000
_TOO_MANY = (
    f"A form can be made for at most {_MOST_TABLES} tables with {_MOST_COLUMNS} columns in all. "
    "Export the tables that matter to a file of their own, or use the command line with a schema "
    "file."
)

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

    import dpcore.intake.profile.suggestions  # noqa: F401

    pyarrow.set_cpu_count(1)


def _say(answers: BinaryIO, **message: Any) -> None:
    answers.write(json.dumps(message, default=str).encode() + b"\n")


def _answer(question: Mapping[str, Any], answers: BinaryIO) -> None:
    """Answer one question, in a process of its own."""
    from dpcore.errors import FrostglassError
    from dpcore.intake.sources.choices import Choices, choosing
    from dpcore.intake.sources.sources import knowing
    from dpcore.validation import storable

    _confine(**question["limits"])

    def tell(step: str, rows: int) -> None:
        _say(answers, step=step, rows=rows)

    try:
        with choosing(Choices(**question["choices"])), knowing(question["addresses"]):
            result = _ANSWERS[question["ask"]](tell, **question["with"])
    except FrostglassError as error:
        _say(answers, fault=type(error).__name__, text=storable(str(error)))  # It may quote what a file holds.
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
    if isinstance(source, dict):
        return {name: Path(path) for name, path in source.items()}
    return [Path(path) for path in source] if isinstance(source, list) else Path(source)


def _header(_: Tell, path: Any) -> list[str]:
    from dpcore.intake.sources.files import read_header

    return read_header(_source(path))


def _describe(_: Tell, path: Any) -> str:
    from dpcore.intake.sources.files import describe
    from dpcore.intake.sources.sql_files import database_description, is_database

    source = _source(path)
    return database_description(source) if isinstance(source, Path) and is_database(source) else describe(source)


def _sheets(_: Tell, path: str) -> list[str]:
    from dpcore.intake.sources.sheets import sheet_names

    return sheet_names(Path(path))


def _headers(_: Tell, source: Any) -> dict[str, Any]:
    from dpcore.errors import IngestError
    from dpcore.intake.joins.relations import read_headers

    headers = read_headers(_source(source))
    columns = sum(len(header.columns) for header in headers.values())
    if len(headers) > _MOST_TABLES or columns > _MOST_COLUMNS:
        raise IngestError(_TOO_MANY)
    return {name: asdict(header) for name, header in headers.items()}


def _shared_columns(_: Tell, left: str, right: str) -> list[str]:
    from dpcore.intake.joins.joining import shared_columns

    return shared_columns(Path(left), Path(right))


def _draft(_: Tell, path: Any) -> dict[str, Any]:
    from dpcore.intake.profile.suggestions import suggest_schema

    return suggest_schema(_source(path))


def _joint_draft(_: Tell, left: str, right: str, key: str) -> dict[str, Any]:
    from dpcore.intake.profile.suggestions import suggest_joint_schema

    return suggest_joint_schema(Path(left), Path(right), key)


def _relations_draft(_: Tell, source: Any, entity: str, key: str | None) -> dict[str, Any]:
    from dpcore.intake.profile.suggestions import suggest_relations

    return suggest_relations(_source(source), entity, key)


def _look(
    tell: Tell,
    source: Any,
    kinds: dict[str, str | None],
    table: str | None = None,
    right: str | None = None,
    key: str = "",
) -> dict[str, Any]:
    from dpcore.intake.process.storing import counted_rows
    from dpcore.intake.profile.looking import look_at

    second = None if right is None else Path(right)

    def counted(pieces: Iterator[Any]) -> Iterator[Any]:
        return counted_rows(pieces, tell, table or "")

    return asdict(look_at(_source(source), kinds, table=table, right=second, key=key, counted=counted))


def _dictionary(_: Tell, path: str, title: str = "") -> dict[str, Any]:
    from dpcore.intake.dictionaries.reading import read_dictionary

    return asdict(read_dictionary(Path(path), title))


def _repeats(_: Tell, path: Any) -> list[dict[str, Any]]:
    from dpcore.intake.process.repeats import repeats_of

    return [asdict(repeat) for repeat in repeats_of(_source(path))]


def _schema(_: Tell, text: str) -> dict[str, Any]:
    from dpcore.domain.schemas.unfinished import Unfinished

    return Unfinished.from_text(text).content()


def _check(_: Tell, source: Any, schema: str) -> None:
    from dpcore.domain.schemas.schema import Schema
    from dpcore.intake.joins.relations import check_headers

    check_headers(Schema.model_validate_json(schema), _source(source))


def _check_joint(_: Tell, left: str, right: str, schema: str) -> None:
    from dpcore.domain.schemas.schema import Schema
    from dpcore.intake.joins.joining import join_key, joint_columns

    declared = Schema.model_validate_json(schema)
    together = joint_columns(Path(left), Path(right), join_key(declared))
    for name in declared.file_columns:
        together.place(name)


def _examine(
    tell: Tell, source: Any, schema: str, right: str | None = None, after: str | None = None
) -> list[dict[str, Any]]:
    from dpcore.domain.schemas.schema import Schema
    from dpcore.intake.process.storing import examine_table

    declared, second = Schema.model_validate_json(schema), None if right is None else Path(right)
    before = None if after is None else Path(after)
    found = examine_table(declared, _source(source), second, after=before, tell=tell)
    return [finding.written() for finding in found]


def _store(
    tell: Tell,
    source: Any,
    schema: str,
    folder: str,
    accepted: list[str],
    right: str | None = None,
    keep: bool = False,
    after: str | None = None,
    learning: dict[str, Any] | None = None,
) -> str:
    from dpcore.domain.schemas.schema import Schema
    from dpcore.intake.process.storing import store_table
    from dpcore.released.learning_plan import LearningPlan

    declared = Schema.model_validate_json(schema)
    return store_table(
        Path(folder),
        declared,
        _source(source),
        None if right is None else Path(right),
        accepted=accepted,
        keep=keep,
        after=None if after is None else Path(after),
        plan=None if learning is None else LearningPlan.read(declared, learning),
        tell=tell,
    )


_ANSWERS: Mapping[str, Callable[..., Any]] = {
    "header": _header,
    "describe": _describe,
    "sheets": _sheets,
    "headers": _headers,
    "shared columns": _shared_columns,
    "draft": _draft,
    "joint draft": _joint_draft,
    "relations draft": _relations_draft,
    "look": _look,
    "dictionary": _dictionary,
    "repeats": _repeats,
    "schema": _schema,
    "check": _check,
    "check joint": _check_joint,
    "examine": _examine,
    "store": _store,
}


if __name__ == "__main__":
    main()
