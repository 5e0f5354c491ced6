"""What a custodian has so far for one upload, on the page and as noted on the desk."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from dpcore.workspace.files.descriptions import DatasetInfo
from dpcore.workspace.files.staging import StagingArea
from pages.components.custodian.intake.intake_tables import TableDraft

#: What begins the keys of each yes to what values said of the schema: it is of this session, as that is.
YES = "intake-yes-"
#: Fields that are noted as they are.
_PLAIN = ("file_ids", "main", "keys", "person", "problem", "faults", "uncertain", "text", "fresh", "read_as")


@dataclass
class Draft:
    """Names and typed text, no records.

    ``keys`` are the columns that two joined files have in common (none for others), ``main`` the
    place of the main one among the ``tables``, ``answers`` what is in the form's other fields.
    """

    file_ids: list[str]
    tables: list[TableDraft] = field(default_factory=list)
    main: int = 0
    keys: list[str] = field(default_factory=list)
    person: str | None = None
    problem: str = ""
    faults: list[str] = field(default_factory=list)
    #: Whether these leave open if the data set was stored.
    uncertain: bool = False
    #: What the form says, as text; and answers that its fields are to begin with when it is drawn.
    text: str = ""
    fresh: dict[str, Any] = field(default_factory=dict)
    #: What a schema that was taken over says of the whole, beyond the fields of the form.
    rest: dict[str, Any] = field(default_factory=dict)
    #: What the values said of the schema. Read off the records, so it is never written down.
    findings: list[Any] = field(default_factory=list)
    #: What there is to say about columns that were looked at: the same holds.
    notes: list[str] = field(default_factory=list)
    #: The key by which two files were last to be joined and are not, and why: for this session.
    refused: tuple[str, str] | None = None
    #: How the main file is read, in words.
    read_as: str = ""
    stored: DatasetInfo | None = None
    #: What is to be known of further rows that were stored: read off the records, too.
    told: str = ""
    answers: dict[str, Any] = field(default_factory=dict)
    #: What was last written on the desk by this draft, or read from there.
    noted: str = ""

    def table(self, ident: str) -> TableDraft:
        """The table of this mark."""
        return next(table for table in self.tables if table.ident == ident)

    def note(self, staging_area: StagingArea, answers: dict[str, Any] | None = None) -> None:
        """Write everything down, if it has changed; with what is in the form now, if given."""
        if answers is not None:
            self.answers = answers
        content = {name: getattr(self, name) for name in _PLAIN}
        tables = [table.written() for table in self.tables]
        content |= {"tables": tables, "answers": self.answers, "rest": self.rest}
        text = json.dumps(content, sort_keys=True)
        if text != self.noted:
            staging_area.note(text)
            self.noted = text

    @classmethod
    def read(cls, notes: str) -> Draft | None:
        """What was noted, if anything; fields of the form that are empty begin with it."""
        try:
            content = json.loads(notes)
            draft = cls(**{name: content[name] for name in _PLAIN}, noted=notes)
            draft.tables = [TableDraft.read(table) for table in content["tables"]]
            draft.answers = content["answers"]
            draft.rest = content.get("rest", {})  # Absent from what was noted before there was such a field.
        except (ValueError, KeyError, TypeError):  # None, or of an earlier version.
            return None
        for key, answer in draft.answers.items():
            st.session_state.setdefault(key, answer)
        return draft

    @staticmethod
    def typed() -> dict[str, Any]:
        """What is in the fields of the form, by their keys; no yes to what was read off the records."""
        return {
            str(key): answer
            for key, answer in st.session_state.items()
            if str(key).startswith("intake-") and not str(key).startswith(YES) and _is_plain(answer)
        }


def _is_plain(answer: object) -> bool:
    listed = answer if isinstance(answer, list) else [answer]
    return all(item is None or isinstance(item, str | int | float) for item in listed)
