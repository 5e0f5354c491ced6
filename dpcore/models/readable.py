"""Releases in the words of people: labels instead of names and codes. Free, as it is post-processing."""

from __future__ import annotations

from typing import Any

from dpcore.domain.schemas.labels import Labels, has_labels
from dpcore.models.released import family_of
from dpcore.released.release import Release


def readable(release: Release) -> Release:
    """The same release with labels for columns and categories, to be shown; never to be stored.

    Its schema is not the one that its certificate names, but stands for the same cells.
    """
    if release.stored is not release or not has_labels(release.domain):
        return release
    labels = Labels(release.domain)
    content = _relabelled(release.model, labels, release.target)
    model = family_of(release).model.model_validate(content)
    if hasattr(model, "worded"):
        model = model.worded(labels.schema)
    return release.told(domain=labels.schema, target=labels.column(release.target), model=model.model_dump(mode="json"))


def _relabelled(content: Any, labels: Labels, target: str) -> Any:
    """A model whose columns and classes are called by their labels."""
    if isinstance(content, list):
        return [_relabelled(item, labels, target) for item in content]
    if not isinstance(content, dict):
        return content
    told = {name: _relabelled(value, labels, target) for name, value in content.items()}
    if told.get("column"):
        told["column"] = labels.column(content["column"], content.get("table", ""))
    if isinstance(told.get("alike"), str):  # Of a clause: a column whose value two rows share.
        told["alike"] = labels.column(content["alike"], content["table"])
    for name in ("left_columns", "right_columns"):
        if name in told:
            told[name] = [labels.column(column) for column in content[name]]
    if told.get("classes"):
        told["classes"] = [labels.cell(target, each) for each in content["classes"]]
    return told
