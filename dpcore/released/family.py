"""What is declared of a family of models, once, for all who see its releases."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic

from pydantic import BaseModel
from typing_extensions import TypeVar

from dpcore.domain.columns import NumericColumn
from dpcore.domain.schemas.schema import Schema
from dpcore.released.blocks import Block
from dpcore.released.evidence import Evidence
from dpcore.released.release import Release

#: What the runs of a family release.
Model = TypeVar("Model", bound=BaseModel, default=Any)


@dataclass(frozen=True)
class ReleasedFamily(Generic[Model]):
    """A family of models: what its runs take, what they release and how that is read."""

    name: str
    """Machine name, also the ``kind`` of its releases."""
    title: str
    """Name shown to people."""
    parameters: type[BaseModel]
    """Pydantic model of what a run takes."""
    model: type[Model]
    """Pydantic model of what a run releases, with ``count_margin`` and ``evaluation``."""
    read: Callable[[Release, Model, bool], Iterable[Block]]
    """(release, model, short) makes blocks of a released model, which is in the labels of its schema: all that is said
    of it, or if ``short``, what fits on a page."""
    rebuilt: Callable[[Release, Model], Model]
    """(release, model) computes again what of a model follows from its conditions and noisy counts, the schema, the
    parameters and the certificate (:mod:`dpcore.released.derived`); it raises an error where these do not fit."""
    lead: str = ""
    """What it does, in one sentence or two."""
    evidence: type[Evidence] = Evidence
    """What a rehearsal reads off a released model."""
    methods: Mapping[str, str] = field(default_factory=dict)
    """Title of each value of the parameter ``method``; empty if there is no choice. Each has a help text:
    ``method_<name>``, those of redescriptions ``pairs_<name>``, those of relational rules ``ilp_<name>``."""
    targeted: bool = True
    """Whether it predicts a column. One that does not takes the empty target."""
    views: bool = False
    """Whether it relates two views of the same people: ``left`` and ``right`` of its parameters."""
    counted: str = "a count"
    """What ``count_margin`` of its models is the noise on."""
    numbers: bool = False
    """Whether a numeric target is predicted as a number rather than by its groups."""
    needs_delta: bool = False
    """Whether its runs have a delta always."""
    relational: bool = False
    """Whether its models read every table, not the main one alone."""
    thorough: bool = False
    """Whether it looks at many columns, so that what it reveals carries over, as measured, to others that do."""
    rehearsed: Mapping[str, int] = field(default_factory=dict)
    """Most of a parameter that a rehearsal takes: it runs in the process that serves the pages."""

    def predicts_number(self, schema: Schema, target: str) -> bool:
        """Whether a target is predicted as a number."""
        return self.numbers and isinstance(schema.column(target), NumericColumn)
