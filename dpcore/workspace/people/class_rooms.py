"""Classrooms: everybody asks the same public numbers with a toy budget of their own.

Nothing here knows of data sets or of the ledger. A room is found by its code; whoever holds its
teacher's key steers it, and whoever holds the key of a seat answers from it. Keys are kept as
hashes, and so is who has taken a seat: each has one. A room lasts :data:`HOURS`, then it is
removed with all that is in it. Here, unlike elsewhere, times decide: nothing is lost by a clock
that is wrong.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine, Row

from dpcore.errors import AccessError, ConflictError, NotFoundError, RequestError
from dpcore.lessons import COUNTS, ClassAnswer, ToyAnswer, ToyBudget, toy_cap
from dpcore.validation import storable
from dpcore.workspace.database.database_tables import class_answers, class_rooms, class_seats, utc_now
from dpcore.workspace.database.transactions import read, write
from dpcore.workspace.people.users import NAME_LENGTH

#: How long a room lasts.
HOURS: Final = 24
#: Most rooms in all and of one teacher, seats of a room, answers of a seat, characters of a student's name.
ROOMS: Final = 40
OWN_ROOMS: Final = 5
SEATS: Final = 60
ANSWERS: Final = 40
NAME: Final = 40
#: Toy budgets that a teacher may give to each student.
CAPS: Final = (Decimal("0.5"), Decimal(1), Decimal(2), Decimal(5))
#: Without letters and digits that look alike.
_ALPHABET: Final = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"
_CODE_LENGTH: Final = 6
#: If there is no place for another room, those give way that nobody has used for so long: any room,
#: and one that is closed or in which nobody sits.
_IDLE, _IDLE_EMPTY = timedelta(hours=1), timedelta(minutes=10)

_NO_ROOM = "There is no room with this code. Look at the code again; rooms end after a day."
_CLOSED = "This room is closed: its answers can be read, but nobody asks any more."
_NO_SEAT = "This place is not yours, or your teacher has given it away. Join the room again."
_NOT_YOURS = "Only the teacher who has opened this room can do this."
_NO_PLACE = f"All {SEATS} places of this room are taken. Your teacher can remove students."
_SHUT = "Your teacher lets nobody else into this room."
_TOO_MANY_ROOMS = (
    f"There are {ROOMS} classrooms already, all in use. Close one that is over, or try again in some minutes."
)
_TOO_MANY_OWN = (
    f"You have {OWN_ROOMS} rooms: close one that is over. The oldest closed one is then deleted for a new one."
)
_NO_STUDENT = "This student is no longer in the room."
_TOO_MANY_ANSWERS = f"You have asked {ANSWERS} questions: that is the most in a classroom."
_R, _S, _A = class_rooms.c, class_seats.c, class_answers.c


@dataclass(frozen=True)
class Room:
    """A classroom."""

    code: str
    """What students type to come in."""
    teacher: str
    """Who has opened it."""
    cap: Decimal
    """Toy budget of each student."""
    revealed: bool
    """Whether the class sees the true counts."""
    full: bool
    """Whether nobody else is let in."""
    closed: bool
    """Whether nobody asks any more."""
    created: datetime
    """When it was opened, with zone."""

    @property
    def ends(self) -> datetime:
        """When it is removed."""
        return self.created + timedelta(hours=HOURS)


@dataclass(frozen=True)
class Seat:
    """A student's place in a room."""

    student: int
    """Their number, from 1."""
    name: str
    """What they want to be called; may be empty."""
    budget: ToyBudget
    """Their toy budget, with the answers bought from it."""


@dataclass(frozen=True)
class Board:
    """What everybody in a room sees."""

    room: Room
    students: tuple[tuple[int, str], ...]
    """Number and name of all who have a place, in the order in which they came."""
    answers: tuple[ClassAnswer, ...]
    """Everybody's answers, oldest first."""


