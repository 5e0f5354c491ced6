"""From the words of a command line to the parameters that they ask for."""

from __future__ import annotations

from decimal import Decimal
from inspect import signature
from typing import Annotated, Any

import pytest
import typer
from typer.testing import CliRunner

from dpcore.commands import fit
from dpcore.commands.options import with_options
from dpcore.errors import RequestError
from dpcore.models.redescriptions.released.extraction import Constraints
from dpcore.models.released import FAMILIES
from dpcore.models.rules.released.rule_list_parameters import BudgetShares, RuleListParameters
from tests.support.rows import for_each

SAME = ("--share-antecedents", "2", "--share-list", "2.0", "--share-estimates", "2")


def parse(*words: str) -> Any:
    """The parameters of a rule list that some words ask for."""
    asked = []

    def command(parameters: RuleListParameters, colour: str, loud: Annotated[bool, typer.Option()] = False) -> None:
        asked.append((parameters, colour, loud))

    app = typer.Typer()
    app.command()(with_options(RuleListParameters, command, before="loud", fixed={"colour": "red"}))
    result = CliRunner().invoke(app, list(words))
    if result.exception is not None:
        if isinstance(result.exception, SystemExit):
            raise RequestError(result.output)
        raise result.exception
    [(parameters, colour, loud)] = asked
    assert (colour, loud) == ("red", "--loud" in words)
    return parameters


@for_each(
    ("words", "changes"),
    [
        ((), {}),
        (("--loud",), {}),
        (("--rules", "3", "--no-evaluate"), {"rules": 3, "evaluate": False}),
        (("--alpha", "1", "--alpha", "0.5"), {"alpha": (1.0, 0.5)}),
        (("--given", "a", "--given", "b"), {"antecedents": "given", "given": ("a", "b")}),
        (("--share-list", "2"), {"shares": BudgetShares(list=Decimal(2))}),
        (("--share-list", "1"), {}),
        (SAME, {}),
    ],
)
def test_what_is_not_named_is_left_to_the_model(words: tuple[str, ...], changes: dict[str, Any]) -> None:
    assert parse(*words) == RuleListParameters(**changes)


@for_each(
    ("words", "sentence"),
    [
        (("--max-rules", "101"), "--max-rules"),
        (("--share-list", "much"), "list"),
        (("--share-list", "0"), "list"),
        (("--alpha", "0"), "alpha"),
        (("--antecedents", "public", "--given", "a"), "exactly when"),
        (("--tempered-prior",), "mcmc"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_sentence(words: tuple[str, ...], sentence: str) -> None:
    with pytest.raises(RequestError, match=sentence):
        parse(*words)


@for_each("name", FAMILIES)
def test_every_parameter_of_a_family_is_an_option_of_its_command(name: str) -> None:
    [command] = [own for own in fit.app.registered_commands if own.name == name.replace("_", "-")]
    options, family = set(signature(command.callback).parameters), FAMILIES[name]
    own = set(family.parameters.model_fields) - {"delta"}
    assert "delta" not in options, "it follows from that of the data set's budget"
    if "shares" in own:
        own = own - {"shares"} | {f"share_{part}" for part in BudgetShares.model_fields}
    assert own <= options
    assert ("target" in options, "evaluate" in options) == (family.targeted, "evaluate" in own)
    if not family.targeted:
        assert not options & set(Constraints.model_fields), "what is free later is no option of a fit"
