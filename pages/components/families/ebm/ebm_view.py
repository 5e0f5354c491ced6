"""Pieces of a released explainable boosting machine: importances, one shape, one case."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import streamlit as st

from dpcore.numerals import whole
from dpcore.released.evaluation import Z95
from dpcore.released.release import Release
from pages.components.families.shared import cells, predict
from pages.components.families.shared.truth import Truth
from pages.components.kit import figure, markup
from pages.components.kit.texts import text

#: Classes that a figure shows together.
MOST_LINES = 3
#: Rows of a table; the CSV holds the rest.
MOST_ROWS = 300
WITHIN = "within the noise"


def importances(words: Any, key: str) -> None:
    """Bars of what each term adds on average."""
    from dpcore.plots.ebm.ebm import MOST_TERMS, importance_alt, importance_figure

    figure.show(importance_figure(words), key=f"{key}-importances", alt=importance_alt(words))
    terms = len(words.model.terms)
    if terms > MOST_TERMS:
        st.caption(f"The first {MOST_TERMS} of {terms}; the table holds all.")


def terms_table(words: Any) -> None:
    """Table twin of the importances."""
    rows = [
        markup.row(
            [
                escape(term.name),
                escape(words.amount(term.importance).lstrip("+")),
                str(len(term.scores)),
                "stands out" if term.clear else f'<div class="fg-unclear">{WITHIN}</div>',
            ]
        )
        for term in words.model.ranked()
    ]
    header = ["Column or pair", "Adds or takes, on average", "Groups", "Compared with the noise"]
    markup.table(f"What counts for {words.target}, most important first", header, rows)


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
    from dpcore.plots.ebm.ebm import shape_alt, shape_figure

    # Signs and numbers stay together at the end of a line.
    st.markdown(markup.plain(words.sentence(term).replace("× ", "×\u00a0")))
    counts = None if true is None else true.counts[words.model.terms.index(term)]
    figure.show(
        shape_figure(words, term, outputs, counts),
        key=f"{key}-shape",
        alt=shape_alt(words, term, outputs),
    )
    st.caption(_how_to_read(term, true))
    with st.expander("The same as a table"):
        shape_table(words, term, outputs, counts)


def _how_to_read(term: Any, true: Truth | None) -> str:
    if len(term.axes) == 2:
        kind = "shape_pair"
    else:
        kind = "shape_categories" if term.axes[0].edges is None else "shape_numbers"
    more = " " + text("shape_true") if true is not None and kind != "shape_pair" else ""
    return text(kind) + more


def shape_table(words: Any, term: Any, outputs: Sequence[int], counts: Sequence[int] | None) -> None:
    """Every group of a term: what it adds, and noisy records."""
    header = ["Group", *(f"Adds to {words.effect(output)}" for output in outputs)]
    header += ["Noisy records"] + (["True records"] if counts is not None else [])
    rows = []
    for place, name in enumerate(words.bins(term)[:MOST_ROWS]):
        cells = [escape(name)]
        for output in outputs:
            score, error = term.scores[place][output], term.errors[place][output]
            cells.append(_score_cell(words, score, error))
        cells.append(_count_cell(term.noisy_counts[place], term.count_errors[place]))
        cells += [whole(counts[place])] if counts is not None else []
        rows.append(markup.row(cells))
    caption = f"Shape of {term.name}. Intervals are for the noise alone, 95%."
    if len(term.scores) > MOST_ROWS:
        caption += f" The first {MOST_ROWS} of {len(term.scores)} groups; the CSV holds all."
    markup.table(caption, header, rows)
    if any(count < 0 for count in term.noisy_counts):
        st.caption(text("negative_counts"))


def _score_cell(words: Any, score: float, error: float) -> str:
    amount, _, rest = words.told(score, error).partition(" ")
    return f"<b>{escape(amount)}</b> <small>{escape(rest.strip('()'))}</small>"


def _count_cell(count: int, error: float) -> str:
    return f'<div class="fg-counts">{cells.count(count, f" ±{whole(Z95 * error)}")}</div>'


@st.fragment
def case(release: Release, words: Any, key: str) -> None:
    """A form for one case and, once it is sent, how the prediction adds up."""
    st.markdown(text("case"))
    used = words.model.columns()
    if not used:
        st.info("This model reads no column: everyone gets the same prediction.")
        return
    values = predict.ask(release, used, key, "How does it add up?")
    if values is not None:
        _waterfall(release, words, values, key)


def _waterfall(release: Release, words: Any, values: dict[str, Any], key: str) -> None:
    from dpcore.plots.ebm.ebm_case import case_alt, case_figure, case_steps

    parts = words.model.explain(values, release.domain)
    output = choose_output(words.model, release.target, f"{key}-case", int(words.total(parts)[0].argmax()))
    steps = case_steps(words, parts, output)
    told = f"{words.prediction(parts, output)} {words.doubts(parts, output)}".strip()
    st.success(
        " ".join([markup.plain(told), text("case_is_a_group")]),
        title=markup.plain(words.prediction_title(parts)),
        icon="➡️",
    )
    figure.show(
        case_figure(words, parts, output),
        key=f"{key}-case-figure",
        alt=case_alt(words, parts, output),
    )
    st.caption(text("case_figure"))
    with st.expander("The same as a table"):
        rows = [markup.row([escape(step.name), _score_cell(words, step.change, step.error)]) for step in steps]
        markup.table(f"How it adds up to {words.effect(output)}", ["Part", "Adds or takes"], rows)
