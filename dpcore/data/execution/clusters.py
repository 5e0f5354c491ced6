"""Kernels on a Dask cluster: workers open partitions where they run, and send back sums.

A question is one message to each worker, which asks its share of the partitions and adds up.
Which worker asks which partition does not matter for the answer; that it is the same one each time
keeps what it has worked out before. A worker that is lost costs time: another one is asked in its place,
and opens the partitions again.
"""

from __future__ import annotations

import asyncio
import ipaddress
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import CancelledError, wait
from contextlib import suppress
from functools import lru_cache, partial
from typing import Any, Concatenate, Final, TypeVar, cast
from urllib.parse import urlsplit

from distributed import Client, Security, Worker
from distributed.comm.core import CommClosedError

from dpcore import version
from dpcore.data.execution.executors import CLUSTER, LocalExecutor, Public, Sums, added
from dpcore.data.partition import Partition
from dpcore.data.stored.remote_tables import STORE
from dpcore.data.stored.table_cache import cached_partition, cached_table
from dpcore.errors import ClusterError, SchemaError

#: Seconds without a sign of a worker after which none is expected, before a run begins and in the middle.
_BEFORE: Final = 20
_MEANWHILE: Final = 600
#: Seconds that the cluster may take to say who is there, or to hand over what it has found.
_SILENCE: Final = 60
#: Seconds after which it is seen whether the workers that were asked are still there.
_LOOK: Final = 1.0
#: Seconds between two messages to the scheduler, at least.
_PAUSE: Final = 0.0
#: Workers that a question may lose, and connections, before it is taken for the cause.
_MOST_LOST: Final = 20
#: Seconds for which a list of workers is believed.
_FRESH: Final = 5.0
_LOST = (CancelledError, CommClosedError, OSError, TimeoutError)
_TOO_MANY: Final = "Too many workers were lost in one question."
_Told = TypeVar("_Told")
#: Folder of a table, and number of a partition in it.
_Place = tuple[str, int]
#: A question as it is sent: what is asked of each partition, and its further arguments.
_Kernel = Callable[..., Sums]
_Public = tuple[object, ...]
_Named = Mapping[str, object]


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
        self._seen = self._asked_for = -_FRESH

    def check(self, partitions: Sequence[Partition]) -> None:
        """See that workers are there, run this version and reach the files."""
        places = _places(partitions)
        told = self._patiently(_BEFORE, lambda: self._told(places))
        self._check_workers(told)

    def status(self) -> str:
        """How many workers take questions, and where Dask's dashboard is."""
        return self._patiently(0, self._status)

    def _status(self) -> str:
        client = self._connect()
        running, port = _running(client), _identity(client)["services"].get("dashboard")
        link = f"http://{urlsplit(self._address).hostname}:{port}/status" if port else "none"
        return (
            f"cluster:    {self._address}\nworkers:    {len(running)}, with {sum(running.values())} threads together\n"
            f"dashboard:  {link}"
        )

    def total(
        self,
        kernel: Callable[Concatenate[Partition, Public], Sums],
        partitions: Sequence[Partition],
        *public: Public.args,
        **named: Public.kwargs,
    ) -> Sums:
        """The sum of ``kernel(partition, *public, **named)`` over all partitions.

        Asked again if the cluster goes away, until no worker was seen for some minutes: the answer is
        the same.
        """
        whole: Sums = self._patiently(_MEANWHILE, lambda: self._asked(kernel, partitions, public, named))
        return whole

    def _patiently(self, patience: int, ask: Callable[[], _Told]) -> _Told:
        """What ``ask`` gives, asked again while the cluster is away."""
        seen, lost = time.monotonic(), 0
        while True:
            try:
                return ask()
            except _LOST:
                self._forget()
                if self._seen > seen:
                    seen, lost = self._seen, lost + 1
                if time.monotonic() > seen + patience or lost > _MOST_LOST:
                    raise ClusterError(
                        f"The cluster at {self._address} does not answer. Ask whoever runs it to start its "
                        f"scheduler and workers, or to take {CLUSTER} away."
                    ) from None
                time.sleep(_LOOK)

    def _told(self, places: Sequence[_Place]) -> dict[str, tuple[str, bool]]:
        client = self._connect()
        self._workers_of(client)
        told: dict[str, tuple[str, bool]]
        try:
            told = _at_once(client, client.run, _tell, places)
        except _LOST:
            raise
        except Exception:  # noqa: BLE001 Dask hands on what failed on a worker as no kind of its own.
            raise ClusterError(
                f"A worker of the cluster at {self._address} cannot load Frostglass. Ask whoever runs it to "
                "install frostglass[scale] there, in the same version."
            ) from None
        return told

    def _asked(self, kernel: _Kernel[Sums], partitions: Sequence[Partition], public: _Public, named: _Named) -> Sums:
        client = self._connect()
        left, found, lost = _places(partitions), list[Sums](), 0
        there = self._workers_of(client)
        while True:
            shares = {worker: left[first :: len(there)] for first, worker in enumerate(there[: len(left)])}
            answers = self._answers(client, shares, kernel, public, named)
            gone = [worker for worker, answer in answers.items() if isinstance(answer, _LOST)]
            for worker, answer in answers.items():
                if isinstance(answer, Exception) and worker not in gone:
                    raise answer
            found += [answer for answer in answers.values() if not isinstance(answer, Exception)]
            if not gone:
                return added(found)
            lost += len(gone)
            if lost > _MOST_LOST:
                raise ClusterError(_TOO_MANY)
            time.sleep(_LOOK)
            left, self._asked_for = [place for worker in gone for place in shares[worker]], -_FRESH
            there = [worker for worker in self._workers_of(client) if worker not in gone] or self._workers

    def _answers(
        self, client: Client, shares: Mapping[str, list[_Place]], kernel: _Kernel[Sums], public: _Public, named: _Named
    ) -> dict[str, Sums | Exception]:
        """What each worker finds, or why it is lost.

        Not a task of Dask's: its books of tasks take five times as long as the question itself.
        """
        ask = partial(client.run, _share, shares, kernel, public, dict(named), asynchronous=True)
        asking = asyncio.run_coroutine_threadsafe(
            _awaited(partial(ask, workers=list(shares), on_error="return")), client.loop.asyncio_loop
        )
        try:
            while not wait([asking], timeout=_LOOK).done:
                # One that is gone without a word would be waited for for ever.
                if shares.keys() - _identity(client)["workers"].keys():
                    raise TimeoutError("a worker is gone")
                self._seen = time.monotonic()
            answers: dict[str, Sums | Exception] = asking.result()
            return answers
        finally:
            asking.cancel()

    def _workers_of(self, client: Client) -> list[str]:
        """Addresses of the workers that take questions: those of some seconds ago will do."""
        if time.monotonic() - self._asked_for > _FRESH:
            self._workers = sorted(_running(client))
            if not self._workers:
                raise TimeoutError("no worker is there")
            self._seen = self._asked_for = time.monotonic()
        return self._workers

    def _connect(self) -> Client:
        if self._client is None or self._client.status != "running":
            self._forget()
            security = self._security()
            self._client = Client(self._address, security=security, timeout=_BEFORE, set_as_default=False)
            # Dask holds messages back for ten milliseconds, to send several together; a question is alone.
            self._client.scheduler_comm.interval = _PAUSE
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
            with suppress(*_LOST):
                self._client.close(timeout=1)
            self._client = None
        self._asked_for = -_FRESH

    def _check_workers(self, told: Mapping[str, tuple[str, bool]]) -> None:
        if any(running != version.__version__ for running, _ in told.values()):
            raise ClusterError(
                f"The workers of the cluster at {self._address} run another version of Frostglass. "
                "Ask whoever runs it to install the same one everywhere."
            )
        if not all(seen for _, seen in told.values()):
            raise ClusterError(
                f"The workers of the cluster at {self._address} cannot read the stored records. Ask "
                f"whoever runs it to give them the same folder, under the same path; or a copy of it in an object "
                f"store, with a {STORE} that names it."
            )
        if not self._encrypted and not all(_is_here(worker) for worker in told):
            raise ClusterError(
                "Workers on other machines need encryption: set up TLS for the cluster, and a "
                f"{CLUSTER} that begins with tls://."
            )


