"""Attacks on whole installations, in their short form; each is seen to succeed where its defence is missing."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from dpcore.attacks import AttackResult, chain_attack, learning_attack
from dpcore.commands import app
from dpcore.workspace.ledger.learned_facts import learning_charge


def test_an_analyst_gets_no_markov_chain_on_private_records() -> None:
    found = chain_attack(2)
    assert not found.succeeded
    assert found.seen == "0 of 12 runs accepted"


def test_the_attack_by_chains_is_one_where_they_are_allowed() -> None:
    found = chain_attack(1, allowed=True)
    assert found.succeeded
    assert found.seen.startswith("6 of 6 runs accepted; rule kept ")


def test_what_was_learned_is_not_had_for_nothing() -> None:
    found = learning_attack()
    assert not found.succeeded
    assert found.seen.count("refused") == 4


def test_the_attack_by_learning_is_one_where_nothing_is_charged(monkeypatch: pytest.MonkeyPatch) -> None:
    def only_plans(connection, schema, kin, plan=None):
        return None if plan is None else learning_charge(connection, schema, kin, plan)

    monkeypatch.setattr("dpcore.service.datasets.learning_charge", only_plans)
    assert learning_attack().succeeded


@pytest.mark.parametrize("succeeded", [False, True])
def test_the_command_ends_with_1_if_an_attack_succeeds(monkeypatch: pytest.MonkeyPatch, succeeded: bool) -> None:
    result = AttackResult("one", "to get in", "a door", succeeded)
    monkeypatch.setattr("dpcore.commands.operation.audits.ATTACKS", (lambda: result,))
    told = CliRunner().invoke(app, ["audit", "--attacks"])
    assert told.exit_code == int(succeeded)
    assert ("SUCCEEDED" in told.output) == succeeded
    assert "to get in" in told.output
