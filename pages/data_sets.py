"""Choose a data set; see what is public about it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from dpcore.domain.schemas.labels import called
from dpcore.domain.schemas.protected import shared_things
from dpcore.intake.dictionaries.writing import FORMS, text_of
from dpcore.numerals import whole
from dpcore.privacy.budgets import percent
from dpcore.report import spending
from dpcore.workspace.files.descriptions import DatasetInfo
from pages.components.kit import drawing, made_file, markup, schema_view
from pages.components.run import ask
from pages.components.visitor import access, for_programs, login, menu

#: Outcomes that a card names.
_MOST_TARGETS = 3


def page() -> None:
    st.title("Data sets", anchor=False)
    markup.lead("Everything here is public: it says what records could hold, not what they do hold.")
    known = access.datasets()
    if not known:
        _nothing_yet()
        return
    chosen = access.chosen_dataset()
    for info in known.values():
        _card(info, chosen=chosen is not None and info.id == chosen.id)
    for_programs.render()


def _nothing_yet() -> None:
    if not login.may("custodian", "teacher"):
        markup.empty("No data set yet", "The custodian of the data has to add one first.")
        return
    markup.empty("No data set yet", "Start with public demonstration data, or add your own.")
    left, right = st.columns(2)
    if left.button("Add demonstration data (public)", type="primary", width="stretch"):
        with st.spinner("Making the demonstration data. This takes a few seconds …"):
            _, problem = access.attempt(access.service().add_demo_datasets)
        if problem:
            st.error(problem)
        else:
            st.rerun()
    with right:
        menu.link("custodian.py", "Add your own data (Custodian)", width="stretch")


def _card(info: DatasetInfo, *, chosen: bool) -> None:
    """One data set in a few lines; what is more opens on a click."""
    with st.container(border=True, key=f"card-{info.id}"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.subheader(markup.plain(info.name), anchor=False, width="stretch")
            _choose(info, chosen=chosen)
        labels = {"Public demonstration data": "public"} if info.public else {"Private": "private"}
        labels |= {"Retired": "private"} if info.retired else {}
        labels |= {f"Version {info.version}": "private"} if info.version > 1 else {}
        markup.tags(labels | dict.fromkeys(_in_short(info), "plain"))
        if info.description:
            st.text(info.description)
        if info.sharing:
            st.caption(markup.plain(info.sharing))
        if info.schema.problem:
            markup.notice("amber", "No result is private.", info.schema.problem)
        _more(info, chosen=chosen)


def _more(info: DatasetInfo, *, chosen: bool) -> None:
    """What opens below a card, and ways to go on."""
    _columns(info)
    if info.public and info.truth:
        with st.expander("What is true of these records (public)"):
            st.markdown(info.truth)
    if login.login_needed() and login.may("analyst"):
        with st.expander("Ask for more budget"):
            ask.offer(info)
    if chosen:
        with st.container(horizontal=True):
            menu.link("first_look.py", "Continue to First look")
            menu.link(menu.GUIDE, "Which method? Help me choose")


@st.fragment
def _columns(info: DatasetInfo) -> None:
    """What is public of a data set; made once it is opened, for there may be many."""
    with st.expander(_columns_title(info), key=f"columns-{info.id}", on_change="rerun") as part:
        if not drawing.is_open(part):
            return
        if info.public:
            markup.banner("public", "public_banner")
        st.caption(markup.plain(f"Protected: {schema_view.privacy_unit(info.schema)}."))
        if shared := shared_things(info.schema):
            st.caption(markup.plain(shared))
        schema_view.render(info.schema)
        _downloads(info)


def _in_short(info: DatasetInfo) -> list[str]:
    """What matters most, a few words each."""
    schema, balance = info.schema, access.balance(info.id)
    targets = ", ".join(called(schema, name) for name in schema.targets[:_MOST_TARGETS])
    more = len(schema.targets) - _MOST_TARGETS
    return [
        f"at most {whole(schema.max_rows)} rows",
        *([f"to predict: {targets}{f' and {more} more' if more > 0 else ''}"] if targets else []),
        f"{percent(balance.left, up=False)} left of {spending.total(balance)}",
    ]


def _downloads(info: DatasetInfo) -> None:
    """The public description as a file: for this program, and for others."""
    st.caption("Download this public description")
    with st.container(horizontal=True):
        _download(info, "Schema", "schema.yaml", "text/yaml", info.schema.to_yaml)
        for form, (title, name) in FORMS.items():
            _download(info, title, name, "application/json", partial(text_of, info.schema, form))


def _download(info: DatasetInfo, title: str, name: str, kind: str, make: Callable[[], str]) -> None:
    made, icon, key = made_file.later(make, name, kind), ":material/download:", f"export-{name}-{info.id}"
    st.download_button(title, made, name, kind, icon=icon, key=key, on_click="ignore")


def _columns_title(info: DatasetInfo) -> str:
    several = len(info.schema.children)
    tables = f" and further tables ({several})" if several else ""
    return f"Columns ({len(info.schema.columns)}){tables}"


def _choose(info: DatasetInfo, *, chosen: bool) -> None:
    """The button stays once it is pressed, in the same type and card: else the keyboard's place on the page is lost."""
    st.button(
        "Selected" if chosen else "Select this data set",
        key=f"choose-{info.id}",
        on_click=access.choose_dataset,
        args=(info.id,),
        icon=":material/check:" if chosen else None,  # By which the style knows the card.
    )


page()
