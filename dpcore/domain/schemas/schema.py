"""The public domain of a data set: what anybody may know before seeing a record.

A schema is written by the custodian, in YAML or JSON. Every shape, candidate split and label
that a learner uses is derived from it, never from the records.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal, Self

import yaml
from pydantic import Field, ModelWrapValidatorHandler, ValidationError, model_validator

from dpcore.domain.columns import MAX_COLUMNS, Column, View
from dpcore.domain.identifiers import plain_key
from dpcore.domain.schemas.learned import LearningCertificate
from dpcore.domain.schemas.names import Name
from dpcore.domain.schemas.origins import DECLARED, INFERRED, Origin, problem_of, refusal_of
from dpcore.domain.schemas.tables import RowSelection, Table, absent
from dpcore.errors import SchemaError
from dpcore.validation import explain_validation

SCHEMA_VERSION: Final = 1
#: What a schema is called that an estimator read off the records. One of this name that does not
#: say where it comes from was written before schemas did, and is taken for such a one.
INFERRED_NAME: Final = "inferred"
#: Most child rows kept of all entities together, in one child table.
MAX_CHILD_ROWS = 500_000_000
#: Most values of child rows kept of all entities together.
MAX_CHILD_CELLS = 4_000_000_000
#: Which records: to learn from, set aside for the evaluation, or both.
Part = Literal["train", "holdout", "all"]


def _exact(matching: str) -> bool:
    return matching == "exact"


class PrivacyUnit(RowSelection):
    """Who is protected: a row, or the person that ``column`` identifies."""

    column: Name | None = None
    """Column that identifies the person. It is never stored. ``None``: each row is one person."""
    max_rows_per_person: int = Field(default=1, ge=1, le=1000)
    """Rows kept for one person, at ingestion: see ``keep``."""
    missing_codes: tuple[str, ...] = Field(default=(), max_length=100, exclude_if=absent)
    """Texts that stand for no person, such as ``unknown``; their rows are dropped, as those without a person are."""
    matching: Literal["exact", "loose"] = Field(default="exact", exclude_if=_exact)
    """``loose``: identifiers that differ in spelling only (:data:`dpcore.domain.identifiers.STEPS`) are one person's.
    """

    @model_validator(mode="after")
    def _one_row_each(self) -> Self:
        if self.column is None and self.max_rows_per_person != 1:
            raise ValueError("without a person column each row is one person: keep 1 row")
        if self.column is None and self.order_by is not None:
            raise ValueError("without a person column each row is one person: there is nothing to order")
        if self.column is None and (self.missing_codes or self.matching != "exact"):
            raise ValueError("without a person column, leave out the 'missing_codes' and 'matching' of its identifiers")
        return self

    @cached_property
    def _nobody(self) -> frozenset[str]:
        return frozenset(code.lower() for code in self.missing_codes)

    def named(self, texts: Iterable[str | None]) -> list[str | None]:
        """The person whom each text of the column, or of the key of a child table, names; ``None``: nobody."""
        known = (None if text is None or text.lower() in self._nobody else text for text in texts)
        if self.matching == "exact":
            return list(known)
        return [None if text is None else plain_key(text)[0] or None for text in known]


class ChildTable(RowSelection, Table):
    """A further table with any number of rows about each row of the main one."""

    name: Name
    """What one row is called: ``car``, ``prescription``."""
    description: str = Field(default="", max_length=2000)
    key: Name | None = None
    """Column that says whose row it is. It is never stored. ``None``: the same name as in the main table, which is the
    column of the schema's ``privacy_unit``."""
    from_rows: bool = False
    """Whether its rows are those of the main table's file, which may then have several of a person."""
    row_key: Name | None = Field(default=None, exclude_if=absent)
    """Column that tells one row of a person from another; it is never stored. Needed where rows of other tables belong
    to these."""
    parent: Name | None = Field(default=None, exclude_if=absent)
    """Table to whose rows these belong, as laboratory values do to an admission. Rows of a person belong to rows of the
    same person: ``key`` names the person here, too."""
    parent_key: Name | None = Field(default=None, exclude_if=absent)
    """Column with the parent's ``row_key``; it is never stored. Rows whose parent row is not kept are not kept either.
    """
    max_rows_per_person: int = Field(ge=1, le=1000)
    """Rows kept for one person, at ingestion: see ``keep``."""
    columns: tuple[Column, ...] = Field(min_length=1, max_length=MAX_COLUMNS)

    @model_validator(mode="after")
    def _plain_columns(self) -> Self:
        for column in self.columns:
            if column.target or column.view is not None:
                raise ValueError(
                    f"'{column.name}' cannot be a target or on a side of redescriptions: only "
                    "columns of the main table can"
                )
            if column.summary is not None:
                raise ValueError(f"'{column.name}' cannot be a summary: only columns of the main table can")
        if self.from_rows and self.key is not None:
            raise ValueError("rows of the main table have its column for the person: leave out 'key'")
        return self

    @model_validator(mode="after")
    def _linked(self) -> Self:
        if self.parent is not None and self.parent_key is None:
            raise ValueError(
                f"'{self.name}' belongs to rows of '{self.parent}': say with 'parent_key' which column names them"
            )
        if self.parent_key is not None and self.parent is None:
            raise ValueError(f"'{self.parent_key}' names rows of another table: say with 'parent' of which")
        if self.from_rows and self.links:
            raise ValueError("rows of the main table's file belong to the person: leave out 'parent' and 'row_key'")
        if self.where is not None and not self.from_rows:
            raise ValueError("'where' says which rows of the main table's file are meant: say 'from_rows: true', too")
        return self

    @property
    def links(self) -> tuple[str, ...]:
        """Columns of the file that tell its rows apart, and to which row of another table each belongs."""
        return tuple(name for name in (self.row_key, self.parent_key) if name is not None)

    @property
    def file_columns(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys([*super().file_columns, *self.links]))

    @property
    def keeping(self) -> RowSelection:
        return self

    @property
    def _place(self) -> str:
        return f"the table '{self.name}'"


