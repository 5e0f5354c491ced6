"""Who may call what: every public method of the service, for every kind of caller."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from dpcore.errors import AccessError, BudgetError, FrostglassError, LoginError, NotFoundError
from dpcore.service import Service
from dpcore.workspace.ledger.requests import RunRequest
from dpcore.workspace.people.users import LOCAL_USER, ROLES, Role, User
from dpcore.workspace.results.dossier import Application
from dpcore.workspace.results.drafts import Draft
from tests.support.workspaces.accounts import amounts
from tests.support.workspaces.fake_learner import fake_request, register, small_frame, small_schema

register()
ONE = Decimal(1)
FAR = datetime(2999, 1, 1, tzinfo=UTC)
PAST = datetime(2020, 1, 1, tzinfo=UTC)
#: Methods that say who somebody is or end the installation: nothing of a data set is in them.
ABOUT_THE_PROGRAM = {"acting", "user", "on_cluster", "warm_up", "sweep", "close", "acting_by"}


def user(name: str, *roles: Role, expires: datetime = FAR) -> User:
    return User(f"{name}@x.org", frozenset(roles), expires)


OFFICE = user("office", "custodian")
ANN, BOB = user("ann", "analyst"), user("bob", "analyst")
TEACHER, NOBODY = user("tea", "teacher"), user("nobody")


@dataclass
class House:
    """An installation with a private and a public data set, and a release of Ann's on each."""

    service: Service
    private: str
    public: str
    run: str
    release: str
    public_release: str
    asked: int

    def as_(self, caller: User) -> Service:
        return self.service.acting(caller)


@contextmanager
def built(folder: Path) -> Iterator[House]:
    with Service(folder / "home", workers=0) as service:
        office, ann = service.acting(OFFICE), service.acting(ANN)
        add = office.add_dataset
        private = add(small_frame(), small_schema(), budget=Decimal(9), analyst_cap=ONE).id
        public = add(small_frame(), small_schema("open"), budget=Decimal(9), public=True).id
        runs = [ann.submit(fake_request(where), where) for where in (private, public)]
        first, second = (str(ann.run(run).release_id) for run in runs)
        asked = ann.ask(private, ONE, "one more").number
        yield House(service, private, public, runs[0], first, second, asked)


@pytest.fixture
def house(tmp_path: Path, no_demos: None) -> Iterator[House]:
    with built(tmp_path) as own:
        yield own


@pytest.fixture(scope="module")
def shared_house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with built(tmp_path_factory.mktemp("shared")) as shared:
        yield shared


@pytest.fixture
def kept_house(shared_house: House, no_demos: None) -> Iterator[House]:
    """One in which nobody may change anything: many tests share it."""
    before = shared_house.service.ledger_entries()
    yield shared_house
    assert shared_house.service.ledger_entries() == before


@pytest.fixture
def no_demos(monkeypatch: pytest.MonkeyPatch) -> None:
    from dpcore import demo

    monkeypatch.setattr(demo, "DEMOS", {})


def submit(service: Service, dataset: str) -> str:
    return service.submit(fake_request(dataset), f"nonce of {service.user.name}")


