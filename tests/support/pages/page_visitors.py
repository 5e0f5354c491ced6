"""People who visit the pages of an installation with a login."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from dpcore.service import Service
from dpcore.workspace.ledger.requests import RunRequest
from dpcore.workspace.people.users import Role, User
from pages.components.visitor import access, login


def person(name: str, *roles: Role) -> User:
    return User(f"{name}@x.org", frozenset(roles), datetime(2999, 1, 1, tzinfo=UTC))


ANN, BOB = person("ann", "analyst"), person("bob", "analyst")
OFFICE, TEACHER = person("office", "custodian"), person("tea", "teacher")


def as_(visitor: User) -> Service:
    """The service as somebody has it whose turn it is not."""
    return access.installation().acting(visitor)


@pytest.fixture
def visit(monkeypatch: pytest.MonkeyPatch) -> Callable[[User], None]:
    """Let somebody be logged in from now on."""

    def become(visitor: User) -> None:
        monkeypatch.setattr(login, "user", lambda: visitor)
        monkeypatch.setattr(login, "login_needed", lambda: True)

    return become


def run_of_visitor(dataset_id: str, epsilon: str = "0.5", **parameters: object) -> str:
    """Id of a run of a small rule list by the present visitor."""
    request = RunRequest(
        dataset_id=dataset_id,
        target="died",
        epsilon=Decimal(epsilon),
        parameters=parameters or {"sampler": "pool", "pool_size": 500},
    )
    return str(access.service().submit(request, os.urandom(8).hex()))


def result_of_visitor(dataset_id: str, epsilon: str = "0.5", **parameters: object) -> str:
    """Id of the result of such a run."""
    found = access.service().run(run_of_visitor(dataset_id, epsilon, **parameters)).release_id
    assert found is not None
    return str(found)
