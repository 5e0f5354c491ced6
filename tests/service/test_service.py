from __future__ import annotations

import threading
import uuid
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpcore.domain.schemas.origins import INFERRED
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import AccessError, BudgetError, ConflictError, IngestError, NotFoundError, RequestError, SchemaError
from dpcore.models.registry import LEARNERS
from dpcore.privacy.budgets import EPSILON_STEP, default_delta
from dpcore.privacy.filters import RHO_SHARE
from dpcore.privacy.losses import pure_loss
from dpcore.service import Service
from dpcore.workspace.files.descriptions import DatasetInfo
from dpcore.workspace.files.staging import spool
from dpcore.workspace.ledger.requests import RunRequest
from dpcore.workspace.people.users import User
from dpcore.workspace.results.dossier import Application
from tests.support.texts import lacking
from tests.support.workspaces.accounts import amounts
from tests.support.workspaces.fake_learner import (
    fake_request,
    real_learners,
    register,
    register_pairs,
    small_frame,
    small_schema,
)

BOB = User("bob@x.org", frozenset({"analyst"}))

register()


@pytest.fixture
def dataset(service: Service) -> DatasetInfo:
    return service.add_dataset(small_frame(), small_schema(), budget=Decimal(2))


def rule_list(dataset: DatasetInfo, epsilon: object = "0.5", **parameters: Any) -> RunRequest:
    quick = {"sampler": "pool", "pool_size": 500, **parameters}
    return RunRequest(dataset_id=dataset.id, target="ill", epsilon=epsilon, parameters=quick)


def test_from_a_file_to_a_release(service: Service, tmp_path: Path) -> None:
    path = tmp_path / "patients.csv"
    small_frame().assign(unused="x").to_csv(path, index=False)
    dataset = service.add_dataset(path, small_schema(), budget=Decimal(2))
    share = service.quote(rule_list(dataset)).share
    status = service.run(service.submit(rule_list(dataset), "n"))
    assert (status.state, status.charged) == ("done", True)
    assert status.release_id is not None
    release = service.release(status.release_id)
    assert release.certificate.private
    assert release.certificate.epsilon == Decimal("0.5")
    assert release.certificate.schema_hash == dataset.schema.hash
    assert service.releases(dataset.id) == [release]
    kinds = [entry.kind for entry in service.ledger_entries(dataset.id)]
    assert kinds == ["open", "reserve", "touch", "commit"]
    assert service.balance(dataset.id).left == 1 - share


def inferred() -> Schema:
    return small_schema().model_copy(update={"origin": INFERRED})


def test_private_records_need_a_schema_that_was_not_read_off_them(service: Service) -> None:
    with pytest.raises(SchemaError, match="No result on this data set would be private") as refusal:
        service.add_dataset(small_frame(), inferred(), budget=Decimal(2))
    assert "read off the records" in str(refusal.value)
    assert service.datasets() == []


def test_public_records_may_have_one_and_every_text_says_so(service: Service) -> None:
    dataset = service.add_dataset(small_frame(), inferred(), budget=Decimal(2), public=True)
    quote = service.quote(rule_list(dataset))
    assert quote.guarantee.startswith("No guarantee.")
    assert quote.odds.startswith("Not private: ")
    run = service.submit(rule_list(dataset), "n")
    release = service.release(str(service.run(run).release_id))
    assert release.certificate.guarantee == "none"
    assert service.balance(dataset.id).left == quote.left_after < 1, "it is charged all the same"
    for page in (
        service.release_page(release.id),
        service.dossier(dataset.id, [release.id], Application(), "html").decode(),
    ):
        words = " ".join(page[page.index("<body") :].split())
        assert not lacking(words, "Not private.", "read off the records")
        for claim in ("unconditional", "pure (ε, no δ)", "changes their odds", "declared by"):
            assert claim not in words, claim


