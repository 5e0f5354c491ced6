"""Every page is opened in an installation of the test's own."""

from __future__ import annotations

from functools import cache

from streamlit.components.v2 import manifest_scanner

from tests.support.page_tools import home
from tests.support.page_visitors import visit

__all__ = ["home", "visit"]

# A server looks through all installed packages once, a test for every page that it opens.
manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)
