"""Asking about uploads, each question answered by a process that may die: see ``reader``.

Whatever is wrong with a file, the caller gets an answer or one sentence.
"""

from __future__ import annotations

import json
import logging
import signal
from collections.abc import Collection, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard, cast

from dpcore import errors
from dpcore.domain.schemas.learnable_schema import LearnableSchema
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import FrostglassError, IngestError
from dpcore.intake.process.limits import Limits
from dpcore.intake.process.readers import Watch, answered
from dpcore.intake.sources.choices import chosen
from dpcore.intake.sources.headers import TableHeader
from dpcore.intake.sources.sources import addresses_for

if TYPE_CHECKING:
    from dpcore.intake.check.examination import AnyFinding
    from dpcore.intake.joins.relations import Source
    from dpcore.released.learning_plan import LearningPlan

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


def ask(
    question: str, files: Any = (), *, schema: Schema | None = None, watch: Watch | None = None, **details: object
) -> Any:
    """Have a question about files answered; what was chosen about them (``choices``) holds.

    Parameters
    ----------
    question : str
        One of those that :mod:`dpcore.intake.process.reader` knows.
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
    return _result(answered(json.dumps(line, default=_absolute), limits.seconds, watch), limits)


def parse_schema(text: str, watch: Watch | None = None) -> LearnableSchema:
    """A schema, finished or not, from the text of a file that came from anywhere. Raises ``SchemaError``."""
    return LearnableSchema.from_mapping(ask("schema", text=text, watch=watch))


class Incoming:
    """Files on their way to be stored as a table. The store says where, and they are read then.

    Parameters are those of :func:`dpcore.intake.process.storing.store_table`; a source is files only.
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
        #: Once it is saved, what is to be known of further rows: see :func:`dpcore.intake.process.storing.store_table`.
        self.told = ""

    def examine(self) -> list[AnyFinding]:
        """How the values of each column, and the rows, fit. Raises ``IngestError``."""
        from dpcore.intake.check.examination import read_finding

        found = ask(
            "examine",
            self._files,
            watch=self._watch,
            schema=self._schema,
            source=self._source,
            right=self._right,
            after=self._after,
        )
        return [read_finding(each) for each in found]

    def save(self, directory: Path) -> None:
        """Read the files and write their table into an empty folder. Raises ``IngestError``."""
        self.told = ask(
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
    found = ask("headers", files_of(source), source=source, watch=watch)
    return {name: TableHeader(**header) for name, header in found.items()}


def _result(answer: Mapping[str, Any], limits: Limits) -> object:
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
