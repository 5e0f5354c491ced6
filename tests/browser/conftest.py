"""How long a test waits for a page: machines differ, and a loaded one is slow."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.support.identity_provider import WAIT

expect.set_options(timeout=WAIT)