def _at_once(client: Client, call: Callable[..., object], *arguments: object) -> Any:
    """What a call of a client gives. Raises ``TimeoutError`` where Dask would wait for ever."""
    return client.sync(partial(call, *arguments, asynchronous=True), callback_timeout=_SILENCE)


def _identity(client: Client) -> dict[str, Any]:
    """What the scheduler says of itself and its workers."""
    found: dict[str, Any] = client.sync(client.scheduler.identity, n_workers=-1, callback_timeout=_SILENCE)
    return found


def _running(client: Client) -> dict[str, int]:
    """Threads of each worker that takes questions; Dask stops those that it takes to be short of memory."""
    workers = _identity(client)["workers"]
    return {address: worker["nthreads"] for address, worker in workers.items() if worker["status"] == "running"}


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


def _places(partitions: Sequence[Partition]) -> list[_Place]:
    """Where partitions are stored: records are never sent, and the folder once in a message."""
    found = [(sys.intern(place[0]), place[1]) for place in (each.place for each in partitions) if place is not None]
    if len(found) < len(partitions):
        raise TypeError("records are not sent to a cluster: store them, and open them from there")
    return found


def _tell(places: Sequence[_Place]) -> tuple[str, bool]:
    """What a worker says of itself: its version, and whether it can open all partitions."""
    try:
        for directory in {directory for directory, _ in places}:
            cached_table(directory).check([number for there, number in places if there == directory])
    except SchemaError:
        return version.__version__, False
    return version.__version__, True


async def _share(
    shares: Mapping[str, list[_Place]], kernel: _Kernel[Sums], public: _Public, named: _Named, dask_worker: Worker
) -> Sums:
    """The sum over a worker's share of the partitions; it answers others meanwhile."""
    share, cores = shares[dask_worker.address], dask_worker.state.nthreads
    return await asyncio.to_thread(_sum, cores, kernel, share, public, named)


def _sum(cores: int, kernel: _Kernel[Sums], places: list[_Place], public: _Public, named: _Named) -> Sums:
    """The sum over some partitions. Its own faults must not pass for those of a connection."""
    try:
        return _executor(cores).total(_answer, cast("Any", places), kernel, public, named)
    except OSError:
        raise ClusterError("A worker of the cluster has no room, or cannot read its files any more.") from None


async def _awaited(ask: Callable[[], Awaitable[_Told]]) -> _Told:
    return await ask()


def _answer(place: Any, kernel: _Kernel[Sums], public: _Public, named: _Named) -> Sums:
    """What a kernel finds in one partition, which is opened, or fetched, by the thread that asks it."""
    return kernel(cached_partition(place), *public, **named)


@lru_cache(maxsize=4)
def _executor(cores: int) -> LocalExecutor:
    return LocalExecutor(cores)
