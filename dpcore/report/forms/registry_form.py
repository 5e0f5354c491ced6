"""The form of the public registry of differential privacy deployments: its fields, and what each may hold.

Own formulation of the rules of ``schemas/deployments-schema.yaml`` in ``opendp/deployments-registry-data`` on GitHub,
as of July 2026. The registry orders its fields by tiers; an entry of the third one has them all.
"""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Words = Annotated[str, Field(min_length=1)]
Names = Annotated[tuple[Words, ...], Field(min_length=1)]


class _Part(BaseModel):
    """A part of the form: it has no other fields."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Basic(_Part):
    """What the data product is."""

    name: Words
    data_curators: Names
    intended_use: Words
    data_product_type: Literal[
        "Summary statistics",
        "Machine learning model",
        "Dataset",
        "Synthetic data",
        "Interactive API",
        "SQL queries",
    ]
    data_product_region: Words
    description: Words
    publication_date: date
    data_product_sector: Literal["Technology", "Healthcare", "Education", "Government", "Energy", "Finance"] | None = (
        None
    )


class Variant(_Part):
    """Which definition holds, over which data sets."""

    variant_name: Literal["Pure DP", "Approximate DP", "Zero-concentrated DP", "Renyi DP", "Custom"]
    data_domain: Words
    unprotected_quantities: Words


class Parameters(_Part):
    """How much privacy is lost."""

    epsilon: Annotated[float, Field(ge=0)]
    delta: Annotated[float, Field(ge=0, le=1)] | None = None
    rho: Annotated[float, Field(ge=0)] | None = None


class Loss(_Part):
    """For whom, and how much."""

    privacy_unit: Words
    privacy_unit_details: Words
    privacy_parameters: Parameters
    privacy_parameters_details: Words


class Model(_Part):
    """Who is trusted, and who asks."""

    model_name: Literal["Central", "Local", "Shuffle", "Federated"]
    model_name_details: Words
    actors: Words
    release_type: Literal["One release", "Many releases"]
    release_type_details: Words
    data_source_type: Literal["Static", "Dynamic"]
    data_source_type_details: Words
    access_type: Literal["Interactive", "Non-interactive"]
    access_type_details: Words


class Accounting(_Part):
    """How losses add up, and what is done afterwards."""

    post_processing: Words
    composition: Words


class Implementation(_Part):
    """How it was done, and why so."""

    preprocessing_and_hyperparameter_tuning: Words
    mechanisms: Words
    justification: Words


class Administrative(_Part):
    """Who filled the form in."""

    notes: Words
    registry_authors: Names


class Deployment(_Part):
    """Everything about a data product."""

    basic: Basic
    dp_variant: Variant
    privacy_loss: Loss
    deployment_model: Model
    accounting: Accounting
    implementation: Implementation
    administrative: Administrative


class RegistryForm(_Part):
    """One entry of the registry."""

    url_slug: Annotated[str, Field(pattern=r"^[\w-]+$")]
    status: Literal["Draft"] = "Draft"
    tier: Literal[3] = 3
    deployment: Deployment