def check_links(children: Sequence[ChildTable], key_of: Callable[[ChildTable], str]) -> None:
    """Refuse rows that belong to rows of another table in a way that cannot be.

    Raises
    ------
    ValueError
        With a sentence about the first fault.
    """
    tables = {child.name: child for child in children}
    for child in children:
        for name in child.links:
            if name == key_of(child):
                raise ValueError(f"'{name}' names the person in '{child.name}', so it cannot tell rows apart as well")
            if name in {known for column in child.columns for known in (column.name, *column.sources)}:
                raise ValueError(f"'{name}' tells rows of '{child.name}' apart, and cannot also be a stored column")
        if child.parent is None:
            continue
        if child.parent not in tables:
            known = ", ".join(f"'{name}'" for name in tables if name != child.name) or "none"
            raise ValueError(
                f"'{child.name}' belongs to rows of '{child.parent}', which is no further table: there are {known}"
            )
        parent = tables[child.parent]
        if child.name in (parent.name, parent.parent):
            raise ValueError(
                f"'{child.name}' belongs to rows that belong to its own: let one of them be about the person alone"
            )
        if parent.parent is not None:
            raise ValueError(
                f"'{child.name}' belongs to rows of '{parent.name}', and these to rows of '{parent.parent}': one table "
                "may lie between a person and rows, not two"
            )
        if parent.row_key is None:
            raise ValueError(
                f"'{child.name}' belongs to rows of '{parent.name}': say there with 'row_key' what tells them apart"
            )


