"""A schema says where it comes from, and nothing that was read off the records is private."""

from __future__ import annotations

import json
import sys
import warnings
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError

from dpcore import demo
from dpcore.commands.text import certificate_text, release_text
from dpcore.domain.schemas.origins import INFERRED
from dpcore.domain.schemas.schema import INFERRED_NAME, Schema
from dpcore.errors import PrivacyLeakWarning, SchemaError
from dpcore.models.ebm.learning.ebm_estimator import DPEBMClassifier, DPEBMRegressor
from dpcore.models.ilp.learning.ilp_estimator import DPILPClassifier
from dpcore.models.redescriptions.learning.redescription_estimator import RedescriptionMiner
from dpcore.models.rules.learning.rule_list_estimator import DPRuleListClassifier
from dpcore.models.trees.learning.tree_estimator import DPForestClassifier, DPTreeClassifier
from dpcore.privacy.accountant import BudgetAccountant
from dpcore.released.plan import guarantee_sentence
from dpcore.released.release import Release
from dpcore.report.certificate import certificate_lines
from dpcore.report.forms.page import release_page
from dpcore.service import Service
from dpcore.workspace.database.database_tables import datasets
from dpcore.workspace.database.transactions import write
from dpcore.workspace.runs.worker import Worker
from tests.support.rows import for_each
from tests.support.workspaces.accounts import amounts
from tests.support.workspaces.fake_learner import fake_request, register, small_frame, small_schema

register()
DEMO = Path(demo.__file__).parent
SALARY = 987_654.25
CLASSIFIERS = [
    (DPRuleListClassifier, {"pool_size": 500}),
    (DPTreeClassifier, {}),
    (DPForestClassifier, {}),
    (DPEBMClassifier, {}),
    (DPILPClassifier, {}),
]
ESTIMATORS = [*CLASSIFIERS, (DPEBMRegressor, {}), (RedescriptionMiner, {})]
every = pytest.mark.parametrize(("kind", "settings"), ESTIMATORS, ids=lambda one: getattr(one, "__name__", ""))


def staff(rows: int = 200) -> tuple[pd.DataFrame, pd.DataFrame]:
    draw = np.random.default_rng(1)
    salary = draw.uniform(20_000, 60_000, rows).round(2)
    salary[7] = SALARY
    left = pd.DataFrame({"salary": salary, "union": draw.integers(0, 2, rows).astype(bool)})
    return left, pd.DataFrame({"left": draw.integers(0, 2, rows).astype(bool)})


def fitted(kind: Any, settings: Any, schema: Schema | None = None, **more: Any) -> Any:
    frame, gone = staff()
    if kind is RedescriptionMiner:
        return kind(epsilon=1, schema=schema, **settings, **more).fit(frame, gone)
    model = kind(epsilon=1, schema=schema, **settings, **more)
    if kind is DPEBMRegressor:
        return model.fit(frame[["union"]], frame["salary"])
    return model.fit(frame, gone["left"])


@every
def test_a_release_with_an_inferred_schema_promises_nothing(kind, settings):
    budget = BudgetAccountant(2, delta_cap="0.0001")
    with pytest.warns(PrivacyLeakWarning, match="not differentially private.*read off") as caught:
        model = fitted(kind, settings, accountant=budget)
    assert caught[0].filename == __file__
    release = model.release_
    card = release.certificate
    assert [entry.loss.epsilon for entry in budget.entries] == [card.epsilon], "it is charged all the same"
    assert card.asked in (None, 1)
    assert release.domain.column("salary").upper == SALARY, "this is why"
    assert release.domain.origin == INFERRED
    assert card.origins == (INFERRED,)
    assert not card.private
    assert card.guarantee == "none"
    assert Release.from_json(release.to_json()) == release


