"""The learner end to end: refusals, shapes, noise and nothing but noise."""

from decimal import Decimal
from random import Random

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ks_2samp

from dpcore.errors import BudgetError, RequestError, SchemaError
from dpcore.learning.learner import Run
from dpcore.privacy.randomness import SeededRandom
from tests.oracles.mechanisms_oracle import FALSE_ALARM
from tests.support.learning import ebm_cases as cases
from tests.support.learning.configurations import draw_person, table_of
from tests.support.rows import for_each
from tests.support.tables import toy_people
from tests.support.tables.small_tables import schema_of

LEARNER = cases.LEARNER
SCHEMA = toy_people.schema()
TABLE = toy_people.table(SCHEMA)
TARGETS = ["ill", "stage", "age"]
#: Quick, and all that a run can do.
QUICK = [{}, {"pairs": 2}, {"method": "random_splits", "epochs": 30}]


# Plans


def one_column(**target):
    return schema_of([{"name": "y", **target}])


def number_between(lower, upper, **more):
    number = {"name": "y", "type": "real", "lower": lower, "upper": upper, "bins": 4}
    return schema_of([number, {"name": "x", "type": "boolean"}], **more)


@for_each(
    ("domain", "target", "chosen", "words"),
    [
        (one_column(type="boolean"), "y", {}, "no column to learn from"),
        (number_between(-8e307, 8e307), "y", {}, "bounds of 'y' are too far apart"),
        (number_between(0, 1e-31), "y", {}, "bounds of 'y' are too far apart or too close"),
        (SCHEMA, "ill", {"pairs": 7}, "4 columns make fewer than 7 pairs"),
        (SCHEMA, "ill", {"pairs": 4, "decreasing": ["age"]}, r"only falls \(1\), make fewer than 4 pairs"),
        (SCHEMA, "ill", {"pairs": 1, "method": "random_splits"}, "no pairwise terms"),
        (SCHEMA, "ill", {"delta": "0.02"}, "delta"),
        (SCHEMA, "ill", {"delta": "nan"}, "delta"),
        (SCHEMA, "ill", {"bin_share": 1}, "bin_share"),
        (SCHEMA, "ill", {"increasing": ["smoker"]}, "in no order"),
        (SCHEMA, "ill", {"increasing": ["ill"]}, "has no shape"),
        (SCHEMA, "stage", {"decreasing": ["age"]}, "two classes"),
        (SCHEMA, "ill", {"increasing": ["age"], "decreasing": ["age"]}, "cannot both"),
        (SCHEMA, "ill", {"increasing": ["age"], "method": "random_splits"}, "only rise"),
    ],
)
def test_what_cannot_be_done_is_refused_in_a_sentence(domain, target, chosen, words):
    with pytest.raises((RequestError, SchemaError), match=words) as caught:
        LEARNER.plan(domain, target, Decimal(1), chosen)
    sentence = str(caught.value)
    assert sentence.endswith("."), "a sentence"
    assert "pydantic" not in sentence


@pytest.mark.parametrize("classes", [1, 51])
def test_a_target_of_one_class_or_too_many_is_refused(classes):
    names = [f"c{i}" for i in range(classes)]
    domain = schema_of(
        [
            {"name": "x", "type": "boolean"},
            {"name": "y", "type": "categorical", "categories": names},
        ]
    )
    with pytest.raises(RequestError, match="choose"):
        LEARNER.plan(domain, "y", Decimal(1), {})


@pytest.mark.crossed
@pytest.mark.parametrize("rows_per_person", [1, 1000])
@pytest.mark.parametrize("pairs", [0, 6])
def test_what_is_planned_can_be_run_down_to_the_smallest_epsilon(rows_per_person, pairs):
    """A run that failed after it was charged would have cost its budget for nothing."""
    domain = toy_people.schema(rows_per_person, max_rows=300)
    table, run = toy_people.table(domain, toy_people.frame(200)), 0
    for power in range(-80, 2):
        epsilon = Decimal(10 ** (power / 10)).quantize(Decimal("0.000000001"))
        try:
            plan = LEARNER.plan(domain, "ill", epsilon, {"pairs": pairs, "epochs": 3})
        except BudgetError:
            assert run == 0, "a larger epsilon never does worse"
            continue
        run += 1
        if run <= 3:
            cases.check_finite(LEARNER.run(Run(table, plan, SeededRandom(0))))
    assert run > 10


