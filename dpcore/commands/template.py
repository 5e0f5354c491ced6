"""A schema file to fill in: what the header tells, and a mark where only people can tell."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from dpcore.errors import IngestError, RequestError
from dpcore.joining import shared_columns
from dpcore.suggestions import (
    suggest_column,
    suggest_joint_column,
    suggest_joint_schema,
    suggest_person,
    suggest_schema,
)

_HEAD = """\
# Public description of a data set. Everybody who sees a result may read it, so write down
# what you know of the field, not what you find in the records.
# Fill in every place marked 'required', then run: python -m dpcore schema check THIS_FILE
# Types: boolean; categorical or ordinal (categories); integer or real (lower, upper, and
# either bins: NUMBER or edges: [..]). Mark what is to be predicted with 'target: true'.
version: 1
"""
_TWO_FILES = """\
# Two files joined person by person, one row per person in each; view says on which side of
# redescriptions a column may stand: left, right, or (without a view) on neither.
"""
_Look = Callable[[str], dict[str, Any]]
_REQUIRED: dict[str, list[str]] = {
    "boolean": [],
    "categorical": ["categories: []  # required: every category there may be"],
    "ordinal": ["categories: []  # required: every category there may be, lowest first"],
    "integer": ["lower:  # required", "upper:  # required", "bins: 8"],
    "real": ["lower:  # required", "upper:  # required", "bins: 8"],
}


def schema_template(
    path: Path,
    *,
    name: str | None = None,
    suggest: Collection[str] = (),
    right: Path | None = None,
    key: str | None = None,
) -> str:
    """YAML text from the header of a CSV or Parquet file, or of two.

    Parameters
    ----------
    name : str or None
        Name of the data set; ``None`` takes that of the file.
    suggest : collection of str
        Columns whose values are read. What they hold then stands in the template; see
        :data:`dpcore.suggestions.PUBLICATION_WARNING`.
    right : Path or None
        A second file about the same people.
    key : str or None
        Column on which the two are joined; ``None`` guesses it from the names.

    Raises
    ------
    IngestError
        If a file cannot be used or has no such column.
    RequestError
        If there is a key without a second file.
    """
    draft, look = _drafting(path, right, key)
    known = [column["name"] for column in draft["columns"]]
    unknown = [column for column in suggest if column not in known]
    if unknown:
        raise IngestError(
            f"There is no column '{unknown[0]}' to suggest a domain for. "
            f"Columns: {', '.join(known[:20])}."
        )
    columns = [
        look(column["name"]) if column["name"] in suggest else column for column in draft["columns"]
    ]
    title = name or path.name.partition(".")[0] or "data"
    lines = [_HEAD.rstrip(), _dump({"name": title}), "description: ''"]
    lines += _unit(draft["person_column"])
    lines += ["max_rows:  # required: a round number that is never exceeded; it becomes public"]
    lines += ["holdout_percent: 20", *([_TWO_FILES.rstrip()] if right else []), "columns:"]
    lines += map(_column, columns)
    return "\n".join(lines) + "\n"


def _drafting(path: Path, right: Path | None, key: str | None) -> tuple[dict[str, Any], _Look]:
    """The draft from the header or the two headers, and a way to draft one column from values."""
    if right is not None:
        key = key or _key(path, right)
        draft = suggest_joint_schema(path, right, key)
        return draft, partial(suggest_joint_column, path, right, key)
    if key is not None:
        raise RequestError("--key says how two files are joined: name the second with --right.")
    return suggest_schema(path), partial(suggest_column, path)


def _key(left: Path, right: Path) -> str:
    shared = shared_columns(left, right)
    key = suggest_person(shared) or (shared[0] if len(shared) == 1 else None)
    if key is None:
        listed = ", ".join(f"'{name}'" for name in shared[:10])
        raise IngestError(
            f"Both files have {listed}: say with --key which of them says who is who."
        )
    return key


def _dump(content: dict[str, Any]) -> str:
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True).rstrip()


def _unit(person: str | None) -> list[str]:
    if person is None:
        return [
            "# Each row is one person. If a column identifies the person, write instead:",
            "# privacy_unit: {column: patient_id, max_rows_per_person: 2}",
        ]
    unit = {"privacy_unit": {"column": person, "max_rows_per_person": 1}}
    return ["# Whose rows belong together, and how many are kept of each person.", _dump(unit)]


def _column(column: dict[str, Any]) -> str:
    if column["type"] == "leave out":
        return f"# left out, as it looks like free text: {column['name']!r}"
    complete = bool({"categories", "lower"} & column.keys())
    body = _dump(column).splitlines() + ([] if complete else _REQUIRED[column["type"]])
    return "\n".join(("- " if i == 0 else "  ") + line for i, line in enumerate(body))
