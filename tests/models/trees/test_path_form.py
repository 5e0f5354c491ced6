"""Trees and forests in the form that composes: what they cost, worked out exactly, and what they are told to cost."""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import Decimal

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as pld
from scipy.stats import norm

from dpcore.audit.replay.probabilities import choice_logs
from dpcore.audit.replay.tape import Recording
from dpcore.errors import BudgetError
from dpcore.learning.learner import Run
from dpcore.models.registry import get_learner
from dpcore.models.trees.learning.contingency import NodeData
from dpcore.models.trees.learning.forest_learner import choose_trees
from dpcore.models.trees.learning.greedy import grow_adaptive, grow_fixed
from dpcore.models.trees.learning.path_form import COMPOSED, PURE
from dpcore.models.trees.learning.random_trees import grow_adaptive_forest, grow_random_forest
from dpcore.models.trees.released.tree_parameters import ForestSettings, TreeParameters
from dpcore.privacy.filters import largest_rho
from dpcore.privacy.losses import pure_epsilon, pure_rho
from dpcore.privacy.randomness import Choice, SeededRandom
from dpcore.released.derived import agree
from dpcore.released.release import make_release
from tests.support.rows import for_each
from tests.support.tables import toy_people
from tests.support.tables.small_tables import schema_of, table_of

DELTA = Decimal("1e-6")
#: Every method that divides one budget among the paths of its trees.
EVERY = [("tree", own) for own in ("adiffp", "diffp_id3", "diffp_c45", "sulq_id3")]
EVERY += [("forest", own) for own in ("random_trees", "rfdiffp")]


def planned(family, method, epsilon="0.5", rows=1, **more):
    schema = toy_people.schema(rows)
    return get_learner(family).plan(schema, "ill", Decimal(epsilon), {"method": method, **more}, DELTA)


def fitted(family, plan, source):
    return get_learner(family).run(Run(toy_people.table(plan.schema), plan, source))


# Exact divergences of whole trees


class PendingError(Exception):
    """Something is asked for which no output is written down."""


class Scripted(SeededRandom):
    """Outputs that are written down, until one is missing."""

    def __init__(self, outputs):
        super().__init__(0)
        self._left = list(outputs)

    def _next(self, what, given):
        if not self._left:
            raise PendingError(what, given)
        return self._left.pop(0)

    def add(self, noise, values):
        return np.stack([np.broadcast_to(self._next(noise, own), own.shape) for own in values])

    def choose(self, choice, scores):
        return np.array([self._next(choice, own) for own in scores])


def asked_after(grow, data, outputs):
    """What a growing tree asks after these outputs, with its input; ``None`` if it is done."""
    try:
        grow(data, Scripted(outputs))
    except PendingError as pending:
        return pending.args
    return None


def moment(grow, tables, order, outputs=()):
    """E_Q[(P / Q)^order] of all that is asked after some outputs, on two tables.

    The outputs of counts matter by the side of one limit on which they are; class counts decide nothing.
    """
    first, second = (asked_after(grow, data, outputs) for data in tables)
    if first is None:
        return 1.0
    what, one, other = *first, second[1]
    if isinstance(what, Choice):
        logs = zip(choice_logs(what, one), choice_logs(what, other), strict=True)
        weights = [math.exp(order * p + (1 - order) * q) for p, q in logs]
        return sum(w * moment(grow, tables, order, (*outputs, place)) for place, w in enumerate(weights))
    if len(one) > 1:
        own = math.prod(sides(order, a, b, what.scale, None)[0] for a, b in zip(one, other, strict=True))
        return own * moment(grow, tables, order, (*outputs, 0))
    return sum(
        own * moment(grow, tables, order, (*outputs, output))
        for own, output in both_sides(grow, tables, order, outputs, (what.scale, int(one[0]), int(other[0])))
    )


def both_sides(grow, tables, order, outputs, noise) -> Iterator[tuple[float, int]]:
    """The moment of a noisy count on either side of the limit that decides what follows, and an output of each."""
    scale, one, other = noise

    def follows(output):
        event = asked_after(grow, tables[0], (*outputs, output))
        return None if event is None else (type(event[0]), event[0].scale, len(event[1]))

    low, high = (one + side * math.ceil(50 * scale) for side in (-1, 1))
    if follows(low) == follows(high):
        yield sides(order, one, other, scale, None)[0], low
        return
    ends = low, high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if follows(middle) == follows(ends[0]) else (low, middle)
    yield from zip(sides(order, one, other, scale, high), ends, strict=True)


