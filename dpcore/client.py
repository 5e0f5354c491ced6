"""A running Frostglass from a notebook or a program: budget, run, release.

The server applies the same rules, budgets and refusals as to a person at its pages. It needs
httpx: ``pip install "frostglass[client]"``.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from dpcore.errors import FrostglassError, RequestError
from dpcore.released.release import Release

if TYPE_CHECKING:
    import httpx

_VARIABLE = "FROSTGLASS_TOKEN"
_HOME_NAMES = ("localhost", "127.0.0.1", "::1")
#: Attempts to send a request to a server that does not answer, and the pause before the second.
_ATTEMPTS, _PAUSE = 5, 0.5
_POLL_SECONDS = 0.5
_ANOTHER = "What answers at this address is not Frostglass."


class RefusedError(FrostglassError):
    """The server refused a request; the message is its sentence.

    Attributes
    ----------
    status : int
        HTTP status: 401 no good token, 403 not allowed, 404 not there, 409 not in the budget, 422
        not a request that can be honoured, 503 the server cannot answer now.
    certain : bool
        Whether the server said so itself when it was asked for the first time: then it did nothing.
    """

    def __init__(self, message: str, status: int, *, certain: bool = False) -> None:
        super().__init__(message)
        self.status = status
        self.certain = certain


class UnansweredError(FrostglassError):
    """A run was accepted, or may have been, but its result did not arrive; the message says how to get it.

    Attributes
    ----------
    nonce : str
        Given to :meth:`Client.run` with the same request, it gets the same run, which is paid for once.
    run : str or None
        Identifier of the run; ``None`` if it is not known whether there is one.
    """

    def __init__(self, why: str, nonce: str, run: str | None = None) -> None:
        known = "It is not known whether the run was accepted" if run is None else f"The run {run} was accepted"
        super().__init__(f"{why} {known}. Ask for it again with nonce={nonce!r}: it is paid for once.")
        self.nonce, self.run = nonce, run


class RunFailedError(FrostglassError):
    """A run ended without a result; the message says why, and whether it is spent."""


@dataclass(frozen=True)
class Budget:
    """What the token's owner may still spend on a data set."""

    dataset: str
    cap: Decimal
    delta: Decimal
    """``cap``, ``delta``: epsilon and delta of the whole budget."""
    run_delta: Decimal
    """The delta at which every run promises its epsilon; 0 if all are pure."""
    spent: Decimal
    reserved: Decimal
    left: Decimal
    """``spent``, ``reserved``, ``left``: shares of the budget, from 0 to 1."""
    largest: Decimal
    """Largest epsilon of a run that would be accepted now."""


