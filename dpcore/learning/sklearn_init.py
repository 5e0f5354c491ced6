"""The ``__init__`` of scikit-learn estimators, made from what a family says of its parameters."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from inspect import Parameter as Argument
from inspect import Signature
from typing import Any, Final

from dpcore.released.family import ReleasedFamily
from dpcore.released.parameters import numpy_item, numpy_items, parameters_of

_TARGET: Final = (
    "Name of the target in ``schema``; ``None`` takes the name of ``y``, or the only column that "
    "the schema marks as target."
)
_SCORES: Final = (
    " Scores are charged to nobody: on private records they are exact, and **not private**. "
    "``model_.evaluation`` is the private check, if ``evaluate`` asks for it."
)


def make_init(family: ReleasedFamily) -> Callable[..., None]:
    """An ``__init__`` that stores its arguments, and does nothing else, as scikit-learn asks."""
    own = {"schema": None} | ({"target": None} if family.targeted else {}) | _defaults(family)
    keywords = own | {"accountant": None, "random_state": None}
    signature = Signature(
        [
            Argument("self", Argument.POSITIONAL_OR_KEYWORD),
            Argument("epsilon", Argument.POSITIONAL_OR_KEYWORD, default=1.0),
            *(Argument(name, Argument.KEYWORD_ONLY, default=keywords[name]) for name in keywords),
        ]
    )

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        given = signature.bind(self, *args, **kwargs)
        given.apply_defaults()
        for name in ("epsilon", *keywords):
            setattr(self, name, given.arguments[name])

    __init__.__signature__ = signature  # type: ignore[attr-defined]
    return __init__


def _defaults(family: ReleasedFamily) -> dict[str, Any]:
    """Defaults in types that scikit-learn knows; an evaluation must be asked for."""
    own = {name: one.default for name, one in parameters_of(family.parameters).items()}
    plain = {name: float(value) if isinstance(value, Decimal) else value for name, value in own.items()}
    return plain | ({"evaluate": False} if "evaluate" in own else {})


def parameter_section(family: ReleasedFamily) -> str:
    """The section "Parameters" of an estimator's docstring."""
    return "\n".join(
        [
            "Parameters",
            "----------",
            numpy_item("epsilon", "float or Decimal, default=1.0", "Cost of one call of ``fit``."),
            numpy_item(
                "schema",
                "Schema or None, default=None",
                "Public domain. ``None`` infers one from the data, a single table, which leaks: a "
                ":class:`~dpcore.errors.PrivacyLeakWarning` says so, and so does the release, "
                "which is not private.",
            ),
            *([numpy_item("target", "str or None, default=None", _TARGET)] * family.targeted),
            numpy_items(family.parameters, _defaults(family)),
            numpy_item(
                "accountant",
                "Accountant or None, default=None",
                "Charged before each fit, so once for each fold of a cross-validation. Clones "
                "share it. One with a delta may have a fit made to compose with others: less noise, "
                f"and a certificate of epsilon and delta.{_SCORES * family.targeted}",
            ),
            numpy_item(
                "random_state",
                "int or None, default=None",
                "``None`` uses the operating system's secure source. A seed makes the result "
                "reproducible and **not private**, which a warning says.",
            ),
        ]
    )
