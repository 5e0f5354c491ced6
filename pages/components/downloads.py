"""A release as files; free."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dpcore.release import Release


def show(release: Release, model: Any, key: str, csv: str) -> None:
    """JSON of the whole release and CSV of its table twin, which holds ``csv``."""
    st.markdown(f"Downloading is free. JSON holds everything; CSV holds {csv}.")
    name = f"frostglass-{release.target}-{release.id[:8]}"
    left, right = st.columns(2)
    left.download_button(
        "Download JSON", release.to_json(), f"{name}.json", "application/json",
        key=f"{key}-json", on_click="ignore", width="stretch",
    )  # fmt: skip
    right.download_button(
        "Download CSV", model.to_frame().to_csv(index=False), f"{name}.csv", "text/csv",
        key=f"{key}-csv", on_click="ignore", width="stretch",
    )  # fmt: skip
