"""Whole runs: what they cost, what they find, and what the released theory says."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings

from dpcore.domain.schemas.schema import Schema
from dpcore.errors import RequestError
from dpcore.learning import count_budget
from dpcore.learning.learner import Run
from dpcore.models.ilp.language.atoms import chosen_atoms
from dpcore.models.ilp.language.clause import Clause, Variable
from dpcore.models.ilp.language.sensitivities import CLAUSES, COUNTS
from dpcore.models.ilp.learning import ilp_learner as module
from dpcore.models.ilp.learning import selection
from dpcore.models.ilp.learning.ilp_learner import ILPLearner
from dpcore.models.ilp.learning.selection import ChosenClause
from dpcore.models.ilp.released.ilp_model import ILPModel
from dpcore.privacy.losses import selection_rho
from dpcore.privacy.mechanisms import ExponentialMechanism, GaussianMechanism, GeometricMechanism
from dpcore.privacy.randomness import SeededRandom
from dpcore.released.noisy_counts import TOO_NOISY
from dpcore.released.plan import CountNoise, RunPlan
from dpcore.released.release import make_release
from pages.components.families.shared import blocks
from tests.oracles.clauses import Body, Wanted, holds
from tests.support.results.small_theories import theory_of
from tests.support.rows import for_each
from tests.support.tables.small_relations import TARGET, People, body_of, draw_people, people, small_schema

BIG = small_schema(max_rows=2000)
#: Who is ill: a high dose of a, or no test although above 60.
PLANTED = (
    Body((), (Wanted("drug", (("kind", frozenset("a")), ("dose", frozenset({"high"}))), False),)),
    Body((("age", frozenset({77})),), (Wanted("test", (), True),)),
)
CHOSEN = {"max_literals": 2, "negation": True, "evaluate": False}


def planted(count: int, seed: int) -> People:
    crowd = draw_people(count, seed, BIG)
    for person, rows in zip(crowd.people, crowd.rows, strict=True):
        person[TARGET] = "yes" if any(holds(body, person, rows) for body in PLANTED) else "no"
    return crowd


def plan(schema: Schema = BIG, epsilon: str = "5", **chosen: Any) -> RunPlan:
    return ILPLearner().plan(schema, TARGET, Decimal(epsilon), CHOSEN | chosen)


def run(crowd: People, chosen: RunPlan, seed: int = 1) -> ILPModel:
    table = crowd.table(chosen.schema)
    return ILPLearner().run(Run(table, chosen, SeededRandom(seed)))


def test_planted_clauses_are_found_one_after_the_other() -> None:
    crowd = planted(1800, 3)
    model = run(crowd, plan(clauses=2))
    assert {body_of(clause, BIG) for clause in model.clauses} == set(PLANTED)
    assert [group.kept for group in model.groups] == [True, True, False]
    exact = model.count_records(crowd.frames(BIG), BIG, TARGET)
    assert exact[0][0] == exact[1][0] == exact[2][1] == 0
    assert (model.predict(crowd.frames(BIG), BIG) == labels(crowd)).all()


def labels(crowd: People) -> np.ndarray:
    return np.array([person[TARGET] == "yes" for person in crowd.people]).astype(int)


def test_later_clauses_are_for_those_whom_earlier_ones_do_not_cover() -> None:
    """Without cover removal the same clause would be found again and again."""
    model = run(planted(1800, 4), plan(clauses=4))
    assert len(set(model.clauses)) == 4
    assert sum(group.kept for group in model.groups) >= 2


def test_the_budget_is_spent_exactly_and_shown_in_the_certificate() -> None:
    chosen = plan(epsilon="1", clauses=3, count_share="0.25")
    assert dict(chosen.split.parts) == {CLAUSES: Decimal("0.75"), COUNTS: Decimal("0.25")}
    assert chosen.parallel == {}
    assert plan(evaluate=True, epsilon="1").parallel == {}
    aside = small_schema(holdout_percent=20, max_rows=2000)
    assert plan(aside, "1", evaluate=True).parallel == {"evaluation": Decimal(1)}
    assert chosen.count_noise[0].scale == pytest.approx(4)
    release = make_release("ilp", chosen, run(draw_people(50, 1), chosen), secure=True)
    assert release.certificate.budget_split == chosen.split.parts
    assert release.certificate.guarantee == "unconditional"


def test_every_choice_gets_an_equal_part_of_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Decimal] = []
    original = module.select_clause

    def watched(*given: Any, **form: Any) -> ChosenClause:
        asked.append(given[4])
        return original(*given, **form)

    monkeypatch.setattr(module, "select_clause", watched)
    run(draw_people(40, 1), plan(epsilon="1", clauses=3))
    assert sum(asked) == Decimal("0.76"), "a twentieth pays for the numbers of both sides"
    assert max(asked) - min(asked) < Decimal("1e-8")


@pytest.mark.parametrize("clauses", [1, 3])
def test_what_a_choice_leaves_goes_to_the_next_one_and_last_to_the_counts(
    monkeypatch: pytest.MonkeyPatch, clauses: int
) -> None:
    """Nobody is ill: the empty clause loses to the others, and their subtrees die early."""
    made: list[Decimal] = []
    build = GeometricMechanism.__post_init__

    def watch(self: GeometricMechanism) -> None:
        made.append(self.epsilon)
        build(self)

    monkeypatch.setattr(GeometricMechanism, "__post_init__", watch)
    chosen = plan(epsilon="1", method="relevance_aware", clauses=clauses, criterion="share", min_share=1)
    model = run(draw_people(40, 1), chosen)
    assert sum(made) == Decimal(1), "all is spent"
    levels = chosen.parameters.max_literals + 1
    first = chosen.row_epsilon(CLAUSES) / clauses / levels
    assert made[0] == pytest.approx(first, abs=Decimal("1e-8"))
    assert len(made) == clauses + 1, "the empty clause alone is counted, then nothing is left"
    assert made[-1] > chosen.row_epsilon(COUNTS)
    assert model.count_margin == CountNoise("a count", made[-1]).margin() < chosen.count_margin()
    assert "the last one leaves to 'estimates'" in chosen.composition


@for_each(
    ("chosen", "sentence"),
    [
        ({"positive": "maybe"}, "'maybe' is not a class of 'ill'. Classes: 'no', 'yes'"),
        ({"literals": ["drug: kind = z"]}, "is not a condition of this data set"),
        ({"literals": []}, "literals"),
        ({"literals": ["drug: any"], "max_variables": 0}, "choose at least one"),
    ],
)
def test_requests_that_cannot_be_honoured_are_refused(chosen: dict, sentence: str) -> None:
    with pytest.raises(RequestError, match=sentence):
        plan(**chosen)


def test_published_methods_refuse_lattices_that_they_cannot_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_COUNTED", 100)
    for method in ("naive", "relevance_aware"):
        with pytest.raises(RequestError, match="counts all"):
            plan(method=method)
    plan(method="noisy_max")


@settings(max_examples=settings.default.max_examples // 2, deadline=None)
@given(people(most=30))
def test_a_released_theory_predicts_as_the_oracle(crowd: People) -> None:
    schema = small_schema()
    model = run(crowd, plan(schema, "3", clauses=3), seed=len(crowd))
    bodies = [body_of(clause, schema) for clause in model.clauses]
    first = [
        next((i for i, body in enumerate(bodies) if holds(body, person, rows)), len(bodies))
        for person, rows in zip(crowd.people, crowd.rows, strict=True)
    ]
    frames = crowd.frames(schema)
    assert model.first_clause(frames, schema).tolist() == first
    exact = model.count_records(frames, schema, TARGET)
    for group in range(len(model.groups)):
        own = [p[TARGET] for p, place in zip(crowd.people, first, strict=True) if place == group]
        assert exact[group] == (own.count("no"), own.count("yes"))
    shares = model.predict_proba(frames, schema)
    assert np.allclose(shares.sum(axis=1), 1)
    backwards = {name: frame.iloc[::-1] for name, frame in frames.items()}
    assert model.first_clause(backwards, schema).tolist() == first[::-1]


def theory(*clauses: Clause) -> ILPModel:
    return theory_of(*clauses, predicting=1)


def with_a() -> Clause:
    (kind,) = chosen_atoms(small_schema(), TARGET, ["drug: kind = a"])
    return Clause(variables=(Variable(table="drug", atoms=(kind,)),))


def test_a_theory_reads_as_sentences() -> None:
    no_test = Clause(variables=(Variable(table="test", negated=True),))
    assert theory(with_a(), no_test).reading(small_schema(), TARGET) == [
        "A patient with a drug that has kind = a: ill = yes for about 75% (noise alone: 60% to 90%).",
        "Any other patient with no test: ill = yes for about 75% (noise alone: 60% to 90%). "
        "This clause does not predict it.",
        "Every other patient: ill = yes for about 75% (noise alone: 60% to 90%).",
    ]


def test_no_chance_is_told_that_the_table_says_is_too_noisy() -> None:
    """Counts that add up to no more than the noise on one of them tell nothing, however narrow the interval."""
    few = theory(with_a()).model_copy(update={"count_margin": 12})
    told, others = few.reading(small_schema(), TARGET)
    assert told == (
        "A patient with a drug that has kind = a: the chance of ill = yes is too noisy to tell: anything from 60% to "
        "90% fits."
    )
    assert others.endswith("too noisy to tell: anything from 60% to 90% fits.")
    assert TOO_NOISY in blocks.estimate(few.groups[0], 1, few.count_margin)
    assert TOO_NOISY not in blocks.estimate(few.groups[0], 1, 11)


def test_a_theory_in_prolog_and_as_a_table() -> None:
    model = theory(with_a(), Clause())
    assert model.prolog(small_schema(), TARGET) == (
        "ill(P, yes) :-\n    has_drug(P, A), kind(A, a).\nill(P, yes) :-\n    patient(P)."
    )
    assert model.program(small_schema(), TARGET) == ["ill(P, yes) :-\n    has_drug(P, A), kind(A, a).", ""]
    table = model.to_frame(small_schema(), TARGET)
    assert table["clause"].tolist() == [1, 2, "none"]
    assert table["noisy count: yes"].tolist() == [9, 9, 9]
    assert table["predicted"].tolist() == ["yes", "no", "no"]


def test_the_first_clause_that_covers_decides_in_every_form() -> None:
    """A clause that does not predict takes its people away from those behind it."""
    (woman,) = chosen_atoms(small_schema(), TARGET, ["sex = f"])
    model = theory(with_a(), Clause(atoms=(woman,)))
    swapped = model.model_copy(
        update={
            "groups": (
                model.groups[0].model_copy(update={"kept": False}),
                model.groups[1].model_copy(update={"kept": True}),
                model.groups[2],
            )
        }
    )
    person = pd.DataFrame({"id": [1, 2], "sex": ["f", "f"]})
    rows = pd.DataFrame({"id": [1], "kind": ["a"], "dose": ["low"]})
    assert swapped.predict({"patient": person, "drug": rows}, small_schema()).tolist() == [0, 1]
    assert swapped.program(small_schema(), TARGET) == [
        "",
        "ill(P, yes) :-\n    sex(P, f),\n    \\+ (has_drug(P, A), kind(A, a)).",
    ]


def test_rows_and_people_without_a_key_belong_to_nobody() -> None:
    schema, model = small_schema(), theory(with_a())
    keyless = pd.DataFrame({"id": [None, "7", None], "sex": ["f", "m", "f"]})
    rows = pd.DataFrame({"id": [None, "7", "x"], "kind": ["a", "b", "a"]})
    assert model.first_clause({"patient": keyless, "drug": rows}, schema).tolist() == [1, 1, 1]
    rows["kind"] = "a"
    assert model.first_clause({"patient": keyless, "drug": rows}, schema).tolist() == [1, 0, 1]


def test_absent_columns_and_tables_count_as_missing() -> None:
    schema, model = small_schema(), theory(with_a())
    alone = pd.DataFrame({"sex": ["f", "m"]})
    assert model.first_clause(alone, schema).tolist() == [1, 1]
    assert model.first_clause({"patient": alone}, schema).tolist() == [1, 1]
    keyed = alone.assign(id=[1, 2])
    rows = pd.DataFrame({"id": ["2", 1.0], "dose": ["low", "low"]})
    assert model.first_clause({"patient": keyed, "drug": rows}, schema).tolist() == [1, 1]
    rows["kind"] = ["a", "b"]
    assert model.first_clause({"patient": keyed, "drug": rows}, schema).tolist() == [1, 0]


def test_tables_that_cannot_be_told_apart_are_refused() -> None:
    schema, model = small_schema(), theory(with_a())
    rows = pd.DataFrame({"id": [1], "kind": ["a"]})
    with pytest.raises(RequestError, match="under its name, 'patient'"):
        model.first_clause({"people": rows}, schema)
    with pytest.raises(RequestError, match="needs the column 'id'"):
        model.first_clause({"patient": pd.DataFrame({"sex": ["f"]}), "drug": rows}, schema)
    with pytest.raises(RequestError, match="describes no table 'drugs'"):
        model.first_clause({"patient": pd.DataFrame({"id": [1]}), "drugs": rows}, schema)
    twice = pd.DataFrame({"id": [1, 1], "sex": ["f", "m"]})
    with pytest.raises(RequestError, match="Several rows have the same 'id'"):
        model.first_clause({"patient": twice, "drug": rows}, schema)


def test_a_run_that_composes_chooses_by_the_exponential_mechanism(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[tuple[str, Any]] = []

    def spy(kind: Any) -> Any:
        def make(sensitivity: int, amount: Any, *more: Any) -> Any:
            made.append((kind.__name__, amount))
            return kind(sensitivity, amount, *more)

        return make

    monkeypatch.setattr(selection, "ExponentialMechanism", spy(ExponentialMechanism))
    monkeypatch.setattr(count_budget, "GaussianMechanism", spy(GaussianMechanism))
    alone, composing = (
        ILPLearner().plan(BIG, TARGET, Decimal(1), CHOSEN | {"clauses": 3}, Decimal(delta)) for delta in ("0", "1e-7")
    )
    model = run(draw_people(40, 1), composing)
    assert [kind for kind, _ in made] == ["ExponentialMechanism"] * 3 + ["GaussianMechanism"]
    spent = sum(selection_rho(epsilon) for _, epsilon in made[:3]) + Decimal(made[3][1])
    assert spent <= composing.rho == composing.loss.rho <= alone.loss.rho
    assert model.count_margin == composing.count_margin()