def sides(order, one, other, scale, limit):
    """The moment of Gaussian noise on a count, of outputs below a limit and of others."""
    centre = order * one + (1 - order) * other
    apart = math.exp(order * (order - 1) * (one - other) ** 2 / (2 * scale**2))
    if scale > 1000:  # As good as continuous.
        below = 1.0 if limit is None else norm.cdf((limit - 0.5 - centre) / scale)
        return apart * below, apart * (1 - below)
    reach = math.ceil(40 * scale)
    outputs = np.arange(round(centre) - reach, round(centre) + reach + 1)
    parts = np.exp(-((outputs - centre) ** 2) / (2 * scale**2))
    whole = np.exp(-(np.arange(-reach, reach + 1) ** 2) / (2 * scale**2)).sum()
    below = np.full(len(outputs), True) if limit is None else outputs < limit
    return apart * parts[below].sum() / whole, apart * parts[~below].sum() / whole


#: Rows for which a path has twelve steps, so that a test is paid for.
TINY = schema_of(
    [{"name": "x0", "type": "boolean"}, {"name": "x1", "type": "boolean"}, {"name": "y", "type": "boolean"}], 4096
)
RHO = Decimal("0.3")
#: Without the person both splits lose alike, and she stands apart in one of them; an empty table; a clear split.
CROWDS = [[(0, 0, 0)] * 31 + [(0, 0, 1)] * 30, [], [(0, 0, 0)] * 20 + [(1, 1, 1)] * 9 + [(1, 0, 1)]]
PEOPLE = [(1, 0, 1), (0, 0, 1), (2, 2, 0)]


def forest(**chosen):
    return ForestSettings(trees=2, depth=1, **chosen)


GROWN = {
    "fixed": lambda data, source: grow_fixed(data, RHO, "error", 1, source),
    "adaptive": lambda data, source: grow_adaptive(data, RHO, TreeParameters(method="adiffp", threshold=0.5), source),
    "adaptive, thrifty": lambda data, source: grow_adaptive_forest(
        data, RHO, forest(method="rfdiffp", spend_rest=False, criterion="error"), source
    ),
    "random": lambda data, source: grow_random_forest(data, RHO, forest(method="random_trees"), source),
    "random, parts": lambda data, source: grow_random_forest(
        data, RHO, forest(method="random_trees", sharing="parts"), source
    ),
}


@pytest.mark.parametrize(
    ("method", "reached"),
    [("fixed", 0.999), ("adaptive", 0.9), ("adaptive, thrifty", 0.7), ("random", 0.999), ("random, parts", 0.999)],
)
def test_no_whole_tree_tells_neighbours_apart_by_more_than_rho(method, reached):
    """Rényi divergences of all outputs of a run of a tree or forest, whatever its prices follow from."""
    most, few = 0.0, slice(1 if "thrifty" in method else None)  # Two trees have a thousand courses.
    for crowd in CROWDS[few]:
        for person in PEOPLE[few]:
            tables = [NodeData(table_of(TINY, rows), "y", "all", form=COMPOSED) for rows in (crowd, [*crowd, person])]
            for pair in (tables, tables[::-1]):
                for order in (3.0, 1.1)[few]:
                    told = math.log(moment(GROWN[method], pair, order)) / (order - 1) / order
                    assert told <= float(RHO) * (1 + 1e-9)
                    most = max(most, told / float(RHO))
    assert most > reached, "and it is attained, so that twice as much would be seen"


# Plans


@for_each(("family", "method"), EVERY)
@for_each("epsilon", ["0.05", "0.5", "5"])
def test_at_the_same_rho_no_count_is_noisier_than_in_the_pure_form(family, method, epsilon):
    composed = planned(family, method, epsilon)
    assert (composed.loss.rho, composed.epsilon) == (largest_rho(Decimal(epsilon), DELTA), Decimal(epsilon))
    whole = pure_epsilon(composed.rho)
    alone = get_learner(family).plan(toy_people.schema(), "ill", whole, {"method": method}, Decimal(0))
    for pure, gaussian in zip(alone.count_noise, composed.count_noise, strict=True):
        assert (pure.what, pure.gaussian, gaussian.gaussian) == (gaussian.what, False, True)
        assert gaussian.margin() < pure.margin()


