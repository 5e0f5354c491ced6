"""The one place where figures are put on a page, in the colours of its background."""

from __future__ import annotations

from typing import Any

import streamlit as st

from pages.components.kit import theme

_CONFIG = {"displayModeBar": False, "scrollZoom": False}


def render(figure: Any, *, key: str, alt: str, **options: Any) -> Any:
    """Show a figure; ``options`` are those of ``st.plotly_chart``.

    Returns what ``st.plotly_chart`` returns.
    """
    from dpcore.plots.palette import in_the_dark

    return st.plotly_chart(
        in_the_dark(figure) if theme.is_dark() else figure, key=key, alt=alt, theme=None, config=_CONFIG, **options
    )
