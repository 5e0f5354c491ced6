"""What numbers of rows are numbers of: people, or records where one of them may have several."""

from __future__ import annotations

from typing import NamedTuple

from dpcore.domain.schemas.schema import Schema
from dpcore.numerals import whole


class Noun(NamedTuple):
    """What is counted."""

    one: str
    several: str
    """``one``, ``several``: ``person`` and ``people``."""
    whom: str
    """What refers to them: people for whom, records for which."""

    def number(self, count: float) -> str:
        """So many: ``1 person``, ``1,234 people``."""
        told = whole(count)
        return f"{told} {self.one if told == '1' else self.several}"


PEOPLE = Noun("person", "people", "whom")
RECORDS = Noun("record", "records", "which")


def counted(schema: Schema) -> Noun:
    """People, unless one of them may have several rows or rows are something else, such as trains."""
    alone = schema.privacy_unit.max_rows_per_person == 1
    return PEOPLE if alone and schema.entity == "person" else RECORDS
