"""Learning facts of a schema privately from files: rows are taken in twice.

First on a provisional schema, to be asked and forgotten: numbers between wide limits, categories as
numbers into a vocabulary that never leaves the process. Then on the schema that was learned.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
from pydantic import TypeAdapter, ValidationError

from dpcore.arrays import Floats, Values
from dpcore.data.building.ingest import check_columns, partitions_of
from dpcore.data.stored.storage import save_partitions
from dpcore.data.table import PrivateTable
from dpcore.domain.columns import RESERVED, Column, IntegerColumn, NumericColumn, folded
from dpcore.domain.encoding import MISSING_WORDS, numbers_of, texts_of, values_of
from dpcore.domain.schemas.names import Name
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import IngestError
from dpcore.learning.facts import learn_categories, learn_cuts
from dpcore.privacy.randomness import RandomSource
from dpcore.released.learning_plan import LearningPlan

#: Different values of a column whose categories are learned, at most.
MOST_VALUES: Final = 20_000
_PERSON, _ORDER = "person", "order"
_NAME: TypeAdapter[str] = TypeAdapter(Name)


class Provisional:
    """Rows as they are asked what is to be learned.

    Attributes
    ----------
    schema : Schema
        A numeric column for each that is to be learned, called by its number.
    """

    def __init__(self, plan: LearningPlan) -> None:
        self._plan, self._declared = plan, plan.schema
        self._columns = [plan.schema.column(name) for name in plan.questions]
        self._known = {name: _Vocabulary(plan.schema.column(name)) for name in plan.listed}
        unit = plan.schema.privacy_unit
        self.schema = plan.schema.model_copy(
            update={
                "columns": tuple(_stand_in(i, column) for i, column in enumerate(self._columns)),
                "children": (),
                "privacy_unit": unit.model_copy(
                    update={"column": unit.column and _PERSON, "order_by": unit.order_by and _ORDER, "where": None}
                ),
            }
        )

    def rows(self, chunks: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        """The rows of the main table on the provisional schema. Raises ``IngestError``."""
        unit = self._declared.privacy_unit
        for chunk in chunks:
            check_columns(chunk, self._declared)
            content: dict[str, object] = {
                str(i): self._numbers(column, chunk) for i, column in enumerate(self._columns)
            }
            if unit.column is not None:
                content[_PERSON] = chunk[unit.column].to_numpy()
            if unit.order_by is not None:
                content[_ORDER] = chunk[unit.order_by].to_numpy()
            yield pd.DataFrame(content)

    def _numbers(self, column: Column, chunk: pd.DataFrame) -> Floats:
        values = values_of(column, chunk)
        known = self._known.get(column.name)
        return numbers_of(column, values) if known is None else known.places(values)

    def learned(self, table: PrivateTable, randomness: RandomSource) -> Schema:
        """The schema with what was learned. Raises ``SchemaError`` if no column is left."""
        facts: dict[str, Mapping[str, object]] = {}
        for place, (name, question) in enumerate(self._plan.questions.items()):
            if name in self._known:
                names = self._known[name].names
                facts[name] = {"categories": learn_categories(table, place, names, question, self._plan, randomness)}
            else:
                facts[name] = learn_cuts(table, place, self._columns[place], question, self._plan, randomness)
        return _completed(self._plan, facts)


def _stand_in(number: int, column: Column) -> Column:
    if isinstance(column, NumericColumn):
        free = {"name": str(number), "derive": None, "missing_codes": (), "target": False, "view": None}
        return column.model_copy(update=free)
    return IntegerColumn(name=str(number), lower=0, upper=MOST_VALUES, bins=1, summary=column.summary)


class _Vocabulary:
    """The values of a column whose categories are learned, numbered as they come."""

    def __init__(self, column: Any) -> None:
        self._column, self._numbers = column, dict[str, float]()
        self._absent = MISSING_WORDS | {code.lower() for code in column.missing_codes}

    @property
    def names(self) -> list[str]:
        return list(self._numbers)

    def places(self, values: Values) -> Floats:
        """Number of each value; NaN for what is missing, or can be no category."""
        numbers, codes = pd.factorize(np.asarray(texts_of(values), dtype=object))
        found = np.fromiter((self._place(text) for text in codes), np.float64, len(codes))
        return np.asarray(found[numbers])

    def _place(self, text: str) -> float:
        if text.lower() in self._absent:
            return np.nan
        name = folded(text) if self._column.matching == "loose" else text
        if name in RESERVED or not _can_be_named(name):
            return np.nan
        number = self._numbers.setdefault(name, float(len(self._numbers)))
        if number >= MOST_VALUES:
            raise IngestError(
                f"'{self._column.name}' has more than {MOST_VALUES:,} different values, so its categories are not "
                "learned: leave it out, or list those that matter."
            )
        return number


def _can_be_named(text: str) -> bool:
    try:
        return _NAME.validate_python(text) == text
    except ValidationError:
        return False


def _completed(plan: LearningPlan, facts: Mapping[str, Mapping[str, object]]) -> Schema:
    """The schema of a plan with learned facts; columns without a category are left out."""
    left_out = tuple(name for name, found in facts.items() if found.get("categories") == [])
    content = plan.schema.model_dump(mode="json")
    content["columns"] = [
        {**column, **facts.get(column["name"], {})} for column in content["columns"] if column["name"] not in left_out
    ]
    content["learned"] = plan.certificate(left_out).model_dump(mode="json")
    return Schema.from_mapping(content)


def learn_schema(plan: LearningPlan, chunks: Iterator[pd.DataFrame], randomness: RandomSource, folder: Path) -> Schema:
    """Learn what a plan says from rows of the main table, which lie in an empty folder meanwhile.

    Raises
    ------
    IngestError
        If the rows do not fit, or a column has too many different values.
    SchemaError
        If no schema is left without the columns of which no category was frequent enough.
    """
    provisional = Provisional(plan)
    rows, held = folder / "rows", folder / "table"
    for each in (rows, held):
        each.mkdir()
    partitions = partitions_of(provisional.rows(chunks), provisional.schema, randomness, folder=rows)
    save_partitions(held, provisional.schema, partitions)
    return provisional.learned(PrivateTable.open(held), randomness)
