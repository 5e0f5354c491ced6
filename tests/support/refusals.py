"""What a page asks its browser for in vain, and what it asks of others."""

from __future__ import annotations

from playwright.sync_api import Page

LISTEN = """document.addEventListener('securitypolicyviolation', event =>
    console.error('policy violation: ' + event.violatedDirective + ' ' + event.blockedURI))"""


def listen(page: Page) -> list[str]:
    """Everything that the policy refuses from now on, and every request to another server."""
    heard: list[str] = []
    page.add_init_script(LISTEN)
    page.on("console", lambda said: _hear(heard, said.text))
    page.on("pageerror", lambda error: heard.append(f"{page.url}: {error}"))
    page.on("request", lambda sent: _local(sent.url) or heard.append(f"{page.url}: {sent.url}"))
    return heard


def _hear(heard: list[str], text: str) -> None:
    if "policy" in text.lower():
        heard.append(text)


def _local(url: str) -> bool:
    return url.startswith(("http://localhost:", "data:", "blob:"))
