"""What all tests of rehearsals share."""

from __future__ import annotations

import pytest

from dpcore.rehearsal import shape


@pytest.fixture(autouse=True)
def small_pools(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shapes of a third as many records as in a rehearsal: enough for every share that is asked of them here."""
    monkeypatch.setattr(shape, "_POOL", shape._POOL // 3)
    monkeypatch.setattr(shape, "_POOL_OF_TABLES", shape._POOL_OF_TABLES // 3)