def test_too_much_work_is_refused():
    huge = toy_people.schema(max_rows=100_000_000)
    with pytest.raises(RequestError, match="hours"):
        LEARNER.plan(huge, "ill", Decimal(1), {"epochs": 1000, "replicates": 10})
    LEARNER.plan(huge, "ill", Decimal(1), {})


@pytest.mark.crossed
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("chosen", QUICK)
@pytest.mark.parametrize("rows_per_person", [1, 3])
def test_a_plan_costs_exactly_its_epsilon(target, chosen, rows_per_person):
    domain = toy_people.schema(rows_per_person)
    for epsilon in ("0.5", "1.000000001"):
        for evaluate in (True, False):
            plan = LEARNER.plan(domain, target, Decimal(epsilon), {**chosen, "evaluate": evaluate})
            assert sum(plan.split.parts.values()) == plan.epsilon == Decimal(epsilon)
            assert dict(plan.parallel) == ({"evaluation": Decimal(epsilon)} if evaluate else {})
            assert (plan.definition, plan.guarantee) == ("approximate", "unconditional")
            assert plan.delta == Decimal("0.00001")
            assert "mu" in plan.composition


def test_expected_noise_is_the_noise_on_a_category():
    for epsilon in ("0.1", "1", "10"):
        plan, model = cases.fit(TABLE, "ill", epsilon, evaluate=True, epochs=2)
        smoker = next(term for term in model.terms if term.name == "smoker")
        assert plan.count_noise[0].scale == pytest.approx(smoker.count_errors[0])
        assert plan.count_margin() <= model.count_margin <= plan.count_noise[-1].margin()


# Runs


@pytest.mark.parametrize("target", ["ill", "stay"])
def test_shapes_may_be_held_to_rise_or_fall(target):
    """x2 tells nothing, so its shape goes both ways unless it is held; x0 rises and is held to fall."""
    private = cases.table(cases.frame(1000, seed=5), cases.schema(target=target))
    _, held = cases.fit(private, target, "2", increasing=["x2"], decreasing=["x0"])
    _, free = cases.fit(private, target, "2")
    x0, _, x2, _ = (np.diff([score for (score,) in term.scores[:-1]]) for term in held.terms)
    assert (x2 >= -1e-12).all()
    assert (x0 <= 1e-12).all()
    assert (np.diff([score for (score,) in free.terms[0].scores[:-1]]) > 0).any()


def test_missing_and_other_values_have_bins_of_their_own():
    data = cases.frame(3000, seed=2)
    data.loc[data["ill"] == "yes", "x0"] = np.where(
        np.random.default_rng(0).random((data["ill"] == "yes").sum()) < 0.6, np.nan, 0.5
    )
    data.loc[data["ill"] == "no", "c"] = "elsewhere"
    private = cases.table(data, cases.schema(max_rows=3000))
    _, model = cases.fit(private, "ill", "20")
    x0, c = model.terms[0], model.terms[3]
    assert x0.labels[-1] == "(missing)"
    assert x0.scores[-1][0] == max(score for (score,) in x0.scores)
    assert x0.noisy_counts[-1] == pytest.approx(data["x0"].isna().sum(), abs=30)
    assert c.labels == ("a", "b", "d", "(other)", "(missing)")
    assert c.scores[3][0] == min(score for (score,) in c.scores)
    raw = pd.DataFrame({"x0": [None, "abc"], "c": ["never seen", None]})
    assert x0.bins(raw, private.schema).tolist() == [len(x0.labels) - 1] * 2
    assert c.bins(raw, private.schema).tolist() == [3, 4]


@for_each(("lower", "upper"), [(0, 1e-30), (-5e29, 5e29), (1e9, 1e9 + 2)])
def test_targets_of_any_size_give_numbers(lower, upper):
    """Nothing that is squared and squared again leaves the range of numbers."""
    domain = number_between(lower, upper, holdout_percent=50)
    table = table_of(domain, [draw_person(Random(seed), domain) for seed in range(12)])
    with np.errstate(all="raise", under="ignore"):
        for chosen in ({"epochs": 2}, {"method": "random_splits", "epochs": 2}):
            for epsilon in ("0.1", "1000"):
                _, model = cases.fit(table, "y", epsilon, evaluate=True, **chosen)
                cases.check_finite(model)


