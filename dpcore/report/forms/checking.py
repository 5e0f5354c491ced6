"""What those who check outputs of a safe haven need: each file, what it holds, and under which guarantee.

The form is that of ACRO, as SACRO reads it: ``results.json`` beside the files, and a checksum for each of them.
"""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from pydantic import BaseModel

from dpcore.domain.schemas.protected import protected_thing, shared_things
from dpcore.models.released import family_of
from dpcore.privacy.budgets import exact_amount, plain_epsilon
from dpcore.released.parameters import parameters_of
from dpcore.released.release import Release
from dpcore.report.dossier import Dossier
from dpcore.report.forms.markdown import dossier_markdown, figure_files, zipped
from dpcore.report.forms.page import dossier_page
from dpcore.report.forms.pdf import dossier_pdf
from dpcore.report.forms.registry import registry_yaml
from dpcore.report.forms.word import dossier_word
from dpcore.report.spending import states_rho
from dpcore.report.totals import cost_together
from dpcore.validation import validated
from dpcore.workspace.ledger.requests import RunRequest

#: Version of the form, not of this program: readers compare it with the one that they know.
_FORM: Final = "1.0.1"
RESULTS: Final = "results.json"


def dossier_package(dossier: Dossier) -> bytes:
    """An archive of everything, flat, with what output checkers read."""
    document, drawn = dossier.brief, figure_files(dossier.brief)
    results = {f"result-{place}.json": release.to_json().encode() for place, release in enumerate(dossier.releases, 1)}
    files = {
        "dossier.pdf": dossier_pdf(document),
        "dossier.docx": dossier_word(document),
        "dossier.html": dossier_page(dossier.whole).encode(),
        "dossier.md": dossier_markdown(document).encode(),
        **({} if dossier.problems else {"registry.yaml": registry_yaml(dossier).encode()}),
        **results,
        **drawn,
    }
    belongs = {name: place for place, name in enumerate(results, 1)}
    belongs |= {name: int(name.split("-")[1]) for name in drawn}
    return zipped({**files, **sidecar(dossier, files, belongs)})


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


def _output(uid: str, dossier: Dossier, releases: Sequence[Release], files: Mapping[str, bytes]) -> dict[str, object]:
    """One entry. A person decides: what has a guarantee is to be reviewed, what has none fails."""
    private = all(release.certificate.private for release in releases)
    return {
        "uid": uid,
        "status": "review" if private else "fail",
        "type": "custom",
        "properties": {"guarantees": [_guarantee(dossier, release) for release in releases]},
        "files": [{"name": name, "sdc": {}, "sha256": _checksum(content)} for name, content in files.items()],
        "outcome": {},
        "command": "; ".join(command(release, dossier.asked.get(release.id)) for release in releases),
        "summary": _summary(dossier, releases, private),
        "timestamp": max(release.certificate.created for release in releases).isoformat(),
        "comments": ["No cell is suppressed or exact: every number is noisy, small counts included."],
        "exception": "",
        "fair": {},
    }


def _guarantee(dossier: Dossier, release: Release) -> dict[str, object]:
    """Under which guarantee a result was released; amounts are exact decimals."""
    card = release.certificate
    return {
        "result": dossier.name_of(release),
        "number": release.id,
        "private": card.private,
        "problems": list(card.problems),
        "definition": "pure differential privacy" if card.definition == "pure" else "approximate differential privacy",
        "guarantee": card.guarantee,
        "conditional_allowed": card.conditional_allowed,
        "epsilon": exact_amount(card.epsilon),
        "delta": exact_amount(card.delta),
        "rho": exact_amount(card.rho) if card.rho is not None and states_rho(card) else None,
        "privacy_unit": card.privacy_unit,
        "not_protected": shared_things(release.domain),
        "neighbouring_relation": card.neighboring_relation,
        "max_rows_per_person": card.max_rows_per_person,
        "sampler": card.sampler,
        "randomness": card.randomness,
        "schema_sha256": card.schema_hash,
        "engine_version": card.engine_version,
        "created": card.created.isoformat(),
    }


def command(release: Release, asked: RunRequest | None) -> str:
    """The command that makes such a release, as a shell reads it.

    Parameters
    ----------
    asked : RunRequest or None
        What was asked for. Without it no settings are told.
    """
    words = ["fit", release.kind.replace("_", "-"), release.dataset_name]
    if release.target:
        words += ["--target", release.target]
    words += ["--epsilon", plain_epsilon(release.certificate.epsilon)]
    if asked is not None:
        words += [*(["--pure"] if asked.pure else []), *_options(release, asked)]
    return shlex.join(words)


def _options(release: Release, asked: RunRequest) -> Iterator[str]:
    """Settings that were chosen, each as its option."""
    family = family_of(release)
    chosen = {name: value for name, value in asked.parameters.items() if name != "delta"}  # That of the budget.
    given = validated(family.parameters, chosen)
    for name, parameter in parameters_of(family.parameters).items():
        value = getattr(given, name)
        if isinstance(value, BaseModel):
            for part, own in value:
                yield from _option(f"{name.removesuffix('s')}_{part}", own)
        elif value != parameter.default:
            yield from _option(name, value)


def _option(name: str, value: object) -> Iterator[str]:
    told = name.replace("_", "-")
    if isinstance(value, bool):
        yield f"--{told}" if value else f"--no-{told}"
    elif isinstance(value, tuple):
        for one in value:
            yield from _option(name, one)
    elif value is not None:
        yield from (f"--{told}", str(value))


def _summary(dossier: Dossier, releases: Sequence[Release], private: bool) -> str:
    if not private:
        return "fail; not private: at least one result has no guarantee"
    costs = (cost_together([release], dossier.balance) for release in releases)
    promises = "; ".join(f"ε = {plain_epsilon(epsilon)}, δ = {exact_amount(delta)}" for epsilon, delta in costs)
    balance, unit = dossier.balance, protected_thing(dossier.dataset.schema)
    return (
        f"review; differentially private per {unit}: {promises}; everything spent on the data set: "
        f"ε = {plain_epsilon(balance.epsilon)}, δ = {exact_amount(balance.delta)}"
    )
