"""The command ``audit``: what attacks the guarantees on this machine."""

from __future__ import annotations

from typing import Annotated

import typer


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
    from dpcore.commands.operation import audits  # They load every learner.

    if attacks:
        audits.attack()
    elif timing:
        audits.time(family)
    elif replay:
        audits.replay(configurations, seed, family)
    else:
        audits.mechanisms(trials)
