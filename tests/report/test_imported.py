"""Results that come as files: what fits is taken and marked, what was changed is refused in a sentence."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from dpcore.domain.schema import Schema
from dpcore.errors import FrostglassError, RequestError
from dpcore.models.registry import get_learner
from dpcore.models.released import family_of, parse_model
from dpcore.released.evaluation import MOST_GROUPS
from dpcore.released.imported import Imported
from dpcore.released.imported import imported as read_back
from dpcore.released.release import Release, make_release
from dpcore.report import imported
from dpcore.report.imported import fault_of
from dpcore.service import Service
from dpcore.service import imports as service_imports
from dpcore.workspace import imports
from dpcore.workspace.tables import imported_releases
from dpcore.workspace.transactions import write
from dpcore.workspace.users import LOCAL_USER
from tests.plots.test_ilp import BOTH, release_of
from tests.support.page_visitors import ANN, BOB
from tests.support.small_trains import SCHEMA, TARGET

RELEASE = release_of(*BOTH, dataset_name="elsewhere")
_COLUMNS = [column.model_dump(mode="json", exclude_none=True) for column in SCHEMA.columns]
LABELLED = release_of(
    *BOTH,
    dataset_name="elsewhere",
    schema=Schema.model_validate(
        SCHEMA.model_dump(mode="json")
        | {"columns": [{**column, "label": f"The {column['name']}"} for column in _COLUMNS]}
    ),
)
#: Quality on people set aside, of two groups.
CHECKED = {
    "noisy_confusion": [[90, 10], [20, 60]],
    "accuracy": {"value": 0.8, "noise_margin": 0.1, "sampling_margin": 0.1},
    "auc": None,
    "count_margin": 9,
    "group_estimates": [[0.25, 0.75], [0.9, 0.1]],
    "group_counts": [[10, 60], [90, 20]],
    "scale": 3.0,
    "group_limits": [0.0, 0.5],
}


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
        here[last] = value

    return change


def dear(epsilon: str) -> Callable[[dict[str, Any]], None]:
    """As if all of it had cost so much."""

    def change(content: dict[str, Any]) -> None:
        content["certificate"] |= {"epsilon": epsilon, "budget_split": {"all": epsilon}}

    return change


def test_what_was_downloaded_is_taken() -> None:
    assert fault_of(RELEASE.to_json()) == "good"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "form"),
        ("[]", "form"),
        ("[" * 100_000, "form"),
        ("{}", "form"),
        (RELEASE.to_json().replace("0.25", "NaN"), "number"),
        (RELEASE.to_json().replace("0.25", "Infinity"), "number"),
        (changed(put("kind", "nothing")), "form"),
        (changed(put("model", {})), "form"),
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
        (changed(put("model.groups.0.noisy_counts", [])), "show"),
        (changed(put("model.groups.0.clause.variables.0.table", "nowhere")), "show"),
        (changed(put("model.groups.0.clause.variables.0.atoms", [{"table": "car", "inner": "nowhere"}])), "show"),
    ],
)
def test_a_file_that_was_changed_is_refused(text: str, fault: str) -> None:
    assert fault_of(text) == fault


@pytest.mark.parametrize("release", [RELEASE, LABELLED], ids=["names", "labels"])
@pytest.mark.parametrize("number", ["1e400", "-1e400", '"inf"', '"NaN"'])
def test_a_number_that_cannot_be_stored_is_refused(release: Release, number: str) -> None:
    """It would come back as none, and break every page on which it stands."""
    figure = put("model.evaluation", CHECKED | {"auc": {"value": 0.123456, "noise_margin": 0, "sampling_margin": 0}})
    assert fault_of(text := changed(figure, release)) == "good"
    assert fault_of(text.replace("0.123456", number)) == ("form" if '"' in number else "number")


@pytest.mark.parametrize(
    "wrong",
    [
        {"group_limits": [0.0, 0.5, 0.7]},
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
    ids=["more limits", "ragged", "fewer counts", "more classes", "no noise", "less than none", "too many"],
)
def test_groups_that_do_not_fit_each_other_are_refused(wrong: dict[str, Any]) -> None:
    assert fault_of(changed(put("model.evaluation", CHECKED))) == "good"
    assert fault_of(changed(put("model.evaluation", CHECKED | wrong))) == "form"


def test_what_follows_from_groups_is_tried_before_it_is_taken() -> None:
    """Counts beyond 64 bits pass for numbers, but nothing can be worked out from them."""
    beyond = CHECKED | {"group_counts": [[10, 10**30], [90, 20]]}
    assert fault_of(changed(put("model.evaluation", beyond))) == "show"


@pytest.mark.parametrize(
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
    ids=str,
)
def test_a_certificate_that_contradicts_itself_is_refused(wrong: dict[str, Any]) -> None:
    def change(content: dict[str, Any]) -> None:
        content["certificate"] |= wrong

    assert fault_of(changed(change)) == "itself"


@pytest.mark.parametrize("delta", ["0", "0.000001"])
@pytest.mark.parametrize("epsilon", ["0.02", "1", "1000"])
@pytest.mark.parametrize("rho", [None, "0.01"])
def test_certificates_of_this_program_are_coherent(epsilon: str, delta: str, rho: str | None) -> None:
    for kind in ("rule_list", "tree", "forest", "ebm", "ilp", "summaries"):
        target = "" if kind == "summaries" else TARGET
        try:
            plan = get_learner(kind).plan(
                SCHEMA, target, Decimal(epsilon), {}, Decimal(delta), None if rho is None else Decimal(rho)
            )
        except FrostglassError:  # Not every method has every form.
            continue
        model = parse_model(RELEASE)
        made = make_release(kind, plan, model, secure=True)
        assert imported.is_coherent(made.certificate), kind
        assert imported._are_parameters(family_of(made), made.parameters), kind


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    with Service(tmp_path / "home", workers=0) as running:
        yield running


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
    spoilt = changed(put("model.evaluation", CHECKED | {"auc": {"value": None}}), older)
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
