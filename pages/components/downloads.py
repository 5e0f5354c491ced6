"""A release as files; free."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dpcore.release import Release


def file_name(release: Release) -> str:
    """Name of a file without its ending: what is predicted or, without a target, the family."""
    return f"frostglass-{release.target or release.kind}-{release.id[:8]}"


def show(release: Release, model: Any, key: str, csv: str) -> None:
    """JSON of the whole release and CSV of its table twin, which holds ``csv``."""
    st.markdown(f"Downloading is free. JSON holds everything; CSV holds {csv}.")
    name = file_name(release)
    left, right = st.columns(2)
    left.download_button(
        "Download JSON", release.to_json(), f"{name}.json", "application/json",
        key=f"{key}-json", on_click="ignore", width="stretch",
    )  # fmt: skip
    right.download_button(
        "Download CSV", model.to_frame().to_csv(index=False), f"{name}.csv", "text/csv",
        key=f"{key}-csv", on_click="ignore", width="stretch",
    )  # fmt: skip
