"""Categories, their labels and their groups, as people read and type them."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

#: Signs that a name or a category of a group must not hold outside quotation marks.
_AROUND_NAMES, _AROUND_MEMBERS = ':|;"', ';|"'
#: A category in quotes, and its label if it has one.
_QUOTED_LINE = re.compile(r'\s*"((?:[^"]|"")*)"\s*(?:[\t=](.*))?')


def join_categories(categories: Iterable[str]) -> str:
    """Categories as one line of text; :func:`split_categories` reads it back."""
    return "; ".join(_quoted(category, ';"') for category in categories)


def _quoted(label: str, signs: str) -> str:
    return _in_quotes(label) if re.search(f"[{signs}]", label) else label


def _in_quotes(label: str) -> str:
    return '"' + label.replace('"', '""') + '"'


def split_categories(text: str) -> list[str]:
    """Categories separated by semicolons or line ends; one with a semicolon stands in quotes.

    Raises
    ------
    csv.Error
        If a quotation mark is not closed.
    """
    lines = csv.reader(text.split("\n"), delimiter=";", skipinitialspace=True, strict=True)
    return [part.strip() for line in lines for part in line if part.strip()]


def join_groups(groups: Any) -> str:
    """Groups as one line of text; :func:`split_groups` reads it back."""
    pairs = groups.items() if isinstance(groups, dict) else [(group["name"], group["members"]) for group in groups]
    return " | ".join(_written(name, members) for name, members in pairs)


def _written(name: str, members: Iterable[str]) -> str:
    return f"{_quoted(name, _AROUND_NAMES)}: " + "; ".join(_quoted(member, _AROUND_MEMBERS) for member in members)


def split_groups(text: str) -> list[dict[str, Any]]:
    """Groups such as ``heart: I21; I22 | lung: J44``; signs within quotes divide nothing.

    Raises
    ------
    csv.Error
        If a quotation mark is not closed.
    ValueError
        If a group lacks its name or its categories.
    """
    if text.count('"') % 2:
        raise csv.Error
    groups = []
    for part in re.findall(r'(?:"[^"]*"|[^"|])+', text):
        found = re.fullmatch(r'\s*("(?:[^"]|"")+"|[^":]+?)\s*:(.+)', part, re.DOTALL)
        members = split_categories(found[2]) if found else []
        if not found or not members:
            raise ValueError
        [name] = split_categories(found[1]) or [""]
        groups.append({"name": name, "members": members})
    return groups


def labelled(text: str, labels: Mapping[str, str], between: str) -> str:
    """Categories one a line, each with its label if it has one; :func:`listed` reads them back."""
    with suppress(csv.Error):
        return "\n".join(_line(each, between, labels.get(each)) for each in split_categories(text))
    return text


def _line(category: str, between: str, label: str | None) -> str:
    alone = category.startswith('"') or " =" in category or "\t" in category
    first = _in_quotes(category) if alone else category
    return first if label is None else f"{first}{between}{label}"


def listed(lines: str) -> dict[str, object]:
    """Categories and labels as they were written, one a line: ``11 = died``, or with a tab between.

    A category in quotes stays whole: ``"dose = 0" = none given``.
    """
    pairs = [_pair(line) for line in lines.splitlines() if line.strip()]
    return {"categories": [category for category, _ in pairs], "labels": dict(pair for pair in pairs if pair[1])}


def _pair(line: str) -> tuple[str, str]:
    if quoted := _QUOTED_LINE.fullmatch(line):
        category, label = quoted[1].replace('""', '"'), quoted[2] or ""
    else:
        category, _, label = line.partition("\t") if "\t" in line else line.partition(" = ")
    return category.strip(), " ".join(label.split())
