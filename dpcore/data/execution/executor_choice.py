"""Which executor the operator has chosen."""

from __future__ import annotations

import os

from dpcore.data.execution.executors import CLUSTER, LOCAL, Executor
from dpcore.errors import ClusterError


def cluster_address() -> str:
    """Where the scheduler of the operator's cluster listens; empty without one."""
    return os.environ.get(CLUSTER, "").strip()


def configured_executor() -> Executor:
    """The executor that the operator has chosen: this process, or a Dask cluster.

    Raises
    ------
    ClusterError
        If the cluster cannot be used.
    """
    address = cluster_address()
    if not address:
        return LOCAL
    try:
        from dpcore.data.execution.clusters import connected
    except ImportError:
        raise ClusterError(
            f"{CLUSTER} is set, but Dask is not installed. Install it with: pip install frostglass[scale]"
        ) from None
    return connected(address)
