"""For the page of every family: data that it can learn from, and a run that costs little time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dpcore.domain.schemas.schema import Schema
from dpcore.released.release import Release
from dpcore.service import Service
from dpcore.workspace.ledger.requests import RunRequest
from pages.components.families import registry
from pages.components.visitor import access
from tests.support.pages.page_tools import at_run, open_page
from tests.support.pages.ward_runs import SCHEMA, add_ward, submit, ward
from tests.support.results import small_redescriptions
from tests.support.tables import small_trains

#: Records, schema and target of the families that need others than the patients of a ward.
DATA: dict[str, tuple[Callable[[], Any], Schema, str]] = {
    "redescriptions": (small_redescriptions.two_sided_people, small_redescriptions.SCHEMA, ""),
    "ilp": (small_trains.trains, small_trains.SCHEMA, small_trains.TARGET),
    "summaries": (ward, SCHEMA, ""),
}
#: Parameters that keep a run short, and the numbers of a form that do.
QUICK: dict[str, dict[str, Any]] = {
    "rule_list": {"pool_size": 500},
    "forest": {"trees": 3},
    "ebm": {"method": "random_splits", "epochs": 5},
    "redescriptions": {"starts": 2},
    "ilp": {"max_literals": 2},
}
SHORT = {
    "set-pool": 500,
    "set-forest-trees": 3,
    "set-ebm-epochs": 5,
    "set-pairs-starts": 1,
    "set-pairs-depth": 2,
    "set-pairs-steps": 500,
    "set-ilp-literals": 2,
}


@dataclass(frozen=True)
class FamilyPage:
    """The page of one family, with data for it."""

    name: str

    @property
    def family(self) -> registry.Family:
        return registry.FAMILIES[self.name]

    @property
    def page(self) -> str:
        return self.family.page.removesuffix(".py")

    @property
    def target(self) -> str:
        return self._data[2]

    @property
    def _data(self) -> tuple[Callable[[], Any], Schema, str]:
        return DATA.get(self.name, (ward, SCHEMA, "died"))

    def add(self, *, public: bool = False, budget: str = "9") -> str:
        """Store data for it; returns the id of the data set."""
        records, schema, _ = self._data
        service = access.service()
        info = service.add_dataset(records(), schema, budget=Decimal(budget), public=public)
        return str(info.id)

    def request(self, dataset_id: str, epsilon: str = "3", **parameters: Any) -> RunRequest:
        return RunRequest(
            dataset_id=dataset_id,
            algorithm=self.name,
            target=self.target,
            epsilon=Decimal(epsilon),
            parameters=parameters,
        )

    def submit(self, dataset_id: str, epsilon: str = "3", **parameters: Any) -> str:
        """Spend on a short run and return its id."""
        chosen = QUICK.get(self.name, {}) | parameters
        return submit(dataset_id, self.name, epsilon, self.target, **chosen)

    def open(self, method: str = "") -> AppTest:
        """The page, its form set to a method and to a short run."""
        app = open_page(self.page)
        if method:
            app.radio(key=f"{self.name}-method").set_value(method).run()
        for item in app.number_input:
            if item.key in SHORT:
                item.set_value(SHORT[item.key])
        return app

    def at_run(self, run_id: str) -> AppTest:
        return at_run(self.page, run_id)


def by_hand(monkeypatch: pytest.MonkeyPatch, *releases: Release) -> AppTest:
    """The page Releases, showing results that were made by hand."""
    add_ward()
    monkeypatch.setattr(Service, "releases", lambda *_: list(releases))
    return open_page("releases")


FAMILY_PAGES = {name: FamilyPage(name) for name in registry.FAMILIES}
