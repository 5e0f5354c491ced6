"""What a run leaves beside its release: warnings, log, output, files, environment. None may tell of records."""

from __future__ import annotations

import gc
import logging
import os
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

#: Events of the interpreter by which a run touches files, the environment, other programs and machines.
_TOUCHES: Final = frozenset(
    {"os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link", "os.symlink", "os.truncate", "os.chmod", "os.utime"}
    | {"os.putenv", "os.unsetenv", "os.system", "os.exec", "os.posix_spawn", "subprocess.Popen"}
    | {"socket.connect", "socket.sendto", "socket.bind", "sqlite3.connect"}
)
#: What only says that code was compiled, which the first of two runs does for both.
_COMPILED: Final = ("__pycache__", ".pyc", ".nbi", ".nbc")


@dataclass
class Surroundings:
    """Warnings, log records, output, files and environment of one run."""

    told: list[tuple[str, ...]] = field(default_factory=list)
    """What happened, in order: a channel, and what was said there."""
    _written: dict[str, None] = field(default_factory=dict)

    def differ(self, other: Surroundings) -> str:
        """Channels by which two runs can be told apart; empty if there are none."""
        channels = sorted({own[0] for own in self.told} | {own[0] for own in other.told})
        return ", ".join(channel for channel in channels if self._by(channel) != other._by(channel))

    def _by(self, channel: str) -> list[tuple[str, ...]]:
        return [own for own in self.told if own[0] == channel]

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Note what happens meanwhile."""
        before = dict(os.environ)
        with ExitStack() as stack:
            stack.enter_context(_uncleared())
            caught = stack.enter_context(warnings.catch_warnings(record=True))
            warnings.simplefilter("always")
            stack.enter_context(self._logged())
            stack.enter_context(self._printed())
            stack.enter_context(self._touched())
            yield
        self.told += [("warnings", own.category.__name__, str(own.message)) for own in caught]
        for path in self._written:
            content = Path(path).read_bytes().hex() if Path(path).is_file() else ""
            self.told.append(("files", path, content))
        after = dict(os.environ)
        changed = {key for key in before | after if before.get(key) != after.get(key)}
        self.told += [("environment", key, str(after.get(key))) for key in sorted(changed)]
        for key in changed:
            os.environ.pop(key, None)
            os.environ.update({key: before[key]} if key in before else {})

    @contextmanager
    def _logged(self) -> Iterator[None]:
        """Every record that anybody makes, whatever the levels of loggers, but for the compiler's own."""
        make, root, compiler = logging.getLogRecordFactory(), logging.getLogger(), logging.getLogger("numba")
        levels = root.level, compiler.level

        def noting(*named: object, **more: object) -> logging.LogRecord:
            record = make(*named, **more)
            self.told.append(("log", record.name, record.levelname, record.getMessage()))
            return record

        logging.setLogRecordFactory(noting)
        root.setLevel(1)
        compiler.setLevel(logging.WARNING)
        try:
            yield
        finally:
            logging.setLogRecordFactory(make)
            root.setLevel(levels[0])
            compiler.setLevel(levels[1])

    @contextmanager
    def _printed(self) -> Iterator[None]:
        """Standard output and error, of Python and of the process."""
        with tempfile.TemporaryFile("w+", encoding="utf-8") as kept:
            sys.stdout.flush()
            sys.stderr.flush()
            real = os.dup(1), os.dup(2)
            try:
                for place in (1, 2):
                    os.dup2(kept.fileno(), place)
                with redirect_stdout(kept), redirect_stderr(kept):
                    yield
                kept.flush()
            finally:
                for place, own in zip((1, 2), real, strict=True):
                    os.dup2(own, place)
                    os.close(own)
            kept.seek(0)
            text = kept.read()
        if text:
            self.told.append(("output", text))

    @contextmanager
    def _touched(self) -> Iterator[None]:
        """What is opened to be written, and other touches of the world outside, by the interpreter's own audit."""
        if not _HOOKED:
            sys.addaudithook(_tell)
            _HOOKED.append(True)
        _WATCHING.append(self)
        try:
            yield
        finally:
            _WATCHING.remove(self)

    def _note(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path, mode, flags = arguments
            writes = (
                set("wax+") & set(mode) if isinstance(mode, str) else flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
            )
            if writes and not isinstance(path, int) and not _is_compiled(path):
                self._written[str(Path(os.fsdecode(path)).absolute())] = None
        elif event in _TOUCHES and not any(_is_compiled(own) for own in arguments):
            self.told.append(("environment" if "env" in event else "files", event, repr(arguments)))


@contextmanager
def _uncleared() -> Iterator[None]:
    """What others have left behind is cleared away in no run: files that are removed with it would tell of nobody."""
    clears = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if clears:
            gc.enable()


def _tell(event: str, arguments: tuple[object, ...]) -> None:
    for own in _WATCHING:
        own._note(event, arguments)


def _is_compiled(what: object) -> bool:
    return isinstance(what, str | bytes | os.PathLike) and any(part in os.fsdecode(what) for part in _COMPILED)


#: Hooks cannot be removed: there is one, which tells those that watch.
_HOOKED: Final[list[bool]] = []
_WATCHING: Final[list[Surroundings]] = []
