"""Results that come as files: what fits is taken and marked, what was changed is refused in a sentence."""

from __future__ import annotations

import json
import math
import re
import threading
from collections.abc import Callable, Iterator
from decimal import Decimal
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from dpcore.data.building.ingest import ingest
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import FrostglassError, RequestError
from dpcore.learning.learner import Run
from dpcore.models.registry import get_learner
from dpcore.models.released import family_of, parse_model
from dpcore.privacy.randomness import SecureRandom, SeededRandom
from dpcore.released.evaluation import MOST_GROUPS
from dpcore.released.release import Imported, Release, make_release
from dpcore.released.release import imported as read_back
from dpcore.report import imported
from dpcore.report.imported import fault_of
from dpcore.service import Service
from dpcore.service import imports as service_imports
from dpcore.workspace.database.database_tables import imported_releases
from dpcore.workspace.database.transactions import write
from dpcore.workspace.people.users import LOCAL_USER
from dpcore.workspace.results import imports
from tests.support.learning.configurations import WAYS
from tests.support.pages.page_visitors import ANN, BOB
from tests.support.results.real_releases import real_release
from tests.support.rows import for_each
from tests.support.tables.small_trains import SCHEMA, TARGET, trains


def made(schema: Schema = SCHEMA) -> Release:
    """What a run on invented trains releases."""
    learner, tables = get_learner("ilp"), {name: [frame] for name, frame in trains(800).items()}
    plan = learner.plan(schema, TARGET, Decimal(2), {"literals": ["car: length = short", "car: weight > 3.5"]})
    table = ingest(tables.pop(schema.entity), schema, SeededRandom(1), tables)
    model = learner.run(Run(table, plan, SecureRandom()))
    return make_release("ilp", plan, model, secure=True, dataset_name="elsewhere")


RELEASE = made()
_COLUMNS = [column.model_dump(mode="json", exclude_none=True) for column in SCHEMA.columns]
LABELLED = made(
    Schema.model_validate(
        SCHEMA.model_dump(mode="json")
        | {"columns": [{**column, "label": f"The {column['name']}"} for column in _COLUMNS]}
    )
)
#: A list of rules of at most 3,000 records.
PATIENTS = Schema.from_mapping(
    {
        "name": "patients",
        "max_rows": 3000,
        "columns": [
            {"name": "died", "type": "boolean", "target": True},
            {"name": "age", "type": "integer", "lower": 0, "upper": 99, "edges": [20, 40, 60, 80]},
            {"name": "ward", "type": "categorical", "categories": ["a", "b", "c"]},
        ],
    }
)


def ruled() -> Release:
    """What a run on invented patients releases: a list that follows their age and ward."""
    draw = np.random.default_rng(1)
    frame = pd.DataFrame({"age": draw.integers(0, 100, 2500), "ward": draw.choice(["a", "b", "c"], 2500)})
    frame["died"] = np.where(draw.random(2500) < frame["age"] / 120 + 0.1 * (frame["ward"] == "a"), "yes", "no")
    learner = get_learner("rule_list")
    plan = learner.plan(PATIENTS, "died", Decimal(2), {})
    table = ingest([frame], PATIENTS, SeededRandom(1))
    return make_release("rule_list", plan, learner.run(Run(table, plan, SeededRandom(2))), secure=True)


RULES = ruled()


def changed(change: Callable[[dict[str, Any]], None], release: Release = RELEASE) -> str:
    content = json.loads(release.to_json())
    change(content)
    return json.dumps(content)


def put(path: str, value: object) -> Callable[[dict[str, Any]], None]:
    *above, last = path.split(".")

    def change(content: dict[str, Any]) -> None:
        here: Any = content
        for step in above:
            here = here[int(step) if step.isdigit() else step]
        here[int(last) if isinstance(here, list) else last] = value

    return change


def dear(epsilon: str) -> Callable[[dict[str, Any]], None]:
    """As if all of it had cost so much."""

    def change(content: dict[str, Any]) -> None:
        content["certificate"] |= {"epsilon": epsilon, "budget_split": {"all": epsilon}}

    return change


