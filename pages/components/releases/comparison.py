"""Two or more results: what they say first, then side by side, then their certificates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from itertools import pairwise
from typing import Any

import streamlit as st

from dpcore.domain.schemas.labels import called
from dpcore.models.readable import readable
from dpcore.models.released import parse_model
from dpcore.numerals import hundredths, percent, whole, within
from dpcore.released.evaluation import Figure
from dpcore.released.release import Release
from dpcore.report.certificate import certificate_lines
from pages.components.families import registry
from pages.components.families.registry import IntervalText, compared
from pages.components.families.shared import evaluation
from pages.components.kit import drawing, markup
from pages.components.kit.markup import text
from pages.components.releases import found, release_names


def render(releases: Sequence[Release], names: Mapping[str, str]) -> None:
    """Choose results; see what they say of each column, then two of them in full, then certificates."""
    if len(releases) < 2:
        st.info("Comparing needs two results. There is one so far.")
        return
    st.markdown(text("compare"))
    places = st.columns(2, gap="large")
    first = _choose(places[0], releases, names, 0, 0)
    alike = [n for n, release in enumerate(releases) if release.target == first.target and release.id != first.id]
    pair = [first, _choose(places[1], releases, names, 1, alike[0] if alike else 1)]
    more = _further(releases, names, pair)
    with drawing.placeholder():
        found.render([*pair, *more])
    st.markdown("#### The first two in full")
    for place, release, side in zip(st.columns(2, gap="large"), pair, "ab", strict=True):
        with place:
            _side(release, f"compare-{side}")
    _differences([*pair, *more])


def _choose(place: Any, releases: Sequence[Release], names: Mapping[str, str], n: int, at: int) -> Release:
    chosen = place.selectbox(
        ("First result", "Second result")[n],
        list(names),
        index=at,
        format_func=names.__getitem__,
        key=release_names.SIDES[n],
    )
    return next(release for release in releases if release.id == chosen)


def _further(releases: Sequence[Release], names: Mapping[str, str], pair: Sequence[Release]) -> list[Release]:
    chosen = st.multiselect(
        "Further results",
        list(names),
        format_func=names.__getitem__,
        key=release_names.FURTHER,
        max_selections=4,
        placeholder="None",
    )
    taken = {release.id for release in pair}
    return [release for release in releases if release.id in chosen and release.id not in taken]


def _side(release: Release, key: str) -> None:
    release = readable(release)
    model = parse_model(release)
    registry.of_release(release).side(release, model, key)


def _differences(releases: Sequence[Release]) -> None:
    """How good each is; what each promises is folded."""
    shown = [readable(release) for release in releases]
    _table("Quality", [_lines(release) for release in shown])
    with st.expander("Certificates", key="compare-certificates"):
        _table("Certificates", [certificate_lines(release) for release in shown])


def _table(caption: str, sides: Sequence[Mapping[str, str | IntervalText]]) -> None:
    rows = []
    for name in _in_order(sides):
        told, how = compared([side.get(name) for side in sides])
        style = "diff" if how.startswith("≠") else ""
        rows.append(markup.row([escape(name), *map(escape, told), how], style=style))
    markup.table(caption, ["What", *(f"Result {place + 1}" for place in range(len(sides))), "Same?"], rows)


def _in_order(sides: Sequence[Mapping[str, str | IntervalText]]) -> list[str]:
    """Names of the lines of any side; those of one side stay near their neighbours."""
    order = list(sides[0])
    for side in sides[1:]:
        for before, name in pairwise(["", *side]):
            if name not in order:
                order.insert(order.index(before) + 1 if before else 0, name)
    return order


def _lines(release: Release) -> dict[str, str | IntervalText]:
    model = parse_model(release)
    family = registry.of_release(release)
    return {
        "Data set": release.dataset_name,
        **registry.predicted("Predicts", called(release.domain, release.target)),
        "Result": family.describe(release.parameters),
        **family.figures(model),
        "Noise on a count": f"±{whole(model.count_margin)}, 95%",
        **(_quality(model.evaluation) if family.targeted else {}),
    }


def _quality(check: Any) -> dict[str, str | IntervalText]:
    """Quality on people set aside, of a model of classes or of a number."""
    if hasattr(check, "rmse"):
        return {
            "Noisy typical error (RMSE)": _ranged(check.rmse, evaluation.error_words),
            "The same number for everyone": _ranged(check.constant_rmse, evaluation.error_words),
        }
    return {
        "Noisy accuracy": _ranged(check.accuracy if check else None, _accuracy),
        "Noisy AUC": _ranged(check.auc if check else None, _auc),
    }


def _ranged(figure: Figure | None, words: Callable[[Figure], str]) -> str | IntervalText:
    """A figure with its interval for the noise."""
    if figure is None:
        return "not known"
    return IntervalText(words(figure), figure.value - figure.noise_margin, figure.value + figure.above)


def _auc(figure: Figure) -> str:
    return f"{hundredths(figure.value)} (noise alone ±{hundredths(figure.noise_margin)})"


def _accuracy(figure: Figure) -> str:
    return f"{percent(figure.value)} (noise alone {within(figure.noise_margin)})"
