"""Settings of the whole test run, and what belongs to which tier of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

TESTS = Path(__file__).parent
#: Folders and files whose tests all bear a mark.
MARKED = {
    "browser": ["browser"],
    "heavy": [
        "audit",
        "benchmarks",
        "browser",
        "commands",
        "demo",
        "intake",
        "pages",
        "rehearsal",
        "service",
        "test_compiled.py",
        "test_package.py",
        "learning/test_sklearn_checks.py",
        "models/test_configurations.py",
        "models/ebm/test_noise.py",
        "models/redescriptions/test_significance.py",
        "workspace/test_installation.py",
        "workspace/test_ledger_concurrency.py",
        "workspace/test_restarts.py",
        "workspace/test_restore_drill.py",
        "workspace/test_sessions.py",
        "workspace/test_stranded_runs.py",
        "workspace/test_workers.py",
    ],
}

# Machines differ, and the first call of a kernel compiles it: no deadline for one example.
settings.register_profile("frostglass", deadline=None, max_examples=60)
settings.register_profile("thorough", deadline=None, max_examples=1000)
settings.load_profile("frostglass")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests by where they lie; what takes long comes first, so that no worker is left with it."""
    for item in items:
        for mark, places in MARKED.items():
            if any(item.path.is_relative_to(TESTS / place) for place in places):
                item.add_marker(mark)
    items.sort(key=lambda item: sum(item.get_closest_marker(mark) is None for mark in MARKED))
