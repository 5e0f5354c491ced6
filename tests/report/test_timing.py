"""Every certificate says what the time of a run may tell."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from dpcore.commands.text import certificate_text
from dpcore.domain.schemas.schema import Schema
from dpcore.models.registry import LEARNERS
from dpcore.report.certificate import certificate_lines
from dpcore.report.names import METHODS
from dpcore.report.timing import time_sentence
from tests.support.results import reports
from tests.support.rows import for_each
from tests.support.workspaces.fake_learner import real_learners

SCHEMA = Schema.from_text(
    """
name: small
max_rows: 1000
columns:
  - {name: a, type: boolean, view: left}
  - {name: b, type: integer, lower: 0, upper: 9, bins: 3, view: right}
  - {name: c, type: boolean, view: right}
  - {name: y, type: boolean, target: true}
"""
)
CHOICE, WALK = "depends on their exact scores", "steps that it accepts"
SETTINGS: dict[str, list[dict[str, Any]]] = {
    kind: [{"method": method} for method in METHODS.get(kind, {})]
    for kind in ("tree", "forest", "ebm", "redescriptions", "ilp", "summaries")
}
SETTINGS["rule_list"] = [{"sampler": "lookahead"}, {"sampler": "pool"}, {"sampler": "mcmc"}, {"antecedents": "dp_fim"}]
SETTINGS["ebm"] += [{"pairs": 1}]
SETTINGS["summaries"] += [{"pairs": 1}]
SETTINGS["redescriptions"] += [{"method": "mcmc_tree_pair", "sampler": "pool"}]
CASES = [(kind, chosen) for kind, settings in SETTINGS.items() for chosen in settings]


def sentence(kind: str, chosen: dict[str, Any]) -> str:
    learner = LEARNERS[kind]
    plan = learner.plan(SCHEMA, "y" if learner.targeted else "", Decimal(8), chosen)
    card = reports.release("tree").certificate
    split = dict(plan.split.parts)
    return time_sentence(card.model_copy(update={"sampler": plan.sampler, "budget_split": split}))


def test_every_learner_is_tried() -> None:
    assert set(SETTINGS) == set(real_learners())


@for_each(("kind", "chosen"), CASES)
def test_the_sentence_follows_from_the_sampler(kind: str, chosen: dict[str, Any]) -> None:
    told = sentence(kind, chosen)
    assert told.startswith("no part of the guarantee")
    only_noise = {"sulq_id3", "random_trees", "all_bins", "random_splits", "naive", "weighted", "equal"}
    assert (CHOICE in told) == (chosen.get("method") not in only_noise)
    walks = {"mcmc", "alt_mcmc"} & set(chosen.values()) or chosen == {"method": "mcmc_tree_pair"}
    assert (WALK in told) == bool(walks)
    by_level = {"relevance_aware", "dp_fim"} & set(chosen.values())
    assert ("left out more" in told) == bool(by_level)


def test_of_an_unknown_sampler_nothing_good_is_said() -> None:
    card = reports.release("tree").certificate.model_copy(update={"sampler": "of another version"})
    assert CHOICE in time_sentence(card)


def test_certificates_hold_it() -> None:
    release = reports.release("rule list")
    told = time_sentence(release.certificate)
    assert certificate_lines(release)["Time that the run took"] == told
    assert told in certificate_text(release)


def test_of_several_runs_everything_is_said_once() -> None:
    card = reports.release("tree").certificate
    cards = [card.model_copy(update={"sampler": name}) for name in ("all_bins", "pool", "mcmc")]
    told = time_sentence(*cards)
    assert told.count("drawing noise") == told.count(CHOICE) == told.count(WALK) == 1