@pytest.mark.crossed
@pytest.mark.parametrize("limited", [False, True])
@pytest.mark.parametrize("family", [name for name in LEARNERS if not name.startswith("fake")])
def test_a_run_is_accepted_once_the_budget_is_larger_by_what_it_was_short_by(
    service: Service, dataset: DatasetInfo, family: str, limited: bool
) -> None:
    """A larger budget has it charged at another price."""

    def give(budget: Decimal) -> None:
        if limited:
            service.grant(dataset.id, BOB.name, budget, "a pilot")
        else:
            service.raise_caps(dataset.id, budget=budget)

    most, bob = Decimal(1), service.acting(BOB)
    if limited:
        service.raise_caps(dataset.id, budget=Decimal(9))
    give(most)
    service._ledger.reserve(dataset.id, BOB.name, pure_loss(most), "first", "hash")
    sides = {"left": ["age"], "right": ["ill"]} if family == "redescriptions" else {}
    target = "ill" if LEARNERS[family].family.targeted else ""
    for epsilon in ("0.1", "0.5", "1"):
        request = RunRequest(dataset_id=dataset.id, algorithm=family, target=target, epsilon=epsilon, parameters=sides)
        quote = bob.quote(request)
        assert quote.hindrance == "budget"
        give(most + quote.short_by)
        assert bob.quote(request).affordable
        give(most + quote.short_by - EPSILON_STEP)
        assert not bob.quote(request).affordable
        give(most)


def test_everything_survives_a_restart(service: Service, dataset: DatasetInfo, tmp_path: Path) -> None:
    run = service.submit(fake_request(dataset.id), "n")
    with Service(tmp_path / "home", workers=0) as again:
        assert again.run(run) == service.run(run)
        assert again.releases() == service.releases()
        assert again.balance(dataset.id) == service.balance(dataset.id)


def test_a_double_click_spends_once(service: Service, dataset: DatasetInfo) -> None:
    request, runs = fake_request(dataset.id), []
    clicks = [threading.Thread(target=lambda: runs.append(service.submit(request, "n"))) for _ in range(8)]
    for click in clicks:
        click.start()
    for click in clicks:
        click.join()
    assert len(runs) == 8
    assert len(set(runs)) == 1
    assert service.wait(runs[0], 30).state == "done"
    assert amounts(service.balance(dataset.id)).left == Decimal("1.5")
    assert len(service.releases()) == 1


def test_a_nonce_belongs_to_one_request(service: Service, dataset: DatasetInfo) -> None:
    service.submit(fake_request(dataset.id), "n")
    service.submit(fake_request(dataset.id, "0.50", units=3), "n")
    with pytest.raises(ConflictError):
        service.submit(fake_request(dataset.id, units=4), "n")
    with pytest.raises(ConflictError):
        service.acting(BOB).submit(fake_request(dataset.id), "n")
    assert len(service.runs()) == 1


def test_a_quote_says_what_a_run_costs(service: Service, dataset: DatasetInfo) -> None:
    quote = service.quote(fake_request(dataset.id))
    assert (quote.epsilon, quote.share, quote.left_after) == (Decimal("0.5"), Decimal("0.25"), Decimal("0.75"))
    assert (quote.affordable, quote.runs_like_this_left, quote.refusal) == (True, 4, "")
    assert "exact" in quote.guarantee
    assert "1.65" in quote.odds
    assert amounts(service.balance(dataset.id)).left == 2


def test_the_odds_of_a_conditional_guarantee_carry_its_condition(service: Service, dataset: DatasetInfo) -> None:
    free = service.quote(rule_list(dataset).model_copy(update={"pure": True})).odds
    assert service.quote(rule_list(dataset, sampler="mcmc")).odds == (
        f"If the chain has converged: w{free.removeprefix('W')}"
    )


def test_several_prices_are_seen_from_one_budget(service: Service, dataset: DatasetInfo) -> None:
    price = service.pricing(dataset.id)
    asked = [rule_list(dataset, epsilon) for epsilon in ("0.1", "0.5", "3")]
    assert [price(each) for each in asked] == [service.quote(each) for each in asked]
    service.wait(service.submit(asked[1], "n" * 12))
    assert price(asked[1]).balance.left == 1
    assert service.pricing(dataset.id)(asked[1]).balance.left < 1


