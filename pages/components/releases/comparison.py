"""Two results side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from itertools import pairwise
from typing import Any

import streamlit as st

from dpcore.domain.labels import called
from dpcore.released.noisy_counts import percent
from dpcore.released.release import Release
from dpcore.released.verdict import auc_number
from pages.components.families import registry
from pages.components.families.shared import certificate, number_check
from pages.components.kit import markup
from pages.components.kit.texts import text
from pages.components.releases import release_names


def show(releases: Sequence[Release], names: Mapping[str, str]) -> None:
    """Choose two results and see them with their certificates, beside each other."""
    if len(releases) < 2:
        st.info("Comparing needs two results. There is one so far.")
        return
    st.markdown(text("compare"))
    places = st.columns(2, gap="large")
    pair = [_choose(place, releases, names, n) for n, place in enumerate(places)]
    for place, release, side in zip(places, pair, "ab", strict=True):
        with place:
            _side(release, f"compare-{side}")
    _differences(*pair)


def _choose(place: Any, releases: Sequence[Release], names: Mapping[str, str], n: int) -> Release:
    chosen = place.selectbox(
        ("First result", "Second result")[n],
        list(names),
        index=n,
        format_func=names.__getitem__,
        key=release_names.SIDES[n],
    )
    return next(release for release in releases if release.id == chosen)


def _side(release: Release, key: str) -> None:
    from dpcore.models.readable import readable
    from dpcore.models.released import parse_model

    release = readable(release)
    model = parse_model(release)
    registry.of_release(release).side(release, model, key)


def _differences(first: Release, second: Release) -> None:
    left, right = _lines(first), _lines(second)
    rows = [
        markup.row(
            [
                escape(name),
                *(escape(side.get(name, "none")) for side in (left, right)),
                _same(same),
            ],
            style="" if same else "diff",
        )
        for name in _in_order(left, right)
        for same in [left.get(name) == right.get(name)]
    ]
    markup.table("Certificates and quality", ["What", "First", "Second", "Same?"], rows)


def _in_order(left: Mapping[str, str], right: Mapping[str, str]) -> list[str]:
    """Names of the lines of either side; those of one side stay near their neighbours."""
    order = list(left)
    for before, name in pairwise(right):
        if name not in left:
            order.insert(order.index(before) + 1, name)
    return order


def _same(same: bool) -> str:
    return "same" if same else "≠ differs"


def _lines(release: Release) -> dict[str, str]:
    from dpcore.models.released import parse_model

    model = parse_model(release)
    family = registry.of_release(release)
    return {
        "Data set": release.dataset_name,
        **registry.predicted("Predicts", called(release.domain, release.target)),
        "Result": family.describe(release.parameters),
        **family.figures(model),
        "Noise on a count": f"±{model.count_margin:,}, 95%",
        **(_quality(model.evaluation) if family.targeted else {}),
        **certificate.lines(release),
    }


def _quality(check: Any) -> dict[str, str]:
    """Quality on people set aside, of a model of classes or of a number."""
    if hasattr(check, "rmse"):
        return {
            "Noisy typical error (RMSE)": number_check.error_words(check.rmse),
            "The same number for everyone": number_check.error_words(check.constant_rmse),
        }
    return {
        "Noisy accuracy": _figure(check.accuracy if check else None),
        "Noisy AUC": _auc(check.auc if check else None),
    }


def _auc(figure: Any) -> str:
    if figure is None:
        return "not known"
    return f"{auc_number(figure.value)} (noise alone ±{auc_number(figure.noise_margin)})"


def _figure(figure: Any) -> str:
    if figure is None:
        return "not known"
    return f"{percent(figure.value)} (noise alone ±{percent(figure.noise_margin)})"
