"""What a release says, sorted by kinds of blocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dpcore.models.readable import blocks_of
from dpcore.plots.figures import alt, drawn
from dpcore.released.blocks import Bullets, Code, Figure, Headline, Paragraph, Table, only, written
from dpcore.released.release import Release


@dataclass(frozen=True)
class Picture:
    title: str
    figure: Any
    alt: str


@dataclass(frozen=True)
class Content:
    sentences: list[str]
    pictures: list[Picture]
    tables: list[Table]
    code: str


def content(release: Release, *, short: bool = False) -> Content:
    blocks = blocks_of(release, short=short)
    said = [own.sentence for own in only(blocks, Headline)] + [own.words for own in only(blocks, Paragraph)]
    return Content(
        [*said, *(words for own in only(blocks, Bullets) for words in own.sentences)],
        [Picture(own.title, drawn(own), alt(own)) for own in only(blocks, Figure)],
        only(map(written, blocks), Table),
        "".join(own.words for own in only(blocks, Code)),
    )
