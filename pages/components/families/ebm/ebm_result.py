"""One released explainable boosting machine."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dpcore.domain.counted import counted
from dpcore.models.ebm.released.ebm_words import EBMWords
from dpcore.released.release import Release
from pages.components.families.ebm import ebm_view as view
from pages.components.families.shared import certificate, downloads, evaluation, number_check, truth
from pages.components.families.shared.truth import Truth
from pages.components.kit import drawing, markup
from pages.components.kit.markup import text

CSV = "the score table: what every group of every column adds"


def render(release: Release, model: Any, key: str, *, public: bool) -> None:
    """Importances first, then one shape, then everything else."""
    words = _words(release, model)
    _warn(model)
    true = truth.ask(release, key) if public else None
    st.subheader(markup.plain(f"What counts for {release.target}"), anchor=False)
    st.markdown(text("importances"))
    view.importances(words, key)
    st.subheader("Shape of one column", anchor=False)
    _shape(words, true, key)
    drawing.tabs_apart(
        {
            "All columns": lambda: view.terms_table(words),
            "One case": lambda: view.case(release, words, key),
            "In words": lambda: _in_words(words),
            "Hold-out check": lambda: _check(words, key),
            "Certificate": lambda: certificate.certificate(release),
            "Download": lambda: _files(release, model, key),
        },
        f"{key}-tabs",
        stay=["One case", "Hold-out check"],
    )


def _in_words(words: Any) -> None:
    markup.sentences(words.reading())
    st.markdown(text("reading_ebm"))
    if words.model.classes:
        st.markdown(text("reading_odds"))
    st.markdown(text("noise"))


def _files(release: Release, model: Any, key: str) -> None:
    downloads.render(release, model, key, CSV)
    learner = "DPEBMClassifier" if model.classes else "DPEBMRegressor"
    st.markdown(f"In Python, the JSON becomes a scikit-learn model: `{learner}.from_release(Release.from_json(text))`.")


def side(release: Release, model: Any, key: str) -> None:
    """Importances and one shape, which fit into half the width."""
    words = _words(release, model)
    _warn(model)
    view.importances(words, key)
    with st.expander("The same as a table"):
        view.terms_table(words)
    _shape(words, None, key)


def figures(model: Any) -> dict[str, str]:
    """How much of the model stands out from the noise."""
    clear = [term.name for term in model.ranked() if term.clear]
    return {
        "Columns and pairs": str(len(model.terms)),
        "Stand out from the noise": f"{len(clear)} of {len(model.terms)}",
        "Most important": ", ".join(clear[:3]) or "none stands out",
    }


def _words(release: Release, model: Any) -> Any:
    return EBMWords(model, release.domain, release.target)


def _warn(model: Any) -> None:
    """Nothing stands out, or so little among so many columns that chance may do it."""
    if model.clear:
        return
    clear = [term.name for term in model.ranked() if term.clear]
    if not clear:
        st.warning(text("ebm_unclear"), icon="⚠️", title="Nothing stands out from the noise")
    else:
        few = (
            f"{', '.join(clear)} pass the mark, but may do so by chance alone: {len(model.terms)} columns and "
            "pairs were looked at."
        )
        st.warning(f"{markup.plain(few)} {text('ebm_unclear')}", icon="⚠️", title="What stands out may be chance")


@st.fragment
def _shape(words: Any, true: Truth | None, key: str) -> None:
    if not words.model.terms:
        st.info("This model reads no column: everyone gets the same prediction.")
        return
    term = view.choose_term(words.model, key)
    outputs = view.choose_outputs(words.model, term, words.target, key)
    view.shape(words, term, outputs, true, key)


def _check(words: Any, key: str) -> None:
    if words.model.classes:
        evaluation.render(words.model, words.target, counted(words.schema), key, typical=True)
    else:
        number_check.number_check(words.model, words.target, words.unit)
