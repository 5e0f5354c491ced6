"""A result that comes as a file from anybody: read with suspicion, in a process that may die.

What passes fits itself (form, schema, certificate and model) and can be shown. Whether its certificate
is true cannot be seen from a file: whoever shows it has to say so.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from typing import Final, NoReturn

from dpcore.errors import FrostglassError, RequestError
from dpcore.privacy.budgets import EPSILON_LIMIT
from dpcore.released.release import Release

#: What the process may take, as public as the size of the file.
_SECONDS: Final = 60
_MEMORY: Final = 3 << 30
_LONGEST_NAME = 128
#: Files read at once; further ones wait for their turn.
_turns = threading.BoundedSemaphore(2)
_GOOD = "good"
_BAD: Final = {
    "form": "This is not a result that this version can read: import the JSON file of a download.",
    "number": "This file holds a number that is none: no download of this program does.",
    "itself": "This file contradicts itself: it was changed after it was made, so it is not imported.",
    "show": "This file cannot be shown: it was changed after it was made, so it is not imported.",
    "limits": "Reading this file takes more time or memory than a result of this program: it is not imported.",
}


def checked(text: str) -> Release:
    """The release that a file holds.

    Parameters
    ----------
    text : str
        Content of a file, from anybody.

    Raises
    ------
    RequestError
        If it is no release, contradicts itself or cannot be shown; in a fixed sentence, which quotes nothing of it.
    """
    command = [sys.executable, "-m", "dpcore.report.imported"]
    quiet = {**os.environ, "OMP_NUM_THREADS": "1"}
    try:
        with _turns:
            done = subprocess.run(
                command, input=text.encode(), capture_output=True, timeout=2 * _SECONDS, env=quiet, check=False
            )
    except subprocess.TimeoutExpired:
        raise RequestError(_BAD["limits"]) from None
    verdict = done.stdout.decode(errors="replace").strip()
    if verdict != _GOOD:
        raise RequestError(_BAD.get(verdict, _BAD["limits"]))
    return Release.from_json(text)


def fault_of(text: str) -> str:
    """Why a file is not taken, as a key of the sentences; ``good`` if it is."""
    try:
        json.loads(text, parse_constant=_no_number)
    except ArithmeticError:
        return "number"
    except (ValueError, RecursionError):
        return "form"
    try:
        release = Release.from_json(text)
    except RequestError:
        return "form"
    return _fault(release)


def _no_number(_: str) -> NoReturn:
    raise ArithmeticError


def _fault(release: Release) -> str:
    from dpcore.models.released import family_of, parse_model
    from dpcore.report.contents import content

    try:
        family, model = family_of(release), parse_model(release)
    except (FrostglassError, ValueError):
        return "form"
    card, domain = release.certificate, release.domain
    fits = (
        card.epsilon > 0
        and (card.asked is None or card.asked > 0)
        and all(0 <= amount <= EPSILON_LIMIT for amount in (card.epsilon, card.asked or 0, *card.budget_split.values()))
        and 0 <= card.delta < 1
        and card.max_rows == domain.max_rows
        and card.max_rows_per_person == domain.privacy_unit.max_rows_per_person
        and card.cuts_from == release.parameters.get("cuts_from", "")
        and (card.composition != "" or sum(card.budget_split.values()) == card.epsilon)
        and len(release.dataset_name) <= _LONGEST_NAME
        and isinstance(release.parameters.get("method", ""), str)
        and family.targeted == bool(release.target)
        and (not release.target or release.target in {column.name for column in domain})
    )
    classes = getattr(model, "classes", None)
    if fits and release.target and classes:
        fits = tuple(classes) == tuple(domain.column(release.target).classes)
    if not fits:
        return "itself"
    try:
        content(release)
    except (MemoryError, RecursionError):
        return "limits"
    except Exception:  # noqa: BLE001  Whatever a changed file brings down, it is not taken.
        return "show"
    return _GOOD


def main() -> None:
    """Read a file from the standard input and print what is wrong with it."""
    _confine()
    try:
        verdict = fault_of(sys.stdin.buffer.read().decode())
    except MemoryError:
        verdict = "limits"
    sys.stdout.write(verdict)


def _confine() -> None:
    """Bind this process, where the system can."""
    try:
        import resource
    except ImportError:
        return
    for kind, most in ((resource.RLIMIT_CPU, _SECONDS), (resource.RLIMIT_AS, _MEMORY)):
        _, hard = resource.getrlimit(kind)
        allowed = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (allowed, hard))


if __name__ == "__main__":
    main()
