"""One released theory of relational rules."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dpcore.domain.counted import counted
from dpcore.models.ilp.released.ilp_reading import clause_groups, clauses_in_prolog, read_theory
from dpcore.numerals import whole
from dpcore.plots.ilp.ilp_prolog import prolog_file
from dpcore.released.blocks import Bullets, Code, Figure, only
from dpcore.released.release import Release
from pages.components.families.ilp import ilp_cases
from pages.components.families.shared import blocks, downloads, evaluation, truth
from pages.components.kit import drawing
from pages.components.kit.markup import text

CSV = "the clauses"


def render(release: Release, model: Any, key: str, *, public: bool) -> None:
    """Table first, then its other forms."""
    true = truth.ask(release, key) if public else None
    blocks.groups(drawing.once(clause_groups, release, model), true)
    if not any(group.kept for group in model.groups):
        st.info(text("ilp_none_kept"))
    [said], [chart], [program] = drawing.once(_read, release, model)
    drawing.tabs_apart(
        {
            "In words": lambda: _in_words(said),
            "Prolog": lambda: _prolog(program),
            "Chart": lambda: _chart(chart, key),
            "Cases": lambda: _cases(release, model, key),
            "Hold-out check": lambda: evaluation.render(model, release.target, counted(release.domain), key),
            "Certificate": lambda: downloads.certificate(release),
            "Download": lambda: _files(release, model, key),
        },
        f"{key}-tabs",
        stay=["Cases", "Hold-out check"],
    )


def _read(release: Release, model: Any) -> tuple[list[Bullets], list[Figure], list[Code]]:
    read = list(read_theory(release, model, False))
    return only(read, Bullets), only(read, Figure), only(read, Code)


def _in_words(said: Bullets) -> None:
    blocks.render(said)
    st.markdown(text("reading_ilp"))
    st.markdown(text("noise"))


def _cases(release: Release, model: Any, key: str) -> None:
    st.subheader("A made-up case", anchor=False)
    ilp_cases.made_up_cases(release, model, key)
    st.subheader("Try a case", anchor=False)
    ilp_cases.try_case(release, model, key)


def _prolog(program: Code) -> None:
    st.markdown(text("ilp_prolog"))
    blocks.render(program)


def _chart(chart: Figure, key: str) -> None:
    blocks.render(chart, f"{key}-chart")
    st.caption("The same numbers are in the table above. Lines are 95% margins of the noise.")


def _files(release: Release, model: Any, key: str) -> None:
    program = downloads.File("Prolog", "pl", prolog_file(release))
    twin = model.to_frame(release.domain, release.target, clauses_in_prolog(release))
    downloads.render(release, model, key, CSV, (program,), twin)


def side(release: Release, model: Any, _key: str) -> None:
    """The table without Prolog, which fits into half the width."""
    blocks.groups(drawing.once(clause_groups, release, model), narrow=True)


def figures(model: Any) -> dict[str, str]:
    """How large the theory is, and what it was chosen from."""
    kept = sum(group.kept for group in model.groups)
    return {
        "Clauses": f"{len(model.clauses)}, of which {kept} predict",
        "Chosen from": f"{whole(model.clause_count)} possible clauses",
    }