def test_what_was_planned_is_not_planned_again(
    service: Service, dataset: DatasetInfo, monkeypatch: pytest.MonkeyPatch
) -> None:
    learner, planned, epsilon = LEARNERS["rule_list"], [], "0.4321"
    plan = learner.plan
    monkeypatch.setattr(learner, "plan", lambda *args: planned.append(args) or plan(*args))
    first = service.quote(rule_list(dataset, epsilon))
    made = len(planned)
    assert service.quote(rule_list(dataset, epsilon)) == first
    assert len(planned) == made > 0
    assert service.quote(rule_list(dataset, epsilon, max_rules=3)).plan != first.plan
    assert len(planned) > made


def test_a_quote_over_budget_says_why(service: Service, dataset: DatasetInfo) -> None:
    quote = service.quote(fake_request(dataset.id, "2.25"))
    assert (quote.affordable, quote.left_after) == (False, 0)
    assert quote.short_by == Decimal("0.25")
    told = ("take 112.5 % of this data set's budget, but 100 % is left", "up to ε = 2.00 would fit")
    assert not lacking(quote.refusal, *told)
    with pytest.raises(BudgetError) as error:
        service.submit(fake_request(dataset.id, "2.25"), "n")
    assert str(error.value) == quote.refusal
    assert service.runs() == []


@pytest.mark.parametrize("epsilon", ["0", "-1", "nan", "inf", "much", None, True, 1e-12])
def test_unusable_epsilons_are_sentences(dataset: DatasetInfo, epsilon: object) -> None:
    with pytest.raises(BudgetError, match="Epsilon must"):
        fake_request(dataset.id, epsilon)


def test_wrong_requests_spend_nothing(service: Service, dataset: DatasetInfo) -> None:
    wrong = {
        "dataset_id": ("nothing", NotFoundError),
        "algorithm": ("magic", RequestError),
        "target": ("nothing", (RequestError, SchemaError)),
        "parameters": ({"sampler": "magic"}, RequestError),
    }
    for field, (value, error) in wrong.items():
        request = rule_list(dataset).model_copy(update={field: value})
        with pytest.raises(error):
            service.submit(request, f"nonce {field}")
        with pytest.raises(error):
            service.quote(request)
    with pytest.raises(RequestError):
        service.submit(fake_request(dataset.id), "")
    assert [entry.kind for entry in service.ledger_entries(dataset.id)] == ["open"]


@pytest.mark.parametrize("call", ["quote", "submit", "rehearse"])
def test_without_a_target_what_predicts_is_refused_before_it_costs(
    service: Service, dataset: DatasetInfo, call: str
) -> None:
    more = ("nonce",) if call == "submit" else ()
    for name in (name for name, learner in LEARNERS.items() if learner.targeted):
        request = RunRequest(dataset_id=dataset.id, algorithm=name, epsilon=Decimal(1))
        with pytest.raises(RequestError, match=r"^Choose a column to predict\.$"):
            getattr(service, call)(request, *more)
    assert [entry.kind for entry in service.ledger_entries(dataset.id)] == ["open"]


