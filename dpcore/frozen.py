"""Bases of what is stored or released as JSON: immutable, and no field is unknown."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class FrozenModel(BaseModel):
    """A record of named values."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class FrozenParameters(FrozenModel):
    """Settings that somebody chooses: every number is finite."""

    model_config = ConfigDict(allow_inf_nan=False)
