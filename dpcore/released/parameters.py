"""Parameters of runs, each described once, by its field: for all who offer or explain it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from inspect import cleandoc
from textwrap import fill, indent
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field
from pydantic.fields import FieldInfo

from dpcore.domain.conditions import Cuts, read_cuts
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import RequestError
from dpcore.frozen import FrozenModel
from dpcore.numerals import whole

_WIDTH: Final = 90
#: The parameter of every family that predicts.
Evaluate = Annotated[
    bool,
    Field(
        title="Check on people set aside",
        description="They were set aside by a coin toss at upload. Building the result does not "
        "use their records, so checking it costs no extra epsilon. The numbers are noisy too.",
    ),
]


#: Parameters of every family whose conditions cut columns of numbers.
CutPoints = Annotated[
    tuple[Annotated[str, Field(max_length=5000)], ...],
    Field(
        max_length=1000,
        title="Cut points of numbers",
        description="Numbers are cut at these points alone, one column a text: 'age: 40, 60'. They must be cut "
        "points of the schema. Other columns may be cut at all of theirs.",
    ),
]
CutsFrom = Annotated[
    str,
    Field(
        max_length=64,
        title="Cut points from a first look",
        description="Number of an earlier first look of the data set, whose released counts tell the cut points: up to "
        "seven for each column of numbers, with about equally many people between them. It costs nothing more. Where "
        "the schema has many cut points, it helps to choose from fewer.",
    ),
]


#: Fewest steps of a Markov chain. On all spaces that a replay lists, at an epsilon of up to 0.1, as many leave it
#: less than one part in a million from its limit (docs/privacy/replay.md).
LEAST_STEPS: Final = 1_000


class Parameters(FrozenModel):
    """Public choices of the analyst, each described by its field.

    A field has a title of a few plain words, limits, and a description, which stands below it as a docstring. If it
    counts only for some choices of another, ``json_schema_extra={"only": ...}`` names them; ``{"least": ...}`` is the
    least that a new request may ask for, where stored releases have less. Command line, estimators, pages and the
    docstring of the class take all this from the field.
    """

    model_config = ConfigDict(allow_inf_nan=False, use_attribute_docstrings=True)

    @classmethod
    def __pydantic_init_subclass__(cls, **_: object) -> None:
        described = numpy_items(cls)
        cls.__doc__ = f"{cleandoc(cls.__doc__ or '')}\n\nAttributes\n----------\n{described}\n"


@dataclass(frozen=True)
class Parameter:
    """One parameter, as its field describes it."""

    name: str
    field: FieldInfo

    @property
    def title(self) -> str:
        """A few plain words."""
        return self.field.title or ""

    @property
    def description(self) -> str:
        """What it does, for somebody who sees the title."""
        return " ".join((self.field.description or "").split())

    @property
    def help(self) -> str:
        """Title and description, with the choices for which alone it counts."""
        only = f" ({', '.join(self.only)})" if self.only else ""
        return f"{self.title}{only}. {self.description}"

    @property
    def only(self) -> tuple[str, ...]:
        """Choices of another parameter for which alone it counts; none: it always does."""
        extra = self.field.json_schema_extra
        return tuple(str(extra["only"]).split(", ")) if isinstance(extra, dict) and "only" in extra else ()

    @property
    def default(self) -> Any:
        """Its value unless told otherwise; ``None`` leaves it to a rule of the engine."""
        return self.field.default

    @property
    def many(self) -> bool:
        """Whether it is a tuple of values."""
        return get_origin(_bare(self.field.annotation)) is tuple

    @property
    def optional(self) -> bool:
        """Whether it may be ``None``."""
        return NoneType in get_args(self.field.annotation)

    @property
    def kind(self) -> Any:
        """Type of one value: a class or a ``Literal``."""
        bare = _bare(self.field.annotation)
        return _bare(get_args(bare)[0]) if self.many else bare

    @property
    def choices(self) -> tuple[str, ...]:
        """Its values, if they can be listed."""
        return get_args(self.kind) if get_origin(self.kind) is Literal else ()

    @cached_property
    def limits(self) -> dict[str, float]:
        """What a new request is limited by, of ``ge``, ``gt``, ``le`` and ``lt``."""
        declared = {
            name: getattr(item, name)
            for item in self.field.metadata
            for name in ("ge", "gt", "le", "lt")
            if hasattr(item, name)
        }
        return declared if self.least is None else declared | {"ge": self.least}

    @property
    def least(self) -> Any:
        """The least that a new request may ask for, if stored releases may have less."""
        extra = self.field.json_schema_extra
        return extra.get("least") if isinstance(extra, dict) else None

    @property
    def type_words(self) -> str:
        """Its type as docstrings write it."""
        one = f"{{{', '.join(map(repr, self.choices))}}}" if self.choices else self.kind.__name__
        whole = f"tuple of {one}" if self.many else one
        return f"{whole} or None" if self.optional else whole


def chosen_cuts(schema: Schema, parameters: Any) -> Cuts:
    """Where a run may cut columns of numbers, by the last two parameters above.

    Raises
    ------
    RequestError
        If they name a point that the schema does not cut at, or a first look without its cut points.
    """
    if parameters.cuts_from and not parameters.cut_points:
        raise RequestError("Name the cut points too that the first look tells: a learner sees no other result.")
    return read_cuts(schema, parameters.cut_points)


def check_least(parameters: BaseModel) -> None:
    """Refuse what only stored releases may have.

    Raises
    ------
    RequestError
        If a parameter is below the least that a new request may ask for.
    """
    for name, own in parameters_of(type(parameters)).items():
        if own.least is not None and getattr(parameters, name) < own.least:
            raise RequestError(f"'{name}' must be at least {whole(own.least)}.")


def parameters_of(model: type[BaseModel]) -> dict[str, Parameter]:
    """The parameters that a model describes, by name and in its order."""
    return {name: Parameter(name, field) for name, field in model.model_fields.items()}


def numpy_items(model: type[BaseModel], defaults: Mapping[str, object] | None = None) -> str:
    """Parameters as a section of a numpy docstring lists them, perhaps with defaults of its own."""
    shown = defaults or {}
    return "\n".join(
        numpy_item(name, f"{own.type_words}, default={shown.get(name, own.default)!r}", own.help)
        for name, own in parameters_of(model).items()
    )


def numpy_item(name: str, kind: str, text: str) -> str:
    """One line of such a section, with the text below it."""
    return f"{name} : {kind}\n{indent(fill(text, _WIDTH), '    ')}"


def _bare(annotation: object) -> object:
    """A type without ``None``, and without what is said of it beside."""
    if get_origin(annotation) is Annotated:
        return _bare(get_args(annotation)[0])
    if get_origin(annotation) in {Union, UnionType}:
        return _bare(next(kind for kind in get_args(annotation) if kind is not NoneType))
    return annotation
