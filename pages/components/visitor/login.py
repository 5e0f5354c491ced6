"""Who is visiting: the login, if one is set up, and what it allows.

Whether there is a login is decided once per process, and in doubt there is: settings that cannot
be read must not turn a guarded installation into an open one.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st
from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from streamlit import config
from streamlit.auth_util import get_cookie_with_chunks
from streamlit.web.server.server_util import get_cookie_secret
from streamlit.web.server.starlette.starlette_app_utils import decode_signed_value
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME

from dpcore.errors import LoginError, RequestError
from dpcore.workspace.people.users import LOCAL_USER, Role, RoleRules, User
from pages.components.kit import markup
from pages.components.kit.markup import text

#: A visitor who has not logged in.
STRANGER = User("nobody", frozenset())
_NO_ROLES = (
    "Streamlit's secrets hold a login, or cannot be read, but FROSTGLASS_ROLES names no file of "
    "roles. Name one, or remove the secrets; docs/deployment.md says how."
)
_NO_LOGIN = (
    "FROSTGLASS_ROLES names a file of roles, but no login can be read from Streamlit's secrets. "
    "docs/deployment.md says what has to be there."
)
_WEAK_SECRET = (
    "The cookie_secret among Streamlit's secrets must have at least 32 random characters: "
    "whoever guesses it can log in as anybody."
)
_HEADERS = "Remove the option server.trustedUserHeaders: it lets a request override the login."
_SECRET_LENGTH = 32
_log = logging.getLogger("frostglass.login")


@cache  # Not a cache of Streamlit's, which any visitor may empty.
def _rules() -> RoleRules | None:
    """Rules of an installation with a login; ``None``: one local user.

    Raises
    ------
    RequestError
        If only one half of a login is set up. Nothing is remembered then.
    """
    rules = RoleRules.from_environment()
    if rules is None and _secrets_in_use():
        raise RequestError(_NO_ROLES)
    if rules is not None:
        _check_login()
    return rules


def _check_login() -> None:
    """Refuse a login that could be bypassed. Raises ``RequestError``."""
    if not _has_provider():
        raise RequestError(_NO_LOGIN)
    secret = st.secrets["auth"].get("cookie_secret")
    if not isinstance(secret, str) or len(secret) < _SECRET_LENGTH:
        raise RequestError(_WEAK_SECRET)
    if config.get_option("server.trustedUserHeaders"):
        raise RequestError(_HEADERS)


def _has_provider() -> bool:
    try:
        return "auth" in st.secrets
    except FileNotFoundError:  # None there, or none that can be read.
        return False


def _secrets_in_use() -> bool:
    """Whether there is a file of secrets: with a login in it, or unreadable."""
    if _has_provider():
        return True
    named = bool(os.environ.get("STREAMLIT_SECRETS_FILES")) or config.is_manually_set("secrets.files")
    return named or any(file.exists() and not _readable(file) for file in _secret_files())


def _secret_files() -> list[Path]:
    return [Path(name) for name in config.get_option("secrets.files")]


def _readable(file: Path) -> bool:
    import tomllib

    try:
        tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return True


def forget() -> None:
    """Decide again whether there is a login. For tests."""
    _rules.cache_clear()


def login_needed() -> bool:
    """Whether visitors have to log in."""
    return _rules() is not None


def user() -> User:
    """Who is visiting, by the claims of their login."""
    rules = _rules()
    if rules is None:
        return LOCAL_USER
    if st.user.get("is_logged_in") is not True:
        return STRANGER
    return rules.user(st.user.to_dict())


def logged_in(headers: Headers) -> bool:
    """Whether a request comes from somebody with a role, by its cookies; without a login, all do.

    A page asks :func:`user`. This is for what is fetched beside a page: files to download.
    """
    return bool(sender(headers).roles)


def sender(headers: Headers) -> User:
    """Who sends a request, by its cookies: a stranger, if their login has ended or cannot be read."""
    try:
        rules = _rules()
        if rules is None:
            return LOCAL_USER
        known = rules.user(_claims(headers))
    except (RequestError, LoginError):
        return STRANGER
    return STRANGER if known.expired() else known


def _claims(headers: Headers) -> dict[str, Any]:
    """What the signed cookies of a login say; nothing if there are none, or if they are forged."""
    secret, cookies = get_cookie_secret(), cookie_parser(headers.get("cookie", ""))

    def signed(name: str) -> bytes | None:
        value = cookies.get(name, "").encode("latin-1", "replace")
        return decode_signed_value(secret, name, value)

    try:
        content = json.loads(get_cookie_with_chunks(signed, USER_COOKIE_NAME) or b"{}")
    except ValueError:
        return {}
    good = isinstance(content, dict) and content.get("is_logged_in") is True
    return content if good else {}


def may(*roles: Role) -> bool:
    """Whether the visitor has one of these roles."""
    return bool(user().roles.intersection(roles))


def admit() -> bool:
    """Whether the visitor may go on; if not, say what to do instead."""
    try:
        visitor = user()
    except LoginError as error:
        _refuse("Your login cannot be used", markup.plain(str(error)), "Log out", st.logout)
    except RequestError as error:
        _log.error("%s", error)  # Not for strangers: it may quote the file of roles.
        _refuse("This installation is not set up yet", text("login_faulty"))
    else:
        if visitor is STRANGER:
            _refuse("Please log in", text("login"), "Log in", st.login)
        elif visitor.expired():
            _refuse("Your login has ended", text("login_ended"), "Log in again", st.login)
        else:
            return True
    return False


def follow() -> None:
    """In what refreshes itself: when the login ends, draw the whole page again, which says so."""
    if user().expired():
        st.rerun()


def render(log_out: Callable[[], None] = st.logout) -> None:
    """Say in the sidebar who the visitor is; ``log_out`` ends the login, and what ends with it."""
    visitor = user()
    if visitor is LOCAL_USER:
        st.caption(text("roles"))
        return
    roles = " and ".join(sorted(visitor.roles)) or "no role"
    st.caption(f"Logged in as {markup.person(visitor.name)}: {roles}.{_ends(visitor)}")
    st.button("Log out", on_click=log_out, key="log-out")


def _refuse(title: str, words: str, button: str = "", action: Callable[[], None] | None = None) -> None:
    with st.container(border=True, key="card-login", width=560):
        st.title(title, anchor=False)
        st.markdown(words)
        if action is not None:
            st.button(button, type="primary", on_click=action)


def _ends(visitor: User) -> str:
    if visitor.expires is None:
        return ""
    today = visitor.expires.date() == datetime.now(UTC).date()
    return f" This login ends at {visitor.expires:{'%H:%M' if today else '%Y-%m-%d %H:%M'}} UTC."
