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
from typing import Literal, Self, get_args

from pydantic import Field, ValidationError, field_validator

from dpcore.errors import LoginError, RequestError
from dpcore.frozen import FrozenModel
from dpcore.validation import explain_validation

Role = Literal["custodian", "analyst", "teacher"]
ROLES: tuple[Role, ...] = get_args(Role)
#: Longest name that the ledger keeps.
NAME_LENGTH = 128
_ANY = "*@"
#: How names begin that are not an address but the provider's identifier.
_SUBJECT = "sub:"


@dataclass(frozen=True)
class User:
    """Somebody who calls the service."""

    name: str
    """E-mail address in small letters; or ``sub:`` and the provider's identifier, if there is no address that the
    provider has verified. 1 to 128 characters."""
    roles: frozenset[Role]
    """What this person may do. Empty: nothing."""
    expires: datetime | None = None
    """When the login ends, with zone. ``None``: never, for the local user alone."""

    @property
    def known(self) -> bool:
        """Whether this is somebody: logged in, with a role or without, or the local user."""
        return bool(self.roles) or self.expires is not None

    def expired(self) -> bool:
        """Whether the login has ended."""
        return self.expires is not None and datetime.now(UTC) >= self.expires


#: The one user where no login is set up: whoever reaches the program.
LOCAL_USER = User("local", frozenset(ROLES))


class Membership(FrozenModel):
    """Who has a role: by address, or by what the provider claims about a person."""

    emails: tuple[str, ...] = ()
    """Addresses, or ``*@hospital.example`` for everybody there. Capitals do not matter."""
    claims: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Values of which one must be in the claim of this name, for example of ``groups``."""

    @field_validator("emails")
    @classmethod
    def _addresses(cls, emails: tuple[str, ...]) -> tuple[str, ...]:
        for email in emails:
            if not _is_address(email) or "*" in email.removeprefix(_ANY):
                raise ValueError(f"'{email}' is neither an address nor '*@' and the end of addresses")
        return tuple(email.strip().lower() for email in emails)

    def has(self, email: str | None, claims: Mapping[str, object]) -> bool:
        """Whether a person with this verified address and these claims is a member."""
        if email is not None and {email, f"{_ANY}{email.partition('@')[2]}"} & set(self.emails):
            return True
        return any(_values(claims.get(name)) & set(wanted) for name, wanted in self.claims.items())


class RoleRules(FrozenModel):
    """Roles of an installation with a login."""

    custodian: Membership = Membership()
    analyst: Membership = Membership()
    teacher: Membership = Membership()
    """``custodian``, ``analyst``, ``teacher``: who has the role; one person may have several."""
    emails_are_verified: bool = False
    """Whether addresses count although the provider does not say that it verified them. Only for a provider whose users
    cannot choose their address themselves."""

    @classmethod
    def from_file(cls, path: str | Path) -> Self:
        """Read rules. Raises ``RequestError`` that says what to mend."""
        try:
            content = tomllib.loads(Path(path).read_text(encoding="utf-8"))
            return cls.model_validate(content)
        except OSError:
            # Whoever opens the application reads this: not where its files lie.
            raise RequestError("The file that FROSTGLASS_ROLES names cannot be read.") from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise RequestError(f"The file of roles is not TOML: {error}.") from None
        except ValidationError as error:
            fault = explain_validation(error, whole="roles")
            raise RequestError(f"The file of roles is faulty: {fault}") from None

    @classmethod
    def from_environment(cls) -> Self | None:
        """Rules in the file that ``FROSTGLASS_ROLES`` names; ``None`` if it names none."""
        path = os.environ.get("FROSTGLASS_ROLES")
        if path == "":  # An expansion that failed must not open the door to everybody.
            raise RequestError("FROSTGLASS_ROLES is empty: let it name a file, or remove it.")
        return None if path is None else cls.from_file(path)

    def user(self, claims: Mapping[str, object]) -> User:
        """Who has logged in, by the claims of an identity token (OpenID Connect Core 1.0).

        Raises
        ------
        LoginError
            If the token does not say who it is about or when it ends.
        """
        email = self._email(claims)
        name = email or f"{_SUBJECT}{claims.get('sub')}"
        if not _says_who(claims, name):
            raise LoginError("The login does not say who you are: tell the operator of this installation.")
        roles = frozenset(role for role in ROLES if getattr(self, role).has(email, claims))
        return User(name, roles, _end(claims))

    def _email(self, claims: Mapping[str, object]) -> str | None:
        """The address, if it is verified."""
        email = claims.get("email")
        verified = claims.get("email_verified") is True or self.emails_are_verified
        return email.lower() if verified and isinstance(email, str) and _is_address(email) else None


def canonical_name(name: str) -> str:
    """The one form in which the ledger keeps a name, so that nobody has two accounts.

    Raises
    ------
    RequestError
        If it cannot be kept: too long, or with characters that cannot be seen.
    """
    short = name.strip()
    if "@" in short and not short.startswith(_SUBJECT):
        if not _is_address(short):
            raise RequestError(f"This is not an address that can log in here: {short!a}.")
        short = short.lower()
    if not 1 <= len(short) <= NAME_LENGTH or not short.isprintable():
        raise RequestError(f"The name of an analyst must have 1 to {NAME_LENGTH} characters that can be seen.")
    return short


def _is_address(text: str) -> bool:
    """Whether it is one address in plain letters.

    Letters of other scripts may turn into plain ones when they are made small, and so into
    somebody else's address.
    """
    plain = text.isascii() and text.isprintable() and " " not in text
    return plain and text.count("@") == 1 and not text.startswith(_SUBJECT) and (3 <= len(text) <= NAME_LENGTH)


def _says_who(claims: Mapping[str, object], name: str) -> bool:
    """Whether a name made from claims is somebody's, in its canonical form."""
    if name.startswith(_SUBJECT) and not (isinstance(claims.get("sub"), str) and claims["sub"]):
        return False
    try:
        return canonical_name(name) == name
    except RequestError:
        return False


def _end(claims: Mapping[str, object]) -> datetime:
    seconds = claims.get("exp")
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        raise LoginError("The login does not say when it ends: tell the operator of this installation.")
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        raise LoginError("The login ends at no known time: log in again.") from None


def _values(claim: object) -> set[str]:
    """Values of a claim: one text, or several."""
    several = claim if isinstance(claim, list | tuple) else [claim]
    return {value for value in several if isinstance(value, str)}
