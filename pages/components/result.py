"""One released rule list, in full."""

from __future__ import annotations

import streamlit as st

from dpcore.privacy import format_epsilon
from dpcore.release import Release
from pages.components import access, certificate, evaluation, markup, predict, rules_table
from pages.components.texts import text
from pages.components.truth import Truth, of_release

_TABS = ("In words", "Chart", "Hold-out check", "Predict a case", "Certificate", "Download")


def show(release: Release, *, key: str, rehearsal: bool = False) -> None:
    """Table first, then everything that can be derived from it for free."""
    from dpcore.algorithms import parse_model

    model = parse_model(release)
    public = False if rehearsal else _is_public(release)
    _banners(release, rehearsal=rehearsal, public=public)
    markup.facts(
        {
            "Predicts": release.target,
            "Spent": "nothing" if rehearsal else f"ε {format_epsilon(release.certificate.epsilon)}",
            "Guarantee": "none: rehearsal" if rehearsal else release.certificate.guarantee,
            "Noise on a count": f"±{model.count_margin}, 95%",
        }
    )
    shown = rules_table.choose_class(model, release.target, key)
    truth = _truth(release, key) if public else None
    rules_table.show(release, model, shown, truth)
    words, chart, check, case, card, files = st.tabs(_TABS, key=f"{key}-tabs")
    with words:
        _reading(model, release.target)
    with chart:
        _chart(release, key)
    with check:
        evaluation.show(model, release.target)
    with case:
        predict.show(release, model, shown, key)
    with card:
        certificate.show(release)
    with files:
        downloads(release, model, key)


def _is_public(release: Release) -> bool:
    info, _ = access.attempt(lambda: access.service().dataset(release.dataset_id))
    return info is not None and info.public


def _banners(release: Release, *, rehearsal: bool, public: bool) -> None:
    if rehearsal:
        markup.banner("rehearsal", "rehearsal_banner")
    elif not release.certificate.private:
        markup.banner("amber", "seeded_banner")
    if public:
        markup.banner("public", "public_banner")


def _truth(release: Release, key: str) -> Truth | None:
    wanted = st.toggle("Show true values beside noisy ones (public data only)", key=f"{key}-truth")
    if not wanted:
        return None
    st.caption(text("true_values"))
    truth, problem = access.attempt(lambda: of_release(release))
    if problem:
        st.warning(problem)
    return truth


def _reading(model: object, target: str) -> None:
    for sentence in model.reading(target):  # type: ignore[attr-defined]
        st.markdown(f"- {markup.plain(sentence)}")
    st.markdown(text("reading"))


def _chart(release: Release, key: str) -> None:
    from dpcore.plots import rule_list_alt, rule_list_figure

    st.plotly_chart(
        rule_list_figure(release),
        key=f"{key}-chart",
        theme=None,
        alt=rule_list_alt(release),
        config={"displayModeBar": False},
    )
    st.caption("The same numbers are in the table above.")


def downloads(release: Release, model: object, key: str) -> None:
    """The release as files; free."""
    st.markdown("Downloading is free. JSON holds everything; CSV holds the rules.")
    name = f"frostglass-{release.target}-{release.id[:8]}"
    left, right = st.columns(2)
    left.download_button(
        "Download JSON", release.to_json(), f"{name}.json", "application/json",
        key=f"{key}-json", on_click="ignore", width="stretch",
    )  # fmt: skip
    table = model.to_frame().to_csv(index=False)  # type: ignore[attr-defined]
    right.download_button(
        "Download CSV", table, f"{name}.csv", "text/csv",
        key=f"{key}-csv", on_click="ignore", width="stretch",
    )  # fmt: skip
