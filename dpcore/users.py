"""Who calls: a name, roles, and until when; and which roles a login gives.

Names go into the ledger, so a person's budget hangs on them. Rules of an installation stand in a
TOML file that ``FROSTGLASS_ROLES`` names; see ``docs/deployment.md``.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from dpcore.errors import LoginError, RequestError
from dpcore.validation import explain_validation

Role = Literal["custodian", "analyst", "teacher"]
ROLES: tuple[Role, ...] = get_args(Role)
#: Longest name that the ledger keeps.
NAME_LENGTH = 128
_ANY = "*@"


@dataclass(frozen=True)
class User:
    """Somebody who calls the service.

    Attributes
    ----------
    name : str
        E-mail address in small letters; or ``sub:`` and the provider's identifier, if there is no
        address that the provider has verified. 1 to 128 characters.
    roles : frozenset of {"custodian", "analyst", "teacher"}
        What this person may do. Empty: nothing.
    expires : datetime or None
        When the login ends, with zone. ``None``: never, for the local user alone.
    """

    name: str
    roles: frozenset[Role]
    expires: datetime | None = None

    def expired(self) -> bool:
        """Whether the login has ended."""
        return self.expires is not None and datetime.now(UTC) >= self.expires


#: The one user where no login is set up: whoever reaches the program.
LOCAL_USER = User("local", frozenset(ROLES))


class Membership(BaseModel):
    """Who has a role: by address, or by what the provider claims about a person.

    Attributes
    ----------
    emails : tuple of str
        Addresses, or ``*@hospital.example`` for everybody there. Capitals do not matter.
    claims : mapping of str to tuple of str
        Values of which one must be in the claim of this name, for example of ``groups``.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    emails: tuple[str, ...] = ()
    claims: dict[str, tuple[str, ...]] = Field(default_factory=dict)

    @field_validator("emails")
    @classmethod
    def _addresses(cls, emails: tuple[str, ...]) -> tuple[str, ...]:
        for email in emails:
            if email.count("@") != 1 or "*" in email.removeprefix(_ANY):
                raise ValueError(
                    f"'{email}' is neither an address nor '*@' and the end of addresses"
                )
        return tuple(email.strip().lower() for email in emails)

    def has(self, email: str | None, claims: Mapping[str, Any]) -> bool:
        """Whether a person with this verified address and these claims is a member."""
        if email is not None and {email, f"{_ANY}{email.partition('@')[2]}"} & set(self.emails):
            return True
        return any(_values(claims.get(name)) & set(wanted) for name, wanted in self.claims.items())


class RoleRules(BaseModel):
    """Roles of an installation with a login.

    Attributes
    ----------
    custodian, analyst, teacher : Membership
        Who has the role; one person may have several.
    emails_are_verified : bool
        Whether addresses count although the provider does not say that it verified them. Only for
        a provider whose users cannot choose their address themselves.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    custodian: Membership = Membership()
    analyst: Membership = Membership()
    teacher: Membership = Membership()
    emails_are_verified: bool = False

    @classmethod
    def from_file(cls, path: str | Path) -> Self:
        """Read rules. Raises ``RequestError`` that says what to mend."""
        try:
            content = tomllib.loads(Path(path).read_text(encoding="utf-8"))
            return cls.model_validate(content)
        except OSError:
            raise RequestError(f"The file of roles, {path}, cannot be read.") from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise RequestError(f"The file of roles is not TOML: {error}.") from None
        except ValidationError as error:
            fault = explain_validation(error, whole="roles")
            raise RequestError(f"The file of roles is faulty: {fault}") from None

    @classmethod
    def from_environment(cls) -> Self | None:
        """Rules in the file that ``FROSTGLASS_ROLES`` names; ``None`` if it names none."""
        path = os.environ.get("FROSTGLASS_ROLES")
        return cls.from_file(path) if path else None

    def user(self, claims: Mapping[str, Any]) -> User:
        """Who has logged in, by the claims of an identity token (OpenID Connect Core 1.0).

        Raises
        ------
        LoginError
            If the token does not say who it is about or when it ends.
        """
        email = self._email(claims)
        name = email or _subject(claims)
        roles = frozenset(role for role in ROLES if getattr(self, role).has(email, claims))
        return User(name, roles, _end(claims))

    def _email(self, claims: Mapping[str, Any]) -> str | None:
        """The address, if it is verified."""
        email = claims.get("email")
        verified = claims.get("email_verified") is True or self.emails_are_verified
        if not verified or not isinstance(email, str) or email.count("@") != 1:
            return None
        return email.strip().lower() if len(email) <= NAME_LENGTH else None


def _subject(claims: Mapping[str, Any]) -> str:
    subject = claims.get("sub")
    name = f"sub:{subject}"
    if not isinstance(subject, str) or not subject or len(name) > NAME_LENGTH:
        raise LoginError("The login does not say who you are: ask who runs this installation.")
    return name


def _end(claims: Mapping[str, Any]) -> datetime:
    seconds = claims.get("exp")
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        raise LoginError("The login does not say when it ends: ask who runs this installation.")
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        raise LoginError("The login ends at no known time: log in again.") from None


def _values(claim: object) -> set[str]:
    """Values of a claim: one text, or several."""
    several = claim if isinstance(claim, list | tuple) else [claim]
    return {value for value in several if isinstance(value, str)}
