"""How many rows a data set has, as far as a released first look tells it, and what that means for its row limit."""

from __future__ import annotations

from dpcore.domain.schemas.schema import Schema
from dpcore.numerals import whole
from pages.components.visitor import access

#: A number of rows is told well if its interval is narrower than this share of it.
_WELL = 0.5
#: A row limit that is more than so many times the number of rows makes methods ask too much.
_FAR = 5


def told_rows(dataset_id: str) -> int | None:
    """Rows as the most exact first look that the visitor may read tells them; ``None`` if none tells them well."""
    from dpcore.models.released import parse_model
    from dpcore.models.summaries.released.reading import total_of

    looks = [one for one in access.service().releases(dataset_id) if one.kind == "summaries"]
    if not looks:
        return None
    total = total_of(parse_model(max(looks, key=lambda one: one.certificate.epsilon)))
    return round(total.value) if total.high - total.low < _WELL * total.value else None


def limit_far_above(dataset_id: str, schema: Schema) -> str:
    """What follows from a row limit that is far above the rows that a first look told; empty if it is not."""
    rows = told_rows(dataset_id)
    if rows is None or _FAR * rows >= schema.max_rows:
        return ""
    return (
        f"A first look told about {whole(rows)} rows, and the row limit is {whole(schema.max_rows)}. Methods choose by "
        "the limit how much they ask, which may be more than so few can answer: choose fewer or smaller steps yourself "
        "where the method offers that, such as fewer blocks or rules."
    )
