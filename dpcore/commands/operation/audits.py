"""What attacks the guarantees on this machine, and what it says."""

from __future__ import annotations

import os
from collections.abc import Sequence
from tempfile import TemporaryDirectory
from unittest.mock import patch

import typer

from dpcore.attacks import ATTACKS
from dpcore.audit.bounds import AuditResult
from dpcore.audit.replay.run import Summary, replay_all
from dpcore.audit.suite import run_audits
from dpcore.audit.timing import StepTime, compare_all
from dpcore.commands.shell import RunFailedError, text_table
from dpcore.errors import RequestError
from dpcore.models.registry import get_learner


def mechanisms(trials: int) -> None:
    """Every mechanism alone, and broken versions of it that must be caught."""
    results = run_audits(trials)
    typer.echo(_audit_text(results))
    if not all(result.holds for result in results):
        raise RunFailedError("an audit found a loss beyond what is claimed.")
    if not all(result.passed for result in results):
        raise RunFailedError("no claim was refuted, but some audits had too few trials to judge; ask for more.")


def attack() -> None:
    """What an analyst or a careless custodian might try, all the way through service and ledger."""
    with TemporaryDirectory() as folder, patch.dict(os.environ, {"FROSTGLASS_WITNESS": folder}):
        results = [each() for each in ATTACKS]
    rows = [[one.name, one.tried, one.seen, "SUCCEEDED" if one.succeeded else "failed"] for one in results]
    typer.echo(text_table(["attack", "tried", "seen", "the attack"], rows))
    if any(one.succeeded for one in results):
        raise RunFailedError("an attack succeeded.")


def time(family: str) -> None:
    """Real runs on different tables, outputs forced: the CPU time of every step, as a table in Markdown."""
    results = list(compare_all(family.replace("-", "_")))
    if not results:
        raise RequestError(f"There is no algorithm '{family}'.")
    typer.echo(_timing_text(results))
    if any(result.differs for result in results):
        raise RunFailedError("the time of a step tells of the records.")


def replay(configurations: int, seed: int, family: str) -> None:
    """Real runs on neighbouring tables, compared probability by probability."""
    if family:
        family = get_learner(family.replace("-", "_")).name
    results = list(replay_all(configurations, seed, family))
    typer.echo(_replay_text(results))
    if any(result.violations for result in results):
        raise RunFailedError("a replay found a loss that no certificate covers.")


def _audit_text(results: Sequence[AuditResult]) -> str:
    """What each audit claims, proves and catches."""
    rows = [
        [
            result.name,
            f"{result.epsilon:.3g}" + (f", delta {result.delta:.1g}" if result.delta else ""),
            f"{result.lower_bound:.3f}",
            ", ".join(f"{broken} {bound:.3f}" for broken, bound in result.controls.items()),
            result.verdict,
        ]
        for result in results
    ]
    head = ["mechanism", "claims epsilon", "proved at least", "broken versions (must exceed)", ""]
    return text_table(head, rows)


def _replay_text(results: Sequence[Summary]) -> str:
    """For each method how much of its certificate was reached, and every violation."""
    rows = [
        [
            result.method.family,
            result.method.name,
            str(result.configurations),
            f"{result.attained:.3f}",
            f"{result.evaluated:.3f}" if result.evaluated else "",
            f"{result.distance:.0e}" if result.distance else "",
            str(len(result.violations)),
        ]
        for result in results
    ]
    head = ["family", "method", "replays", "share of epsilon", "of people set aside", "chains from limit", "violations"]
    broken = [f"{own.method.name}, {text}" for own in results for text in own.violations]
    return "\n".join([text_table(head, rows), *broken])


def _timing_text(results: Sequence[StepTime]) -> str:
    """For each step of a family the CPU time, and how much it differs between tables: a table in Markdown."""
    steps = dict.fromkeys((result.family, result.step) for result in results)
    rows = [["Family", "Step", "Methods", "CPU, ms", "Longest / shortest", "Noise", "Too short"], ["---"] * 7]
    for family, step in steps:
        own = [result for result in results if (result.family, result.step) == (family, step)]
        times = [1000 * max(result.seconds.values()) for result in own]
        judged = [
            (result.ratio, result.noise) for result in own if result.ratio is not None and result.noise is not None
        ]
        ratio, noise = max(judged, key=lambda pair: pair[0] / pair[1], default=(None, None))
        rows.append(
            [
                family,
                step,
                str(len(own)),
                f"{min(times):.1f} to {max(times):.1f}",
                f"{ratio:.3f}" if ratio else "",
                f"{noise:.3f}" if noise else "",
                str(len(own) - len(judged)),
            ]
        )
    differing = [
        f"{result.family}, {result.method}, {result.step}: {result.ratio:.3f}" for result in results if result.differs
    ]
    return "\n".join(["| " + " | ".join(row) + " |" for row in rows] + differing)
