"""One description of every parameter: fields, command line and estimators say the same."""

from __future__ import annotations

import inspect
from decimal import Decimal
from typing import Any

import pytest
import typer

import dpcore
from dpcore.commands import app
from dpcore.models.redescriptions.released.extraction import Constraints
from dpcore.models.released import FAMILIES
from dpcore.models.rules.released.rule_list_parameters import BudgetShares
from dpcore.released.family import ReleasedFamily
from dpcore.released.parameters import parameters_of
from tests.support.rows import for_each

MODELS = [family.parameters for family in FAMILIES.values()]
ESTIMATORS = [kind for kind in (getattr(dpcore, name) for name in dpcore.__all__) if hasattr(kind, "from_release")]
OF_COMMANDS = {"pure", "dataset", "target", "epsilon", "quote", "rehearse", "output", "nonce"}
COMMAND = typer.main.get_command(app)


def options(*path: str) -> dict[str, Any]:
    """Default of each option of a command, by the name of the parameter."""
    command: Any = COMMAND
    for name in path:
        command = command.get_command(None, name)
    return {own.name: own.default for own in command.params}


@for_each("model", [*MODELS, BudgetShares, Constraints])
def test_every_field_says_what_it_is(model: Any) -> None:
    parameters = parameters_of(model)
    choices = {choice for own in parameters.values() for choice in own.choices}
    if model is BudgetShares:
        choices |= set(parameters_of(FAMILIES["rule_list"].parameters)["antecedents"].choices)
    for name, own in parameters.items():
        assert own.title, name
        assert not own.title.endswith("."), name
        assert own.description.endswith("."), name
        assert own.help in " ".join(model.__doc__.split()), name
        extra = own.field.json_schema_extra or {}
        others = {"adiffp", "rfdiffp"} if name in {"threshold", "spend_rest"} else set()
        assert {only for only in extra.get("only", "").split(", ") if only} <= choices | others
        if own.optional and own.kind is not BudgetShares:
            assert "Default: " in own.description, name


@for_each("family", FAMILIES.values())
def test_every_field_is_an_option_of_the_command(family: ReleasedFamily) -> None:
    own = options("fit", family.name.replace("_", "-"))
    expected = {name: one.default for name, one in parameters_of(family.parameters).items()}
    expected.pop("delta", None)  # It follows from the budget of the data set.
    if "shares" in expected:
        del expected["shares"]
        expected |= {f"share_{name}": value for name, value in BudgetShares()}
    plain = {
        name: str(value) if isinstance(value, Decimal) else None if value == () else value
        for name, value in expected.items()
    }
    assert {name: own[name] for name in own.keys() - OF_COMMANDS} == plain
    assert ("target" in own) == family.targeted
    assert family.lead.endswith(".")


def test_every_family_has_an_estimator() -> None:
    assert {kind._learner.name for kind in ESTIMATORS} == set(FAMILIES)


@for_each("kind", ESTIMATORS)
def test_every_field_is_a_keyword_of_the_estimator(kind: Any) -> None:
    family = kind._learner.family
    arguments = inspect.signature(kind).parameters
    target = ["target"] * family.targeted
    assert list(arguments) == [
        "epsilon",
        "schema",
        *target,
        *family.parameters.model_fields,
        "accountant",
        "random_state",
    ]
    for name, own in parameters_of(family.parameters).items():
        expected = False if name == "evaluate" else own.default
        assert arguments[name].kind is inspect.Parameter.KEYWORD_ONLY
        assert arguments[name].default == (float(expected) if isinstance(expected, Decimal) else expected)
    for name, argument in arguments.items():
        assert f"\n{name} : " in kind.__doc__
        assert f", default={argument.default!r}\n" in kind.__doc__
    assert kind.__doc__.index("\nParameters\n---") < kind.__doc__.index("\nAttributes\n---")


@for_each("kind", ESTIMATORS)
def test_an_estimator_takes_no_other_argument(kind: Any) -> None:
    with pytest.raises(TypeError, match="colour"):
        kind(colour="red")
    with pytest.raises(TypeError, match="positional"):
        kind(1, None)
