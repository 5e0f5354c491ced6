"""Classrooms: public numbers and toy budgets. No data set can be reached from one.

So whoever has logged in may join one, with a role here or without; to open one takes a teacher.
"""

from __future__ import annotations

from decimal import Decimal

from dpcore.service.base import ServiceBase
from dpcore.workspace.people.class_rooms import Board, Room, Seat
from dpcore.workspace.people.users import LOCAL_USER, ROLES


class ClassRoomsOfUser(ServiceBase):
    """Part of :class:`dpcore.service.Service`. Errors are those of ``ClassRooms``."""

    def open_room(self, cap: Decimal) -> tuple[Room, str]:
        """Open a classroom, as a teacher; returns it with the key by which it is steered."""
        self._require("teacher")
        return self._rooms.open(cap, self._user.name, limited=self._owner() is not None)

    def own_rooms(self) -> list[Room]:
        """Rooms that the caller has opened; none without a login, where all callers are one."""
        self._require(*ROLES)
        owner = self._owner()
        return [] if owner is None else self._rooms.rooms(owner)

    def join_room(self, code: str, name: str = "", browser: str | None = None) -> str:
        """Take a place in a room, or come back to it; returns its key.

        Parameters
        ----------
        browser : str, optional
            What tells one visitor from another where nobody logs in.
        """
        self._require_login()
        return self._rooms.join(code, name, self._owner() or browser)

    def seat(self, code: str, key: str) -> Seat:
        """A place in a room, with its toy budget."""
        self._require_login()
        return self._rooms.seat(code, key)

    def ask_in_room(self, code: str, key: str, question: int, epsilon: object) -> Seat:
        """Buy a noisy answer from the toy budget of a place."""
        self._require_login()
        return self._rooms.ask(code, key, question, epsilon)

    def board(self, code: str) -> Board:
        """All answers of a class."""
        self._require_login()
        return self._rooms.board(code)

    def steers_room(self, code: str, key: str) -> bool:
        """Whether the caller may steer a room."""
        self._require(*ROLES)
        return self._rooms.steered(code, key, owner=self._owner())

    def steer_room(self, code: str, key: str, **settings: bool) -> Room:
        """Change ``revealed``, ``full`` or ``closed`` of a room."""
        self._require(*ROLES)
        return self._rooms.steer(code, key, owner=self._owner(), **settings)

    def free_seats(self, code: str, key: str) -> int:
        """Take the places away from which nobody has asked; returns how many."""
        self._require(*ROLES)
        return self._rooms.free_seats(code, key, owner=self._owner())

    def remove_student(self, code: str, key: str, student: int) -> None:
        """Take the place of a student away, with its answers."""
        self._require(*ROLES)
        self._rooms.remove_student(code, key, student, owner=self._owner())

    def _owner(self) -> str | None:
        """Who calls, where people log in."""
        return None if self._user is LOCAL_USER else self._user.name
