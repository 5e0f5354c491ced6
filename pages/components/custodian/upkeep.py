"""The custodian's view of a stored data set: name, description, retiring it, removing its records."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from dpcore.workspace.files.descriptions import AT_STAKE, DatasetInfo
from dpcore.workspace.ledger.accounts import REASON_LIMIT
from pages.components.custodian import budgets
from pages.components.kit import entry, markup
from pages.components.kit.markup import text
from pages.components.visitor import access

_SAID = "upkeep-said"


def render() -> None:
    """The data set selected in the sidebar, and what can be done to it."""
    dataset = budgets.chosen("Add one first.")
    if dataset is None:
        return
    access.tell_outcome(_SAID)
    markup.facts(
        {
            "Added": f"{dataset.created:%Y-%m-%d}",
            "Version": str(dataset.version),
            "State": "retired" if dataset.retired else "in use",
            "Shares its budget with": ", ".join(dataset.shares_with) or "no other data set",
            **({} if dataset.public else {"Markov chains": "allowed" if dataset.conditional else "not allowed"}),
        }
    )
    _names(dataset)
    if not dataset.public:
        _chains(dataset)
    _end(dataset)


def _names(dataset: DatasetInfo) -> None:
    keys = f"upkeep-name-{dataset.id}-{dataset.name}", f"upkeep-description-{dataset.id}"
    with st.expander("Name and description (public)"), st.form(f"upkeep-{dataset.id}-{dataset.name}"):
        st.markdown(text("describe_anew"))
        st.text_input("Name", dataset.name, key=entry.begin(keys[0], dataset.name), max_chars=128)
        st.text_area("Description", dataset.description, key=entry.begin(keys[1], dataset.description), max_chars=2000)
        st.form_submit_button("Change them", on_click=_describe, args=(dataset.id, *keys))


def _describe(dataset_id: str, name_key: str, description_key: str) -> None:
    """Change what was typed over, and nothing that another custodian changed meanwhile. For use as a callback."""

    def act() -> None:
        stored = access.service().dataset(dataset_id)
        name = entry.typed(name_key, stored.name)
        description = entry.typed(description_key, stored.description)
        if name != stored.name:
            access.service().rename_dataset(dataset_id, name)
        if description != stored.description:
            access.service().describe_dataset(dataset_id, description)

    if access.note_outcome(_SAID, act, "Changed."):
        entry.saved(name_key, description_key)


def _chains(dataset: DatasetInfo) -> None:
    """The switch for runs whose guarantee has a condition."""
    with st.expander("Markov chains"):
        st.markdown(markup.plain(AT_STAKE))
        allowed = dataset.conditional
        own = f"upkeep-chains-{dataset.id}-{allowed}"
        st.text_input("Reason (kept in the ledger)", key=f"{own}-note", max_chars=REASON_LIMIT)
        label = "Disallow Markov chains" if allowed else "Allow Markov chains on this data set"
        st.button(label, key=own, on_click=_allow, args=(dataset, not allowed, f"{own}-note"))


def _allow(dataset: DatasetInfo, allowed: bool, key: str) -> None:
    note = str(st.session_state[key])  # As typed last, in the same breath as the click.
    done = "Markov chains are allowed on this data set." if allowed else "Markov chains are no longer allowed."
    access.note_outcome(_SAID, lambda: access.service().allow_conditional(dataset.id, allowed, note=note), done)


def _end(dataset: DatasetInfo) -> None:
    with st.expander("Retire it, or remove its records"):
        st.markdown(text("retire"))
        note = st.text_input("Reason (kept in the ledger)", key=f"upkeep-note-{dataset.id}", max_chars=REASON_LIMIT)
        sure = st.checkbox("I am sure: this cannot be taken back.", key=f"upkeep-sure-{dataset.id}")
        with st.container(horizontal=True):
            _button("Retire", dataset, sure and not dataset.retired, lambda: _retire(dataset, note))
            _button("Remove the records", dataset, sure, lambda: _remove(dataset, note))


def _button(label: str, dataset: DatasetInfo, able: bool, act: Callable[[], None]) -> None:
    st.button(label, key=f"upkeep-{label.split()[0].lower()}-{dataset.id}", disabled=not able, on_click=act)


def _retire(dataset: DatasetInfo, note: str) -> None:
    access.note_outcome(
        _SAID, lambda: access.service().retire_dataset(dataset.id, note=note), "Nothing more can be run on it."
    )


def _remove(dataset: DatasetInfo, note: str) -> None:
    done = "The records are removed. Ledger and results stay."
    access.note_outcome(_SAID, lambda: access.service().remove_records(dataset.id, note=note), done)
