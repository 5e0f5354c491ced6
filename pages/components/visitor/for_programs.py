"""A token for the visitor's own programs and notebooks."""

from __future__ import annotations

import streamlit as st

from pages.components.kit import drawing
from pages.components.kit.markup import text
from pages.components.visitor import access, login


def log_out() -> None:
    """End the visitor's tokens, and their login even if that fails. For use as a callback."""
    if login.may("analyst", "teacher"):
        access.attempt(access.service().end_tokens)
    st.logout()


@st.fragment
def render() -> None:
    """Get a token, see it once, end those that there are."""
    if not login.may("analyst", "teacher"):
        return
    with st.expander(
        "For programs and notebooks", icon=":material/terminal:", key="for-programs", on_change="rerun"
    ) as part:
        if not part.open:  # What colours the code is larger than all the rest of the page.
            return
        st.markdown(text("for_programs"))
        with st.container(horizontal=True):
            wanted = st.button("Get a token", key="token-get")
            unwanted = st.button("End all my tokens", key="token-end")
        with drawing.placeholder():
            if wanted:
                _get()
            if unwanted:
                _end()
            st.caption(_good())


def _get() -> None:
    token, problem = access.attempt(access.service().issue_token)
    if token is None:
        st.warning(problem)
        return
    st.code(token.text, language=None)
    st.caption(
        f"It is shown this once. It ends {token.ends:%Y-%m-%d %H:%M} UTC. Whoever has it can spend your budget: "
        "keep it out of notebooks that you share."
    )


def _end() -> None:
    ended, problem = access.attempt(access.service().end_tokens)
    if ended is None:
        st.warning(problem)
        return
    st.caption(f"{ended} token{'' if ended == 1 else 's'} ended. Runs that they started go on.")


def _good() -> str:
    """How many tokens the visitor has, and until when."""
    ends, _ = access.attempt(access.service().tokens)
    if not ends:
        return "You have no token that is good now."
    first, last = (f"{end:%Y-%m-%d %H:%M}" for end in (ends[0], ends[-1]))
    if len(ends) == 1:
        return f"You have 1 token that is good, until {first} UTC."
    return f"You have {len(ends)} tokens that are good: the first until {first}, the last until {last} UTC."