def methods(house: House) -> dict[str, Callable[[Service], Any]]:
    """A call of every public method, on the private data set where it takes one."""
    private, release, request = house.private, house.release, fake_request(house.private)
    frame, schema = small_frame(), small_schema("another")
    return {
        "datasets": lambda s: s.datasets(),
        "dataset": lambda s: s.dataset(private),
        "add_dataset": lambda s: s.add_dataset(frame, schema, budget=ONE),
        "staging_area": lambda s: s.staging_area(),
        "orphans": lambda s: s.orphans(),
        "damaged": lambda s: s.damaged(),
        "executor_status": lambda s: s.executor_status(),
        "examine": lambda s: s.examine(frame, schema),
        "learning_cost": lambda s: s.learning_cost(ONE, listed=True, max_rows=100, budget=ONE),
        "appendable": lambda s: s.appendable(),
        "append_rows": lambda s: s.append_rows(private, frame),
        "rename_dataset": lambda s: s.rename_dataset(private, "other"),
        "describe_dataset": lambda s: s.describe_dataset(private, "other"),
        "retire_dataset": lambda s: s.retire_dataset(private, note=""),
        "allow_conditional": lambda s: s.allow_conditional(private, True),
        "adopt": lambda s: s.adopt(private, note=""),
        "remove_records": lambda s: s.remove_records(private, note=""),
        "add_demo_datasets": lambda s: s.add_demo_datasets(),
        "true_counts": lambda s: s.true_counts(s.release(release)),
        "true_tables": lambda s: s.true_tables(s.release(release)),
        "true_cells": lambda s: s.true_cells(s.release(release)),
        "chain_courses": lambda s: s.chain_courses(s.release(release)),
        "compare_methods": lambda s: s.compare_methods(private, "ill", [], [], 1, print),
        "plain_tree_accuracy": lambda s: s.plain_tree_accuracy(private, "ill"),
        "commonest_share": lambda s: s.commonest_share(private, "ill"),
        "compare_redescriptions": lambda s: s.compare_redescriptions(private, [], [], 1, print),
        "import_release": lambda s: s.import_release(b"\xff"),
        "imported_releases": lambda s: s.imported_releases(),
        "forget_import": lambda s: s.forget_import(release),
        "has_seen": lambda s: s.has_seen("tour"),
        "note_seen": lambda s: s.note_seen("tour"),
        "balance": lambda s: s.balance(private),
        "total_balance": lambda s: s.total_balance(private),
        "raise_caps": lambda s: s.raise_caps(private, budget=ONE),
        "charge": lambda s: s.charge(private, ONE, note="known"),
        "accounts": lambda s: s.accounts(private),
        "grant": lambda s: s.grant(private, "bob@x.org", ONE, "why"),
        "freeze": lambda s: s.freeze(private, "bob@x.org", "why"),
        "thaw": lambda s: s.thaw(private, "bob@x.org", "why"),
        "ask": lambda s: s.ask(private, ONE, "why"),
        "answer": lambda s: s.answer(house.asked, ONE),
        "budget_requests": lambda s: s.budget_requests(private),
        "own_requests": lambda s: s.own_requests(private),
        "ledger_entries": lambda s: s.ledger_entries(private),
        "quote": lambda s: s.quote(request),
        "pricing": lambda s: s.pricing(request.dataset_id),
        "submit": lambda s: submit(s, private),
        "run": lambda s: s.run(house.run),
        "runs": lambda s: s.runs(private),
        "cancel": lambda s: s.cancel(house.run),
        "wait": lambda s: s.wait(house.run, 1),
        "stranded_runs": lambda s: s.stranded_runs(private),
        "end_run": lambda s: s.end_run(house.run, "why"),
        "rehearse": lambda s: s.rehearse(request),
        "outlook": lambda s: s.outlook(request, lambda *_: None),
        "shaping_releases": lambda s: s.shaping_releases(private),
        "release": lambda s: s.release(release),
        "releases": lambda s: s.releases(private),
        "sharing": lambda s: s.sharing(private),
        "share": lambda s: s.share(release),
        "note_release": lambda s: s.note_release(release, "a", "b"),
        "release_notes": lambda s: s.release_notes(private),
        "release_page": lambda s: s.release_page(release),
        "dossier": lambda s: s.dossier(private, [release], Application(), "html"),
        "dossier_totals": lambda s: s.dossier_totals(private, [release]),
        "draft": lambda s: s.draft(private),
        "save_draft": lambda s: s.save_draft(private, Draft()),
        "issue_token": lambda s: s.issue_token(),
        "tokens": lambda s: s.tokens(),
        "end_tokens": lambda s: s.end_tokens(),
        "open_room": lambda s: s.open_room(ONE),
        "own_rooms": lambda s: s.own_rooms(),
        "join_room": lambda s: s.join_room("NOROOM"),
        "seat": lambda s: s.seat("NOROOM", "key"),
        "ask_in_room": lambda s: s.ask_in_room("NOROOM", "key", 0, ONE),
        "board": lambda s: s.board("NOROOM"),
        "steers_room": lambda s: s.steers_room("NOROOM", "key"),
        "steer_room": lambda s: s.steer_room("NOROOM", "key", closed=True),
        "free_seats": lambda s: s.free_seats("NOROOM", "key"),
        "remove_student": lambda s: s.remove_student("NOROOM", "key", 1),
    }