def test_ten_random_trees_share_a_rho_by_the_root_of_their_number():
    plan = planned("forest", "random_trees", "1", trees=10)
    [noise], rows = plan.count_noise, 1
    assert noise.deviation == pytest.approx(math.sqrt(10 / (2 * float(plan.rho))) * rows)
    pure = 10 * math.sqrt(2) / float(pure_epsilon(plan.rho))
    assert noise.deviation < pure / 3, "of geometric noise, a tenth of epsilon each"


def test_more_trees_share_where_that_costs_less():
    assert choose_trees(Decimal("0.1"), 1000) == 3
    rho = pure_rho(Decimal("0.1"))
    assert float(COMPOSED.signal(rho / choose_trees(rho, 1000, COMPOSED))) * 1000 >= 30
    assert choose_trees(rho, 1000, COMPOSED) == 10
    assert choose_trees(Decimal(0), 1000, COMPOSED) == choose_trees(Decimal(0), 1000, PURE) == 2


@for_each(("family", "method"), EVERY)
def test_what_an_analyst_chose_is_kept_in_both_forms(family, method):
    chosen = {"depth": 2, "prune": False, "evaluate": False} | ({"trees": 4} if family == "forest" else {})
    alone, composed = (
        get_learner(family).plan(toy_people.schema(), "ill", Decimal(1), {"method": method, **chosen}, delta)
        for delta in (Decimal(0), DELTA)
    )
    assert alone.parameters == composed.parameters
    assert not composed.parallel


@for_each(("family", "method"), EVERY)
def test_a_rho_too_small_for_the_rows_of_a_person_is_refused(family, method):
    with pytest.raises(BudgetError, match="too small"):
        planned(family, method, "0.000001", rows=3)


# Runs


@for_each(("family", "method"), EVERY)
@for_each("rows", [1, 3])
def test_paths_spend_their_rho_and_no_more(family, method, rows):
    for seed, epsilon in enumerate(("0.7", "13")):
        plan = planned(family, method, epsilon, rows=rows, spend_rest=True)
        model = fitted(family, plan, SeededRandom(seed))
        trees = model.trees if family == "forest" else (model,)
        for tree in trees:
            paths = [tree.path_spent(place) for place, node in enumerate(tree.nodes) if not node.children]
            assert max(paths) <= tree.budget <= plan.epsilon
            assert max(paths) > tree.budget * (1 - Decimal("1e-6")), "a leaf takes what is left"
            assert all(node.count_margin <= plan.count_margin() for node in tree.nodes if not node.children)
        assert sum(tree.budget for tree in trees) <= plan.epsilon
        release = make_release(family, plan, model, secure=False)
        rebuilt = get_learner(family).family.rebuilt(release, model)
        assert agree(release.model, rebuilt.model_dump(mode="json")), "a release in this form can be imported"


@for_each("rows", [1, 3])
def test_the_noise_of_a_forest_costs_what_its_plan_charges(rows):
    """What was drawn, added up as rho, and as a distribution of the privacy loss."""
    plan = planned("forest", "random_trees", "1.5", rows=rows, trees=6, evaluate=False)
    tape = Recording(0)
    fitted("forest", plan, tape)
    scales = [own.what[1].scale for own in tape.events if own.what[0] == "noise"]
    assert len(scales) == 6
    assert sum((rows / scale) ** 2 / 2 for scale in scales) == pytest.approx(float(plan.rho), rel=1e-6)
    exact = pld.from_discrete_gaussian_mechanism(scales[0], sensitivity=rows).self_compose(6)
    assert 0.8 < exact.get_epsilon_for_delta(float(DELTA)) / float(plan.epsilon) < 1


@for_each(("family", "method"), EVERY)
def test_a_huge_rho_finds_the_rule_of_the_toy_people(family, method):
    plan = planned(family, method, "900", evaluate=False, depth=4)
    people = toy_people.frame()
    known = people["ill"].isin(["yes", "no"])
    predicted = fitted(family, plan, SeededRandom(2)).predict(people, plan.schema)
    assert (predicted == (people["ill"] == "yes"))[known].mean() > (0.5 if method == "random_trees" else 0.85)
