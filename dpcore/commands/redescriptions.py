"""``release redescriptions``: read a release of redescriptions again, with other constraints."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dpcore.commands.shell import check_new, find_release, write_new
from dpcore.errors import RequestError
from dpcore.models.redescriptions.released.extraction import Constraints, Score
from dpcore.spreadsheets import frame_csv

if TYPE_CHECKING:
    from dpcore.models.redescriptions.released.model import RedescriptionModel
    from dpcore.models.redescriptions.released.redescription_set import RedescriptionSet

_DEFAULT = Constraints()


def redescriptions(
    release: Annotated[str, typer.Argument(help="Id of a release, or a release file.")],
    min_support: Annotated[
        float | None,
        typer.Option(
            help="Least noisy number of people for whom both sides hold. Default: what the noise "
            "on a single count rarely exceeds."
        ),
    ] = _DEFAULT.min_support,
    max_support: Annotated[
        float, typer.Option(help="Most of them, as a share of the noisy number of people.")
    ] = _DEFAULT.max_support,
    max_p: Annotated[float, typer.Option(help="Largest p-value.")] = _DEFAULT.max_p,
    min_jaccard: Annotated[
        float, typer.Option(help="Least noisy Jaccard index.")
    ] = _DEFAULT.min_jaccard,
    min_above_chance: Annotated[
        float,
        typer.Option(
            help="Least by which the noisy Jaccard index exceeds that of two sides of the same "
            "sizes that have nothing to do with each other."
        ),
    ] = _DEFAULT.min_above_chance,
    disjuncts: Annotated[
        int, typer.Option(help="Most leaves of a tree that a side joins by 'or', 1 to 4.")
    ] = _DEFAULT.disjuncts,
    min_gain: Annotated[
        float,
        typer.Option(help="What each further leaf must add to what is compared."),
    ] = _DEFAULT.min_gain,
    score: Annotated[
        Score,
        typer.Option(
            help="What is compared, best first: what the noisy Jaccard index exceeds chance by, or "
            "the index itself, as published."
        ),
    ] = _DEFAULT.score,
    noise_aware: Annotated[
        bool, typer.Option(help="Let the p-value allow for the noise; as published, it does not.")
    ] = _DEFAULT.noise_aware,
    csv: Annotated[
        Path | None, typer.Option(help="New file for all that are found, as a table.")
    ] = None,
) -> None:
    """Read the redescriptions of a release under other constraints, as often as you like: free."""
    from dpcore.models.redescriptions.released.plain_text import redescriptions_text

    if csv is not None:
        check_new(csv)
    wished = {
        "min_support": min_support,
        "max_support": max_support,
        "max_p": max_p,
        "min_jaccard": min_jaccard,
        "min_above_chance": min_above_chance,
        "disjuncts": disjuncts,
        "min_gain": min_gain,
        "score": score,
        "noise_aware": noise_aware,
    }
    found = _extracted(release, wished)
    typer.echo(redescriptions_text(found))
    if csv is not None:
        write_new(csv, frame_csv(found.to_frame()))


def _extracted(text: str, wished: dict[str, Any]) -> RedescriptionSet:
    from dpcore.models.redescriptions.released.family import REDESCRIPTIONS
    from dpcore.models.released import parse_model
    from dpcore.validation import validated

    constraints, release = validated(Constraints, wished), find_release(text)
    if release.kind != REDESCRIPTIONS.name:
        raise RequestError(
            f"This release is a '{release.kind}': choose one of redescriptions, or use 'release "
            "show'."
        )
    model: RedescriptionModel = parse_model(release)
    return model.extract(release.domain, constraints)
