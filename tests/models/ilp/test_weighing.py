"""Both sides weigh alike where the value is rare: by noisy counts, which are paid for, and by nothing else."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcore.data.building.ingest import frame_chunks, ingest
from dpcore.data.table import PrivateTable
from dpcore.learning.learner import Run
from dpcore.models.ilp.language import hypotheses as hypothesis_space
from dpcore.models.ilp.language import richness
from dpcore.models.ilp.language.ilp_parameters import ILPParameters, ILPSettings
from dpcore.models.ilp.language.lattice import build_lattice
from dpcore.models.ilp.language.sensitivities import divided, sides_sensitivity
from dpcore.models.ilp.learning import ilp_learner as engine
from dpcore.models.ilp.learning import weighing
from dpcore.models.ilp.learning.weighing import clauses_epsilon, noisy_sides, weights_told
from dpcore.models.ilp.released.ilp_model import ILPModel
from dpcore.models.registry import get_learner
from dpcore.privacy.budgets import EPSILON_STEP
from dpcore.privacy.losses import pure_rho, selection_rho
from dpcore.privacy.randomness import SeededRandom
from tests.oracles.mechanisms_oracle import permute_and_flip_probabilities as chances
from tests.support.rows import for_each
from tests.support.tables.small_relations import TARGET, People, counts_of, draw_people, ordered_schema, people
from tests.support.tables.small_tables import ward

SCHEMA = ordered_schema()
LATTICE = build_lattice(SCHEMA, TARGET, ILPParameters(max_literals=1))
#: Somebody whose rows keep every table from being empty, and who never leaves.
STAYS = draw_people(1, 0)
RARE = ward(
    {"name": "sex", "type": "categorical", "categories": ["f", "m"]},
    {"name": "ill", "type": "boolean", "target": True},
    name="rare",
    max_rows=4000,
    holdout_percent=0,
    privacy_unit={"column": "who"},
    children=[
        {
            "name": "stay",
            "max_rows_per_person": 2,
            "columns": [{"name": "kind", "type": "categorical", "categories": ["planned", "urgent", "moved"]}],
        }
    ],
)


def settings_of(**chosen: Any) -> ILPSettings:
    return ILPSettings.model_validate({"positive": "yes", "weigh_alike": True, **chosen})


def sides(crowd: People) -> np.ndarray:
    whole = People(STAYS.people + crowd.people, STAYS.rows + crowd.rows)
    return counts_of(whole, LATTICE, SCHEMA)


@settings(max_examples=settings.default.max_examples // 2, deadline=None)
@given(people(most=6), st.integers(0, 5))
def test_both_sides_move_by_one_person_at_most(crowd: People, place: int) -> None:
    """The first clause covers everybody; who is neither moves nothing."""
    moved = sides(crowd)[0] - sides(crowd.without(place % len(crowd)))[0]
    assert np.abs(moved).sum() <= sides_sensitivity().value == 1
    known = crowd.people[place % len(crowd)][TARGET] in ("yes", "no")
    assert moved.sum() == known


@for_each(
    ("sides", "expected"),
    [((900, 100), (455, 4096)), ((100, 900), (4096, 455)), ((500, 500), (4096, 4096)), ((10**9, -3), (1, 4096))],
)
def test_the_rarer_side_weighs_the_more(sides: tuple[int, int], expected: tuple[int, int]) -> None:
    told = weights_told(settings_of(), sides, Decimal(1000))
    assert (told["negative_weight"], told["positive_weight"]) == pytest.approx(expected, rel=0.01)
    twice = weights_told(settings_of(negative_weight=2), sides, Decimal(1000))
    assert twice["negative_weight"] == 2 * told["negative_weight"]


def rare_people(count: int, seed: int, share: float) -> PrivateTable:
    """People of whom few are ill: a fifth of those with two urgent stays, and hardly anybody else."""
    rng = np.random.default_rng(seed)
    main = pd.DataFrame({"who": range(count), "sex": rng.choice(["f", "m"], count)})
    stays = pd.DataFrame({"who": np.repeat(main["who"], 2), "kind": rng.choice(["planned", "urgent"], 2 * count)})
    urgent = stays["kind"].eq("urgent").groupby(stays["who"]).sum().to_numpy() == 2
    main["ill"] = np.where(rng.random(count) < np.where(urgent, share, share / 20), "yes", "no")
    return ingest(frame_chunks(main), RARE, SeededRandom(seed), {"stay": frame_chunks(stays)})


def fitted(table: PrivateTable, epsilon: str, **chosen: Any) -> ILPModel:
    learner = get_learner("ilp")
    wanted = {"clauses": 1, "max_literals": 2, "quantifiers": ("exists", "counts"), "evaluate": False, **chosen}
    plan = learner.plan(table.schema, table.schema.targets[0], Decimal(epsilon), wanted)
    model: Any = learner.run(Run(table, plan, SeededRandom(5)))
    return model


def test_a_rare_value_is_found_without_a_weight() -> None:
    """With equal weights no clause has more people who are ill than others, so that the empty one is as good as any."""
    table = rare_people(4000, 1, 0.2)
    found, plain = (fitted(table, "20", weigh_alike=alike) for alike in (True, False))
    [variable] = found.clauses[0].variables
    assert (variable.least, variable.atoms[0].cells) == (2, (1,))
    assert found.groups[0].kept
    assert not any(group.kept for group in plain.groups)
    assert plain.sides is None
    assert found.sides is not None
    others, described = found.sides
    assert found.weighing(RARE, "ill") == (
        f"Both sides weigh alike: ill = yes for about {described:,} people, and not for about {others:,}, "
        "by counts with noise of their own: ±4, 95%."
    )
    assert plain.weighing(RARE, "ill") == ""
    assert plain.sides_margin == 0


@for_each(("share", "alike"), [(0.1, True), (0.7, True), (1.0, False)])
def test_unless_asked_both_sides_weigh_alike_where_the_value_is_rare(share: float, alike: bool) -> None:
    found = fitted(rare_people(4000, 1, share), "20")
    assert found.sides is not None
    assert found.alike is alike
    assert found.weighing(RARE, "ill").startswith("Both sides weigh alike" if alike else "Every person weighs the same")


@pytest.mark.parametrize("given", [{"positive_weight": 15}, {"negative_weight": 2}])
def test_weights_that_are_given_need_no_counts(given: dict[str, int]) -> None:
    table = rare_people(300, 2, 0.1)
    assert fitted(table, "20", **given).sides is None
    asked = fitted(table, "20", weigh_alike=True, **given)
    assert asked.sides is not None
    assert asked.alike


@for_each(
    ("sides", "told"),
    [
        ((7500, 2500), False),
        ((7530, 2460), True),
        ((2460, 7530), False),
        ((90, 18), False),  # Noise could hide as many again.
        ((-3, 40), False),
        ((-9, -2), False),
    ],
)
def test_a_quarter_is_not_rare(sides: tuple[int, int], told: bool) -> None:
    asked = settings_of(weigh_alike=None)
    assert bool(weights_told(asked, sides, Decimal("0.3"))) is told
    assert weights_told(settings_of(), (7500, 2500), Decimal(1))


def test_weights_follow_from_what_was_released_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other people, the same noisy numbers: the same weights, for choosing and for what predicts."""
    seen = []
    choose = engine.select_clause

    def watching(lattice: Any, counts: Any, parameters: ILPSettings, *rest: Any, **named: Any) -> Any:
        seen.append(parameters.weights)
        return choose(lattice, counts, parameters, *rest, **named)

    monkeypatch.setattr(engine, "select_clause", watching)
    monkeypatch.setattr(engine, "noisy_sides", lambda *_: (700, 41))
    for seed, share in ((1, 0.02), (2, 0.9)):
        assert fitted(rare_people(300, seed, share), "3", clauses=2, weigh_alike=True).sides == (700, 41)
    assert len(seen) == 4
    assert len(set(seen)) == 1


