"""Asking about uploads, each question answered by a process that may die: see ``reader``.

Whatever is wrong with a file, the caller gets an answer or one sentence.
"""

from __future__ import annotations

import json
import logging
import os
import re
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard, cast

from dpcore import errors
from dpcore.domain.schema import Schema
from dpcore.domain.unfinished import Unfinished
from dpcore.errors import FrostglassError, IngestError
from dpcore.intake.choices import chosen
from dpcore.intake.limits import Limits
from dpcore.intake.sources import addresses_for

if TYPE_CHECKING:
    from dpcore.intake.examination import Finding
    from dpcore.intake.relations import Source
    from dpcore.intake.sql_files import TableHeader
    from dpcore.released.learning_plan import LearningPlan

#: Told now and then which table is being read and how many rows of it were; may raise to stop.
#: An empty name says that all is read and being written.
Watch = Callable[[str, int], None]

READER_COMMAND = (sys.executable, "-m", "dpcore.intake.reader")
#: Questions answered at once; further ones wait for their turn.
AT_ONCE = 2
_LOOK = 0.2
#: What a reader may know of the environment.
_KEPT = re.compile(r"(HOME|LANG|LC_.*|LD_LIBRARY_PATH|NUMBA_.*|PATH|PYTHON.*|TMPDIR|TZ)$")
#: Beyond its own limit a reader is given so many seconds, then it is ended from here.
_GRACE = 10
_LOAD_SECONDS = 120
_LONGEST_ANSWER = 8 << 20
_LOG = logging.getLogger("frostglass.uploads")

_TOO_LONG = (
    "Reading the file took longer than the {seconds} seconds that a file of this size may take. "
    "It may be damaged: export it again, or as CSV. If it is sound, ask the operator to raise "
    "FROSTGLASS_UPLOAD_SECONDS."
)
_TOO_BIG = (
    "Reading the file took more memory than the {memory} MiB that a file of this size may take. It "
    "may be damaged: export it again, or as CSV. If it is sound, ask the operator to raise "
    "FROSTGLASS_UPLOAD_MEMORY."
)
_DIED = (
    "The file crashes the program that reads it: it is damaged, or holds far more than its "
    "size suggests. Export it again, or as CSV."
)
_UNFORESEEN = "The file cannot be read: something in it is not as it should be. Export it again."
_NO_READER = "Files cannot be read now. Try again; if that does not help, tell the operator."


def ask(
    question: str, files: Any = (), *, schema: Schema | None = None, watch: Watch | None = None, **details: Any
) -> Any:
    """Have a question about files answered; what was chosen about them (``choices``) holds.

    Parameters
    ----------
    question : str
        One of those that :mod:`dpcore.intake.reader` knows.
    files : iterable of Path
        What is read; their sizes decide what the answer may take.
    schema : Schema, optional
        What the files should fit; a table that is made has its shape.
    watch : callable, optional
        Told of progress several times a second; what it raises ends the reading.
    **details
        The question's own arguments.

    Raises
    ------
    FrostglassError
        Of the kind and with the sentence that the reader has; for the custodian alone.
    """
    limits = Limits.of(files, schema)
    if schema is not None:
        details["schema"] = schema.to_json(indent=None)
    line = {"ask": question, "with": details, "limits": asdict(limits), "choices": asdict(chosen())}
    line["addresses"] = addresses_for([file for file in files if isinstance(file, Path)])
    with _reader(watch) as reader:
        return reader.answer(json.dumps(line, default=_absolute), limits, watch or _nothing)


def parse_schema(text: str, watch: Watch | None = None) -> Unfinished:
    """A schema, finished or not, from the text of a file that came from anywhere. Raises ``SchemaError``."""
    return Unfinished.from_mapping(ask("schema", text=text, watch=watch))


