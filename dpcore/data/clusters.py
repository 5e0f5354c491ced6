"""Kernels on a Dask cluster: workers open partitions where they run, and send back sums.

A question is one task for each worker: the worker asks its share of the partitions and adds up.
Which worker asks which partition does not matter for the answer; that it is the same one each time
keeps what it has worked out before. A worker that is lost costs time: another one is asked in its place,
and opens the partitions again.
"""

from __future__ import annotations

import ipaddress
import itertools
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError
from functools import lru_cache
from typing import Any, Concatenate, Final
from urllib.parse import urlsplit

from distributed import Client, Future, Security, get_worker, wait
from distributed.comm.core import CommClosedError
from distributed.scheduler import KilledWorker

import dpcore
from dpcore.data.executors import CLUSTER, LocalExecutor, Public, Sums, added
from dpcore.data.partition import Partition
from dpcore.data.storage import opened
from dpcore.errors import ClusterError, SchemaError

#: Seconds to wait for a scheduler and its workers, before a run begins and in the middle of one.
_BEFORE: Final = 20
_MEANWHILE: Final = 600
#: Seconds after which it is seen whether the workers that were asked are still there.
_LOOK: Final = 1.0
#: Workers that a question may lose before it is taken for the cause.
_MOST_LOST: Final = 20
#: Seconds for which a list of workers is believed.
_FRESH: Final = 5.0
_LOST = (CancelledError, CommClosedError, KilledWorker, OSError, TimeoutError)


@lru_cache(maxsize=4)
def connected(address: str) -> ClusterExecutor:
    """The executor of a cluster, connected when it is needed."""
    return ClusterExecutor(address)