@every
def test_every_text_about_it_says_so(kind, settings):
    with pytest.warns(PrivacyLeakWarning):
        release = fitted(kind, settings).release_
    lines = certificate_lines(release)
    texts = {
        "certificate": "\n".join(f"{name}: {line}" for name, line in lines.items()),
        "command line": release_text(release),
        "page": release_page(release),
    }
    for place, text in texts.items():
        assert "read off the records" in text, place
        assert "not private" in text.lower(), place
        body = text[text.find("<body") :] if place == "page" else text
        for claim in (
            "unconditional",
            "exact guarantee",
            "changes their odds",
            "pure differential",
            "with differential privacy",
        ):
            assert claim not in body, (place, claim)
    assert lines["Kind of guarantee"] == "none"


@every
def test_an_estimator_made_of_such_a_release_warns_and_stays_what_it_is(kind, settings):
    with pytest.warns(PrivacyLeakWarning):
        release = fitted(kind, settings).release_
    with pytest.warns(PrivacyLeakWarning, match="read off") as caught:
        again = kind.from_release(Release.from_json(release.to_json()))
    assert caught[0].filename == __file__
    assert again.schema.origin == INFERRED
    with pytest.warns(PrivacyLeakWarning, match="read off"):
        second = fitted(kind, settings, schema=again.schema)
    assert not second.release_.certificate.private


@every
def test_a_declared_schema_is_private_and_does_not_warn(kind, settings):
    with pytest.warns(PrivacyLeakWarning):
        found = fitted(kind, settings).schema_
    declared = found.model_copy(update={"origin": "declared"})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        release = fitted(kind, settings, schema=declared).release_
    card = release.certificate
    assert card.private
    assert card.origins == ("declared",)
    assert card.guarantee == "unconditional"
    assert "is not recorded" in certificate_lines(release)["Where bounds and categories come from"]
    assert "Not private" not in certificate_text(release)


def test_the_hash_of_a_declared_schema_is_what_it_was():
    stored = {"stroke": "0c2136892dbf0c81", "hospital": "b06aa93034c31e9e"}
    for name, start in stored.items():
        assert Schema.from_file(DEMO / f"{name}.yaml").hash.startswith(start)
    content = {"name": "a", "max_rows": 9, "columns": [{"name": "b", "type": "boolean"}]}
    plain = Schema.from_mapping(content)
    assert "origin" not in plain.to_yaml()
    said = Schema.from_mapping(content | {"origin": "declared"})
    inferred = Schema.from_mapping(content | {"origin": INFERRED})
    assert plain.hash == said.hash != inferred.hash
    assert Schema.from_text(inferred.to_yaml()).origin == INFERRED
    assert Schema.from_text(inferred.to_json()).origin == INFERRED


def declared_release() -> Release:
    with pytest.warns(PrivacyLeakWarning):
        found = fitted(DPTreeClassifier, {}).schema_
    schema = found.model_copy(update={"origin": "declared", "name": "staff"})
    return fitted(DPTreeClassifier, {}, schema=schema).release_


def as_before(release: Release) -> dict[str, Any]:
    """A release as versions wrote it that knew nothing of origins."""
    content = json.loads(release.to_json())
    del content["domain"]["origin"]
    del content["certificate"]["origins"]
    content["certificate"]["guarantee"] = "unconditional"
    plain = release.domain.model_copy(update={"origin": "declared"})
    content["certificate"]["schema_hash"] = plain.hash
    return content


def test_an_old_release_of_a_declared_schema_reads_the_same():
    release = declared_release()
    assert Release.from_json(json.dumps(as_before(release))) == release


def test_an_old_release_of_an_inferred_schema_is_found_out():
    with pytest.warns(PrivacyLeakWarning):
        release = fitted(DPTreeClassifier, {}).release_
    again = Release.from_json(json.dumps(as_before(release)))
    assert again == release
    assert not again.certificate.private


def old_schema() -> dict[str, Any]:
    """An inferred schema as versions wrote it that knew nothing of origins."""
    content = json.loads(small_schema(INFERRED_NAME).to_json())
    del content["origin"]
    return content


