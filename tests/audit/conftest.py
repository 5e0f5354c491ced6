"""Replays note whatever a process does: nothing that other tests have left behind is cleared away meanwhile."""

from __future__ import annotations

import gc

import pytest


@pytest.fixture(scope="module", autouse=True)
def cleared() -> None:
    gc.collect()
