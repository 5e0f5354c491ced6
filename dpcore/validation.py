"""Sentences that say what is wrong with an input, from pydantic's lists of faults."""

from __future__ import annotations

import os
import re
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from dpcore.errors import RequestError

Model = TypeVar("Model", bound=BaseModel)

#: Plainer words for pydantic's commonest complaints.
_COMPLAINTS = {
    "missing": "is required",
    "extra_forbidden": "is not known here: check the spelling",
    "too_short": "needs at least one entry",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "string_type": "must be text",
}


_KEY = re.compile("[ -~]+")
#: Most characters of a field's name that are repeated.
_LONGEST_NAME = 150
#: Most faults that are told at once.
_MOST_FAULTS = 5


def validated(model: type[Model], content: object) -> Model:
    """Content in the form of a pydantic model.

    Raises
    ------
    RequestError
        If it does not fit, with sentences that say what to do.
    """
    try:
        return model.model_validate(content)
    except ValidationError as error:
        raise RequestError(explain_validation(error, whole="settings")) from None


def explain_validation(error: ValidationError, content: object = None, whole: str = "schema") -> str:
    """Turn a pydantic error into sentences that name the field and what to do.

    Parameters
    ----------
    content : object
        What was validated; a column of a schema is then called by its name.
    whole : str
        Name of what was validated, for faults that are in no single field.
    """
    faults = error.errors(include_url=False, include_context=False)
    around = {item["loc"][:end] for item in faults for end in range(len(item["loc"]))}
    # A list counts as too short, too, because its entries are faulty: one complaint is enough.
    items = [i for i in faults if i["type"] != "too_short" or i["loc"] not in around]
    lines = [f"{_place(item['loc'], content) or whole}: {_complaint(item)}" for item in items[:_MOST_FAULTS]]
    more = [f"and {len(items) - _MOST_FAULTS} more"] if len(items) > _MOST_FAULTS else []
    return "; ".join(lines + more) + "."


def _place(location: tuple[int | str, ...], content: object) -> str:
    parts = [_short(str(part)) for part in location]
    columns = content.get("columns") if isinstance(content, dict) else None
    if len(location) > 1 and location[0] == "columns" and isinstance(columns, list | tuple):
        column = columns[int(location[1])]
        name = column.get("name") if isinstance(column, dict) else None
        field = [] if len(location) < 3 else parts[3:]
        parts = [f"column '{_short(str(name or int(location[1]) + 1))}'", *field]
    return ", ".join(parts)


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_NAME else f"{text[:_LONGEST_NAME]}…"


def _complaint(item: Any) -> str:
    message = _COMPLAINTS.get(item["type"], item["msg"].removeprefix("Value error, "))
    if item["type"] == "string_type" and isinstance(item["input"], bool):
        message += ": put yes, no, on and off in quotes, or YAML takes them for true or false"
    return str(message)


def storable(text: str) -> str:
    """Text without what a database cannot hold: zero bytes and halves of characters."""
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")


def is_key(text: str, longest: int = 128) -> bool:
    """Whether a text may identify a request or a result: printable ASCII characters."""
    return 0 < len(text) <= longest and _KEY.fullmatch(text) is not None


def whole_number(setting: str, *, example: int, least: int = 1) -> int | None:
    """A setting of the operator, from the environment; ``None`` if it is not set.

    Raises
    ------
    RequestError
        If it is no whole number, or less than ``least``.
    """
    text = os.environ.get(setting)
    if text is None:
        return None
    if not (text.isascii() and text.isdigit()) or int(text) < least:
        above = f" above {least - 1}" if least else ""
        raise RequestError(f"{setting} must be a whole number{above}, for example {example}.")
    return int(text)
