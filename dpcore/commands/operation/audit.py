"""The command ``audit``: what attacks the guarantees on this machine."""

from __future__ import annotations

import os
from tempfile import TemporaryDirectory
from typing import Annotated
from unittest.mock import patch

import typer

from dpcore.commands.shell import RunFailedError, text_table
from dpcore.errors import RequestError


def audit(
    trials: Annotated[
        int, typer.Option(min=1000, help="Runs of each mechanism; below 20,000 some may not judge.")
    ] = 20_000,
    replay: Annotated[bool, typer.Option("--replay", help="Replay whole runs on neighbouring tables instead.")] = False,
    configurations: Annotated[int, typer.Option(min=1, help="With --replay: random runs, over all methods.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="With --replay: which random runs.")] = 0,
    family: Annotated[str, typer.Option(metavar="NAME", help="With --replay or --time: one algorithm only.")] = "",
    attacks: Annotated[
        bool, typer.Option("--attacks", help="Attack a whole installation, in a temporary home, instead.")
    ] = False,
    timing: Annotated[
        bool, typer.Option("--time", help="Compare the CPU time of every step on different tables instead.")
    ] = False,
) -> None:
    """Attack the mechanisms on this machine, and broken versions of them that must be caught."""
    if attacks:
        _attack()
        return
    if timing:
        _time(family)
        return
    if replay:
        _replay(configurations, seed, family)
        return
    from dpcore.audit.suite import run_audits
    from dpcore.commands.text import audit_text

    results = run_audits(trials)
    typer.echo(audit_text(results))
    if not all(result.holds for result in results):
        raise RunFailedError("an audit found a loss beyond what is claimed.")
    if not all(result.passed for result in results):
        raise RunFailedError("no claim was refuted, but some audits had too few trials to judge; ask for more.")


def _attack() -> None:
    """What an analyst or a careless custodian might try, all the way through service and ledger."""
    from dpcore.attacks import ATTACKS

    with TemporaryDirectory() as folder, patch.dict(os.environ, {"FROSTGLASS_WITNESS": folder}):
        results = [attack() for attack in ATTACKS]
    rows = [[one.name, one.tried, one.seen, "SUCCEEDED" if one.succeeded else "failed"] for one in results]
    typer.echo(text_table(["attack", "tried", "seen", "the attack"], rows))
    if any(one.succeeded for one in results):
        raise RunFailedError("an attack succeeded.")


def _time(family: str) -> None:
    """Real runs on different tables, outputs forced: the CPU time of every step, as a table in Markdown."""
    from dpcore.audit.timing import compare_all
    from dpcore.commands.text import timing_text

    results = list(compare_all(family.replace("-", "_")))
    if not results:
        raise RequestError(f"There is no algorithm '{family}'.")
    typer.echo(timing_text(results))
    if any(result.differs for result in results):
        raise RunFailedError("the time of a step tells of the records.")


def _replay(configurations: int, seed: int, family: str) -> None:
    """Real runs on neighbouring tables, compared probability by probability."""
    from dpcore.audit.replay.run import replay_all
    from dpcore.commands.text import replay_text
    from dpcore.models.registry import get_learner

    if family:
        family = get_learner(family.replace("-", "_")).name
    results = list(replay_all(configurations, seed, family))
    typer.echo(replay_text(results))
    if any(result.violations for result in results):
        raise RunFailedError("a replay found a loss that no certificate covers.")