class Incoming:
    """Files on their way to be stored as a table. The store says where, and they are read then.

    Parameters
    ----------
    source : str, Path or mapping
        See :func:`dpcore.intake.relations.rows_for`; files only.
    keep : bool
        Whether the keys of people are kept: see :mod:`dpcore.data.people`.
    after : Path, optional
        Folder of a table that keeps them, whose rows are taken in too.
    plan : LearningPlan, optional
        What is learned of the schema first.
    """

    def __init__(
        self,
        source: Source,
        schema: Schema,
        right: str | Path | None = None,
        watch: Watch | None = None,
        *,
        accepted: Collection[str] = (),
        keep: bool = False,
        after: Path | None = None,
        plan: LearningPlan | None = None,
    ) -> None:
        files = files_of(source)
        one = files[0] if isinstance(source, str | Path) else files
        self._source = dict(zip(source, files, strict=True)) if _named(source) else one
        self._right = None if right is None else Path(right)
        self._files = files if self._right is None else [*files, self._right]
        self._schema, self._watch = schema, watch
        self._accepted, self._keep, self._after, self._plan = sorted(accepted), keep, after, plan

    def examine(self) -> list[Finding]:
        """How the values of each column fit. Raises ``IngestError``."""
        from dpcore.intake.examination import Finding

        found = ask(
            "examine", self._files, watch=self._watch, schema=self._schema, source=self._source, right=self._right
        )
        return [Finding.read(each) for each in found]

    def save(self, directory: Path) -> None:
        """Read the files and write their table into an empty folder. Raises ``IngestError``."""
        ask(
            "store",
            self._files if self._plan is None else self._files * 2,  # Then they are read twice.
            watch=self._watch,
            schema=self._schema,
            source=self._source,
            right=self._right,
            folder=directory,
            accepted=self._accepted,
            keep=self._keep,
            after=self._after,
            learning=None if self._plan is None else self._plan.written(),
        )


def files_of(source: Source) -> list[Path]:
    """The files of a source that has no frames."""
    files = source.values() if _named(source) else [source] if isinstance(source, str | Path) else source
    return [Path(file) for file in files]


def _named(source: Source) -> TypeGuard[Mapping[str, str | Path]]:
    return isinstance(source, Mapping)


def _absolute(path: Path) -> str:
    """A path as another process, with another working folder, has to be told."""
    return str(path.absolute())


def headers_of(source: Source, watch: Watch | None = None) -> dict[str, TableHeader]:
    """Names of the tables and columns of a source: see ``read_headers``."""
    from dpcore.intake.sql_files import TableHeader

    found = ask("headers", files_of(source), source=source, watch=watch)
    return {name: TableHeader(**header) for name, header in found.items()}


def _nothing(_table: str, _rows: int) -> None:
    pass


