"""What was answered in the form for a new data set."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pandas as pd

from dpcore.domain.schemas.learnable_schema import LearnableSchema
from dpcore.errors import SchemaError
from dpcore.intake.process.uploads import parse_schema
from pages.components.custodian import workbench

if TYPE_CHECKING:
    from dpcore.intake.process.readers import Watch
    from dpcore.workspace.files.descriptions import DatasetInfo


@dataclass
class Answers:
    """What one press of a form button sent; ``rows`` by the marks of the tables."""

    rows: dict[str, pd.DataFrame] = field(default_factory=dict)
    content: dict[str, Any] = field(default_factory=dict)
    schema_text: str | None = None
    wish: workbench.ProfileRequest | None = None
    wish_in: str = ""
    take_over: bool = False
    store: bool = False
    kin: DatasetInfo | None = None
    replaces: bool = False
    keep_keys: bool = False
    learn: Decimal | None = None
    budget: Decimal = Decimal(0)
    delta: Decimal | None = None
    analyst_cap: Decimal | None = None
    run_cap: Decimal | None = None
    public: bool = False
    faults: list[str] = field(default_factory=list)

    @property
    def account(self) -> dict[str, Any]:
        """What the data set may spend, and whether its people can be found again."""
        if self.kin is not None:
            return self.shared | {"keep_keys": self.keep_keys, "learn": self.learn}
        own = ("budget", "delta", "analyst_cap", "run_cap", "keep_keys", "learn")
        return {name: getattr(self, name) for name in own}

    @property
    def shared(self) -> dict[str, Any]:
        """The data set whose budget it shares, if there is one."""
        return {} if self.kin is None else {"replaces" if self.replaces else "same_people_as": self.kin.id}

    def schema(self, watch: Watch) -> LearnableSchema:
        """The schema that was described. Raises ``SchemaError``."""
        if self.schema_text is not None:
            if not self.schema_text.strip():
                raise SchemaError("Paste a schema, or choose a schema file.")
            return parse_schema(self.schema_text, watch)
        return LearnableSchema.from_mapping(self.content)
