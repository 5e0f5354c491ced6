"""The certificate of a release, in words."""

from __future__ import annotations

import streamlit as st

from dpcore.released.release import Release
from dpcore.report.certificate import certificate_lines
from pages.components.kit import markup
from pages.components.kit.markup import text


def certificate(release: Release) -> None:
    """Every field of the certificate."""
    st.markdown(text("certificate"))
    markup.pairs_table("Certificate", ("What", "Value"), certificate_pairs(release))


def certificate_pairs(release: Release) -> dict[str, str]:
    """Name and value of each line of the certificate."""
    return certificate_lines(release)
