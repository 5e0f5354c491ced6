"""A result that comes as a file from anybody: read with suspicion, in a process that may die.

What passes fits itself (form, schema, certificate and model) and can be shown. Whether its certificate
is true cannot be seen from a file: whoever shows it has to say so.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import threading
from decimal import Decimal
from typing import Any, Final, NoReturn

from pydantic import BaseModel

from dpcore.errors import FrostglassError, RequestError
from dpcore.models.readable import readable
from dpcore.models.released import family_of, parse_model
from dpcore.privacy.budgets import EPSILON_LIMIT
from dpcore.privacy.losses import RHO_LIMIT
from dpcore.released.derived import agree
from dpcore.released.evaluation import Evaluation
from dpcore.released.family import ReleasedFamily
from dpcore.released.parameters import chosen_cuts
from dpcore.released.quality import group_shares, operating_points
from dpcore.released.release import Certificate, Release, imported, unit_words
from dpcore.report.result import result_blocks

#: What the process may take, as public as the size of the file.
_SECONDS: Final = 60
_MEMORY: Final = 3 << 30
_LONGEST_NAME = 128
#: Letters of any text, and values in all, beside schema and model: all that runs have fits.
_LONGEST_TEXT: Final = 5000
_MOST_VALUES: Final = 20_000
#: Most digits behind the point of an amount: no delta that floating point tells from 0 has more.
_MOST_PLACES: Final = 400
#: Earlier versions made runs whose certificate states a larger epsilon than was chosen, at most so many times
#: the limit: ρ + 2 √(ρ ln 1/δ), for every δ that floating point tells from 0.
_COMPOSED: Final = 3
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
        json.loads(text, parse_constant=_no_number, parse_float=_finite)
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


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ArithmeticError
    return number


def _fault(release: Release) -> str:
    try:
        family, model = family_of(release), parse_model(release)
        json.dumps(model.model_dump(mode="json"), allow_nan=False)  # Texts such as "inf" are read as numbers, too.
    except (FrostglassError, ValueError):
        return "form"
    card, domain = release.certificate, release.domain
    fits = (
        is_coherent(card)
        and card.max_rows == domain.max_rows
        and card.neighboring_relation == Certificate.model_fields["neighboring_relation"].default
        and card.privacy_unit == unit_words(domain)
        and card.max_rows_per_person == domain.privacy_unit.max_rows_per_person
        and card.cuts_from == release.parameters.get("cuts_from", "")
        and len(release.dataset_name) <= _LONGEST_NAME
        and len(release.dataset_id) <= _LONGEST_NAME
        and _are_parameters(family, release)
        and _is_modest(release.model_dump(mode="json", exclude={"domain", "model"}))
        and family.targeted == bool(release.target)
        and (not release.target or release.target in {column.name for column in domain})
    )
    try:
        if not fits or not _follows(family, release, model):
            return "itself"
        _show(release, model)
    except (MemoryError, RecursionError):
        return "limits"
    except Exception:  # noqa: BLE001  Whatever a changed file brings down, it is not taken.
        return "show"
    return _GOOD


def _follows(family: ReleasedFamily, release: Release, model: BaseModel) -> bool:
    """Whether all that follows from other fields is what they say."""
    try:
        rebuilt = family.rebuilt(release, model)
    except (MemoryError, RecursionError):
        raise
    except Exception:  # noqa: BLE001  Fields that nothing follows from do not fit each other.
        return False
    return agree(model.model_dump(mode="json"), rebuilt.model_dump(mode="json"))


def _are_parameters(family: ReleasedFamily, release: Release) -> bool:
    """Whether a run of this family could have been asked for so, with people set aside or without."""
    try:
        chosen = family.parameters.model_validate(release.parameters)
        if hasattr(chosen, "cut_points"):
            chosen_cuts(release.domain, chosen)
    except (FrostglassError, ValueError):
        return False
    aside = getattr(chosen, "evaluate", False) and release.domain.holdout_percent > 0
    return bool(aside) == bool(release.certificate.parallel_split)


def _is_modest(content: dict[str, object]) -> bool:
    """Whether no text, and no list of values, is longer than those of runs."""
    waiting: list[object] = [content]
    count = 0
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting += [*value, *value.values()]
        elif isinstance(value, list):
            waiting += value
        elif isinstance(value, str) and len(value) > _LONGEST_TEXT:
            return False
        count += 1
        if count > _MOST_VALUES:
            return False
    return True


def is_coherent(card: Certificate) -> bool:
    """Whether the amounts of a certificate are such as runs have, and do not contradict each other."""
    whole, aside = card.budget_split.values(), card.parallel_split.values()
    known = () if card.rho is None else (card.rho,)
    asked = () if card.asked is None else (card.asked,)
    most = _COMPOSED * EPSILON_LIMIT if card.delta else EPSILON_LIMIT
    return (
        all(map(_is_short, (card.epsilon, card.delta, *asked, *known, *whole, *aside)))
        and 0 < card.epsilon <= most
        and all(0 < amount <= EPSILON_LIMIT for amount in asked)
        and 0 <= card.delta < 1
        and (card.definition == "pure") == (card.delta == 0)
        and all(0 <= rho <= RHO_LIMIT for rho in known)
        and all(0 <= part <= most for part in whole)
        and all(0 < part <= card.epsilon for part in aside)
        and sum(whole) == card.epsilon
    )


def _is_short(amount: Decimal) -> bool:
    """Whether an amount can be written out."""
    return abs(int(amount.as_tuple().exponent)) <= _MOST_PLACES


def _show(release: Release, model: Any) -> None:
    """Do all that pages and files do with an import, as it will be read back."""
    again = imported(release.to_json())
    parse_model(again)
    parse_model(readable(again))
    for short in (False, True):
        result_blocks(again, short=short)
    aside = getattr(model, "evaluation", None)
    if isinstance(aside, Evaluation):
        for code in range(len(model.classes)):
            operating_points(aside, code)
            group_shares(aside, code)


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
