"""What those who check outputs of a safe haven need: each file, what it holds, and under which guarantee.

The form is that of ACRO, as SACRO reads it: ``results.json`` beside the files, and a checksum for each of them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Final

from dpcore.privacy.budgets import exact_amount, plain_epsilon
from dpcore.released.release import Release
from dpcore.report.dossier import Dossier

#: Version of the form, not of this program: readers compare it with the one that they know.
_FORM: Final = "1.0.1"
RESULTS: Final = "results.json"


def sidecar(dossier: Dossier, files: Mapping[str, bytes], belongs: Mapping[str, int]) -> dict[str, bytes]:
    """``results.json`` and the checksums of all ``files``.

    Parameters
    ----------
    files : mapping of str to bytes
        What is handed on, by name.
    belongs : mapping of str to int
        Number of the result, from 1, that a file is about; others are about all of them.
    """
    results = {}
    for place, release in enumerate(dossier.releases, 1):
        own = {name: files[name] for name in files if belongs.get(name) == place}
        results[f"result_{place}"] = _output(f"result_{place}", dossier, [release], own)
    shared = {name: content for name, content in files.items() if name not in belongs}
    results["dossier"] = _output("dossier", dossier, dossier.releases, shared)
    told = json.dumps({"version": _FORM, "results": results}, indent=2, ensure_ascii=False).encode()
    every = {**files, RESULTS: told}
    sums = {f"checksums/{name}.txt": _checksum(content).encode() for name, content in every.items()}
    return {RESULTS: told, **sums}


def _checksum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _output(uid: str, dossier: Dossier, releases: Any, files: Mapping[str, bytes]) -> dict[str, Any]:
    """One entry. A person decides: what has a guarantee is to be reviewed, what has none fails."""
    private = all(release.certificate.private for release in releases)
    return {
        "uid": uid,
        "status": "review" if private else "fail",
        "type": "custom",
        "properties": {"guarantees": [_guarantee(dossier, release) for release in releases]},
        "files": [{"name": name, "sdc": {}, "sha256": _checksum(content)} for name, content in files.items()],
        "outcome": {},
        "command": "; ".join(_command(release) for release in releases),
        "summary": _summary(dossier, releases, private),
        "timestamp": max(release.certificate.created for release in releases).isoformat(),
        "comments": ["No cell is suppressed or exact: every number is noisy, small counts included."],
        "exception": "",
        "fair": {},
    }


def _guarantee(dossier: Dossier, release: Release) -> dict[str, Any]:
    """Under which guarantee a result was released; amounts are exact decimals."""
    card = release.certificate
    return {
        "result": dossier.name_of(release),
        "number": release.id,
        "private": card.private,
        "problems": list(card.problems),
        "definition": "pure differential privacy" if card.definition == "pure" else "approximate differential privacy",
        "guarantee": card.guarantee,
        "epsilon": exact_amount(card.epsilon),
        "delta": exact_amount(card.delta),
        "rho": None if card.rho is None else exact_amount(card.rho),
        "privacy_unit": card.privacy_unit,
        "neighbouring_relation": card.neighboring_relation,
        "max_rows_per_person": card.max_rows_per_person,
        "sampler": card.sampler,
        "randomness": card.randomness,
        "schema_sha256": card.schema_hash,
        "engine_version": card.engine_version,
        "created": card.created.isoformat(),
    }


def _command(release: Release) -> str:
    target = f" --target {release.target}" if release.target else ""
    epsilon = plain_epsilon(release.certificate.epsilon)
    return f"fit {release.kind} {release.dataset_name}{target} --epsilon {epsilon}"


def _summary(dossier: Dossier, releases: Any, private: bool) -> str:
    if not private:
        return "fail; not private: at least one result has no guarantee"
    promises = "; ".join(
        f"ε = {plain_epsilon(release.certificate.epsilon)}, δ = {exact_amount(release.certificate.delta)}"
        for release in releases
    )
    balance = dossier.balance
    return (
        f"review; differentially private per person: {promises}; everything spent on the data set: "
        f"ε = {plain_epsilon(balance.spent + balance.reserved)}, δ = {exact_amount(balance.delta)}"
    )
