"""One release as a part of a file: what it says, its figures, its numbers, its certificate."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from dpcore.models.readable import blocks_of, heading
from dpcore.numerals import small
from dpcore.privacy.budgets import at_delta, plain_epsilon
from dpcore.released.blocks import Bullets, Code, Facts, Figure, Heading, Paragraph, Table, Written, only, written
from dpcore.released.plan import guaranteed_odds
from dpcore.released.release import Release
from dpcore.report.certificate import certificate_lines
from dpcore.report.names import method_name, sampler_name
from dpcore.workspace.files.descriptions import ReleaseNote
from dpcore.workspace.results.dossier import paragraphs

_NOISY = (
    "Every number is noisy. Intervals in brackets and margins (±) are 95% and cover the noise alone, not chance in who "
    "is in the data. A noisy count may be negative: then the true one is small."
)


def title_of(release: Release, note: ReleaseNote | None) -> str:
    """The name that somebody gave a result, or what it is."""
    return note.name if note and note.name else heading(release)


def facts_of(release: Release) -> dict[str, str]:
    """What a reader wants to know first."""
    card, kind = release.certificate, heading(release)
    method = method_name(release.kind, release.parameters)
    return {
        "Result": f"{kind} ({method})" if method else kind,
        "ε": plain_epsilon(card.epsilon),
        "δ": small(card.delta),
        "Guarantee": card.guarantee,
        "Made": f"{card.created:%Y-%m-%d %H:%M} UTC",
        "Number": release.id,
    }


def result_blocks(
    release: Release, note: ReleaseNote | None = None, *, place: int = 1, short: bool = False
) -> tuple[Written, ...]:
    """Everything that a file says of a release; if ``short``, what fits on a page.

    Parameters
    ----------
    place : int
        Its number in the file, for the names of its figures.
    """
    return tuple(_short(release, note, place) if short else _whole(release, note, place))


def _whole(release: Release, note: ReleaseNote | None, place: int) -> Iterator[Written]:
    said, figures, tables, programs = _parts(release, place, short=False)
    yield from _note(note)
    yield Facts(facts_of(release))
    yield from _warning(release)
    yield Heading("In words")
    yield from (*said, *figures)
    yield Heading("Numbers")
    yield Paragraph(_NOISY, kind="small")
    yield from tables
    if programs:
        yield Heading("As a program")
        yield from programs
    yield Heading("Certificate")
    yield Paragraph(_odds(release))
    yield Table.pairs("Certificate of this result", certificate_lines(release))


def _short(release: Release, note: ReleaseNote | None, place: int) -> Iterator[Written]:
    said, figures, tables, _ = _parts(release, place, short=True)
    yield from _note(note)
    yield from _warning(release)
    yield from (*said, *figures, *tables)
    yield Paragraph(_summary(release), lead="Certificate.", kind="small")


def _parts(release: Release, place: int, *, short: bool) -> tuple[list[Written], list[Figure], list[Table], list[Code]]:
    """What is said, the figures, named for a file, the tables and the programs of a release."""
    blocks = [written(block) for block in blocks_of(release, short=short)]
    figures = [
        dataclasses.replace(figure, name=f"figure-{place}-{number}")
        for number, figure in enumerate(only(blocks, Figure), 1)
    ]
    said: list[Written] = [block for block in blocks if isinstance(block, Paragraph | Bullets)]
    return said, figures, only(blocks, Table), only(blocks, Code)


def _note(note: ReleaseNote | None) -> Iterator[Written]:
    if note is None or not note.note:
        return
    for line in paragraphs(note.note):
        yield Paragraph(line, kind="note")
    yield Paragraph(f"Note by {note.author}, {note.time:%Y-%m-%d %H:%M} UTC.", kind="small")


def _warning(release: Release) -> Iterator[Written]:
    if not release.certificate.private:
        why = " ".join(release.certificate.problems)
        yield Paragraph(f"This result has no guarantee: {why}", lead="Not private.", kind="warning")


def _odds(release: Release) -> str:
    card = release.certificate
    return guaranteed_odds(card.epsilon, card.delta, card.guarantee)


def _summary(release: Release) -> str:
    """What a certificate says that others of the same data set may not; the whole one stands in the web page."""
    card = release.certificate
    promise = f"ε = {plain_epsilon(card.epsilon)}{at_delta(card.delta)}" if card.private else "none, it is not private"
    return (
        f"Promise: {promise}; guarantee {card.guarantee}; chosen by: {sampler_name(card.sampler)}. Made "
        f"{card.created:%Y-%m-%d %H:%M} UTC by version {card.engine_version}; number {release.id}. Who is protected, "
        "and what is known beforehand, is said once for all results, in the privacy statement."
    )