def test_noise_on_both_sides_is_that_of_their_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    mechanism = weighing.GeometricMechanism

    def watching(sensitivity: int, epsilon: Decimal) -> Any:
        asked.append((sensitivity, epsilon))
        return mechanism(sensitivity, epsilon)

    monkeypatch.setattr(weighing, "GeometricMechanism", watching)
    counts = np.array([[90, 10], [3, 4]])
    drawn = np.array([noisy_sides(counts, Decimal("0.5"), SeededRandom(seed)) for seed in range(200)])
    assert set(asked) == {(1, Decimal("0.5"))}
    assert np.abs(np.median(drawn, axis=0) - [90, 10]).max() <= 1


def test_neighbours_see_sides_and_a_clause_with_chances_within_the_budget() -> None:
    """Exact chances of both together: of each pair of noisy numbers, and of each clause by the weights they tell."""
    counting, choosing = 0.4, 0.8
    decay = np.exp(-counting)
    generator, worst = np.random.default_rng(3), 0.0
    for _ in range(12):
        counts = generator.integers(0, 4, (5, 2))
        counts[0] = counts.sum(axis=0)
        covered = np.array([True, *(generator.random(4) < 0.5)])
        for side in (0, 1):
            after = counts.copy()
            after[covered, side] += 1
            for noisy in generator.integers(-5, 30, (8, 2)).tolist():
                told = weights_told(settings_of(), (noisy[0], noisy[1]), Decimal(str(counting)))
                negative, positive = told["negative_weight"], told["positive_weight"]
                scale = max(negative, positive) / choosing
                joint = [
                    np.log(chances(list(float(positive) * own[:, 1] - negative * own[:, 0]), scale))
                    + np.log(decay) * np.abs(np.array(noisy) - own[0]).sum()
                    for own in (counts, after)
                ]
                worst = max(worst, float(np.abs(joint[0] - joint[1]).max()))
    assert 0.6 * (counting + choosing) < worst <= counting + choosing + 1e-6


