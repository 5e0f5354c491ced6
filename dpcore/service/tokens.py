"""Tokens with which programs act as the caller."""

from __future__ import annotations

from datetime import datetime
from typing import Self

from dpcore.service.base import ServiceBase
from dpcore.workspace.people import tokens
from dpcore.workspace.people.tokens import Token
from dpcore.workspace.people.users import Role

#: What a program may do: explore, never look after data or grant budgets.
_PROGRAMS: tuple[Role, ...] = ("analyst", "teacher")


class Tokens(ServiceBase):
    """Part of :class:`dpcore.service.Service`."""

    def issue_token(self) -> Token:
        """A token for the caller's programs, until the caller's login ends; at most twelve hours.

        It has the caller's roles but that of custodian.

        Raises
        ------
        RequestError
            If the caller has as many as may be good at once.
        """
        self._require(*_PROGRAMS)
        return tokens.issue(self._engine, self._user, self._user.roles.intersection(_PROGRAMS))

    def tokens(self) -> list[datetime]:
        """When each of the caller's good tokens ends, with zone; the first to end comes first."""
        self._require(*_PROGRAMS)
        return tokens.ends(self._engine, self._user.name)

    def end_tokens(self) -> int:
        """End all tokens of the caller at once; how many there were."""
        self._require(*_PROGRAMS)
        return tokens.end(self._engine, self._user.name)

    def acting_by(self, token: str) -> Self:
        """The same installation, entered as the person who asked for a token.

        Raises
        ------
        LoginError
            If the token is none, or no longer good.
        """
        return self.acting(tokens.owner(self._engine, token))
