"""A data set whose every name, category and note tries to lead its reader elsewhere, and who would notice."""

from __future__ import annotations

import numpy as np
import pandas as pd
from playwright.sync_api import Page

from dpcore.domain.schemas.schema import Schema

LINK = "[l](https://evil.example/l)"
IMAGE = "![p](https://evil.example/p.png)"
BARE = "https://evil.example/b"
WWW = "www.evil.example"
MAIL = "ann@evil.example"
ANCHOR = "<a href='https://evil.example/a'>a</a><img src='https://evil.example/i.png'>"
EVERYTHING = f"{LINK} {IMAGE} {BARE} {WWW} {MAIL} {ANCHOR} :smile: $x$ -> *y*"
SCHEMA = Schema.from_mapping(
    {
        "name": f"set {LINK} {MAIL}",
        "description": EVERYTHING,
        "max_rows": 2000,
        "columns": [
            {
                "name": f"age {LINK} {BARE}",
                "type": "integer",
                "lower": 20,
                "upper": 100,
                "bins": 4,
                "unit": WWW,
                "view": "right",
                "description": EVERYTHING,
            },
            {
                "name": f"ward {IMAGE} {ANCHOR}",
                "type": "categorical",
                "categories": [IMAGE, f"{LINK} {MAIL}", ANCHOR],
                "view": "left",
                "description": EVERYTHING,
            },
            {"name": WWW, "type": "boolean", "view": "left"},
            {"name": MAIL, "type": "boolean", "view": "right"},
            {"name": f"died {IMAGE} {MAIL}", "type": "boolean", "target": True},
        ],
    }
)
AGE, WARD, LEFT, RIGHT, DIED = (column.name for column in SCHEMA)
#: Links, pictures and frames on a page that lead to where the names say.
LURES = """() => [...document.querySelectorAll('a, img, image, iframe, object, area, use, link')]
    .map(one => one.getAttribute('href') || one.getAttribute('xlink:href')
        || one.getAttribute('src') || '')
    .filter(address => /evil|mailto/i.test(address))"""


def people(rows: int = 1500) -> pd.DataFrame:
    draw = np.random.default_rng(0)
    age, ward, *flags = (column.name for column in SCHEMA)
    frame = pd.DataFrame({age: draw.integers(20, 101, rows)})
    frame[ward] = draw.choice([IMAGE, f"{LINK} {MAIL}", ANCHOR], rows)
    for flag in flags:
        frame[flag] = np.where(draw.random(rows) < frame[age] / 150, "yes", "no")
    return frame


class Watch:
    """Lures found on the pages that were looked at, and requests to elsewhere."""

    def __init__(self, page: Page) -> None:
        self.found: list[str] = []
        page.on("request", lambda sent: "evil" in sent.url and self.found.append(sent.url))
        self._page = page

    def look(self) -> None:
        """At the page as it is drawn now."""
        self.found += [f"{self._page.url[:60]}: {one}" for one in self._page.evaluate(LURES)]