def test_an_old_inferred_schema_is_found_out():
    for found in (
        Schema.from_mapping(old_schema()),
        Schema.model_validate_json(json.dumps(old_schema())),
        Schema.from_text(json.dumps(old_schema())),
    ):
        assert found.origin == INFERRED
        assert Schema.from_text(found.to_yaml()) == found
    said = Schema.from_mapping(old_schema() | {"origin": "declared"})
    assert said.origin == "declared"
    assert Schema.from_text(said.to_yaml()) == Schema.from_text(said.to_json()) == said


def made_old(home: Path, dataset_id: str, engine: Any) -> None:
    """Make a stored data set one of an early version, whose schema was inferred."""
    content = old_schema()
    plain = Schema.from_mapping(content | {"origin": "declared"})
    (home / "datasets" / dataset_id / "schema.json").write_text(json.dumps(content))
    values = {"schema": json.dumps(content), "schema_hash": plain.hash}
    write(engine, lambda connection: connection.execute(datasets.update().values(**values)))


def test_nothing_is_spent_on_private_records_with_an_old_inferred_schema(tmp_path: Path):
    nobody = (sys.executable, "-c", "import sys; sys.stdin.read()")
    with Service(tmp_path, workers=1, worker_command=nobody) as service:
        added = service.add_dataset(small_frame(), small_schema(INFERRED_NAME, origin="declared"), budget=Decimal(2))
        waiting = service.submit(fake_request(added.id), "before")
        made_old(tmp_path, added.id, service._engine)
        assert service.dataset(added.id).schema.origin == INFERRED
        with pytest.raises(SchemaError, match="would be private"):
            service.submit(fake_request(added.id), "after")
        with closing(Worker(tmp_path, str(service._engine.url))) as worker:
            worker.drain(waiting)
        assert service.run(waiting).state == "failed"
        assert "would be private" in service.run(waiting).message
        assert amounts(service.total_balance(added.id)).left == 2


def test_a_run_on_public_records_with_an_old_inferred_schema_ends_well(tmp_path: Path):
    with Service(tmp_path, workers=0) as service:
        added = service.add_dataset(
            small_frame(), small_schema(INFERRED_NAME, origin="declared"), budget=Decimal(2), public=True
        )
        made_old(tmp_path, added.id, service._engine)
        run = service.submit(fake_request(added.id), "n")
        assert service.run(run).state == "done"
        [release] = service.releases()
        assert not release.certificate.private


def test_an_old_release_of_a_stored_inferred_schema_is_found_out():
    with pytest.warns(PrivacyLeakWarning):
        release = fitted(DPTreeClassifier, {}).release_
    stored = as_before(release) | {"dataset_id": "da7a" * 8}
    again = Release.from_json(json.dumps(stored))
    assert again.certificate.origins == again.domain.origins == (INFERRED,)
    assert not again.certificate.private


def test_an_old_seeded_release_promises_nothing():
    with pytest.warns(PrivacyLeakWarning):
        found = fitted(DPTreeClassifier, {}).schema_
    schema = found.model_copy(update={"origin": "declared", "name": "staff"})
    release = fitted(DPTreeClassifier, {}, schema=schema, random_state=1).release_
    again = Release.from_json(json.dumps(as_before(release)))
    assert again.certificate.guarantee == "none"
    assert not again.certificate.private


@for_each(
    ("place", "changes"),
    [
        ("certificate", {"guarantee": "none"}),
        ("certificate", {"origins": [INFERRED]}),
        ("certificate", {"origins": [INFERRED], "guarantee": "none"}),
        ("certificate", {"origins": []}),
        ("domain", {"origin": INFERRED}),
    ],
)
def test_a_certificate_cannot_contradict_itself_or_its_schema(place, changes):
    content = json.loads(declared_release().to_json())
    content[place] |= changes
    with pytest.raises(ValidationError):
        Release.model_validate(content)


def test_a_plan_with_an_inferred_schema_says_so_before_it_runs():
    with pytest.warns(PrivacyLeakWarning):
        model = fitted(DPTreeClassifier, {})
    plan = DPTreeClassifier._learner.plan(model.schema_, "left", Decimal(1), {})
    assert plan.promised == "none"
    assert guarantee_sentence(plan).startswith("No guarantee. No schema was declared")
