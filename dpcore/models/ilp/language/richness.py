"""How much clauses say of rows unless asked otherwise: a public rule on the language and on epsilon."""

from __future__ import annotations

from typing import Final

from dpcore.domain.schemas.schema import Schema
from dpcore.errors import RequestError
from dpcore.models.ilp.language.cells import Cells
from dpcore.models.ilp.language.factors import build_factors
from dpcore.models.ilp.language.forms import Quantifier
from dpcore.models.ilp.language.hypotheses import people_enough
from dpcore.models.ilp.language.ilp_parameters import ILPParameters
from dpcore.models.ilp.language.lattice import language_of, most_by_length
from dpcore.models.ilp.language.nested_conditions import NestedCondition

#: Most clauses that a language may have which nobody asked for.
PLENTY: Final = 500_000
#: So many times the people are there who would be enough for the richer language.
ROOM: Final = 1.5
#: In the order in which they are added.
_MORE: Final[tuple[Quantifier, ...]] = ("within", "counts", "order", "alike")


def quantifiers_for(
    schema: Schema, target: str, parameters: ILPParameters, epsilon: float, people: int
) -> tuple[Quantifier, ...]:
    """What clauses may say of rows: what was asked for, or else as much as there is room for.

    Each thing that makes the language richer is added if the language stays small, and if the
    people are enough for report noisy max to choose well from it. The published methods, whose noise
    grows with every clause, keep to rows that exist.

    Parameters
    ----------
    epsilon : float
        Of the choice of one clause, for a weight of 1.
    people : int
        That a run can learn from, at most.
    """
    if parameters.quantifiers is not None:
        return parameters.quantifiers
    found: tuple[Quantifier, ...] = ("exists",)
    if parameters.method != "noisy_max" or not parameters.max_variables:
        return found
    for more in _MORE:
        if _fits(schema, target, parameters, (*found, more), epsilon, people):
            found = (*found, more)
    return found


def _fits(
    schema: Schema,
    target: str,
    parameters: ILPParameters,
    quantifiers: tuple[Quantifier, ...],
    epsilon: float,
    people: int,
) -> bool:
    try:
        atoms, tables, limits = language_of(schema, target, parameters, quantifiers)
        said = {form.quantifier for table in tables for form in table.forms}
        said |= {"within" for atom in atoms if isinstance(atom, NestedCondition)}
        if quantifiers[-1] not in said:
            return False
        lengths = most_by_length(build_factors(atoms, Cells(atoms), tables, limits), limits)
    except RequestError:  # Too many ways to join the conditions.
        return False
    contenders = sum(count > 0 for count in lengths) * max(lengths)
    return sum(lengths) <= PLENTY and people >= ROOM * people_enough(max(2, contenders), epsilon)
