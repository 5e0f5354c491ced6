"""What a run is called while there is no result of it."""

from __future__ import annotations

from dpcore.domain.schemas.labels import called
from dpcore.workspace.ledger.requests import RunRequest
from pages.components.families import registry
from pages.components.visitor import access


def run_heading(request: RunRequest) -> str:
    """Its algorithm, and what it predicts."""
    return registry.of_request(request).heading(column_label(request.dataset_id, request.target))


def column_label(dataset_id: str, name: str) -> str:
    """What a column is called; its name, if the visitor may not see the data set."""
    dataset, _ = access.attempt(lambda: access.service().dataset(dataset_id))
    return name if dataset is None else called(dataset.schema, name)