@for_each("release", [RELEASE, LABELLED, RULES])
def test_what_was_downloaded_is_taken(release: Release) -> None:
    assert fault_of(release.to_json()) == "good"


def of_rule(change: Callable[[dict[str, Any]], None]) -> Callable[[dict[str, Any]], None]:
    """A change of the first rule."""
    return lambda content: change(content["model"]["rules"][0])


def another_condition(content: dict[str, Any]) -> None:
    """Words of the second rule above the conditions of the first."""
    content["model"]["rules"][0]["text"] = "age > 80 and ward = c and age <= 20"


def many_rules(content: dict[str, Any]) -> None:
    first, *_, last = content["model"]["rules"]
    content["model"]["rules"] = [first] * 20_000 + [last]
    content["model"]["antecedent_count"] = 20_000


#: Each is one lie in an otherwise true file.
LIES: dict[str, Callable[[dict[str, Any]], None]] = {
    "a rule's words": another_condition,
    "an estimate of 7.5": of_rule(put("estimates.1", 7.5)),
    "an estimate of -3": of_rule(put("estimates.0", -3.0)),
    "an interval of another count": of_rule(put("intervals.1", [0.0, 0.001])),
    "an accuracy of 1.7": put("model.evaluation.accuracy.value", 1.7),
    "an accuracy of other counts": put("model.evaluation.accuracy.value", 0.987),
    "an area of other counts": put("model.evaluation.auc.value", 0.987),
    "more people than there are": of_rule(put("noisy_counts.0", 10**12)),
    "no noise": put("model.count_margin", 0),
    "another unit": put("certificate.privacy_unit", "nobody"),
    "another neighbour": put("certificate.neighboring_relation", "nobody added or removed"),
    "other parts": put("certificate.budget_split.list", "0.1"),
    "another sampler": put("certificate.sampler", "pool"),
    "another guarantee": put("certificate.guarantee", "conditional on convergence"),
    "a small rho": put("certificate.rho", "0.000001"),
    "20,000 rules": many_rules,
    "15 MB of words": of_rule(put("text", "x" * (15 << 20))),
    "a second text": of_rule(lambda rule: rule["conditions"][0].update(last=rule["conditions"][0]["last"] + 1)),
}


@for_each("lie", LIES)
def test_a_single_lie_is_refused(lie: str) -> None:
    assert fault_of(changed(LIES[lie], RULES)) == "itself"


#: Leaves that everything else follows from, or that say who asked for what, and when: one of them alone contradicts
#: nothing. Noisy numbers are among them; each must still be one that noise can give.
BASIC = re.compile(
    r"id|kind|format|dataset_id|dataset_name|target|parameters\..*|domain\..*"
    r"|certificate\.(engine_version|created|rho|asked|composition|conditional_allowed)"
    r"|model\..*(noisy_counts|noisy_total|noisy_left|noisy_errors|counts|deviation|count_margin|cells|edges|splits)\b.*"
    r"|model\.(intercept|intercept_error|terms\.#\.(scores|errors|count_errors|noise_size|p_value|threshold))\b.*"
    r"|model\.(sides|alike|clause_count|antecedent_count|groups\.#\.(kept|clause))\b.*"
    r"|model\.(cuts|trees\.#\.budget|.*spent|.*collapsed|.*label)\b.*"
    r"|model\.evaluation\.(constant_rmse|group_limits|group_estimates|rows_per_person)\b.*"
)