class ClassRooms:
    """All classrooms of one database."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def open(self, cap: Decimal, teacher: str, *, limited: bool = False) -> tuple[Room, str]:
        """Open a room; returns it with the key by which it is steered.

        Parameters
        ----------
        limited : bool
            Whether the teacher may have :data:`OWN_ROOMS` only; of these, the oldest closed one gives way.

        Raises
        ------
        RequestError
            If ``cap`` is none of :data:`CAPS`.
        ConflictError
            If there are too many rooms, all in use, or too many of this teacher.
        """
        if cap not in CAPS:
            raise RequestError("Choose one of the toy budgets that are offered.")
        key = secrets.token_urlsafe(16)

        def transaction(connection: Connection) -> Room:
            _remove(connection, _ended())
            if limited:
                _limit(connection, teacher[:NAME_LENGTH])
            if (connection.scalar(sa.select(sa.func.count()).select_from(class_rooms)) or 0) >= ROOMS:
                _give_way(connection)
            now, code = utc_now().replace(microsecond=0), _new_code(connection)
            room = Room(code, teacher[:NAME_LENGTH], cap, revealed=False, full=False, closed=False, created=now)
            connection.execute(class_rooms.insert().values(**vars(room), key=_hash(key), used=now))
            return room

        return write(self._engine, transaction), key

    def room(self, code: str) -> Room:
        """The room with a code, however it is typed. Raises ``NotFoundError``."""
        return read(self._engine, lambda connection: _room(connection, code))

    def rooms(self, teacher: str) -> list[Room]:
        """Rooms that a teacher has opened, newest first."""
        chosen = sa.select(class_rooms).where(_R.teacher == teacher, ~_ended()).order_by(_R.created.desc(), _R.code)
        return [_as_room(row) for row in read(self._engine, lambda c: c.execute(chosen).all())]

    def join(self, code: str, name: str = "", person: str | None = None) -> str:
        """Take a place in a room; returns its key.

        Parameters
        ----------
        person : str, optional
            Who comes: a login, or a browser. Whoever has a place already comes back to it, with another key.

        Raises
        ------
        NotFoundError
            If there is no such room.
        RequestError
            If the name is too long.
        ConflictError
            If the room is closed, or nobody else is let in.
        """
        called, key = checked_name(name), secrets.token_urlsafe(16)

        def transaction(connection: Connection) -> str:
            room = _open_room(connection, code)
            taken = connection.execute(sa.select(_S.student).where(_S.code == room.code)).scalars().all()
            whose = None if person is None else _hash(f"{room.code} {person}")
            if (own := _taken_by(connection, room, whose)) is not None:
                return _moved(connection, own, called, key)
            if room.full:
                raise ConflictError(_SHUT)
            if len(taken) >= SEATS:
                raise ConflictError(_NO_PLACE)
            number = max(taken, default=0) + 1
            values = {"key": _hash(key), "code": room.code, "student": number, "name": called, "person": whose}
            connection.execute(class_seats.insert().values(**values))
            _use(connection, room)
            return key

        return write(self._engine, transaction)

    def seat(self, code: str, key: str) -> Seat:
        """A student's place. Raises ``NotFoundError``."""
        return read(self._engine, lambda connection: _seat(connection, _room(connection, code), key))

    def ask(self, code: str, key: str, question: int, epsilon: object) -> Seat:
        """Buy a noisy answer from a toy budget. The noise is another one for everybody, each time.

        Parameters
        ----------
        code, key : str
            The room, and the key of the student's place.
        question : int
            Place among :data:`dpcore.lessons.COUNTS`.
        epsilon : Decimal, int, float or str
            What is spent on it.

        Raises
        ------
        NotFoundError
            If there is no such room or place.
        ConflictError
            If the room is closed, or the student has asked too often.
        BudgetError
            If the toy budget does not allow it.
        """
        if question not in range(len(COUNTS)):
            raise RequestError("Choose one of the questions that are offered.")

        def transaction(connection: Connection) -> Seat:
            room = _open_room(connection, code)
            seat = _seat(connection, room, key)
            if len(seat.budget.answers) >= ANSWERS:
                raise ConflictError(_TOO_MANY_ANSWERS)
            budget = seat.budget.ask(COUNTS[question], epsilon)
            bought = budget.answers[-1]
            values = {"seat": _hash(key), "question": question, "epsilon": bought.epsilon, "noisy": bought.noisy}
            connection.execute(class_answers.insert().values(**values))
            _use(connection, room)
            return Seat(seat.student, seat.name, budget)

        return write(self._engine, transaction)

    def board(self, code: str) -> Board:
        """Everybody's answers. Raises ``NotFoundError``."""
        return read(self._engine, lambda connection: _board(connection, code))

    def steer(self, code: str, key: str, *, owner: str | None = None, **settings: bool) -> Room:
        """Change ``revealed``, ``full`` or ``closed``.

        Parameters
        ----------
        code, key : str
            The room, and its teacher's key.
        owner : str, optional
            Who asks, where people log in: the room's own teacher needs no key.

        Raises
        ------
        NotFoundError
            If there is no such room.
        AccessError
            If the key is another one.
        """

        def transaction(connection: Connection) -> Room:
            room = _own_room(connection, code, key, owner)
            connection.execute(class_rooms.update().where(_R.code == room.code).values(**settings))
            return _room(connection, code)

        return write(self._engine, transaction)

    def free_seats(self, code: str, key: str, *, owner: str | None = None) -> int:
        """Take the places away from which nobody has asked; returns how many. Raises as :meth:`steer`."""

        def transaction(connection: Connection) -> int:
            room = _own_room(connection, code, key, owner)
            busy = sa.select(_A.seat)
            return connection.execute(class_seats.delete().where(_S.code == room.code, _S.key.not_in(busy))).rowcount

        return write(self._engine, transaction)

    def remove_student(self, code: str, key: str, student: int, *, owner: str | None = None) -> None:
        """Take a place away, with its answers. Raises as :meth:`steer`, and ``NotFoundError`` if there is none."""

        def transaction(connection: Connection) -> None:
            room = _own_room(connection, code, key, owner)
            seat = connection.scalar(sa.select(_S.key).where(_S.code == room.code, _S.student == student))
            if seat is None:
                raise NotFoundError(_NO_STUDENT)
            connection.execute(class_answers.delete().where(_A.seat == seat))
            connection.execute(class_seats.delete().where(_S.key == seat))

        write(self._engine, transaction)

    def steered(self, code: str, key: str, *, owner: str | None = None) -> bool:
        """Whether somebody may steer a room. Raises ``NotFoundError``."""
        return read(self._engine, lambda connection: _steers(connection, _room(connection, code), key, owner))

    def sweep(self) -> None:
        """Remove the rooms that have ended, with all that is in them."""
        if read(self._engine, lambda connection: connection.execute(sa.select(_R.code).where(_ended())).first()):
            write(self._engine, lambda connection: _remove(connection, _ended()))


