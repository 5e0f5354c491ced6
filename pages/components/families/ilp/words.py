"""What the records of a data set are called in sentences."""

from __future__ import annotations

from dpcore.numerals import whole


def records(entity: str, count: int | None = None) -> str:
    """Several records: ``1,234 patient records``, or ``people`` if nothing else is known."""
    one = count == 1
    person = "person" if one else "people"
    name = person if entity == "person" else f"{entity} record{'' if one else 's'}"
    return name if count is None else f"{whole(count)} {name}"
