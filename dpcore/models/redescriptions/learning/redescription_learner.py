"""The learner of redescriptions: plan, run and release."""

from __future__ import annotations

from dpcore.arrays import Ints
from dpcore.domain.columns import View
from dpcore.learning.learner import Learner, PlanRequest, Run
from dpcore.models.redescriptions.learning.diversity import best_found, telling_columns, unused
from dpcore.models.redescriptions.learning.exact_pairs import (
    PARTS,
    ExactPairs,
    candidate_pairs,
    pair_weight,
)
from dpcore.models.redescriptions.learning.growing import draw_tree
from dpcore.models.redescriptions.learning.plans import (
    CallBudgets,
    RedescriptionSettings,
    candidate_limits,
    literals_of,
    per_block,
    plan_run,
    tree_blocks,
)
from dpcore.models.redescriptions.learning.pool import choose_pair
from dpcore.models.redescriptions.learning.redescription_queries import (
    LEAF_COUNTS,
    PAIR_COUNTS,
    PAIR_SCORE,
    STEPS,
    crossed,
)
from dpcore.models.redescriptions.learning.redescription_workload import redescription_workload
from dpcore.models.redescriptions.learning.starts import SearchStart, linked_start, random_start
from dpcore.models.redescriptions.learning.tree_chains import pair_chain, tree_chain
from dpcore.models.redescriptions.learning.views import VIEWS, Sets, Sides, leaf_sets, opposite
from dpcore.models.redescriptions.released.redescription_family import EACH_OTHER, REDESCRIPTIONS
from dpcore.models.redescriptions.released.redescription_model import RedescriptionModel
from dpcore.models.redescriptions.released.tree_pair import Tree, TreePair
from dpcore.released.plan import RunPlan
from dpcore.released.workload import Workload


class RedescriptionLearner(Learner):
    """Differentially private redescription mining with pairs of decision trees.

    Guarantee: pure epsilon-DP per person, one person added or removed, or within an account that composes
    (epsilon, delta)-DP at its rho; unconditional, but for the methods with a Markov chain, which are pure.
    Sensitivities and proofs: ``docs/privacy/redescriptions.md``. There is no target column: ``target`` is empty.
    """

    family = REDESCRIPTIONS

    def _plan(self, plan_request: PlanRequest) -> RunPlan:
        return plan_run(plan_request)

    def workload(self, plan: RunPlan) -> Workload:
        """How much a run of a plan has to do."""
        return redescription_workload(plan)

    def run(self, run: Run) -> RedescriptionModel:
        """Spend the plan's budget on the table and return the released model."""
        return _Searches(run).model()