def checked_name(name: str) -> str:
    """A student's name on one line, or nothing. Raises ``RequestError``."""
    plain = " ".join(storable(name).split())
    if len(plain) > NAME:
        raise RequestError(f"This name is too long: use at most {NAME} characters, or none.")
    return plain


def _hash(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()


def _ended() -> sa.ColumnElement[bool]:
    return _R.created < utc_now() - timedelta(hours=HOURS)


def _new_code(connection: Connection) -> str:
    while True:
        code = "".join(secrets.choice(_ALPHABET) for _ in range(_CODE_LENGTH))
        if connection.execute(sa.select(_R.code).where(_R.code == code)).first() is None:
            return code


def _as_room(row: Row[tuple[object, ...]]) -> Room:
    named = row._mapping
    return Room(**{field: named[field] for field in Room.__dataclass_fields__})


def _room(connection: Connection, code: str) -> Room:
    typed = "".join(storable(code).split()).upper()[: _CODE_LENGTH + 1]
    row = connection.execute(sa.select(class_rooms).where(_R.code == typed, ~_ended())).first()
    if row is None:
        raise NotFoundError(_NO_ROOM)
    return _as_room(row)


def _open_room(connection: Connection, code: str) -> Room:
    room = _room(connection, code)
    if room.closed:
        raise ConflictError(_CLOSED)
    return room


def _own_room(connection: Connection, code: str, key: str, owner: str | None) -> Room:
    room = _room(connection, code)
    if not _steers(connection, room, key, owner):
        raise AccessError(_NOT_YOURS)
    return room


def _steers(connection: Connection, room: Room, key: str, owner: str | None) -> bool:
    kept = connection.scalar(sa.select(_R.key).where(_R.code == room.code))
    return secrets.compare_digest(str(kept), _hash(key)) or (owner is not None and owner == room.teacher)


def _use(connection: Connection, room: Room) -> None:
    connection.execute(class_rooms.update().where(_R.code == room.code).values(used=utc_now()))


def _taken_by(connection: Connection, room: Room, whose: str | None) -> str | None:
    """Key, as it is kept, of the place that somebody has in a room."""
    if whose is None:
        return None
    return connection.scalar(sa.select(_S.key).where(_S.code == room.code, _S.person == whose))


def _moved(connection: Connection, seat: str, name: str, key: str) -> str:
    """Give a place, with its answers, another key, and its student another name if they have typed one."""
    [row] = connection.execute(sa.select(class_seats).where(_S.key == seat)).mappings()
    connection.execute(class_seats.insert().values(**{**row, "key": _hash(key), "name": name or row["name"]}))
    connection.execute(class_answers.update().where(_A.seat == seat).values(seat=_hash(key)))
    connection.execute(class_seats.delete().where(_S.key == seat))
    return key


def _seat(connection: Connection, room: Room, key: str) -> Seat:
    row = connection.execute(sa.select(class_seats).where(_S.code == room.code, _S.key == _hash(key))).first()
    if row is None:
        raise NotFoundError(_NO_SEAT)
    chosen = sa.select(_A.question, _A.epsilon, _A.noisy).where(_A.seat == row.key).order_by(_A.number)
    answers = tuple(ToyAnswer(COUNTS[one.question], one.epsilon, one.noisy) for one in connection.execute(chosen))
    return Seat(row.student, row.name, ToyBudget(toy_cap(room.cap), answers))


def _board(connection: Connection, code: str) -> Board:
    room = _room(connection, code)
    students = sa.select(_S.student, _S.name).where(_S.code == room.code).order_by(_S.student)
    answers = (
        sa.select(_S.student, _S.name, _A.question, _A.epsilon, _A.noisy)
        .join(class_seats, _A.seat == _S.key)
        .where(_S.code == room.code)
        .order_by(_A.number)
    )
    return Board(
        room,
        tuple((row.student, row.name) for row in connection.execute(students)),
        tuple(
            ClassAnswer(row.student, row.name, COUNTS[row.question], row.epsilon, row.noisy)
            for row in connection.execute(answers)
        ),
    )


def _remove(connection: Connection, which: sa.ColumnElement[bool]) -> None:
    """Remove rooms with all that is in them."""
    rooms = sa.select(_R.code).where(which)
    seats = sa.select(_S.key).where(_S.code.in_(rooms))
    connection.execute(class_answers.delete().where(_A.seat.in_(seats)))
    connection.execute(class_seats.delete().where(_S.code.in_(rooms)))
    connection.execute(class_rooms.delete().where(which))


def _limit(connection: Connection, teacher: str) -> None:
    """See that a teacher has no more rooms than one may: the oldest closed one is removed."""
    own = connection.execute(sa.select(_R.code, _R.closed).where(_R.teacher == teacher).order_by(_R.created)).all()
    if len(own) < OWN_ROOMS:
        return
    code = next((room.code for room in own if room.closed), None)
    if code is None:
        raise ConflictError(_TOO_MANY_OWN)
    _remove(connection, _R.code == code)


def _give_way(connection: Connection) -> None:
    """Remove the room that was used least of late, if it has been idle for long enough."""
    now = utc_now()
    empty = sa.or_(_R.closed, _R.code.not_in(sa.select(_S.code)))
    idle = sa.or_(_R.used < now - _IDLE, sa.and_(empty, _R.used < now - _IDLE_EMPTY))
    code = connection.scalar(sa.select(_R.code).where(idle).order_by(_R.used).limit(1))
    if code is None:
        raise ConflictError(_TOO_MANY_ROOMS)
    _remove(connection, _R.code == code)
