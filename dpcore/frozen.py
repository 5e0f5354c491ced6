"""The base of what is stored or released as JSON: immutable, and no field is unknown."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class FrozenModel(BaseModel):
    """A record of named values."""

    model_config = ConfigDict(frozen=True, extra="forbid")
