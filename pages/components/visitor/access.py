"""The service behind every page, and what the visitor has selected."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

import streamlit as st

from dpcore.errors import FrostglassError, InstallationError, RequestError
from pages.components.kit import drawing
from pages.components.kit.markup import plain
from pages.components.visitor import login

if TYPE_CHECKING:
    from dpcore.service import Service
    from dpcore.workspace.files.descriptions import DatasetInfo
    from dpcore.workspace.ledger.accounts import Balance
    from dpcore.workspace.ledger.requests import Quote


DATASET_KEY = "dataset"
THIS_RUN_KEY = "this_run"
REHEARSAL_KEY = "rehearsal"
RUN_PARAMETER = "run"
_NEXT_KEY = "dataset_next"
_NAMED_KEY = "dataset_named"
_LOCK = Lock()
T = TypeVar("T")


def service() -> Service:
    """The service, acting as the visitor: it refuses what their roles do not allow."""
    return installation().acting(login.user())


def service_by(token: str) -> Service:
    """The service, acting as whoever got a token for their programs. Raises ``LoginError``."""
    return installation().acting_by(token)


def installation() -> Service:
    """The one service of this process. Not for pages: it acts as the local user."""
    with _LOCK:
        return _service(os.environ.get("FROSTGLASS_HOME"), os.environ.get("FROSTGLASS_DATABASE_URL"))


# Not a cache of Streamlit's, which any visitor may empty.
@cache
def _service(home: str | None, database_url: str | None) -> Service:
    from dpcore.service import Service

    return Service(home=home, database_url=database_url, warm=False)


def ready() -> bool:
    """Whether home folder, database and settings can be used; if not, say what the operator has to do."""
    try:
        installation()
    except (InstallationError, RequestError) as error:
        with st.container(border=True, key="card-installation", width=760):
            st.title("This installation cannot be used now", anchor=False)
            st.markdown(plain(str(error)))
        return False
    return True


def forget() -> None:
    """Let the next call make a new service, and decide again about the login. For tests."""
    _service.cache_clear()
    login.forget()


def datasets() -> dict[str, DatasetInfo]:
    """Data sets by identifier, in the order of the service."""
    return {info.id: info for info in service().datasets()}


def balance(dataset_id: str) -> Balance:
    """What the visitor may still spend; for somebody who spends nothing, what all others may."""
    if login.may("analyst", "teacher"):
        return service().balance(dataset_id)
    return service().total_balance(dataset_id)


def chosen_dataset() -> DatasetInfo | None:
    """The data set selected in the sidebar, if there is any."""
    return datasets().get(st.session_state.get(DATASET_KEY, ""))


def choose_dataset(dataset_id: str) -> None:
    """Select a data set. For use in callbacks."""
    st.session_state[DATASET_KEY] = dataset_id


def choose_later(dataset_id: str) -> None:
    """Select a data set when the page is next drawn: the sidebar is drawn before the page."""
    st.session_state[_NEXT_KEY] = dataset_id


def keep_choice() -> None:
    """Remember which data set the address names, before the menu is drawn.

    Whoever presses the menu before the choice itself is drawn comes to an address without it.
    """
    if DATASET_KEY in st.session_state:
        st.session_state.pop(_NAMED_KEY, None)
    elif DATASET_KEY in st.query_params:
        st.session_state[_NAMED_KEY] = st.query_params[DATASET_KEY]


def apply_choice(known: Mapping[str, DatasetInfo]) -> None:
    """Carry out :func:`choose_later`, or what the address named, before the sidebar is drawn."""
    if _NEXT_KEY in st.session_state:
        st.session_state[DATASET_KEY] = st.session_state.pop(_NEXT_KEY)
    elif (chosen := known.get(st.session_state.get(DATASET_KEY, ""))) is not None:
        st.session_state[DATASET_KEY] = chosen.id  # Said anew, it is written into an address that lost it.
    elif DATASET_KEY not in st.query_params:
        named = st.session_state.get(_NAMED_KEY)
        for info in known.values():
            if info.name == named:
                st.session_state[DATASET_KEY] = info.id
                st.query_params[DATASET_KEY] = info.name


def forget_run() -> None:
    """Take the run out of the address. For use in callbacks."""
    st.query_params.pop(RUN_PARAMETER, None)


def show_cost_of_this_run(quote: Quote | None) -> None:
    """Tell the meter the price of the run that is being set up; ``None`` if none is."""
    st.session_state[THIS_RUN_KEY] = quote


def this_run(balance: Balance) -> Quote | None:
    """Price of the run that is being set up, beside what is spent by now."""
    quote: Quote | None = st.session_state.get(THIS_RUN_KEY)
    if quote is None or quote.balance == balance:
        return quote
    again, _ = attempt(lambda: service().quote(quote.request))
    show_cost_of_this_run(again)
    return again


def attempt(action: Callable[[], T]) -> tuple[T | None, str | None]:
    """Do something that a user mistake may stop: the result, or a sentence saying what to do."""
    try:
        return action(), None
    except FrostglassError as mistake:
        return None, plain(str(mistake))


def note_outcome(key: str, action: Callable[[], object], success: str) -> bool:
    """Do something, and remember to say ``success`` (Markdown) or why it failed."""
    _, problem = attempt(action)
    st.session_state[key] = (problem, success)
    return problem is None


def tell_outcome(key: str) -> None:
    """Say it, once, in a slot that is always there."""
    problem, success = _said(key)
    with drawing.placeholder():
        if problem:
            st.error(problem)
        elif success:
            st.success(success)


def _said(key: str) -> tuple[str | None, str | None]:
    said: tuple[str | None, str | None] = st.session_state.pop(key, (None, None))
    return said