CUSTODIANS = {
    *("add_dataset", "staging_area", "raise_caps", "charge", "accounts", "grant", "freeze", "thaw", "answer"),
    *("ledger_entries", "orphans", "damaged", "executor_status", "examine", "learning_cost", "append_rows"),
    *("appendable", "rename_dataset", "describe_dataset", "retire_dataset", "allow_conditional", "adopt"),
    *("remove_records", "stranded_runs", "end_run"),
}
#: What spends, asks for budget or tries a run out.
ANALYSTS = {"ask", "own_requests", "quote", "pricing", "submit", "rehearse", "outlook"}
#: Calls about the one thing of Ann's that she has not shared.
HERS = {
    *("run", "cancel", "wait", "release", "release_page", "dossier", "dossier_totals", "true_counts"),
    *("true_tables", "true_cells", "chain_courses"),
}
#: Calls of a student: they reach no data set.
IN_A_ROOM = {"join_room", "seat", "ask_in_room", "board"}
#: Calls by which what is hers is changed.
HER_OWN = {"share", "note_release"}


def refused(call: Callable[[], Any]) -> type[FrostglassError] | None:
    """By which kind of error a call is kept out, if it is."""
    try:
        call()
    except (AccessError, NotFoundError) as error:
        return type(error)
    except FrostglassError:
        return None  # Let in, and then told something else.
    return None


def test_every_public_method_is_tried_here(kept_house: House) -> None:
    public = {name for name in dir(Service) if not name.startswith("_")}
    assert public - ABOUT_THE_PROGRAM == set(methods(kept_house))


@pytest.mark.parametrize("roles", [ROLES, ("custodian",), ("analyst",), ("teacher",)])
def test_a_login_that_has_ended_opens_nothing(kept_house: House, roles: tuple[Role, ...]) -> None:
    late = kept_house.as_(user("ann", *roles, expires=PAST))
    for name, call in methods(kept_house).items():
        assert refused(lambda call=call: call(late)) is LoginError, name


def test_somebody_without_a_role_is_let_into_class_rooms_only(kept_house: House) -> None:
    for name, call in methods(kept_house).items():
        wanted = NotFoundError if name in IN_A_ROOM else AccessError
        assert refused(lambda call=call: call(kept_house.as_(NOBODY))) is wanted, name


def test_who_has_not_logged_in_is_let_in_nowhere(kept_house: House) -> None:
    stranger = kept_house.as_(User("nobody", frozenset()))
    for name, call in methods(kept_house).items():
        assert refused(lambda call=call: call(stranger)) in (AccessError, LoginError), name


def test_an_analyst_may_not_do_what_custodians_do(kept_house: House) -> None:
    for name in CUSTODIANS | {"add_demo_datasets"}:
        assert refused(lambda name=name: methods(kept_house)[name](kept_house.as_(ANN))) is AccessError, name


def test_another_s_work_cannot_be_seen_or_changed(house: House) -> None:
    bob = house.as_(BOB)
    for name in HERS | HER_OWN:
        assert refused(lambda name=name: methods(house)[name](bob)) is NotFoundError, name
    assert bob.runs() == bob.releases() == bob.budget_requests() == []
    assert bob.sharing() == bob.release_notes() == {}
    assert house.as_(ANN).run(house.run).release_id == house.release


def test_what_is_shared_can_be_read_but_not_changed(house: House) -> None:
    ann, bob = house.as_(ANN), house.as_(BOB)
    ann.note_release(house.release, "A name", "A note")
    ann.share(house.release)
    ann.share(house.release)
    assert bob.release(house.release) == ann.release(house.release)
    assert [release.id for release in bob.releases(house.private)] == [house.release]
    assert bob.release_notes()[house.release].name == "A name"
    assert bob.sharing() == {house.release: ann.sharing(house.private)[house.release]}
    for name in HER_OWN:
        assert refused(lambda name=name: methods(house)[name](bob)) is NotFoundError, name
    with pytest.raises(NotFoundError):  # The run itself stays hers.
        bob.run(house.run)
    ann.share(house.release, False)
    assert bob.releases() == []
    kinds = [entry.kind for entry in house.service.ledger_entries(house.private)]
    assert kinds[-2:] == ["share", "unshare"]


def test_a_draft_of_a_report_is_its_author_s_alone(house: House) -> None:
    hers = Draft(application=Application(findings="Hers."), releases=(house.release,))
    house.as_(ANN).save_draft(house.private, hers)
    for other in (BOB, OFFICE, user("ann2", *ROLES), LOCAL_USER):
        service = house.as_(other)
        assert service.draft(house.private) is None, other.name
        service.save_draft(house.private, Draft())
        service.save_draft(house.private, None)
    kept = house.as_(ANN).draft(house.private)
    assert kept is not None
    assert kept.draft == hers
    assert house.as_(ANN).draft(house.public) is None


