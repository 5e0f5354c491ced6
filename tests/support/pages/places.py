"""Where the widgets of a page stand: a browser draws one anew, and empties it, if that changes."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest

#: Functions of Streamlit whose widgets hold what somebody types or chooses.
INPUTS = {
    *("checkbox", "chat_input", "color_picker", "data_editor", "date_input", "datetime_input", "feedback"),
    *("file_uploader", "multiselect", "number_input", "pills", "radio", "segmented_control", "select_slider"),
    *("selectbox", "slider", "text_area", "text_input", "time_input", "toggle"),
}

Blocks = tuple[tuple[int, str], ...]


@dataclass(frozen=True)
class Place:
    """Where a widget stands.

    Attributes
    ----------
    kind, label : str
        What a visitor knows it by.
    blocks : tuple of (int, str)
        Position and name of every container around it, from the outside: if one of them changes,
        then the browser throws the container away with what is typed in it. The widget itself may
        move within the last of them: the browser knows it by its name.
    """

    kind: str
    label: str
    blocks: Blocks


def places(app: AppTest) -> dict[str, Place]:
    """Every widget of a page with its place, by the name under which the browser knows it."""
    return dict(_walk(app._tree, ()))


def _walk(block: Any, around: Blocks) -> Iterator[tuple[str, Place]]:
    for position, node in block.children.items():
        if hasattr(node, "children"):
            yield from _walk(node, (*around, (position, getattr(node, "_block_id", ""))))
            continue
        proto = getattr(node, "proto", None)
        name = getattr(proto, "id", "") or getattr(getattr(proto, node.type, None), "id", "")
        if name:
            yield name, Place(node.type, getattr(proto, "label", ""), around)


def moved(old: Mapping[str, Place], app: AppTest) -> list[str]:
    """What a visitor would lose by a change of a page; what goes or comes does not count."""
    new = places(app)
    faults = [
        f"{old[name].kind} '{old[name].label}': {_difference(old[name].blocks, new[name].blocks)}"
        for name in old.keys() & new.keys()
        if old[name].blocks != new[name].blocks
    ]
    gone = {(old[name].kind, old[name].label): name for name in old.keys() - new.keys()}
    come = {(new[name].kind, new[name].label): name for name in new.keys() - old.keys()}
    faults += [
        f"{kind} '{label}' was {gone[kind, label]}, is {come[kind, label]}" for kind, label in gone.keys() & come.keys()
    ]
    return sorted(faults)


def _difference(old: Blocks, new: Blocks) -> str:
    """The outermost container that is another one."""
    depth = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), -1)
    position = [step for step, _ in old[:depth]]
    return f"below {position}, container {old[depth]} is {new[depth]}"


def without_key(folder: Path) -> list[str]:
    """Calls that make a widget without a key: its name then depends on its words."""
    return [
        f"{file.name}, line {call.lineno}: {call.func.attr}"
        for file in sorted(folder.rglob("*.py"))
        for call in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr in INPUTS
        and not any(named.arg == "key" for named in call.keywords)
    ]
