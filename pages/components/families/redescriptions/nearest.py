"""What keeps redescriptions from being found: the slider that blocks, and the nearest miss."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import streamlit as st

from dpcore.domain.counted import Noun
from dpcore.numerals import hundredths
from dpcore.released.release import Release
from pages.components.families.redescriptions.redescription_state import remembered
from pages.components.kit import markup
from pages.components.kit.markup import text


@dataclass(frozen=True)
class Slider:
    """One of the sliders above: how it is called, what it asks for, and what an item has."""

    name: str
    field: str
    loosest: float
    has: Callable[[Any], float]
    shown: Callable[[float], str]
    least: bool = True

    def keeps_out(self, item: Any, asked: Any) -> bool:
        """Whether it alone would keep an item out."""
        value, wanted = self.has(item), float(getattr(asked, self.field))
        return value < wanted if self.least else value > wanted


SLIDERS = (
    Slider("Least noisy Jaccard index", "min_jaccard", 0.1, lambda item: item.jaccard, hundredths),
    Slider("Largest p-value", "max_p", 1.0, lambda item: item.p_value, lambda v: f"{v:.2g}", least=False),
    Slider(
        "Least gain over chance",
        "min_above_chance",
        0.0,
        lambda item: item.jaccard - item.chance,
        hundredths,
    ),
)


def render(release: Release, model: Any, asked: Any) -> None:
    """Say which slider blocks, and show what comes nearest."""
    markup.empty("Nothing found", "No two conditions fulfil what is asked for above.")
    loosest = asked.model_copy(update={slider.field: slider.loosest for slider in SLIDERS} | {"disjuncts": 4})
    read = remembered(release, model, loosest)
    if read.found:
        blocking, item = nearest(read.found, asked)
        named = " and ".join(f"'{slider.name}'" for slider in blocking) or "'Most groups joined by OR'"
        st.markdown(markup.plain(f"The slider that blocks: {named}. The nearest miss:"))
        markup.sentences([_told(item, read.counted, blocking, asked)])
    else:
        st.markdown("Not even with every slider at its loosest is there anything: it is not the sliders that block.")
    st.markdown(text("nothing_found"))


def nearest(found: Any, asked: Any) -> tuple[list[Slider], Any]:
    """The item that the fewest sliders keep out, the best of those first; and these sliders."""
    blocked = [([slider for slider in SLIDERS if slider.keeps_out(item, asked)], item) for item in found]
    return min(blocked, key=lambda pair: (len(pair[0]), -pair[1].jaccard))


def _told(item: Any, counted: Noun, blocking: list[Slider], asked: Any) -> str:
    wanted = [slider.shown(float(getattr(asked, slider.field))) for slider in blocking]
    short = ", ".join(
        f"{slider.shown(slider.has(item))} where {limit} is asked for"
        for slider, limit in zip(blocking, wanted, strict=True)
    )
    reason = f": {short}" if short else ""
    numbers = f"noisy Jaccard index {hundredths(item.jaccard)}, {counted.number(item.support)}"
    return f"{item.left} ⇔ {item.right}, {numbers}{reason}"
