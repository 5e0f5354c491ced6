"""The custodian's view of the cluster that answers questions to the records, if there is one."""

from __future__ import annotations

import streamlit as st

from pages.components.kit.markup import text
from pages.components.visitor import access


def render() -> None:
    """Who answers, and the link to Dask's dashboard; nothing without a cluster."""
    service = access.service()
    if not service.on_cluster:
        return
    with st.expander("Cluster"):
        st.markdown(text("cluster"))
        if st.button("See who answers", key="cluster-ask"):
            status, problem = access.attempt(service.executor_status)
            if status is None:
                st.warning(problem)
            else:
                st.code(status, language=None)
