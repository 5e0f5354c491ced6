"""What a text holds."""

from __future__ import annotations

from collections.abc import Container


def lacking(within: Container[object], *parts: object) -> list[object]:
    """Those parts that are not in a text, or in something else."""
    return [part for part in parts if part not in within]