class ClusterExecutor:
    """Partitions on the workers of a Dask cluster.

    Parameters
    ----------
    address : str
        Of the scheduler: ``tls://host:port``, or ``tcp://`` on this machine. Certificates are those
        of Dask's own configuration (``distributed.comm.tls``).

    Raises
    ------
    ClusterError
        If records would cross a network without encryption.
    """

    def __init__(self, address: str) -> None:
        self._address = address
        self._encrypted = _checked(address)
        self._client: Client | None = None
        self._workers: list[str] = []
        self._asked_for = -_FRESH

    def check(self, partitions: Sequence[Partition]) -> None:
        """See that workers are there, run this version and reach the files."""
        try:
            client = self._connect(_BEFORE)
            client.wait_for_workers(1, timeout=_BEFORE)
            told = client.run(_tell, [partition.place for partition in partitions])
        except _LOST:
            self._forget()
            raise ClusterError(
                f"The cluster at {self._address} does not answer. Ask whoever runs it to start its "
                f"scheduler and workers, or to take {CLUSTER} away."
            ) from None
        self._check_workers(told)

    def total(
        self,
        kernel: Callable[Concatenate[Partition, Public], Sums],
        partitions: Sequence[Partition],
        *public: Public.args,
        **named: Public.kwargs,
    ) -> Sums:
        """The sum of ``kernel(partition, *public, **named)`` over all partitions.

        Asked again, for some minutes, if the cluster goes away meanwhile: the answer is the same.
        """
        until = time.monotonic() + _MEANWHILE
        while True:
            try:
                whole: Sums = self._asked(kernel, partitions, public, named)
                return whole
            except _LOST:
                self._forget()
                if time.monotonic() > until:
                    raise ClusterError("The cluster went away in the middle of a run.") from None
                time.sleep(1)

    def _asked(self, kernel: Any, partitions: Sequence[Partition], public: Any, named: Mapping[str, Any]) -> Any:
        client = self._connect(_MEANWHILE)
        workers = self._workers_of(client)[: len(partitions)]
        shares = [list(partitions[first :: len(workers)]) for first in range(len(workers))]

        def ask(share: list[Partition], worker: str) -> Future:
            return client.submit(_share, kernel, share, public, dict(named), pure=False, workers=[worker])

        asked = [(share, worker, ask(share, worker)) for share, worker in zip(shares, workers, strict=True)]
        lost = 0
        while True:
            try:
                with client.as_current():
                    wait([future for _, _, future in asked], timeout=_LOOK)
                return added(client.gather([future for _, _, future in asked]))
            except TimeoutError:
                # Not left to the scheduler: a task whose worker is gone could wait for ever.
                self._asked_for = -_FRESH
                there = itertools.cycle(self._workers_of(client))
                lost += sum(worker not in self._workers for _, worker, _ in asked)
                if lost > _MOST_LOST:
                    raise ClusterError("Too many workers were lost in one question.") from None
                asked = [
                    (share, worker, future) if worker in self._workers else (share, new := next(there), ask(share, new))
                    for share, worker, future in asked
                ]

    def _workers_of(self, client: Client) -> list[str]:
        """Addresses of the workers: those of some seconds ago will do."""
        if time.monotonic() - self._asked_for > _FRESH:
            client.wait_for_workers(1, timeout=_MEANWHILE)
            self._workers = sorted(client.nthreads())
            if not self._workers:
                raise TimeoutError("the last worker has just left")
            self._asked_for = time.monotonic()
        return self._workers

    def _connect(self, patience: int) -> Client:
        if self._client is None or self._client.status != "running":
            self._forget()
            security = self._security()
            self._client = Client(self._address, security=security, timeout=patience, set_as_default=False)
        return self._client

    def _security(self) -> Security | None:
        if not self._encrypted:
            return None
        security = Security(require_encryption=True)
        if security.get_connection_args("client")["ssl_context"] is None:
            raise ClusterError(
                f"The cluster at {self._address} asks for encryption, and no certificate is set here. Set "
                "distributed.comm.tls.ca-file, client.cert and client.key in Dask's configuration."
            )
        return security

    def _forget(self) -> None:
        if self._client is not None:
            self._client.close(timeout=1)
            self._client = None
        self._asked_for = -_FRESH

    def _check_workers(self, told: Mapping[str, tuple[str, bool]]) -> None:
        if any(version != dpcore.__version__ for version, _ in told.values()):
            raise ClusterError(
                f"The workers of the cluster at {self._address} run another version of Frostglass. "
                "Ask whoever runs it to install the same one everywhere."
            )
        if not all(seen for _, seen in told.values()):
            raise ClusterError(
                f"The workers of the cluster at {self._address} cannot read the stored records. Ask "
                "whoever runs it to give them the same folder, under the same path."
            )
        if not self._encrypted and not all(_is_here(worker) for worker in told):
            raise ClusterError(
                "Workers on other machines need encryption: set up TLS for the cluster, and a "
                f"{CLUSTER} that begins with tls://."
            )


def _checked(address: str) -> bool:
    """Whether an address asks for encryption. Raises ``ClusterError`` if it must and does not."""
    scheme, host = urlsplit(address).scheme, urlsplit(address).hostname
    if scheme not in ("tcp", "tls") or not host:
        raise ClusterError(f"{CLUSTER} must be like tls://host:8786, or tcp://127.0.0.1:8786 on this machine.")
    if scheme == "tcp" and not _is_here(address):
        raise ClusterError(
            f"{CLUSTER} names another machine without encryption: set up TLS for the cluster, and "
            "begin the address with tls://."
        )
    return scheme == "tls"


def _is_here(address: str) -> bool:
    host = urlsplit(address).hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _tell(places: Sequence[tuple[str, int]]) -> tuple[str, bool]:
    """What a worker says of itself: its version, and whether it can open all partitions."""
    try:
        for place in places:
            opened(*place)
    except SchemaError:
        return dpcore.__version__, False
    return dpcore.__version__, True


def _share(kernel: Any, partitions: Sequence[Partition], public: Any, named: Mapping[str, Any]) -> Any:
    """The sum over some partitions, on a worker."""
    return _executor(get_worker().state.nthreads).total(kernel, partitions, *public, **named)


@lru_cache(maxsize=4)
def _executor(cores: int) -> LocalExecutor:
    return LocalExecutor(cores)