class _Reader:
    """One running reader: answers one question after the other."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            READER_COMMAND,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(),
            start_new_session=True,
        )
        self._rest = bytearray()
        self._busy = True

    @property
    def idle(self) -> bool:
        """Whether it can be asked."""
        return not self._busy and self._process.poll() is None

    def end(self) -> None:
        """End it and whatever it has begun."""
        if self._process.returncode is None:  # Else its number may be another's by now.
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()

    def get_ready(self, watch: Watch) -> None:
        """Wait until its libraries are loaded."""
        if self._busy:
            self._last(_LOAD_SECONDS, watch, "ready")

    def answer(self, line: str, limits: Limits, watch: Watch) -> Any:
        """The result; or raises the sentence that there is instead."""
        assert self._process.stdin is not None
        self._busy = True
        self._process.stdin.write(line.encode() + b"\n")
        self._process.stdin.flush()
        return _result(self._last(limits.seconds + _GRACE, watch, "ended"), limits)

    def _last(self, seconds: float, watch: Watch, end: str) -> dict[str, Any]:
        """What was said before the message that ends an answer, or that message itself."""
        said: dict[str, Any] = {}
        for message in self._messages(seconds, watch):
            if end in message:
                self._busy = False
                return said or message
            if "step" not in message:
                said = message
        raise _Overdue

    def _messages(self, seconds: float, watch: Watch) -> Iterator[dict[str, Any]]:
        until, place = time.monotonic() + seconds, ("", 0)
        while time.monotonic() < until:
            watch(*place)
            for message in self._read():
                if "step" in message:
                    place = (message["step"], message["rows"])
                yield message

    def _read(self) -> Iterator[dict[str, Any]]:
        """Messages that are there by now, or soon."""
        assert self._process.stdout is not None
        pipe = self._process.stdout.fileno()
        waiting = select.poll()  # Not select(), which knows no file beyond the 1,024th.
        waiting.register(pipe, select.POLLIN)
        if not waiting.poll(_LOOK * 1000):
            return
        piece = os.read(pipe, 1 << 16)
        if not piece or len(self._rest) > _LONGEST_ANSWER:
            raise _Overdue
        first, *later = piece.split(b"\n")
        self._rest += first  # A bytearray: a long answer is not copied piece by piece.
        if later:
            lines: list[bytes | bytearray] = [self._rest, *later[:-1]]
            self._rest = bytearray(later[-1])
            yield from map(json.loads, lines)


def _environment() -> dict[str, str]:
    """What a reader is told: nothing secret, and to do with one thread, as a copy of it must."""
    root = str(Path(__file__).resolve().parents[2])
    paths = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
    kept = {name: value for name, value in os.environ.items() if _KEPT.match(name)}
    one = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return {**kept, **one, "MALLOC_ARENA_MAX": "2", "PYTHONPATH": os.pathsep.join(paths)}


class _Overdue(Exception):  # noqa: N818  Turned into a sentence before it leaves this module.
    """A reader does not answer, or has ended."""


def _result(answer: Mapping[str, Any], limits: Limits) -> Any:
    if "result" in answer:
        return answer["result"]
    if "fault" in answer:
        raise _fault(answer)
    if "failed" not in answer:
        _LOG.warning("reading an upload ended with code %s", answer["ended"])
        raise IngestError(_ending(-answer["ended"], limits))
    if answer["failed"] == "memory":
        raise IngestError(_too_big(limits))
    _LOG.error("reading an upload failed: %s", answer["kind"])
    raise IngestError(_UNFORESEEN)


def _fault(answer: Mapping[str, Any]) -> FrostglassError:
    kind = getattr(errors, answer["fault"], IngestError)
    return cast("FrostglassError", kind(answer["text"]))


def _ending(ended_by: int, limits: Limits) -> str:
    if ended_by in {signal.SIGALRM, signal.SIGXCPU}:
        return _TOO_LONG.format(seconds=limits.seconds)
    return _too_big(limits) if ended_by == signal.SIGKILL else _DIED


def _too_big(limits: Limits) -> str:
    return _TOO_BIG.format(memory=limits.memory >> 20)


_turns = threading.BoundedSemaphore(AT_ONCE)
_lock = threading.Lock()
_idle: list[_Reader] = []


@contextmanager
def _reader(watch: Watch | None) -> Iterator[_Reader]:
    """A reader for one question. One that did not answer is ended; another is kept for later."""
    tell = watch or _nothing
    while not _turns.acquire(timeout=_LOOK):
        tell("", 0)
    try:
        reader = _waiting_reader() or _Reader()
        try:
            reader.get_ready(tell)
            yield reader
        finally:
            _keep(reader)
    except (_Overdue, OSError, ValueError):
        raise IngestError(_NO_READER) from None
    finally:
        _turns.release()


def _waiting_reader() -> _Reader | None:
    with _lock:
        while _idle:
            reader = _idle.pop()
            if reader.idle:
                return reader
            reader.end()
    return None


def _keep(reader: _Reader) -> None:
    """Keep a reader for later; one that was interrupted is ended."""
    if not reader.idle:
        reader.end()
        return
    with _lock:
        _idle.append(reader)