def test_the_custodian_reads_all_but_neither_spends_nor_changes_what_others_wrote(house: House) -> None:
    office = house.as_(OFFICE)
    assert office.release(house.release).id == house.release
    assert len(office.runs()) == 2
    assert [one.number for one in office.budget_requests()] == [house.asked]
    for name in ANALYSTS:
        assert refused(lambda name=name: methods(house)[name](office)) is AccessError, name
    for name in HER_OWN:
        assert refused(lambda name=name: methods(house)[name](office)) is NotFoundError, name
    assert refused(lambda: office.cancel(house.run)) is AccessError


def test_a_teacher_knows_of_public_data_alone(house: House) -> None:
    house.as_(ANN).share(house.release)
    house.as_(ANN).share(house.public_release)
    teacher = house.as_(TEACHER)
    assert [dataset.id for dataset in teacher.datasets()] == [house.public]
    assert [release.id for release in teacher.releases()] == [house.public_release]
    open_to_all = {"datasets", "runs", "releases", "sharing", "release_notes", "budget_requests"}
    open_to_all |= {"issue_token", "tokens", "end_tokens"}
    open_to_all |= {"import_release", "imported_releases", "forget_import", "has_seen", "note_seen"}
    open_to_all |= {"open_room", "own_rooms"}
    for name in set(methods(house)) - CUSTODIANS - open_to_all - {"add_demo_datasets"}:
        assert refused(lambda name=name: methods(house)[name](teacher)) is NotFoundError, name
    for name in CUSTODIANS:
        assert refused(lambda name=name: methods(house)[name](teacher)) is AccessError, name
    run = teacher.submit(fake_request(house.public), "t")
    assert teacher.run(run).state == "done"
    assert teacher.add_demo_datasets() == []


def test_a_custodian_who_teaches_spends_on_no_private_records(house: House) -> None:
    both = house.as_(user("tess", "custodian", "teacher"))
    asked = fake_request(house.private)
    for spends in (
        lambda: both.quote(asked),
        lambda: both.submit(asked, "t" * 12),
        lambda: both.ask(house.private, ONE, "so"),
    ):
        assert refused(spends) is AccessError
    assert both.quote(fake_request(house.public)).affordable


def test_a_class_room_is_opened_by_teachers_and_joined_by_anybody_with_a_role(house: House) -> None:
    for other in (OFFICE, ANN):
        with pytest.raises(AccessError):
            house.as_(other).open_room(ONE)
    teacher = house.as_(TEACHER)
    code = teacher.open_room(ONE)[0].code
    seat = house.as_(ANN).join_room(code, "Ann")
    assert house.as_(ANN).ask_in_room(code, seat, 0, "0.5").budget.spent == Decimal("0.5")
    assert [room.code for room in teacher.own_rooms()] == [code]
    assert house.as_(user("tom", "teacher")).own_rooms() == house.service.own_rooms() == []
    with pytest.raises(AccessError):
        house.as_(user("tom", "teacher")).steer_room(code, "", closed=True)
    assert teacher.steer_room(code, "", closed=True).closed


def test_without_a_login_a_room_is_steered_by_its_key_alone(house: House) -> None:
    room, key = house.service.open_room(ONE)
    assert not house.service.steers_room(room.code, "")
    assert house.service.steers_room(room.code, key)


def test_nobody_gets_the_records_of_a_private_data_set(kept_house: House) -> None:
    calls = ("true_counts", "true_tables", "true_cells", "compare_methods", "plain_tree_accuracy")
    calls += ("commonest_share", "compare_redescriptions", "chain_courses")
    for caller in (kept_house.service, kept_house.as_(OFFICE), kept_house.as_(ANN)):
        for name in calls:
            with pytest.raises(FrostglassError, match="private: nobody may see them"):
                methods(kept_house)[name](caller)


