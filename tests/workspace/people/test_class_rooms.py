"""Classrooms on every database that the tests know: places, toy budgets, limits, and their end."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest
from sqlalchemy.engine import Engine

from dpcore.errors import AccessError, BudgetError, ConflictError, FrostglassError, NotFoundError, RequestError
from dpcore.lessons import COUNTS
from dpcore.workspace.database.database_tables import class_answers, class_seats, ledger_entries, utc_now
from dpcore.workspace.database.transactions import read
from dpcore.workspace.people import class_rooms
from dpcore.workspace.people.class_rooms import ANSWERS, NAME, OWN_ROOMS, ROOMS, SEATS, ClassRooms

ONE = Decimal(1)


@pytest.fixture
def rooms(engine: Engine) -> ClassRooms:
    return ClassRooms(engine)


def later(monkeypatch: pytest.MonkeyPatch, **by: int) -> None:
    now = utc_now() + timedelta(**by)
    monkeypatch.setattr(class_rooms, "utc_now", lambda: now)


def rows(engine: Engine, table: object) -> int:
    return len(read(engine, lambda connection: connection.execute(table.select()).all()))  # type: ignore[attr-defined]


def test_a_room_is_found_by_its_code_however_it_is_typed(rooms: ClassRooms) -> None:
    room, _ = rooms.open(ONE, "tea")
    assert len(room.code) == 6
    assert rooms.room(f" {room.code[:3].lower()} {room.code[3:]} ") == room
    for wrong in ("", "ABCDEF7", room.code + "A", "x\0", "😀" * 30):
        with pytest.raises(NotFoundError, match="no room with this code"):
            rooms.room(wrong)


def test_each_student_asks_from_a_budget_of_their_own(rooms: ClassRooms) -> None:
    code = rooms.open(ONE, "tea")[0].code
    ann, bob = rooms.join(code, "Ann"), rooms.join(code)
    for _ in range(5):
        rooms.ask(code, ann, 2, "0.2")
    with pytest.raises(BudgetError, match=r"costs ε 0\.20, but ε 0\.00 is left"):
        rooms.ask(code, ann, 2, "0.2")
    assert rooms.ask(code, bob, 0, "0.5").budget.left == Decimal("0.5")
    seat = rooms.seat(code, ann)
    assert (seat.student, seat.name, seat.budget.spent, len(seat.budget.answers)) == (1, "Ann", 1, 5)
    board = rooms.board(code)
    assert board.students == ((1, "Ann"), (2, ""))
    assert [(one.student, one.asked) for one in board.answers] == [(1, COUNTS[2])] * 5 + [(2, COUNTS[0])]
    assert [one.noisy for one in board.answers[:5]] == [one.noisy for one in seat.budget.answers]


def test_everybody_s_noise_is_another(rooms: ClassRooms) -> None:
    """Thirty answers with a standard deviation of 28 each: that two thirds are alike has no chance worth a name."""
    code = rooms.open(ONE, "tea")[0].code
    for _ in range(30):
        rooms.ask(code, rooms.join(code), 2, "0.05")
    assert len({one.noisy for one in rooms.board(code).answers}) > 10


def test_a_room_leaves_no_trace_in_the_ledger(engine: Engine, rooms: ClassRooms) -> None:
    code = rooms.open(ONE, "tea")[0].code
    rooms.ask(code, rooms.join(code), 0, "0.5")
    assert rows(engine, ledger_entries) == 0


@pytest.mark.crossed
@pytest.mark.parametrize("epsilon", ["0", "-1", "much", "nan", "0.0000000001"])
def test_nonsense_buys_nothing(rooms: ClassRooms, epsilon: str) -> None:
    code = rooms.open(ONE, "tea")[0].code
    key = rooms.join(code)
    with pytest.raises(FrostglassError):
        rooms.ask(code, key, 0, epsilon)
    for question in (-1, len(COUNTS)):
        with pytest.raises(RequestError):
            rooms.ask(code, key, question, "0.1")
    assert rooms.board(code).answers == ()


def test_a_key_opens_its_own_place_and_room_only(engine: Engine, rooms: ClassRooms) -> None:
    (first, key), (second, other) = rooms.open(ONE, "tea"), rooms.open(ONE, "tom")
    seat = rooms.join(first.code)
    for code, wrong in ((second.code, seat), (first.code, key), (first.code, "")):
        with pytest.raises(NotFoundError, match="place is not yours"):
            rooms.ask(code, wrong, 0, "0.1")
    for wrong in (other, seat, ""):
        assert not rooms.steered(first.code, wrong)
        with pytest.raises(AccessError):
            rooms.steer(first.code, wrong, closed=True)
        with pytest.raises(AccessError):
            rooms.free_seats(first.code, wrong, owner="tom")
    assert rooms.steered(first.code, key)
    assert rooms.steer(first.code, "", owner="tea", revealed=True).revealed
    assert [room.code for room in rooms.rooms("tom")] == [second.code]
    kept = read(engine, lambda connection: connection.execute(class_seats.select()).one())
    assert seat not in str(kept), "keys are kept as hashes"


def test_a_closed_room_is_read_only_and_a_full_one_lets_nobody_in(rooms: ClassRooms) -> None:
    room, key = rooms.open(ONE, "tea")
    seat = rooms.join(room.code)
    rooms.ask(room.code, seat, 0, "0.1")
    rooms.steer(room.code, key, full=True)
    with pytest.raises(ConflictError, match="nobody else"):
        rooms.join(room.code)
    rooms.ask(room.code, seat, 0, "0.1")
    rooms.steer(room.code, key, full=False, closed=True)
    for call in (lambda: rooms.join(room.code), lambda: rooms.ask(room.code, seat, 0, "0.1")):
        with pytest.raises(ConflictError, match="closed"):
            call()
    assert len(rooms.board(room.code).answers) == 2
    rooms.steer(room.code, key, closed=False)
    rooms.join(room.code)


def test_names_are_one_line_of_any_characters_and_not_long(rooms: ClassRooms) -> None:
    code = rooms.open(ONE, "tea")[0].code
    rooms.join(code, "  <b>Ann</b>\n [x](http://y)\0 ")
    rooms.join(code, "ä" * NAME)
    with pytest.raises(RequestError, match=f"at most {NAME} characters"):
        rooms.join(code, "ä" * (NAME + 1))
    assert rooms.board(code).students == ((1, "<b>Ann</b> [x](http://y)"), (2, "ä" * NAME))


def test_places_are_limited_and_those_of_the_silent_can_be_freed(rooms: ClassRooms) -> None:
    room, key = rooms.open(ONE, "tea")
    keys = [rooms.join(room.code) for _ in range(SEATS)]
    with pytest.raises(ConflictError, match="places of this room are taken"):
        rooms.join(room.code)
    rooms.ask(room.code, keys[7], 0, "0.1")
    assert rooms.free_seats(room.code, key) == SEATS - 1
    assert [student for student, _ in rooms.board(room.code).students] == [8]
    with pytest.raises(NotFoundError, match="Join the room again"):
        rooms.seat(room.code, keys[0])
    rooms.join(room.code)
    assert [student for student, _ in rooms.board(room.code).students] == [8, 9]


def test_answers_of_a_student_are_limited(rooms: ClassRooms) -> None:
    code = rooms.open(Decimal(5), "tea")[0].code
    key = rooms.join(code)
    for _ in range(ANSWERS):
        rooms.ask(code, key, 0, "0.01")
    with pytest.raises(ConflictError, match=f"asked {ANSWERS} questions"):
        rooms.ask(code, key, 0, "0.01")


def test_strangers_cannot_take_all_rooms_for_long(rooms: ClassRooms, monkeypatch: pytest.MonkeyPatch) -> None:
    """Empty rooms give way after minutes, used ones after an hour, and none while it is in use."""
    first = rooms.open(ONE, "tea")[0].code
    rooms.join(first)
    for _ in range(ROOMS - 1):
        rooms.open(ONE, "stranger")
    with pytest.raises(ConflictError, match="all in use"):
        rooms.open(ONE, "tom")
    later(monkeypatch, minutes=11)
    rooms.open(ONE, "tom")
    assert rooms.room(first)
    assert len(rooms.rooms("stranger")) == ROOMS - 2
    later(monkeypatch, minutes=59)
    for _ in range(ROOMS - 1):
        rooms.open(ONE, "tom")
    with pytest.raises(ConflictError):
        rooms.open(ONE, "tom")
    assert rooms.room(first)
    later(monkeypatch, minutes=61)
    rooms.open(ONE, "tom")
    with pytest.raises(NotFoundError):
        rooms.room(first)


def test_after_a_day_a_room_is_gone_with_all_that_is_in_it(
    engine: Engine, rooms: ClassRooms, monkeypatch: pytest.MonkeyPatch
) -> None:
    room, key = rooms.open(ONE, "tea")
    seat = rooms.join(room.code, "Ann")
    rooms.ask(room.code, seat, 0, "0.1")
    later(monkeypatch, hours=23)
    kept = rooms.open(ONE, "tea")[0]
    rooms.sweep()
    assert rooms.room(room.code) == room
    later(monkeypatch, hours=25)
    with pytest.raises(NotFoundError):
        rooms.steer(room.code, key, closed=True)
    assert rows(engine, class_answers) == 1, "not swept yet, but out of reach"
    rooms.sweep()
    assert rows(engine, class_answers) == rows(engine, class_seats) == 0
    assert [one.code for one in rooms.rooms("tea")] == [kept.code]


def test_a_person_has_one_place_and_comes_back_to_it(engine: Engine, rooms: ClassRooms) -> None:
    """However often they join: the others find room, and nothing that they asked is lost or free again."""
    room, key = rooms.open(ONE, "tea")
    first = rooms.join(room.code, "Eve", "eve")
    rooms.ask(room.code, first, 0, "0.5")
    keys = [rooms.join(room.code, person="eve") for _ in range(SEATS + 5)]
    seat = rooms.seat(room.code, keys[-1])
    assert (seat.student, seat.name, seat.budget.left) == (1, "Eve", Decimal("0.5"))
    with pytest.raises(NotFoundError):
        rooms.seat(room.code, first)
    rooms.join(room.code, "Ann", "ann")
    assert rooms.board(room.code).students == ((1, "Eve"), (2, "Ann"))
    rooms.steer(room.code, key, full=True)
    assert rooms.join(room.code, "Eva", "eve"), "it is a place that they have"
    other = rooms.open(ONE, "tea")[0]
    assert rooms.seat(other.code, rooms.join(other.code, person="eve")).student == 1
    kept = str(read(engine, lambda connection: connection.execute(class_seats.select()).all()))
    assert "'eve'" not in kept, "only a hash tells who it is"


def test_any_student_can_be_removed(engine: Engine, rooms: ClassRooms) -> None:
    room, key = rooms.open(ONE, "tea")
    keys = [rooms.join(room.code) for _ in range(SEATS)]
    for one in keys:
        rooms.ask(room.code, one, 0, "0.1")
    assert rooms.free_seats(room.code, key) == 0
    with pytest.raises(AccessError):
        rooms.remove_student(room.code, keys[0], 1)
    rooms.remove_student(room.code, key, 1)
    with pytest.raises(NotFoundError, match="no longer in the room"):
        rooms.remove_student(room.code, key, 1)
    with pytest.raises(NotFoundError, match="Join the room again"):
        rooms.ask(room.code, keys[0], 0, "0.1")
    assert rows(engine, class_answers) == SEATS - 1
    assert rooms.join(room.code)


def test_a_teacher_has_so_many_rooms_and_leaves_the_others(rooms: ClassRooms) -> None:
    own = [rooms.open(ONE, "tea", limited=True) for _ in range(OWN_ROOMS)]
    with pytest.raises(ConflictError, match=f"You have {OWN_ROOMS} rooms"):
        rooms.open(ONE, "tea", limited=True)
    rooms.open(ONE, "tom", limited=True)
    code, key = own[2][0].code, own[2][1]
    rooms.steer(code, key, closed=True)
    rooms.open(ONE, "tea", limited=True)
    with pytest.raises(NotFoundError):
        rooms.room(code)
    assert len(rooms.rooms("tea")) == OWN_ROOMS
