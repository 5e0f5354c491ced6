"""Data dictionaries of REDCap: one line for each field of a form, as the project designer exports them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from dpcore.domain.schemas.origins import STANDARD
from dpcore.errors import IngestError
from dpcore.intake.columns.guesses import LEFT_OUT, guess
from dpcore.intake.dictionaries.drafts import (
    FREE_TEXT,
    Draft,
    Gathered,
    bounded,
    column_texts,
    draft_of,
    listed,
    part_of,
)

FORM: Final = "REDCap data dictionary"
#: Headers as the designer and as the interface for programs write them, in small letters.
_HEADERS: Final = {
    "variable_field_name": "field_name",
    "choices_calculations_or_slider_labels": "choices",
    "select_choices_or_calculations": "choices",
    "text_validation_type_or_show_slider_number": "validation",
    "text_validation_min": "lower",
    "text_validation_max": "upper",
}
_NEEDED: Final = frozenset({"field_name", "field_type"})
_IDENTIFIER: Final = "marked as an identifier"
_CONTACT: Final = ("email", "phone", "zipcode", "postalcode", "postcode", "mrn", "ssn", "vmrn")
_NO_VALUES: Final = {
    "notes": FREE_TEXT,
    "descriptive": "no field: text of the form",
    "file": "files",
    "signature": "files",
    "sql": "choices that a data base lists",
}
_NO: Final = frozenset({"", "n", "no", "0", "false"})


def plain_header(header: str) -> str:
    """A header in the one spelling that is known here."""
    plain = re.sub(r"\W+", "_", header.strip().lower()).strip("_")
    return _HEADERS.get(plain, plain)


def fits(headers: Iterable[str]) -> bool:
    """Whether a file with these headers is such a dictionary."""
    return {plain_header(header) for header in headers} >= _NEEDED


def read(lines: Iterable[Mapping[str, Any]], title: str) -> Draft:
    """The draft of a project; ``lines`` have headers of :func:`plain_header`. Raises ``IngestError``."""
    rows = [line for line in lines if str(line.get("field_name") or "").strip()]
    if not rows:
        raise IngestError("The REDCap data dictionary has no fields.")
    person = column_texts(rows[0]["field_name"])["name"]
    main = Gathered()
    for row in rows[1:]:
        _read_field(main, {header: str(value or "").strip() for header, value in row.items() if header})
    notes = [
        f"'{person}', the first field, is the record and so the person. In a project with events or repeated forms a "
        "record has several rows: say in the schema how many are kept.",
        "Categories are the codes of a raw export. What REDCap adds to it, such as 'redcap_event_name' and "
        "'..._complete', is left out.",
    ]
    return draft_of(FORM, main, {"name": title}, person, notes)


def _read_field(main: Gathered, row: dict[str, str]) -> None:
    column = column_texts(row["field_name"], row.get("field_label"), row.get("field_note"))
    kind = row.get("field_type", "").lower()
    if row.get("identifier", "").lower() not in _NO:
        main.leave(column["name"], _IDENTIFIER)
    elif kind == "checkbox":
        _read_boxes(main, column, row)
    else:
        main.take(column | _facts(column["name"], kind, row))


def _read_boxes(main: Gathered, column: dict[str, object], row: dict[str, str]) -> None:
    """Each box is a column of its own."""
    for code, label in choices_of(row.get("choices", "")).items():
        name = f"{column['name']}___{re.sub(r'[^a-z0-9]', '_', code.lower())}"
        whole = f"{column['label'] or column['name']}: {label}"
        main.take(column_texts(name, whole, column["description"]) | {"type": "boolean"})


def _facts(name: str, kind: str, row: dict[str, str]) -> dict[str, object]:
    if kind in _NO_VALUES:
        return {LEFT_OUT: _NO_VALUES[kind]}
    if kind in {"yesno", "truefalse"}:
        return {"type": "boolean"}
    if kind in {"radio", "dropdown"}:
        choices = choices_of(row.get("choices", ""))
        return listed(choices, choices) if choices else {"type": "categorical"}
    if kind == "slider":
        return bounded("integer", row.get("lower") or 0, row.get("upper") or 100)
    if kind == "calc":
        return {"type": "real"}
    if kind == "text":
        return _text(name, row)
    raise IngestError(f"The field '{name}' has the type '{kind[:40]}', which no REDCap data dictionary has.")


def _text(name: str, row: dict[str, str]) -> dict[str, object]:
    validation, lower, upper = row.get("validation", "").lower(), row.get("lower"), row.get("upper")
    if validation == "integer" or validation.startswith("number"):
        return bounded("integer" if validation == "integer" else "real", lower, upper)
    if validation.startswith("date"):
        return part_of(name, "", lower, upper)  # Exports write every date as 2024-03-31.
    if validation.startswith(_CONTACT):
        return {LEFT_OUT: _IDENTIFIER}
    measured = guess(name)
    return {"type": measured["type"]} if measured.get("origin") == STANDARD else {LEFT_OUT: FREE_TEXT}


def choices_of(text: str) -> dict[str, str]:
    """Labels by codes: ``1, Yes | 2, No``."""
    pairs = (part.partition(",") for part in re.split(r"\||\n", text))
    return {code.strip(): label.strip() for code, _, label in pairs if code.strip()}