def leaves(value: Any, place: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every number and text of a file, with its place."""
    if isinstance(value, dict | list):
        within = value.items() if isinstance(value, dict) else enumerate(value)
        for key, inner in within:
            yield from leaves(inner, (*place, str(key)))
    else:
        yield place, value


def otherwise(value: Any) -> Any:
    """Something else of the same kind, so large that no rounding explains it."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return 3 * value + 1e6 if isinstance(value, float) else 3 * value + 10**13
    return "other words" if value is None or not value[:1].isdigit() else f"9{value}"


@pytest.mark.parametrize(("family", "way"), WAYS)
@settings(max_examples=4, phases=(Phase.explicit, Phase.reuse, Phase.generate), deadline=None)
@given(seed=st.integers(0, 2**63 - 1))
def test_true_releases_are_taken_and_changed_ones_are_not(family: str, way: dict[str, Any], seed: int) -> None:
    random = Random(seed)
    release = real_release(random, family, way)
    assert fault_of(release.to_json()) == "good"
    known = [
        (place, value) for place, value in leaves(json.loads(release.to_json())) if not BASIC.fullmatch(_shape(place))
    ]
    for place, value in random.sample(known, min(len(known), 12)):
        assert fault_of(changed(put(".".join(place), otherwise(value)), release)) != "good", place


def test_an_estimate_that_its_prior_draws_far_lies_in_its_interval() -> None:
    """Nine classes, and a clause that covers few people of each."""
    for _ in range(150):  # Noise is drawn anew: without this, one in fifty was refused.
        assert fault_of(real_release(Random(97049), "ilp", {"method": "noisy_max"}).to_json()) == "good"


def _shape(place: tuple[str, ...]) -> str:
    return ".".join("#" if step.isdigit() else step for step in place)


@for_each(
    ("text", "fault"),
    [
        ("", "form"),
        ("[]", "form"),
        ("[" * 100_000, "form"),
        ("{}", "form"),
        (changed(put("model.count_margin", math.nan)), "number"),
        (changed(put("model.count_margin", math.inf)), "number"),
        (changed(put("kind", "nothing")), "form"),
        (changed(put("model", {})), "form"),
        (changed(put("id", "nul\0nul\0nul")), "form"),
        (changed(put("id", "\u202eabc defg")), "form"),
        (changed(put("target", "year")), "itself"),
        (changed(put("target", "nothing")), "itself"),
        (changed(put("target", "")), "itself"),
        (changed(put("certificate.epsilon", "0.01")), "itself"),
        (changed(put("certificate.epsilon", "-1")), "itself"),
        (changed(put("certificate.asked", "0")), "itself"),
        (changed(put("certificate.asked", "1001")), "itself"),
        (changed(dear("1E+30")), "itself"),
        (changed(dear("1000.000000001")), "itself"),
        (changed(put("parameters", {"method": []})), "itself"),
        (changed(put("certificate.max_rows", 5)), "itself"),
        (changed(put("certificate.max_rows_per_person", 9)), "itself"),
        (changed(put("certificate.cuts_from", "f" * 32)), "itself"),
        (changed(put("certificate.cuts_from", "f" * 65)), "form"),
        (changed(put("certificate.schema_hash", "0" * 64)), "form"),
        (changed(put("certificate.guarantee", "none")), "form"),
        (changed(put("model.classes", ["east", "west"])), "itself"),
        (changed(put("dataset_name", "x" * 1000)), "itself"),
        (changed(put("dataset_id", "x" * 1000)), "itself"),
        (changed(put("parameters.junk", "x")), "itself"),
        (changed(put("parameters", {"literals": ["x"] * 100_000})), "itself"),
        (changed(put("parameters", {"positive": "x" * 100_000})), "itself"),
        (changed(put("certificate.sampler", "x" * 100_000)), "itself"),
        (changed(put("certificate.neighboring_relation", "x" * 100_000)), "itself"),
        (changed(put("certificate.budget_split", {"x" * 10_000: "1"})), "itself"),
        (changed(put("model.groups.0.noisy_counts", [])), "itself"),
        (changed(put("model.groups.0.clause.variables.0.table", "nowhere")), "show"),
        (changed(put("model.groups.0.clause.variables.0.atoms", [{"table": "car", "inner": "nowhere"}])), "show"),
    ],
)
def test_a_file_that_was_changed_is_refused(text: str, fault: str) -> None:
    assert fault_of(text) == fault


@for_each("release", [RELEASE, LABELLED])
@for_each("number", ["1e400", "-1e400", '"inf"', '"NaN"'])
def test_a_number_that_cannot_be_stored_is_refused(release: Release, number: str) -> None:
    """It would come back as none, and break every page on which it stands."""
    text = changed(put("model.evaluation.accuracy.value", 0.123456), release)
    assert fault_of(text.replace("0.123456", number)) == ("form" if '"' in number else "number")


@for_each(
    "wrong",
    [
        {"group_limits": [0.0, 0.5, 0.6, 0.7, 0.8]},
        {"group_counts": [[10, 60], [90]]},
        {"group_counts": [[10, 60]]},
        {"group_estimates": [[0.25, 0.5, 0.25], [0.9, 0.05, 0.05]]},
        {"scale": 0},
        {"scale": -1},
        {
            "group_counts": [[1, 1]] * (MOST_GROUPS + 1),
            "group_estimates": [[0.5, 0.5]] * (MOST_GROUPS + 1),
            "group_limits": [],
        },
    ],
)
def test_groups_that_do_not_fit_each_other_are_refused(wrong: dict[str, Any]) -> None:
    assert fault_of(changed(lambda content: content["model"]["evaluation"].update(wrong))) == "form"


@for_each(
    "wrong",
    [
        {"definition": "approximate"},
        {"delta": "0.5"},
        {"rho": "-3"},
        {"rho": "1e30000000"},
        {"parallel_split": {"evaluation": "-5"}},
        {"definition": "approximate", "delta": "1e-3000000"},
        {"parallel_split": {"evaluation": "1e50"}},
    ],
)
def test_a_certificate_that_contradicts_itself_is_refused(wrong: dict[str, Any]) -> None:
    def change(content: dict[str, Any]) -> None:
        content["certificate"] |= wrong

    assert fault_of(changed(change)) == "itself"


@for_each("delta", ["0", "0.000001"])
@for_each("epsilon", ["0.02", "1", "1000"])
def test_certificates_of_this_program_are_coherent(epsilon: str, delta: str) -> None:
    for kind in ("rule_list", "tree", "forest", "ebm", "ilp", "summaries"):
        target = "" if kind == "summaries" else TARGET
        try:
            plan = get_learner(kind).plan(SCHEMA, target, Decimal(epsilon), {}, Decimal(delta))
        except FrostglassError:  # Not every method has every form.
            continue
        model = parse_model(RELEASE)
        made = make_release(kind, plan, model, secure=True)
        assert imported.is_coherent(made.certificate), kind
        assert imported._are_parameters(family_of(made), made), kind


def test_an_import_is_its_owners_until_they_remove_it(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    ann, bob = service.acting(ANN), service.acting(BOB)
    ann.import_release(RELEASE.to_json().encode())
    [found] = ann.imported_releases()[0]
    assert isinstance(found, Imported)
    assert found.to_json() == RELEASE.to_json()
    assert bob.imported_releases() == ([], [])
    assert ann.releases() == [], "it is none of this ledger"
    monkeypatch.setattr(imported, "checked", Release.from_json)
    ann.import_release(RELEASE.to_json().encode())
    assert len(ann.imported_releases()[0]) == 1
    bob.forget_import(RELEASE.id)
    assert len(ann.imported_releases()[0]) == 1
    ann.forget_import(RELEASE.id)
    assert ann.imported_releases() == ([], [])


def test_what_can_no_longer_be_read_hides_nothing_else_and_can_be_removed(service: Service) -> None:
    ann = service.acting(ANN)
    older = RELEASE.model_copy(update={"id": "0" * 32})
    for release in (older, RELEASE):
        imports.keep_import(service._engine, ANN.name, release)
    gone = imported_releases.update().where(imported_releases.c.id == older.id).values(content='{"form": "of old"}')
    write(service._engine, lambda connection: connection.execute(gone))
    assert [found.id for found in ann.imported_releases()[0]] == [RELEASE.id]
    assert ann.imported_releases()[1] == [older.id]
    spoilt = changed(put("model.evaluation.accuracy", {"value": None}), older)
    for content in (spoilt, changed(put("kind", "of_old"), older)):
        write(service._engine, lambda connection, content=content: connection.execute(gone.values(content=content)))
        assert ann.imported_releases()[1] == [older.id], "its model cannot be read"
    ann.forget_import(older.id)
    assert ann.imported_releases()[1] == []


def test_refusals_are_sentences_that_quote_nothing(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    for content in (b"\xff\xfe\x00", b"secret words", changed(put("target", "nothing")).encode()):
        with pytest.raises(RequestError) as refusal:
            service.import_release(content)
        assert "secret" not in str(refusal.value)
        assert str(refusal.value).endswith((".", "download."))
    monkeypatch.setattr(service_imports, "LARGEST_IMPORT", 10)
    with pytest.raises(RequestError, match="larger than"):
        service.import_release(RELEASE.to_json().encode())


def test_nobody_keeps_more_than_a_library(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imports, "MOST", 1)
    monkeypatch.setattr(imported, "checked", lambda text: RELEASE.model_copy(update={"id": text}))
    service.acting(LOCAL_USER).import_release(b"first-one")
    with pytest.raises(RequestError, match="remove some"):
        service.import_release(b"second-one")


def test_nobody_keeps_more_letters_than_there_is_room_for(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    engine, size = service._engine, len(RELEASE.to_json())
    monkeypatch.setattr(imports, "MOST_LETTERS", 2 * size)
    first, second, third = (RELEASE.model_copy(update={"id": number * 32}) for number in "123")
    for release in (first, second, second):
        imports.keep_import(engine, "ann", release)
    with pytest.raises(RequestError, match="remove some"):
        imports.keep_import(engine, "ann", third)
    imports.keep_import(engine, "bob", third)
    imports.forget_import(engine, "ann", first.id)
    imports.keep_import(engine, "ann", third)
    assert {release.id for release in imports.read_imports(engine, "ann")[0]} == {second.id, third.id}


def test_imports_are_read_once_and_not_at_each_drawing(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    engine, parsed = service._engine, []
    for number in "12":
        imports.keep_import(engine, "ann", RELEASE.model_copy(update={"id": number * 32}))
    monkeypatch.setattr(imports, "imported", lambda text: parsed.append(text) or read_back(text))
    first, second = imports.read_imports(engine, "ann"), imports.read_imports(engine, "ann")
    assert first == second
    assert len(parsed) == len(first[0]) == 2
    imports.forget_import(engine, "ann", "1" * 32)
    longer = RELEASE.model_copy(update={"id": "2" * 32, "dataset_name": "another one"})
    imports.keep_import(engine, "ann", longer)
    assert [release.dataset_name for release in imports.read_imports(engine, "ann")[0]] == ["another one"]
    assert imports.read_imports(engine, "bob") == ([], [])


def test_a_process_that_dies_or_hangs_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imported, "_SECONDS", 0)
    with pytest.raises(RequestError, match="more time or memory"):
        imported.checked(RELEASE.to_json())


def test_a_person_has_one_file_checked_at_a_time(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, end = threading.Event(), threading.Event()

    def slow(text: str) -> Release:
        begun.set()
        assert end.wait(60)
        return Release.from_json(text)

    monkeypatch.setattr(imported, "checked", slow)
    ann, content = service.acting(ANN), RELEASE.to_json().encode()
    first = threading.Thread(target=ann.import_release, args=(content,))
    first.start()
    try:
        assert begun.wait(60)
        with pytest.raises(RequestError, match="still being checked"):
            ann.import_release(content)
        monkeypatch.setattr(imported, "checked", Release.from_json)
        service.acting(BOB).import_release(content)
    finally:
        end.set()
        first.join()
    ann.import_release(content)
    assert len(ann.imported_releases()[0]) == 1
