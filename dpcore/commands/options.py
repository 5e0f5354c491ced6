"""Options of a command, one for each parameter that a model describes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from decimal import Decimal
from enum import StrEnum
from inspect import Parameter as Argument
from inspect import Signature, signature
from typing import Annotated, Any

import typer
from pydantic import BaseModel

from dpcore.released.parameters import Parameter, parameters_of
from dpcore.validation import validated

#: Where a parameter stands in its model: its name, or those of a part and of what it is part of.
Place = tuple[str, ...]


def with_options(
    model: type[BaseModel],
    command: Callable[..., None],
    *,
    before: str,
    fixed: Mapping[str, Any] | None = None,
    without: Collection[str] = (),
) -> Callable[..., None]:
    """A command with an option for each parameter of a model, in front of the option ``before``.

    The command takes the validated model as its first argument, and ``fixed`` ones that are no
    options. What the command line does not name, or is ``without`` an option, is left to the model.
    """
    known = fixed or {}
    options = {name: option for name, option in _options(model).items() if name not in without}

    def run(context: typer.Context, **values: Any) -> None:
        given: dict[str, Any] = {}
        for name, (place, _) in options.items():
            value = values.pop(name)
            source = context.get_parameter_source(name)
            if source is not None and source.name == "COMMANDLINE":
                inner = given if len(place) == 1 else given.setdefault(place[0], {})
                inner[place[-1]] = [_plain(one) for one in value] if isinstance(value, list) else value
        command(_undivided(validated(model, given)), **known, **values)

    context = Argument("context", Argument.KEYWORD_ONLY, annotation=typer.Context)
    _, *own = signature(command, eval_str=True).parameters.values()
    arguments = [one.replace(kind=context.kind) for one in own if one.name not in known]
    place = [argument.name for argument in arguments].index(before)
    arguments[place:place] = [_option(name, own) for name, (_, own) in options.items()]
    run.__signature__ = Signature([context, *arguments])  # type: ignore[attr-defined]
    run.__doc__ = command.__doc__
    return run


def _options(model: type[BaseModel]) -> dict[str, tuple[Place, Parameter]]:
    """Place and description of each option by its name; each part of a parameter is one."""
    options: dict[str, tuple[Place, Parameter]] = {}
    for name, parameter in parameters_of(model).items():
        if isinstance(parameter.kind, type) and issubclass(parameter.kind, BaseModel):
            for part, own in parameters_of(parameter.kind).items():
                options[f"{name.removesuffix('s')}_{part}"] = ((name, part), own)
        else:
            options[name] = ((name,), parameter)
    return options


def _option(name: str, parameter: Parameter) -> Argument:
    """What typer makes an option of. Limits that a value may not reach are left to the model."""
    kind = str if parameter.kind is Decimal else parameter.kind
    if parameter.many and parameter.choices:  # Of several choices typer knows enumerations alone.
        enumeration: Any = StrEnum
        kind = enumeration(name, [(choice, choice) for choice in parameter.choices])
    default = None if parameter.many else parameter.default
    shown = typer.Option(
        help=f"{parameter.help} May be repeated." if parameter.many else parameter.help,
        min=parameter.limits.get("ge") if kind in {int, float} else None,
        max=parameter.limits.get("le") if kind in {int, float} else None,
        metavar="NUMBER" if parameter.kind is Decimal else None,
    )
    whole = list[kind] if parameter.many else kind  # type: ignore[valid-type]
    return Argument(
        name,
        Argument.KEYWORD_ONLY,
        default=str(default) if isinstance(default, Decimal) else default,
        annotation=Annotated[whole | None if default is None else whole, shown],
    )


def _plain(value: Any) -> Any:
    """One of several values, as the model knows it."""
    return value.value if isinstance(value, StrEnum) else value


def _undivided(parameters: BaseModel) -> BaseModel:
    """Parameters without parts that are all the same: what they divide is left to the engine."""
    same = {
        name: None
        for name, value in parameters
        if isinstance(value, BaseModel) and len({part for _, part in value}) == 1
    }
    return parameters.model_copy(update=same)
