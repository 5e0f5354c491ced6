"""A real OpenID Connect provider for tests: it knows invented people and signs their tokens."""

from __future__ import annotations

import json
import logging
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from urllib.parse import quote

import httpx
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import Locator, Page, expect
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value

with warnings.catch_warnings(record=True):  # It announces what a later version will import.
    from oidc_provider_mock import User, run_server_in_thread

WAIT = 30_000
USER_COOKIE = "_streamlit_user"
COOKIE_SECRET = "for-tests-only-0123456789abcdef0123456789abcdef"
_APP = "http://localhost:{port}"
_AN_HOUR = timedelta(hours=1)
_SECRETS = """\
[auth]
redirect_uri = "{app}/oauth2callback"
cookie_secret = "{cookie_secret}"
client_id = "frostglass"
client_secret = "for-tests-only"
server_metadata_url = "{provider}/.well-known/openid-configuration"
client_kwargs = {{ scope = "openid email profile", prompt = "login" }}
"""


@dataclass(frozen=True)
class Provider:
    """A running provider."""

    url: str

    def know(self, email: str, **claims: object) -> None:
        """Take in a person, or change what the next token says about one."""
        person = _person(email, claims)
        answer = httpx.put(f"{self.url}/users/{quote(email)}", json=dict(person.claims))
        answer.raise_for_status()

    def guard(self, folder: Path, roles: str, app_url: str = _APP) -> dict[str, str]:
        """Write what an app needs for a login here, and return the environment that names it.

        Parameters
        ----------
        folder
            Where to write: outside the repository.
        roles
            Text of the file of roles.
        app_url
            Where the app will be. Streamlit puts its own port for ``{port}``.
        """
        secrets, rules = folder / "secrets.toml", folder / "roles.toml"
        text = _SECRETS.format(app=app_url, cookie_secret=COOKIE_SECRET, provider=self.url)
        secrets.write_text(text, encoding="utf-8")
        rules.write_text(roles, encoding="utf-8")
        return {"STREAMLIT_SECRETS_FILES": str(secrets), "FROSTGLASS_ROLES": str(rules)}


@contextmanager
def provider(people: Mapping[str, Mapping[str, object]], lifetime: timedelta = _AN_HOUR) -> Iterator[Provider]:
    """Serve a provider on a free port.

    Parameters
    ----------
    people
        Claims by e-mail address, for instance ``{"ann@example.org": {"groups": ["custodians"]}}``.
        The address is also the subject, and is verified unless ``email_verified`` says otherwise;
        a claim that is ``None`` is left out.
    lifetime
        After which time a token expires.
    """
    logging.getLogger("werkzeug").setLevel(logging.ERROR)  # Its lines hold codes and tokens.
    known = [_person(email, claims) for email, claims in people.items()]
    with run_server_in_thread(user_claims=known, access_token_max_age=lifetime) as server:
        yield Provider(f"http://localhost:{server.server_port}")


def _person(email: str, claims: Mapping[str, object]) -> User:
    said: dict[str, object] = {"email": email, "email_verified": True, **claims}
    return User(sub=email, claims={name: it for name, it in said.items() if it is not None})


def log_in(page: Page, app_url: str, email: str, button: str = "Log in", *, here: bool = False) -> None:
    """Log in as a visitor does: by the app's button and the provider's form; ``here``: on the page that is open."""
    page.context.route("https://cdn.jsdelivr.net/**", lambda route: route.abort())
    if not here:
        page.goto(app_url)
    page.get_by_role("button", name=button).click()
    page.wait_for_url("**/oauth2/authorize?*", timeout=WAIT)
    page.get_by_placeholder("sub").fill(email)
    page.get_by_role("button", name="Authorize", exact=True).click()
    page.wait_for_url(f"{app_url}/**", timeout=WAIT)
    _keep_the_tour_closed(page)


def arrive(page: Page, app_url: str, email: str, path: str = "", **claims: object) -> None:
    """Open a page with the cookie of a login, which takes a browser far less than to log in."""
    cookies = cookies_of(app_url, email, **claims).items()
    page.context.add_cookies([{"name": name, "value": value, "url": app_url} for name, value in cookies])
    page.goto(f"{app_url}/{path}")
    _keep_the_tour_closed(page)


def _keep_the_tour_closed(page: Page) -> None:
    """It opens once for everybody; it is closed as soon as it stands in the way."""
    page.add_locator_handler(page.get_by_role("button", name="Got it"), _close_the_tour)


def _close_the_tour(button: Locator) -> None:
    """Unless it is closing already: the browser asks for it once more while it fades."""
    with suppress(PlaywrightError):
        button.click(timeout=5000)


def log_out(page: Page, app_url: str, button: str = "Log out") -> None:
    """Log out by the app's button, and at the provider, which asks once more."""
    page.get_by_role("button", name=button).click()
    page.get_by_role("button", name="End session").click(timeout=WAIT)
    page.wait_for_url(f"{app_url}/", timeout=WAIT)
    expect(page.get_by_test_id("stApp")).to_be_visible(timeout=WAIT)


def cookies_of(app_url: str, email: str, **claims: object) -> dict[str, str]:
    """The cookie of a login as the app would keep it, without asking the provider: fast."""
    said = {**_person(email, claims).claims, "sub": email, "exp": int(time.time()) + 3600}
    kept = {**said, "origin": app_url, "is_logged_in": True, "provider": "default"}
    signed = create_signed_value(COOKIE_SECRET, USER_COOKIE, json.dumps({**kept, **claims}))
    return {USER_COOKIE: signed.decode()}