@given(st.integers(1, 10**12), st.integers(1, 5), st.integers(1, 10))
def test_counts_of_both_sides_and_clauses_share_one_budget(steps: int, rows: int, clauses: int) -> None:
    epsilon = steps * EPSILON_STEP
    counts, rest = divided(epsilon, alike=True)
    assert counts + rest == epsilon
    assert counts > 0
    assert rest >= 0
    assert divided(epsilon, alike=False) == (0, epsilon)


@for_each("rows", [1, 3])
@for_each("clauses", [1, 2, 7])
@for_each("rho", ["0.00001", "0.03", "2"])
def test_what_counts_of_both_sides_cost_in_a_run_that_composes(rows: int, clauses: int, rho: str) -> None:
    """The largest clauses pay for themselves and for the counts, and not much is left."""
    epsilon = clauses_epsilon(Decimal(rho), rows, clauses, alike=True)
    counts, rest = divided(epsilon, alike=True)
    each = -(-rest // (clauses * EPSILON_STEP)) * EPSILON_STEP
    spent = pure_rho(rows * counts) + clauses * selection_rho(rows * each)
    assert spent <= Decimal(rho)
    assert float(spent) > 0.98 * float(rho)
    given_weights = clauses_epsilon(Decimal(rho), rows, clauses, alike=False)
    assert clauses * selection_rho(rows * given_weights / clauses) <= Decimal(rho)


@for_each("asked", [{}, {"weigh_alike": False}, {"clauses": 3, "count_share": "0.3"}])
def test_people_are_enough_by_what_the_choice_of_a_clause_gets(
    monkeypatch: pytest.MonkeyPatch, asked: dict[str, Any]
) -> None:
    """Not by what is spent on the numbers of both sides."""
    told, spent = [], []
    choose = engine.select_clause

    def watched(*public: Any, **named: Any) -> Any:
        spent.append(public[4])
        return choose(*public, **named)

    monkeypatch.setattr(engine, "select_clause", watched)
    for module in (richness, hypothesis_space):
        monkeypatch.setattr(module, "people_enough", lambda _, epsilon: told.append(epsilon) or 1)
    plan = get_learner("ilp").plan(RARE, "ill", Decimal(1), asked)
    hypothesis_space.hypotheses(plan)
    get_learner("ilp").run(Run(rare_people(50, 1, 0.5), plan, SeededRandom(1)))
    assert set(told) == {float(spent[0])}
