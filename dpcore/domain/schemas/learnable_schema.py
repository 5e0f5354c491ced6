"""Schema files of which something is still to be learned privately.

A file marks a column with ``learn``: a numeric one with wide, public limits, from which cut points
(and narrower bounds) are learned, or a categorical one without categories. Until they are learned,
a stand-in is in their place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import yaml
from pydantic import ValidationError

from dpcore.domain.schemas.learned import ColumnQuestion
from dpcore.domain.schemas.origins import LEARNED
from dpcore.domain.schemas.schema import Schema, parsed, schema_text
from dpcore.errors import SchemaError
from dpcore.validation import explain_validation

_NUMERIC, _CATEGORICAL = ("integer", "real"), "categorical"
_STAND_IN = "(to be learned)"
_TWICE = (
    "Something of this schema was learned privately before ('learned'). Other columns can be learned beside it in the "
    "budget that paid for it: leave 'learned' out, keep 'origin: learned privately' of those columns, and share that "
    "budget."
)
_UNPAID = (
    "Something is to be learned of {names} ('learn'), which costs epsilon: say how much, with --learn or in the form, "
    "or leave the marks out."
)


@dataclass(frozen=True)
class LearnableSchema:
    """A schema, and what is to be learned of its columns; often nothing."""

    schema: Schema
    """With stand-ins for what is to be learned."""
    questions: Mapping[str, ColumnQuestion]
    """What is to be learned, by the name of the column."""

    @classmethod
    def from_mapping(cls, content: object) -> Self:
        """Tell what is to be learned from the rest. Raises ``SchemaError``.

        Only columns of the main table can be learned.
        """
        columns = content.get("columns") if isinstance(content, dict) else None
        if not isinstance(content, dict) or not isinstance(columns, list):
            return cls(Schema.from_mapping(content), {})
        wishes = {str(given["name"]): question for given in columns if (question := _question(given)) is not None}
        if wishes and content.get("learned"):
            raise SchemaError(_TWICE)
        described = [stand_in(given) for given in columns]
        return cls(Schema.from_mapping({**content, "columns": described}), wishes)

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Parse JSON, or else YAML. Raises ``SchemaError``."""
        return cls.from_mapping(parsed(text))

    @classmethod
    def from_file(cls, path: str | Path) -> Self:
        """Read a schema file. Raises ``SchemaError``."""
        return cls.from_text(schema_text(path))

    @classmethod
    def of(cls, given: Schema | Self) -> Self:
        """What was given, or a schema of which nothing is to be learned."""
        return cls(given, {}) if isinstance(given, Schema) else given

    @property
    def listed(self) -> tuple[str, ...]:
        """Columns whose categories are to be learned."""
        return tuple(name for name in self.questions if self.schema.column(name).type == _CATEGORICAL)

    @property
    def sentences(self) -> list[str]:
        """What is to be learned of each column."""
        return [_sentence(self.schema.column(name), question) for name, question in self.questions.items()]

    def to_yaml(self) -> str:
        """YAML form, with the marks in place of the stand-ins."""
        content = self.schema.to_mapping()
        content["columns"] = [self._marked(column) for column in content["columns"]]
        return yaml.safe_dump(content, sort_keys=False, allow_unicode=True)

    @property
    def columns(self) -> list[dict[str, object]]:
        """Columns of the main table with all that is known of them, and the marks."""
        return [self._marked(column.model_dump(mode="json")) for column in self.schema.columns]

    def _marked(self, column: dict[str, Any]) -> dict[str, object]:
        question = self.questions.get(column["name"])
        if question is None:
            return column
        known = {key: fact for key, fact in column.items() if key not in {"bins", "categories", "origin"}}
        return {**known, "learn": question.model_dump(exclude_defaults=True) or True}

    def content(self) -> dict[str, object]:
        """All of it, as :meth:`from_mapping` takes it and JSON can hold it."""
        return {**self.schema.model_dump(mode="json"), "columns": self.columns}

    def finished(self) -> Schema:
        """The schema. Raises ``SchemaError`` if something is to be learned."""
        if self.questions:
            raise SchemaError(_UNPAID.format(names=named(self.questions)))
        return self.schema


def named(names: Iterable[str]) -> str:
    """Names as sentences have them."""
    return ", ".join(f"'{name}'" for name in names)


def _sentence(column: Any, question: ColumnQuestion) -> str:
    if column.type == _CATEGORICAL:
        return f"'{column.name}': its categories, {question.most:,} at most, of those that enough people have."
    narrower = "narrower bounds, and " if question.bounds else ""
    return (
        f"'{column.name}': {narrower}cut points between {question.bins} bins with about as many rows each, within "
        f"{column.lower:g} and {column.upper:g}."
    )


def _unmarked(given: object) -> Any:
    return {key: fact for key, fact in given.items() if key != "learn"} if isinstance(given, dict) else given


def _question(given: Any) -> ColumnQuestion | None:
    learn = given.get("learn", False) if isinstance(given, dict) else False
    if learn is False:
        return None
    if not isinstance(given.get("name"), str):
        raise SchemaError("A column that is to be learned needs a name.")
    try:
        return ColumnQuestion() if learn is True else ColumnQuestion.model_validate(learn)
    except ValidationError as error:
        raise SchemaError(f"'learn' of '{given['name']}': {explain_validation(error, learn)}") from None


def stand_in(given: Any) -> object:
    """A column as it is until something of it is learned. Raises ``SchemaError``."""
    if _question(given) is None:
        return _unmarked(given)
    name, kind = given["name"], given.get("type")
    if kind not in (*_NUMERIC, _CATEGORICAL):
        raise SchemaError(f"'{name}': only integer, real and categorical columns can be learned.")
    told = ("bins", "edges") if kind in _NUMERIC else ("categories", "labels", "groups")
    for fact in told:
        if given.get(fact):
            raise SchemaError(f"'{name}' is to be learned, so leave out '{fact}'.")
    return {**_unmarked(given), "origin": LEARNED, **({"bins": 1} if kind in _NUMERIC else {"categories": [_STAND_IN]})}