class _Searches:
    def __init__(self, run: Run) -> None:
        self._run = run
        self._chosen: RedescriptionSettings = run.plan.parameters
        self._calls = CallBudgets.of(run.plan)
        columns: dict[View, tuple[str, ...]] = {"left": self._chosen.left, "right": self._chosen.right}
        self._sides = Sides(
            run.table,
            columns,
            {view: literals_of(run.schema, own, self._chosen) for view, own in columns.items()},
        )
        self._done = 0

    def model(self) -> RedescriptionModel:
        """All searches, one after another."""
        pairs: list[TreePair] = []
        if self._chosen.method == "exact_pairs":
            pairs = self._exact_pairs()
        else:
            self._tell(0)
            used: set[str] = set()
            search = self._together if self._chosen.together else self._alternate
            for number in range(self._chosen.starts):
                pairs += search(number, self._start(number, used))
        return RedescriptionModel(left_columns=self._chosen.left, right_columns=self._chosen.right, pairs=tuple(pairs))

    def _start(self, number: int, used: set[str]) -> SearchStart:
        if self._calls.start is None:
            return random_start(self._sides, self._run.randomness)
        return linked_start(self._sides, number, used, self._calls.start, self._run.randomness)

    def _exact_pairs(self) -> list[TreePair]:
        """All searches of ``exact_pairs``: one after another, over conditions not yet used.

        A search whose noisy table shows nothing is followed by one with the other utility.
        """
        sides, limits = self._sides, candidate_limits(self._run.schema, self._chosen)
        places = [
            candidate_pairs(len(sides.literals[view]), limit, self._run.randomness)
            for view, limit in zip(VIEWS, limits, strict=True)
        ]
        candidates = ExactPairs.compare(
            self._run.table,
            sides.sets["left"],
            sides.sets["right"],
            places[0],
            places[1],
            lambda done: self._run.progress("comparing conditions", done, PARTS),
        )
        weight = pair_weight(self._calls.tree, self._run.schema.max_rows, limits[1])
        used: set[str] = set()
        beyond_chance = False
        pairs: list[TreePair] = []
        for number in range(self._chosen.starts):
            free = [unused(sides.literals[view], place, used) for view, place in zip(VIEWS, places, strict=True)]
            drawn = candidates.draw(weight, beyond_chance, free[0], free[1], self._run.randomness)
            splits = {view: place[row, [0, 1, 1]] for view, place, row in zip(VIEWS, places, drawn, strict=True)}
            leaves = {view: self._leaves(view, tree) for view, tree in splits.items()}
            pairs.append(self._counted(number, 0, EACH_OTHER, splits, leaves))
            best = best_found(pairs[-1], self._run.schema)
            used |= telling_columns(pairs[-1], best)
            beyond_chance ^= best is None
            self._tell(2)
        return pairs

    def _alternate(self, number: int, start: SearchStart) -> list[TreePair]:
        """One search that grows a tree for the leaves of the one before (Algorithm 1)."""
        pairs = []
        splits = {start.view: self._grow(start.view, start.classes)}
        leaves = {start.view: self._leaves(start.view, splits[start.view])}
        view = start.view
        self._tell(1)
        for turn in range(self._chosen.rounds):
            before, view = view, opposite(view)
            splits[view] = self._grow(view, leaves[before])
            leaves[view] = self._leaves(view, splits[view])
            pairs.append(self._counted(number, turn, start.text, splits, leaves))
            self._tell(1)
        return pairs

    def _together(self, number: int, start: SearchStart) -> list[TreePair]:
        """One search that draws both trees together (Algorithms 4 and 5)."""
        other, chosen = opposite(start.view), self._chosen
        sets, rows = self._sides.sets, self._run.schema.max_rows
        reach = rows if chosen.sensitivity == "published" else PAIR_SCORE.value / STEPS
        records = self._run.table, sets[start.view], sets[other], start.classes
        if chosen.sampler == "pool":
            drawn = choose_pair(
                *records, chosen.depth, chosen.pool_size, self._calls.tree, rows, reach, self._run.randomness
            )
        else:
            weight = float(self._calls.tree) / (2 * reach)
            drawn = pair_chain(*records, chosen.depth, chosen.steps, rows, weight, self._run.randomness)
        splits = dict(zip((start.view, other), drawn, strict=True))
        leaves = {view: self._leaves(view, tree) for view, tree in splits.items()}
        pair = self._counted(number, 0, start.text, splits, leaves)
        self._tell(2)
        return [pair]

    def _grow(self, view: View, classes: Sets) -> Ints:
        """One tree over a view, for some classes."""
        chosen, epsilon = self._chosen, self._calls.tree
        records = self._run.table, self._sides.sets[view], classes
        if chosen.method == "alt_mcmc":
            return tree_chain(*records, chosen.depth, chosen.steps, float(epsilon) / 2, self._run.randomness)
        blocks = tree_blocks(self._run.schema, chosen)
        share = per_block(epsilon, blocks)
        return draw_tree(*records, blocks, share, self._run.schema.max_rows, self._run.randomness)

    def _leaves(self, view: View, splits: Ints) -> Sets:
        return leaf_sets(self._sides.sets[view], splits)

    def _counted(
        self,
        number: int,
        turn: int,
        target: str,
        splits: dict[View, Ints],
        leaves: dict[View, Sets],
    ) -> TreePair:
        """A pair of trees with its noisy counts (Algorithm 6, its queries)."""
        noise = self._calls.pairs.mechanism(PAIR_COUNTS)
        exact = self._run.table.total(crossed, leaves["left"], leaves["right"])
        noisy = noise.release(exact, self._run.randomness)
        second, second_scale = None, None
        if self._calls.leaves is not None:
            more = self._calls.leaves.mechanism(LEAF_COUNTS)
            # Everybody is in one leaf on the right.
            second = tuple(int(count) for count in more.release(exact.sum(axis=1), self._run.randomness))
            second_scale = more.scale
        trees = {view: self._tree(view, places) for view, places in splits.items()}
        return TreePair(
            start=number,
            round=turn,
            target=target,
            left=trees["left"],
            right=trees["right"],
            noisy_counts=tuple(tuple(int(count) for count in row) for row in noisy),
            count_scale=noise.scale,
            noisy_left=second,
            left_scale=second_scale,
            gaussian=self._calls.pairs.gaussian,
        )

    def _tree(self, view: View, splits: Ints) -> Tree:
        literals = self._sides.literals[view]
        return Tree(view=view, splits=tuple(literals[place] for place in splits))

    def _tell(self, trees: int) -> None:
        self._done += trees
        total = self._chosen.starts * (self._chosen.rounds + 1)
        self._run.progress("growing trees", self._done, total)
