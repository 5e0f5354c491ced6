"""Every page is opened in an installation of the test's own."""

from __future__ import annotations

from functools import cache

import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.testing.v1 import app_test, local_script_runner
from streamlit.testing.v1.local_script_runner import LocalScriptRunner

from pages.components.kit import drawing
from tests.support.pages.page_tools import home
from tests.support.pages.page_visitors import visit

__all__ = ["home", "visit"]

# A server looks through all installed packages once, a test for every page that it opens.
manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)

# And it compiles a page once.
app_test.ScriptCache = local_script_runner.ScriptCache = cache(ScriptCache)

_IS_OPEN = drawing.is_open
_look = local_script_runner.require_widgets_deltas


def _wait(runner: LocalScriptRunner, timeout: float = 3) -> None:
    """Wait for the end of a drawing, instead of asking every millisecond whether it is there."""
    if runner._script_thread is not None:
        runner._script_thread.join(timeout)
    _look(runner, timeout)


local_script_runner.require_widgets_deltas = _wait


@pytest.fixture(autouse=True)
def every_tab(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every tab of a result counts as open: a test reads what is in all of them."""
    monkeypatch.setattr(drawing, "is_open", lambda _: True)


@pytest.fixture
def one_by_one(every_tab: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tabs are opened one by one, as in a browser."""
    monkeypatch.setattr(drawing, "is_open", _IS_OPEN)
