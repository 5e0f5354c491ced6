"""A hostile data set with a release of every family, and a reader of the files that are made.

The reader uses the parser of the standard library: it does not trust the templates.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache
from html.parser import HTMLParser
from typing import Any

from dpcore.models.registry import LEARNERS
from dpcore.privacy.filters import PrivacyFilter
from dpcore.privacy.losses import pure_loss
from dpcore.rehearsal import rehearse
from dpcore.released.release import Release
from dpcore.workspace.files.descriptions import DatasetInfo, ReleaseNote
from dpcore.workspace.ledger.accounts import Balance, CapState
from dpcore.workspace.results.dossier import Application
from tests.support.tables.small_tables import ward

SCRIPT = "</script><script>alert(1)</script>"
IMAGE = '"><img src=x onerror=alert(1)>'
LINK = '<a href="https://evil.example/">x</a>'
TEMPLATE = "{{ 7 * 7 }}{% raw %}"
HOSTILE = (SCRIPT, IMAGE, LINK, TEMPLATE)
WRITTEN = Application(
    title=f"Title {SCRIPT}",
    applicant=f"Applicant {IMAGE}",
    request=f"Request {LINK}",
    findings=f"Finding one {SCRIPT}\nFinding two",
    hypotheses=f"Hypothesis {TEMPLATE}",
    justification=f"Justification {IMAGE}",
    settings=f"Settings {LINK}",
    curator=f"Curator {TEMPLATE}",
    region=f"Region {SCRIPT}",
)
SCHEMA = ward(
    {
        "name": f"age {LINK}",
        "type": "integer",
        "lower": 20,
        "upper": 100,
        "bins": 4,
        "unit": "<i>years</i>",
        "view": "right",
    },
    {
        "name": f"ward {SCRIPT}",
        "type": "categorical",
        "categories": [IMAGE, LINK, "c"],
        "view": "left",
        "description": TEMPLATE,
    },
    {"name": "smoker", "type": "boolean", "view": "left"},
    {"name": "tired", "type": "boolean", "view": "right"},
    {"name": f"died {IMAGE}", "type": "boolean", "target": True},
    {"name": "grade", "type": "categorical", "categories": [SCRIPT, "b", "c"], "target": True},
    name=f"set {SCRIPT}",
    description=f"Described {IMAGE}",
    max_rows=4000,
)
TARGET, CLASSES = f"died {IMAGE}", "grade"
CASES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "rule list": ("rule_list", TARGET, {"pool_size": 300}),
    "rule list of three classes": ("rule_list", CLASSES, {"pool_size": 300}),
    "tree": ("tree", TARGET, {}),
    "tree of three classes": ("tree", CLASSES, {}),
    "forest": ("forest", TARGET, {}),
    "shapes": ("ebm", TARGET, {}),
    "shapes of three classes": ("ebm", CLASSES, {}),
    "shapes of a number": ("ebm", f"age {LINK}", {}),
    "redescriptions": ("redescriptions", "", {}),
    "relational rules": ("ilp", TARGET, {}),
    "first look": ("summaries", "", {"by": TARGET, "crosstabs": ["smoker by tired"], "pairs": 1}),
}
NOTE_TIME = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)


def dataset(*, public: bool = False) -> DatasetInfo:
    return DatasetInfo("rehearsal", SCHEMA.name, SCHEMA.description, SCHEMA, public, datetime.now(UTC))


@cache
def release(case: str) -> Release:
    """A release of the hostile schema, learned from invented records."""
    kind, target, parameters = CASES[case]
    learner = LEARNERS[kind]
    plan = learner.plan(SCHEMA, target, Decimal(2), parameters)
    return rehearse(learner, SCHEMA, plan)


def note(chosen: Release) -> ReleaseNote:
    return ReleaseNote(chosen.id, f"Name {SCRIPT}", f"Note {IMAGE}\n{LINK}", f"ann {LINK}", NOTE_TIME)


def balance(spent: str = "6.5") -> Balance:
    loss = pure_loss(Decimal(spent))
    return Balance((CapState(PrivacyFilter(Decimal(20), Decimal(0)), loss, loss),))


@dataclass
class Read:
    """What a browser would make of a file."""

    tags: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)
    scripts: list[str] = field(default_factory=list)
    text: str = ""

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.read, self._inside = Read(), ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.read.tags.append((tag, dict(attrs)))
        self._inside = tag if tag in {"script", "style"} else ""

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside == "script":
            self.read.scripts.append(data)
        elif not self._inside:
            self.read.text += data


def read(html: str) -> Read:
    """Tags, scripts and visible text of a file."""
    reader = _Reader()
    reader.feed(html)
    return reader.read
