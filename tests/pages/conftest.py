"""Every page is opened in an installation of the test's own."""

from __future__ import annotations

from tests.support.page_tools import home
from tests.support.page_visitors import visit

__all__ = ["home", "visit"]