def test_a_run_without_a_target_goes_from_the_request_to_the_release(
    service: Service, dataset: DatasetInfo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    register_pairs(monkeypatch)
    request = RunRequest(dataset_id=dataset.id, algorithm="fake_pairs", epsilon=Decimal(1))
    assert service.rehearse(request).target == ""
    run = service.submit(request, "n")
    assert service.submit(request, "n") == run
    release = service.release(str(service.run(run).release_id))
    assert (release.kind, release.target) == ("fake_pairs", "")
    assert service.run(run).request.target == ""
    with Service(tmp_path / "home", workers=0) as again:
        assert again.releases() == [release]
        assert again.run(run) == service.run(run)
    assert amounts(service.balance(dataset.id)).left == 1


def test_a_rehearsal_is_free_and_says_that_it_is_not_private(service: Service, dataset: DatasetInfo) -> None:
    first, second = (service.rehearse(rule_list(dataset, "1")) for _ in range(2))
    assert first.model == second.model
    assert not first.certificate.private
    assert service.releases() == []
    assert amounts(service.balance(dataset.id)).left == 2


def finished(service: Service, request: RunRequest) -> str:
    release_id = service.wait(service.submit(request, uuid.uuid4().hex)).release_id
    assert release_id is not None
    return release_id


def first_look(service: Service, dataset: DatasetInfo, **parameters: Any) -> str:
    request = RunRequest(dataset_id=dataset.id, algorithm="summaries", epsilon="0.5", parameters=parameters)
    return finished(service, request)


def test_a_run_may_take_its_cut_points_from_a_first_look(service: Service, dataset: DatasetInfo) -> None:
    look = first_look(service, dataset)
    request = rule_list(dataset, "0.5", cuts_from=look)
    left = amounts(service.balance(dataset.id)).left
    rehearsed = service.rehearse(request)
    assert service.quote(request).affordable
    assert amounts(service.balance(dataset.id)).left == left
    made = service.release(finished(service, request))
    told = made.parameters["cut_points"]
    assert told
    assert told == rehearsed.parameters["cut_points"]
    assert {made.certificate.cuts_from, rehearsed.certificate.cuts_from, made.parameters["cuts_from"]} == {look}
    again = rule_list(dataset, "0.5", cuts_from=look, cut_points=tuple(told))
    assert service.quote(again).plan.parameters == service.quote(request).plan.parameters


def test_cut_points_come_from_a_first_look_that_the_caller_may_read(service: Service, dataset: DatasetInfo) -> None:
    look, other = first_look(service, dataset), service.add_dataset(small_frame(), small_schema("other"), budget=2)
    spent = amounts(service.balance(dataset.id)).spent
    tree = finished(service, rule_list(other, "0.5"))
    bob = service.acting(BOB)
    for own, request in (
        (service, rule_list(dataset, cuts_from="nothing")),
        (service, rule_list(other, cuts_from=look)),
        (service, rule_list(other, cuts_from=tree)),
        (bob, rule_list(dataset, cuts_from=look)),
    ):
        with pytest.raises(NotFoundError, match="no such"):
            own.submit(request, uuid.uuid4().hex)
    for own in (("age: 20",), ["age: 20"], "age: 20", 20, {"age": 20}):
        with pytest.raises(RequestError, match="Either name cut points, or the first look"):
            service.quote(rule_list(dataset, cuts_from=look, cut_points=own))
    assert amounts(service.balance(dataset.id)).spent == spent
    service.share(look)
    assert bob.quote(rule_list(dataset, cuts_from=look)).plan.parameters.cut_points


def test_true_records_are_shown_of_public_data_only(service: Service, dataset: DatasetInfo) -> None:
    private = service.release(finished(service, rule_list(dataset, "1")))
    with pytest.raises(RequestError, match="private"):
        service.true_counts(private)
    public = service.add_dataset(small_frame(), small_schema("public"), budget=Decimal(1), public=True, truth="known")
    shown = service.release(finished(service, rule_list(public, "1")))
    counts = np.array(service.true_counts(shown))
    noisy = np.array([rule["noisy_counts"] for rule in shown.model["rules"]])
    assert 0 < counts.sum() < 100
    assert np.abs(counts - noisy).max() < 100
    assert public.truth == "known"


def test_what_is_true_of_public_records_is_kept_beside_kin_and_by_appending(service: Service) -> None:
    unit = {"column": "who", "max_rows_per_person": 1}
    schema = Schema.from_mapping(small_schema("public").model_dump(mode="json") | {"privacy_unit": unit})
    rows = small_frame().assign(who=range(100))
    more: dict[str, Any] = {"public": True, "keep_keys": True}
    first = service.add_dataset(rows, schema, budget=Decimal(1), truth="known", **more)
    second = schema.model_copy(update={"name": "second"})
    beside = service.add_dataset(rows, second, same_people_as=first.id, truth="known of these", **more)
    newer = service.add_dataset(rows, schema, replaces=first.id, truth="known better", **more)
    service.describe_dataset(newer.id, "without transfers")
    appended = service.append_rows(newer.id, rows.assign(who=range(100, 200)))
    assert appended.description == "without transfers", "and so is what was said of them last"
    assert [one.truth for one in (first, beside, newer)] == ["known", "known of these", "known better"]
    assert (appended.replaces, appended.truth) == (newer.id, "known better")


def test_true_tables_are_shown_of_public_data_only(service: Service) -> None:
    """At epsilon = 100 a count is changed by noise less than once in 10^15 runs."""
    releases = []
    for public in (True, False):
        schema = small_schema("public" if public else "private")
        info = service.add_dataset(small_frame(), schema, budget=Decimal(100), public=public)
        request = RunRequest(
            dataset_id=info.id,
            algorithm="redescriptions",
            epsilon=Decimal(100),
            parameters={"left": ["ill"], "right": ["age"], "starts": 1},
        )
        releases.append(service.release(finished(service, request)))
    tables = service.true_tables(releases[0])
    assert [table.tolist() for table in tables] == [releases[0].model["pairs"][0]["noisy_counts"]]
    assert tables[0].sum() == 100
    with pytest.raises(RequestError, match="private"):
        service.true_tables(releases[1])


def test_a_faulty_upload_leaves_nothing(service: Service, dataset: DatasetInfo, tmp_path: Path) -> None:
    frame = small_frame()
    with pytest.raises(IngestError):
        service.add_dataset(frame[["ill"]], small_schema("a"), budget=Decimal(1))
    with pytest.raises(BudgetError):
        service.add_dataset(frame, small_schema("b"), budget=Decimal(0))
    with pytest.raises(BudgetError):
        service.add_dataset(frame, small_schema("c"), budget=Decimal(1), run_cap=Decimal("NaN"))
    with pytest.raises(ConflictError):
        service.add_dataset(frame, small_schema(), budget=Decimal(1))
    assert service.datasets() == [dataset]
    assert len(list((tmp_path / "home" / "datasets").iterdir())) == 1


def two_views(name: str) -> Schema:
    unit = {"column": "who", "max_rows_per_person": 1}
    schema = small_schema(name, privacy_unit=unit)
    views = {"ill": "left", "age": "right"}
    columns = [column.model_copy(update={"view": views[column.name]}) for column in schema]
    return schema.model_copy(update={"columns": tuple(columns)})


def test_two_files_become_one_data_set_or_none(service: Service, tmp_path: Path) -> None:
    left, right, twice = (tmp_path / f"{name}.csv" for name in ("left", "right", "twice"))
    frame = small_frame().assign(who=range(100))
    frame[["who", "ill"]].to_csv(left, index=False)
    frame[["age", "who"]][20:].to_csv(right, index=False)
    frame[["age", "who"]].assign(who=7).to_csv(twice, index=False)
    schema = two_views("two")
    with pytest.raises(IngestError, match="several rows have the same 'who'"):
        service.add_dataset(left, schema, right=twice, budget=Decimal(1))
    assert service.datasets() == []
    assert not list((tmp_path / "home" / "datasets").iterdir())
    info = service.add_dataset(left, schema, right=right, budget=Decimal(1), public=True)
    assert info.schema.view("left") == ("ill",)
    frame = service._store.table(info.id).public_frame()
    assert len(frame) == 100
    assert frame["age"].isna().sum() == 20


def test_demonstration_data_is_made_once(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    from dpcore import demo

    calls = []

    def make() -> demo.Demo:
        calls.append(1)
        return demo.Demo(small_frame(), small_schema("tiny"), "known", "tiny")

    monkeypatch.setattr(demo, "DEMOS", {"tiny": make})
    first, second = service.add_demo_datasets(), service.add_demo_datasets()
    assert first == second
    assert (first[0].public, first[0].truth, len(calls)) == (True, "known", 1)


def test_the_number_of_rows_stays_private(service: Service, tmp_path: Path) -> None:
    """Everything stored beside the arrays is the same for 100 and for 50 records."""
    sizes = []
    for name, rows in (("one", 100), ("two", 50)):
        info = service.add_dataset(small_frame(rows), small_schema(name), budget=Decimal(1))
        folder = tmp_path / "home" / "datasets" / info.id
        sizes.append({file.name: file.stat().st_size for file in folder.rglob("*.arrow")})
    assert sizes[0] == sizes[1]


def test_missing_values_and_several_rows_per_person(service: Service) -> None:
    frame = pd.DataFrame({"who": [1, 1, 2, 3], "ill": ["yes", None, "no", "?"], "age": np.nan})
    unit = {"column": "who", "max_rows_per_person": 1}
    schema = small_schema("people", privacy_unit=unit)
    info = service.add_dataset(frame, schema, budget=Decimal(1), accepted=["ill", "age", "person:rows-dropped"])
    assert service.run(service.submit(rule_list(info), "n")).state == "done"
    assert "for each person" in service.quote(rule_list(info, "0.1")).guarantee


def test_importing_the_service_loads_no_engine() -> None:
    import subprocess
    import sys

    heavy = "numba opendp sklearn pandas streamlit alembic"
    code = f"import sys, dpcore.service; print([name for name in '{heavy}'.split() if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_the_users_own_folder_may_be_written_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("FROSTGLASS_DATABASE_URL", raising=False)
    Service("~/frost", workers=0).close()
    assert (tmp_path / "frost" / "frostglass.db").exists()
    assert spool("~/frost") == tmp_path / "frost" / "spool"


def test_an_analyst_chooses_no_delta(service: Service, dataset: DatasetInfo) -> None:
    request = RunRequest(dataset_id=dataset.id, algorithm="ebm", target="ill", epsilon=Decimal("0.1"))
    told = service.quote(request)
    assert told.plan.delta == default_delta(dataset.schema.max_rows) * RHO_SHARE
    greedy = request.model_copy(update={"parameters": {"delta": "0.01"}})
    for act in (lambda: service.quote(greedy), lambda: service.submit(greedy, "n")):
        with pytest.raises(RequestError, match="its custodian sets"):
            act()
    service.raise_caps(dataset.id, delta=Decimal(0))
    with pytest.raises(BudgetError, match="needs a delta"):
        service.quote(request)
    with pytest.raises(BudgetError, match="given away"):
        service.raise_caps(dataset.id, delta=Decimal("0.01"))
    assert amounts(service.balance(dataset.id)).spent == 0


def test_what_is_picked_is_promised_at_one_price_by_every_family(service: Service, dataset: DatasetInfo) -> None:
    service.raise_caps(dataset.id, budget=Decimal(5))
    delta, shares = service.balance(dataset.id).run_delta, []
    for name, learner in real_learners().items():
        sides = {"left": ["age"], "right": ["ill"]} if name == "redescriptions" else {}
        asked = {"target": "ill" if learner.targeted else "", "epsilon": "0.5", "parameters": sides}
        request = RunRequest(dataset_id=dataset.id, algorithm=name, **asked)
        quote = service.quote(request)
        assert (quote.epsilon, quote.plan.epsilon, quote.plan.delta) == (Decimal("0.5"), Decimal("0.5"), delta)
        if not learner.family.needs_delta:
            pure = service.quote(request.model_copy(update={"pure": True})).plan
            assert (pure.epsilon, pure.delta) == (Decimal("0.5"), 0)
        before = service.balance(dataset.id).spent
        status = service.run(service.submit(request, name))
        card = service.release(str(status.release_id)).certificate
        line = service.ledger_entries(dataset.id)[-1]
        assert (line.kind, line.epsilon, line.delta) == ("commit", quote.epsilon, delta)
        assert (card.epsilon, card.delta) == (quote.epsilon, delta)
        assert card.rho == quote.plan.loss.rho <= line.rho == quote.loss.rho
        assert service.balance(dataset.id).spent == before + quote.share
        shares.append(quote.share)
    assert len(set(shares)) == 1
    assert service.balance(dataset.id).left == 1 - sum(shares)


def test_a_part_of_the_sweep_that_fails_keeps_no_other_from_it(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    swept: list[str] = []

    def failing(*_: object) -> None:
        swept.append("desks")
        raise OSError("a file that cannot be removed")

    monkeypatch.setattr("dpcore.service.base.clear_old", failing)
    monkeypatch.setattr(service._store, "sweep", lambda: swept.append("store"))
    monkeypatch.setattr(service._rooms, "sweep", lambda: swept.append("rooms"))
    with pytest.raises(OSError, match="cannot be removed"):
        service.sweep()
    assert swept == ["desks", "store", "rooms"]


WALKS = [
    ("rule_list", {"sampler": "mcmc", "mcmc_steps": 5000}),
    ("redescriptions", {"method": "alt_mcmc", "left": ["age"], "right": ["ill"], "steps": 1000, "depth": 1}),
    ("redescriptions", {"method": "mcmc_tree_pair", "left": ["age"], "right": ["ill"], "steps": 1000, "depth": 1}),
]


@pytest.mark.parametrize(("family", "parameters"), WALKS)
def test_markov_chains_are_off_on_private_records_until_the_custodian_allows_them(
    service: Service, dataset: DatasetInfo, family: str, parameters: dict[str, Any]
) -> None:
    target = "ill" if LEARNERS[family].targeted else ""
    request = RunRequest(dataset_id=dataset.id, algorithm=family, target=target, epsilon="0.5", parameters=parameters)
    bob = service.acting(BOB)
    quote = bob.quote(request)
    assert (quote.hindrance, quote.allowance, quote.plan.rho) == ("conditional", "", None)
    assert "only the custodian of the data set can allow them" in quote.refusal
    with pytest.raises(BudgetError, match="only the custodian"):
        bob.submit(request, "n")
    assert amounts(service.total_balance(dataset.id)).spent == 0
    with pytest.raises(AccessError):
        bob.allow_conditional(dataset.id, True, note="I want to")
    assert service.allow_conditional(dataset.id, True, note="a trial").allowance
    assert "Markov chains" in bob.quote(rule_list(dataset)).allowance, "in every review"
    status = service.run(service.submit(request, "n"))
    assert status.state == "done", status.message
    made = service.release(str(status.release_id))
    assert (made.certificate.guarantee, made.certificate.conditional_allowed) == ("conditional on convergence", True)
    assert made.certificate.rho is None
    page = service.dossier(dataset.id, [made.id], Application(), "html").decode()
    assert "The custodian allows Markov chains on this data set" in page
    assert not service.allow_conditional(dataset.id, False).allowance
    with pytest.raises(BudgetError, match="only the custodian"):
        service.submit(request, "m")
    page = service.dossier(dataset.id, [made.id], Application(), "html").decode()
    assert "not allowed on this data set now; allowed when some of these results were made" in page


def test_a_version_that_replaces_one_with_markov_chains_starts_without(service: Service, dataset: DatasetInfo) -> None:
    service.allow_conditional(dataset.id, True, note="a trial")
    following = service.add_dataset(small_frame(), small_schema(), replaces=dataset.id)
    assert service.dataset(dataset.id).conditional
    assert not following.conditional
    with pytest.raises(BudgetError, match="only the custodian"):
        service.submit(rule_list(following, sampler="mcmc"), "n")


def test_a_chain_that_another_version_reserved_by_its_rho_is_given_back(service: Service, dataset: DatasetInfo) -> None:
    service.allow_conditional(dataset.id, True, note="a trial")
    request = rule_list(dataset, sampler="mcmc")
    run = service._queue.reserve(request, "ann", pure_loss(Decimal("0.5")), "n", "hash").id
    service._jobs.start(run)
    status = service.run(run)
    assert (status.state, status.charged) == ("failed", False)
    assert "another version of the program" in status.message
