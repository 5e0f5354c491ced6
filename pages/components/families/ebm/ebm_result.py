"""One released explainable boosting machine."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dpcore.domain.counted import counted
from dpcore.models.ebm.released.ebm_reading import MOST_TERMS, importances_table, scores_table
from dpcore.models.ebm.released.ebm_words import EBMWords
from dpcore.plots.ebm.ebm_case import case_alt, case_figure, case_steps
from dpcore.released.blocks import Figure, Noisy, Table
from dpcore.released.release import Release
from pages.components.families.shared import blocks, downloads, evaluation, predict, truth
from pages.components.families.shared.truth import Truth
from pages.components.kit import drawing, figure, markup
from pages.components.kit.markup import text

CSV = "the score table: what every group of every column adds"


def render(release: Release, model: Any, key: str, *, public: bool) -> None:
    """Importances first, then one shape, then everything else."""
    words = _words(release, model)
    _warn(model)
    true = truth.ask(release, key) if public else None
    st.subheader(markup.plain(f"What counts for {release.target}"), anchor=False)
    st.markdown(text("importances"))
    importances(words, key)
    st.subheader("Shape of one column", anchor=False)
    _shape(words, true, key)
    drawing.tabs_apart(
        {
            "All columns": lambda: terms_table(words),
            "One case": lambda: case(release, words, key),
            "In words": lambda: _in_words(words),
            "Hold-out check": lambda: _check(words, key),
            "Certificate": lambda: downloads.certificate(release),
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
    importances(words, key)
    with st.expander("The same as a table"):
        terms_table(words)
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
    term = choose_term(words.model, key)
    outputs = choose_outputs(words.model, term, words.target, key)
    shape(words, term, outputs, true, key)


def _check(words: Any, key: str) -> None:
    if words.model.classes:
        evaluation.render(words.model, words.target, counted(words.schema), key, typical=True)
    else:
        evaluation.number_check(words.model, words.target, words.unit)


#: Classes that a figure shows together.
MOST_LINES = 3
#: Rows of a table; the CSV holds the rest.
MOST_ROWS = 300
WITHIN = "within the noise"


def importances(words: Any, key: str) -> None:
    """Bars of what each term adds on average."""
    blocks.render(Figure("importance", "What counts most", (words, MOST_TERMS)), f"{key}-importances")
    terms = len(words.model.terms)
    if terms > MOST_TERMS:
        st.caption(f"The first {MOST_TERMS} of {terms}; the table holds all.")


def terms_table(words: Any) -> None:
    """Table twin of the importances."""
    blocks.render(importances_table(words))


def choose_term(model: Any, key: str) -> Any:
    """One of the terms, the most important first."""
    ranked = model.ranked()
    place = st.selectbox(
        "Show the shape of",
        range(len(ranked)),
        format_func=lambda n: ranked[n].name + ("" if ranked[n].clear else f" ({WITHIN})"),
        key=f"{key}-term",
    )
    return ranked[place]


def choose_outputs(model: Any, term: Any, target: str, key: str) -> list[int]:
    """Which classes a figure shows: all of them if they are few."""
    outputs = list(range(len(model.outputs)))
    if len(term.axes) == 2 and len(outputs) > 1:
        return [choose_output(model, target, f"{key}-pair")]
    if len(outputs) <= MOST_LINES:
        return outputs
    chosen = st.multiselect(
        f"Values of {target} to show (up to {MOST_LINES})",
        outputs,
        outputs[:MOST_LINES],
        format_func=model.outputs.__getitem__,
        max_selections=MOST_LINES,
        key=f"{key}-outputs",
    )
    return sorted(chosen) or outputs[:MOST_LINES]


def choose_output(model: Any, target: str, key: str, first: int = 0) -> int:
    """One class; asked only if there are more than two."""
    if len(model.outputs) == 1:
        return 0
    return int(
        st.selectbox(
            f"Show what speaks for this value of {target}",
            range(len(model.outputs)),
            first,
            format_func=model.outputs.__getitem__,
            key=f"{key}-output",
        )
    )


def shape(words: Any, term: Any, outputs: list[int], true: Truth | None, key: str) -> None:
    """The shape of one term in words, as a figure and as a table."""
    # Signs and numbers stay together at the end of a line.
    st.markdown(markup.plain(words.sentence(term).replace("× ", "×\u00a0")))
    counts = None if true is None else true.counts[words.model.terms.index(term)]
    blocks.draw(Figure("shape", f"Shape of {term.name}", (words, term, outputs)), f"{key}-shape", counts)
    st.caption(_how_to_read(term))
    with st.expander("The same as a table"):
        blocks.render(scores_table(words, [term], outputs, counts, MOST_ROWS))


def _how_to_read(term: Any) -> str:
    if len(term.axes) == 2:
        kind = "shape_pair"
    else:
        kind = "shape_categories" if term.axes[0].edges is None else "shape_numbers"
    return text(kind)


@st.fragment
def case(release: Release, words: Any, key: str) -> None:
    """A form for one case and, once it is sent, how the prediction adds up."""
    used = words.model.columns()
    if not used:
        st.info("This model reads no column: everyone gets the same prediction.")
        return
    values = predict.ask(release, used, key, "How does it add up?")
    if values is not None:
        _waterfall(release, words, values, key)


def _waterfall(release: Release, words: Any, values: dict[str, Any], key: str) -> None:
    parts = words.model.explain(values, release.domain)
    output = choose_output(words.model, release.target, f"{key}-case", int(words.total(parts)[0].argmax()))
    steps = case_steps(words, parts, output)
    told = f"{words.prediction(parts, output)} {words.doubts(parts, output)}".strip()
    st.success(
        " ".join([markup.plain(told), text("case_is_a_group")]),
        title=markup.plain(words.prediction_title(parts)),
        icon="➡️",
    )
    figure.render(
        case_figure(words, parts, output),
        key=f"{key}-case-figure",
        alt=case_alt(words, parts, output),
    )
    st.caption(text("case_figure"))
    with st.expander("The same as a table"):
        rows = [(step.name, Noisy(words.amount(step.change), words.beside(step.change, step.error))) for step in steps]
        blocks.render(Table.of(f"How it adds up to {words.effect(output)}", ("Part", "Adds or takes"), rows, len(rows)))