class Client:
    """A running Frostglass, entered as whoever got the token.

    Parameters
    ----------
    url : str
        Where the application is served, for example ``https://frostglass.hospital.example``. Other
        machines must be reached by ``https``: whoever reads the token can spend the budget.
    token : str, optional
        From the page Data sets, "For programs". Default: ``FROSTGLASS_TOKEN``.
    transport : httpx.BaseTransport, optional
        In place of the network, for tests.

    Raises
    ------
    RequestError
        If there is no token, or the address would send it in the clear.

    Examples
    --------
    ::

        client = Client("http://localhost:8501", token)
        client.budget("stroke").left
        release = client.run("stroke", "tree", target="stroke_within_year", epsilon=0.5)
        client.release(release.id)  # the same, at any later time, for free
    """

    def __init__(self, url: str, token: str | None = None, *, transport: httpx.BaseTransport | None = None) -> None:
        try:
            import httpx
        except ImportError:
            raise RequestError('The client needs httpx: pip install "frostglass[client]".') from None
        token = token or os.environ.get(_VARIABLE, "")
        if not token:
            raise RequestError(f"Get a token on the page Data sets, and pass it or put it into {_VARIABLE}.")
        self._error = httpx.RequestError
        self._http = httpx.Client(
            base_url=f"{_checked(url)}/api/v1/",
            headers={"Authorization": f"Bearer {token}"},
            timeout=30.0,
            transport=transport,
        )

    def budget(self, dataset: str) -> Budget:
        """What may still be spent on a data set, by name or identifier. Free.

        Raises
        ------
        RefusedError
            If the token is no longer good, or there is no such data set for its owner.
        """
        found = self._ask("GET", "budget", params={"dataset": dataset})
        return Budget(found.pop("dataset"), **{name: Decimal(amount) for name, amount in found.items()})

    def run(
        self,
        dataset: str,
        algorithm: str,
        *,
        epsilon: float | str | Decimal,
        target: str = "",
        pure: bool = False,
        nonce: str | None = None,
        timeout: float | None = None,
        progress: Callable[[int, int], object] | None = None,
        **parameters: object,
    ) -> Release:
        """Spend on a run, wait for it, and return its result.

        A connection that breaks costs nothing more: the request is sent again under the same nonce, and
        spends once.

        Parameters
        ----------
        algorithm : str
            As ``python -m dpcore fit`` names them, with ``_`` for ``-``: ``rule_list``, ``tree``,
            ``forest``, ``ebm``, ``redescriptions``, ``ilp``, ``summaries``.
        epsilon : float, str or Decimal
            What the run promises.
        target : str
            Column to be predicted; left out by methods that predict none.
        pure : bool
            Whether its guarantee must have no delta.
        nonce : str, optional
            16 to 128 characters that name this request: given again, the run is the same and is
            not paid for a second time. Default: random.
        timeout : float, optional
            Seconds to wait. Default: until the run ends.
        progress : callable, optional
            Called with the work done so far and the whole work of the run.
        **parameters
            Parameters of the method; those left out have defaults.

        Raises
        ------
        RefusedError
            If the run is not accepted: nothing is spent then.
        UnansweredError
            If nobody can say whether it was accepted, or it was and its result cannot be fetched: the nonce
            in the message gets it, and pays once.
        RunFailedError
            If it ends without a result.
        TimeoutError
            If it takes longer than ``timeout``; it goes on, and the same nonce waits for it again.
        """
        name = nonce or secrets.token_urlsafe(24)
        asked = {
            "dataset": dataset,
            "algorithm": algorithm,
            "target": target,
            "epsilon": str(epsilon),
            "parameters": parameters,
            "pure": pure,
            "nonce": name,
        }
        run_id = self._submitted(asked, name)
        try:
            status = self._ended(run_id, name, timeout, progress)
            if status["release"] is not None:
                return self.release(status["release"])
        except RefusedError as error:
            raise UnansweredError(str(error), name, run_id) from None
        raise RunFailedError(status["message"])

    def _submitted(self, asked: dict[str, object], nonce: str) -> str:
        """Identifier of the run that was asked for."""
        try:
            return str(self._ask("POST", "runs", json=asked)["run"])
        except RefusedError as error:
            if error.certain:
                raise
            raise UnansweredError(str(error), nonce) from None
        except KeyError:
            raise UnansweredError(_ANOTHER, nonce) from None

    def _ended(
        self, run_id: str, nonce: str, timeout: float | None, progress: Callable[[int, int], object] | None
    ) -> dict[str, Any]:
        """Where a run stands once it has ended."""
        until = None if timeout is None else time.monotonic() + timeout
        while (status := self._ask("GET", f"runs/{run_id}"))["active"]:
            if progress is not None:
                progress(status["done"], status["total"])
            if until is not None and time.monotonic() >= until:
                raise TimeoutError(f"The run {run_id} goes on. Wait for it again with nonce={nonce!r}.")
            time.sleep(_POLL_SECONDS)
        return status

    def release(self, release_id: str) -> Release:
        """A result that the token's owner may read. Free.

        Raises
        ------
        RefusedError
            If there is none.
        """
        return Release.model_validate(self._ask("GET", f"releases/{release_id}"))

    def close(self) -> None:
        """Give up the connection. Also ``with Client(url) as client:``."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _ask(self, method: str, place: str, **more: Any) -> dict[str, Any]:
        """One request, sent again if the server does not answer: all of them may be repeated."""
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                answer = self._http.request(method, place, **more)
                break
            except self._error as error:
                if attempt == _ATTEMPTS:
                    raise RefusedError(f"The server cannot be reached: {error}.", 503) from None
                time.sleep(_PAUSE * 2 ** (attempt - 1))
        try:
            content = answer.json()
        except ValueError:
            content = None
        if not isinstance(content, dict):
            raise RefusedError(_ANOTHER, answer.status_code)
        if answer.status_code != 200:
            told = str(content.get("error", "The server refused this."))
            certain = attempt == 1 and "error" in content and 400 <= answer.status_code < 500
            raise RefusedError(told, answer.status_code, certain=certain)
        return content


def _checked(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise RequestError("The address must begin with https://, as https://frostglass.hospital.example.")
    if parts.scheme == "http" and parts.hostname not in _HOME_NAMES:
        raise RequestError("The address of another machine must begin with https://: anybody could read the token.")
    return url.rstrip("/")