class Schema(Table):
    """The declared, public description of a data set."""

    version: Literal[1] = SCHEMA_VERSION
    name: Name
    description: str = Field(default="", max_length=2000)
    privacy_unit: PrivacyUnit = PrivacyUnit()
    max_rows: int = Field(ge=1, le=100_000_000)
    """Public upper limit N on the number of rows kept; a round number, not the row count."""
    holdout_percent: int = Field(default=20, ge=0, le=50)
    """Chance, per person, of being put in the hold-out part at ingestion."""
    entity: Name = "person"
    """What one row of the main table is called, as ``person`` or ``train``."""
    columns: tuple[Column, ...] = Field(min_length=1, max_length=MAX_COLUMNS)
    """Columns that are stored. Others in an uploaded file are dropped at ingestion."""
    children: tuple[ChildTable, ...] = Field(default=(), max_length=20)
    """Further tables about the same people. Neighbours differ in one person with all rows."""
    origin: Origin = DECLARED
    """Where every fact comes from that says nothing of its own (see :mod:`dpcore.domain.schemas.origins`)."""
    learned: LearningCertificate | None = None
    """What of it was learned privately, and at what cost."""

    @model_validator(mode="before")
    @classmethod
    def _from_before_origins(cls, content: object) -> object:
        if isinstance(content, dict) and content.get("name") == INFERRED_NAME:
            return {"origin": INFERRED, **content}
        return content

    @model_validator(mode="after")
    def _private_key(self) -> Self:
        if self.privacy_unit.column in {name for column in self.columns for name in (column.name, *column.sources)}:
            raise ValueError("the column that identifies a person cannot also be a stored column")
        return self

    @model_validator(mode="after")
    def _summarised(self) -> Self:
        summaries = [column for column in self.columns if column.summary is not None]
        if summaries and self.privacy_unit.column is None:
            raise ValueError(f"'{summaries[0].name}' sums up a person's rows: privacy_unit.column must name the person")
        if summaries and self.privacy_unit.max_rows_per_person != 1:
            raise ValueError(f"'{summaries[0].name}' sums up a person's rows: one row per person is kept")
        for column in summaries:
            if column.summary in {"first", "last"} and self.privacy_unit.order_by is None:
                raise ValueError(f"the {column.summary} '{column.name}' needs privacy_unit.order_by")
        return self

    @property
    def keeping(self) -> RowSelection:
        return self.privacy_unit

    def invented(self) -> Schema:
        """The same for invented rows: no column puts them in order, and what sums up a person's rows is a value."""
        return self.model_copy(
            update={
                "privacy_unit": self.privacy_unit.unordered(),
                "columns": tuple(column.model_copy(update={"summary": None}) for column in self.columns),
                "children": tuple(child.unordered() for child in self.children),
            }
        )

    @model_validator(mode="after")
    def _related(self) -> Self:
        names = [self.entity, *(child.name for child in self.children)]
        if len(set(names)) != len(names):
            raise ValueError("tables must have distinct names, the main one's being 'entity'")
        if self.children and self.privacy_unit.column is None:
            raise ValueError("with further tables, privacy_unit.column must name the key")
        if self.children and self.privacy_unit.max_rows_per_person != 1:
            raise ValueError("with further tables, the main one must have one row per person")
        cells = sum(child.max_rows_per_person * len(child.columns) for child in self.children)
        if self.max_rows * cells > MAX_CHILD_CELLS:
            raise ValueError("with so many rows, child tables must have fewer columns or keep fewer rows of a person")
        for child in self.children:
            if any(column.name.startswith(f"{child.name}: ") for column in self.columns):
                raise ValueError(f"no column may be called '{child.name}: ...', as conditions are")
            if self.max_rows * child.max_rows_per_person > MAX_CHILD_ROWS:
                raise ValueError(
                    f"max_rows times max_rows_per_person of '{child.name}' must not exceed {MAX_CHILD_ROWS}"
                )
            if self.key_of(child) in {name for column in child.columns for name in (column.name, *column.sources)}:
                raise ValueError(
                    f"'{self.key_of(child)}' says whose row of '{child.name}' it is, and cannot also be a stored column"
                )
        check_links(self.children, self.key_of)
        return self

    @model_validator(mode="wrap")
    @classmethod
    def _once(cls, content: Any, check: ModelWrapValidatorHandler[Self]) -> Self:
        """What is a schema already, as in a release that is made, has been checked."""
        return content if isinstance(content, cls) else check(content)

    def __iter__(self) -> Iterator[Column]:  # type: ignore[override]
        return iter(self.columns)

    def table(self, name: str) -> Schema | ChildTable:
        """The child table called ``name``; the main one if it is empty or the entity's name.

        Raises
        ------
        SchemaError
            If there is none.
        """
        if name in {"", self.entity}:
            return self
        for child in self.children:
            if child.name == name:
                return child
        known = ", ".join([self.entity, *(child.name for child in self.children)])
        raise SchemaError(f"There is no table '{name}' in this data set. Tables: {known}.")

    @property
    def keys(self) -> frozenset[str]:
        """Columns of all files that tell people, or rows of one table for another, apart; none is stored."""
        links = (name for child in self.children for name in (child.key, *child.links))
        return frozenset(name for name in (self.privacy_unit.column, *links) if name is not None)

    def key_of(self, child: ChildTable) -> str:
        """Column of a child table's file that says whose row it is."""
        return child.key or str(self.privacy_unit.column)

    def parent_of(self, child: ChildTable) -> ChildTable | None:
        """The table to whose rows those of a child table belong; ``None``: to the person alone."""
        return next((table for table in self.children if table.name == child.parent), None)

    @property
    def parents_first(self) -> tuple[ChildTable, ...]:
        """The child tables, those to whose rows others belong before these."""
        return tuple(sorted(self.children, key=lambda child: child.parent is not None))

    @property
    def targets(self) -> tuple[str, ...]:
        """Names of the columns that the custodian marked as targets."""
        return tuple(column.name for column in self.columns if column.target)

    def view(self, side: View) -> tuple[str, ...]:
        """Names of the columns on one side of redescriptions, in schema order."""
        return tuple(column.name for column in self.columns if column.view == side)

    @property
    def origins(self) -> tuple[Origin, ...]:
        """Where its facts come from, each origin once; first that of the row limit and the names."""
        columns = [*self.columns, *(column for child in self.children for column in child.columns)]
        return tuple(dict.fromkeys([self.origin, *(column.origin or self.origin for column in columns)]))

    @property
    def problem(self) -> str:
        """Why no result that rests on this schema is private; empty if it can be."""
        return problem_of(self.origins)

    def check_private(self) -> None:
        """Raise ``SchemaError`` if no result on private records with this schema is private."""
        if refusal := refusal_of(self.origins):
            raise SchemaError(refusal)

    @property
    def hash(self) -> str:
        """SHA-256, in hexadecimal, of the form without defaults.

        A field that a later version adds, with a default, leaves the hash of older schemas.
        """
        canonical = json.dumps(self._written(), sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()

    def to_json(self, indent: int | None = 2) -> str:
        """JSON with every field, defaults included, in declaration order."""
        return json.dumps(self.model_dump(mode="json"), indent=indent, ensure_ascii=False)

    def to_yaml(self) -> str:
        """YAML form, defaults left out, for people to read and edit."""
        return yaml.safe_dump(self.to_mapping(), sort_keys=False, allow_unicode=True)

    def to_mapping(self) -> dict[str, Any]:
        """What :meth:`from_mapping` takes, defaults left out."""
        content = self._written()
        if self.name == INFERRED_NAME:
            content["origin"] = self.origin  # Left out, it would be read as inferred.
        return content

    def _written(self) -> dict[str, object]:
        content = {"version": self.version, **self.model_dump(mode="json", exclude_defaults=True)}
        content["columns"] = [_compact(column) for column in self.columns]
        for child, written in zip(self.children, content.get("children", ()), strict=True):
            written["columns"] = [_compact(column) for column in child.columns]
        return content

    @classmethod
    def from_mapping(cls, content: object) -> Schema:
        """Build a schema from parsed YAML or JSON; errors become one readable sentence.

        Raises
        ------
        SchemaError
            If the mapping is not a valid schema. The message names each faulty field.
        """
        try:
            return cls.model_validate(content)
        except ValidationError as error:
            raise SchemaError(explain_validation(error, content)) from None
        except (RecursionError, OverflowError):
            raise SchemaError("The schema holds a number or a list that no schema has.") from None

    @classmethod
    def from_text(cls, text: str) -> Schema:
        """Parse JSON, or else YAML.

        Raises
        ------
        SchemaError
            If the text is neither, or is not a valid schema.
        """
        return cls.from_mapping(parsed(text))

    @classmethod
    def from_file(cls, path: str | Path) -> Schema:
        """Read a schema file.

        Raises
        ------
        SchemaError
            If the file cannot be read as UTF-8 text or is not a valid schema.
        """
        return cls.from_text(schema_text(path))


def schema_text(path: str | Path) -> str:
    """Text of a schema file. Raises ``SchemaError`` if it is not UTF-8 text."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        name = Path(path).name  # Readers must not learn where it lies.
        raise SchemaError(f"The schema file {name} cannot be read as UTF-8 text.") from None


def parsed(text: str) -> object:
    """Content of JSON, or else YAML. Raises ``SchemaError`` if the text is neither."""
    try:
        return _parse(text)
    except (yaml.YAMLError, ValueError, RecursionError):
        raise SchemaError("The schema is not valid YAML or JSON.") from None


def _parse(text: str) -> object:
    """JSON first: YAML refuses or folds a few characters that JSON strings may hold."""
    try:
        return json.loads(text)
    except ValueError:
        pass
    try:
        return yaml.safe_load(text)
    except (LookupError, TypeError, AttributeError, OverflowError):
        # A tag such as '!!int' on what is none: the library fails in its own way.
        raise ValueError("a value is not what its tag says") from None


def _compact(column: Column) -> dict[str, object]:
    head = {"name": column.name, "type": column.type}
    written = {**head, **column.model_dump(mode="json", exclude_defaults=True)}
    if "labels" in written:
        written["labels"] = {each["category"]: each["label"] for each in written["labels"]}
    return written