CONSTANTS = {
    "a constant target": {"ill": "yes", "stage": "ii", "stay": 30.0},
    "no target": {"ill": None, "stage": "unheard of", "stay": None},
    "a constant feature": {"x0": 0.25, "c": "a"},
    "all missing": {"x0": None, "x1": None, "x2": None, "c": None},
}


@pytest.mark.crossed
@pytest.mark.parametrize("what", CONSTANTS)
@pytest.mark.parametrize(
    ("target", "epsilon"),
    [("ill", "100"), ("stage", "100"), ("stay", "100"), ("ill", "0.1")]
    + [pytest.param(target, "0.1", marks=pytest.mark.slow) for target in ("stage", "stay")],
)
def test_columns_that_do_not_vary(what, target, epsilon):
    data = cases.frame(500).assign(**CONSTANTS[what])
    private = cases.table(data, cases.schema(target=target))
    for chosen in QUICK:
        _, model = cases.fit(private, target, epsilon, **{"epochs": 6, **chosen})
        cases.check_finite(model)
    if what == "a constant target" and epsilon == "100":
        predicted = model.predict(private.public_frame(), private.schema)
        expected = {"ill": 1, "stage": 1, "stay": 30.0}[target]
        assert np.mean(np.abs(predicted - expected) <= 1) > 0.99


# What a release may depend on


def bins_of(model):
    return [[len(axis) for axis in term.axes] for term in model.terms]


def test_shapes_of_a_release_depend_on_public_inputs_and_noisy_bins_only():
    domain = cases.schema()
    models = [
        cases.fit(cases.table(cases.frame(rows, seed=rows), domain), "ill", source=rows, pairs=2)[1]
        for rows in (0, 100, 1000)
    ]
    for model in models:
        assert [term.name for term in model.terms[:4]] == ["x0", "x1", "x2", "c"]
        assert bins_of(model)[3] == [5]
        assert len(model.terms) == 6
        assert all(2 <= bins[0] <= 33 for bins in bins_of(model)[:3])
        assert all(max(bins) <= 8 for bins in bins_of(model)[4:])
    # Bins come from noisy histograms: fewer where all is noise.
    assert sum(map(sum, bins_of(models[0])[:3])) < sum(map(sum, bins_of(models[2])[:3]))


def summary(model):
    """Some of the numbers of a release."""
    x0, c = model.terms[0], model.terms[-1]
    return [
        model.intercept[0],
        model.intercept_error[0],
        x0.scores[0][0],
        x0.scores[-1][0],
        x0.errors[0][0],
        float(len(x0.labels)),
        float(x0.noisy_counts[0]),
        x0.importance,
        c.scores[0][0],
        c.scores[-1][0],
        float(c.noisy_counts[0]),
        c.errors[1][0],
        c.importance,
    ]


@pytest.mark.heavy
@pytest.mark.parametrize("target", ["ill", "stay"])
@pytest.mark.parametrize("size", [25, pytest.param(200, marks=pytest.mark.slow)])
def test_under_enormous_noise_releases_tell_nothing_of_the_table(target, size):
    """Two tables that could not differ more, and a budget of next to nothing."""
    domain = cases.schema(1, 400, target=target)
    one = cases.frame(400, 1).assign(x0=0.01, c="a", ill="yes", stay=30.0)
    other = cases.frame(40, 1).assign(x0=0.99, c="d", ill="no", stay=-10.0)
    draws = []
    for offset, data in ((0, one), (10_000, other)):
        private = cases.table(data, domain)
        fits = (cases.fit(private, target, "0.00002", offset + seed, epochs=2, replicates=3)[1] for seed in range(size))
        draws.append(np.array([summary(model) for model in fits]))
    count = draws[0].shape[1]
    values = [ks_2samp(draws[0][:, i], draws[1][:, i]).pvalue for i in range(count)]
    assert min(values) > FALSE_ALARM / count
    # The same statistic tells the tables apart as soon as there is some budget.
    loud = [
        cases.fit(cases.table(data, domain), target, "5", seed, epochs=2, replicates=3)[1]
        for data in (one, other)
        for seed in range(20)
    ]
    split = np.array([summary(model) for model in loud])
    assert min(ks_2samp(split[:20, i], split[20:, i]).pvalue for i in range(count)) < FALSE_ALARM