def test_each_analyst_spends_from_their_own_account(house: House) -> None:
    ann, bob, office = house.as_(ANN), house.as_(BOB), house.as_(OFFICE)
    assert (amounts(ann.balance(house.private)).left, amounts(bob.balance(house.private)).left) == (Decimal("0.5"), ONE)
    office.grant(house.private, "Bob@x.org", Decimal("0.25"), "a trial")
    with pytest.raises(BudgetError):
        submit(bob, house.private)
    office.answer(house.asked, Decimal(2), "go on")
    assert amounts(ann.balance(house.private)).left == Decimal("1.5")
    assert [entry.actor for entry in office.ledger_entries(house.private)] == [
        OFFICE.name,
        ANN.name,
        None,
        None,
        ANN.name,
        OFFICE.name,
        OFFICE.name,
    ]


def test_a_nonce_of_another_analyst_does_not_give_their_run(kept_house: House) -> None:
    request: RunRequest = fake_request(kept_house.private)
    with pytest.raises(FrostglassError, match="already used"):
        kept_house.as_(BOB).submit(request, kept_house.private)


def test_a_frozen_analyst_s_waiting_run_is_refunded(tmp_path: Path) -> None:
    from dpcore.workspace.runs.worker import Worker

    with Service(tmp_path, workers=1, warm=False, worker_command=("sleep", "60")) as service:
        office, ann = service.acting(OFFICE), service.acting(ANN)
        dataset = office.add_dataset(small_frame(), small_schema(), budget=ONE).id
        run = submit(ann, dataset)
        office.freeze(dataset, ANN.name, "contract ended")
        status = ann.run(run)
        assert (status.state, status.charged) == ("cancelled", False)
        assert "frozen" in status.message
        office.thaw(dataset, ANN.name, "a new contract")
        with closing(Worker(tmp_path, f"sqlite:///{tmp_path / 'frostglass.db'}")) as worker:
            worker.drain(run)
        assert amounts(office.total_balance(dataset)).left == ONE
        assert ann.releases() == []


def test_a_worker_asks_too_whether_an_analyst_is_frozen(tmp_path: Path) -> None:
    from dpcore.workspace.ledger.grants import Grants
    from dpcore.workspace.runs.worker import Worker

    with Service(tmp_path, workers=1, warm=False, worker_command=("sleep", "60")) as service:
        dataset = service.add_dataset(small_frame(), small_schema(), budget=ONE).id
        run = submit(service.acting(ANN), dataset)
        Grants(service._engine).freeze(dataset, ANN.name, "contract ended", actor=None)
        with closing(Worker(tmp_path, f"sqlite:///{tmp_path / 'frostglass.db'}")) as worker:
            worker.drain(run)
        status = service.run(run)
        assert (status.state, status.charged) == ("failed", False)
        assert "contract ended" in status.message


@pytest.mark.parametrize("odd", ["\0", "a\0b", "\ud800", "a\nb"])
def test_what_cannot_be_an_identifier_is_unknown(kept_house: House, odd: str) -> None:
    ann = kept_house.as_(ANN)
    for call in (ann.dataset, ann.release, ann.run, ann.balance, ann.runs, ann.releases):
        with pytest.raises(NotFoundError):
            call(odd)


def test_demonstration_data_of_a_name_that_a_private_data_set_has(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dpcore import demo

    monkeypatch.setattr(demo, "DEMOS", {small_schema().name: lambda: pytest.fail("made")})
    assert house.as_(TEACHER).add_demo_datasets() == []
    assert [info.id for info in house.as_(OFFICE).add_demo_datasets()] == [house.private]


def test_a_token_opens_what_its_owner_may_but_the_custodian_s_work(house: House) -> None:
    both = house.as_(user("both", "custodian", "analyst"))
    by_token = house.service.acting_by(both.issue_token().text)
    assert (by_token.user.name, by_token.user.roles) == (both.user.name, {"analyst"})
    assert by_token.balance(house.private) == both.balance(house.private)
    for name in CUSTODIANS:
        assert refused(lambda name=name: methods(house)[name](by_token)) is AccessError, name
    assert refused(house.as_(OFFICE).issue_token) is AccessError


def test_pages_act_as_nobody_but_their_visitor() -> None:
    root = Path(__file__).resolve().parents[2]
    files = [file for file in (root / "pages").rglob("*.py") if file.name != "access.py"]
    assert len(files) > 50
    for file in files:
        text = file.read_text(encoding="utf-8")
        assert ".acting(" not in text, file
        assert "installation(" not in text, file
        assert "LOCAL_USER" not in text or file.name == "login.py", file
