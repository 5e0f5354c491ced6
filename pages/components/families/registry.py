"""The families of models on offer, by machine name: where each is set up, shown and compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dpcore.models.released import get_family
from dpcore.released.family import ReleasedFamily
from dpcore.released.release import Release
from dpcore.workspace.ledger.requests import Quote, RunRequest
from pages.components.families.ebm import ebm_inputs, ebm_result
from pages.components.families.forest import forest_inputs, forest_result
from pages.components.families.ilp import hint as ilp_hint
from pages.components.families.ilp import ilp_inputs, ilp_result
from pages.components.families.redescriptions import redescription_inputs as redescriptions_inputs
from pages.components.families.redescriptions import redescription_result as redescriptions_result
from pages.components.families.rule_list import rule_list_inputs, rule_list_result
from pages.components.families.shared import cuts
from pages.components.families.shared.given import Given
from pages.components.families.shared.ranged import Ranged
from pages.components.families.summaries import summary_inputs as summaries_inputs
from pages.components.families.summaries import summary_result as summaries_result
from pages.components.families.tree import tree_inputs, tree_result


@dataclass(frozen=True)
class Family:
    """What the pages need to know about one family.

    Attributes
    ----------
    released : ReleasedFamily
        What the engine declares of it: name, title, lead, methods, and what it predicts.
    page : str
        Script of its page.
    algorithm : str
        Name of the algorithm in the review.
    parameters : callable
        (given) shows widgets that return the parameters of a run.
    body : callable
        (release, model, key, public) shows a released model.
    side : callable
        (release, model, key) shows it in half the width, for a comparison.
    figures : callable
        (model) -> name and value of each line of a comparison.
    csv : str
        What the CSV download holds.
    repeats : int
        How often each method is tried in such a comparison, unless told otherwise.
    hint : callable or None
        (quote) says more about a run before it is spent on, below its price.
    asked : callable or None
        (parameters) -> name and value of each line of the review that says what a run is about,
        beside a target.
    way : str
        Parameter whose values are compared over epsilon.
    ways : mapping of str to str
        Title of each of its values, if it is not the method.
    """

    released: ReleasedFamily
    page: str
    algorithm: str
    parameters: Callable[[Given], dict[str, Any]]
    body: Callable[..., None]
    side: Callable[[Release, Any, str], None]
    figures: Callable[[Any], Mapping[str, str | Ranged]]
    csv: str
    repeats: int = 3
    hint: Callable[[Quote], None] | None = None
    asked: Callable[[Mapping[str, Any]], dict[str, str]] | None = None
    way: str = "method"
    ways: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Machine name of the algorithm, also the kind of its releases."""
        return self.released.name

    @property
    def title(self) -> str:
        """Name of its page and of its results."""
        return self.released.title

    @property
    def lead(self) -> str:
        """What it does, below the title of its page."""
        return self.released.lead

    @property
    def methods(self) -> Mapping[str, str]:
        """Title of each method; empty if there is no choice."""
        return self.released.methods

    @property
    def compared(self) -> Mapping[str, str]:
        """Title of each way to learn that may be compared with others; empty if there is one."""
        return self.ways or self.methods

    @property
    def numbers(self) -> bool:
        """Whether a numeric target is predicted as a number rather than by its groups."""
        return self.released.numbers

    @property
    def targeted(self) -> bool:
        """Whether it predicts a column. Runs and results of others have the empty target."""
        return self.released.targeted

    def heading(self, target: str) -> str:
        """Title of a run or a result, with what it predicts."""
        return f"{self.title} for {target}" if target else self.title

    def describe(self, parameters: Mapping[str, Any]) -> str:
        """Name of the algorithm with its method, if there are several."""
        method = self.methods.get(parameters.get("method", ""), "").removesuffix(" (recommended)")
        return f"{self.algorithm}: {method}" if method else self.algorithm


SUMMARIES = Family(
    released=get_family("summaries"),
    page="first_look.py",
    algorithm="First look",
    parameters=summaries_inputs.parameters,
    body=summaries_result.show,
    side=summaries_result.side,
    figures=summaries_result.figures,
    csv=summaries_result.CSV,
    asked=summaries_inputs.asked,
)
RULE_LIST = Family(
    released=get_family("rule_list"),
    page="rule_list.py",
    algorithm="Bayesian rule list",
    parameters=rule_list_inputs.parameters,
    body=rule_list_result.show,
    side=rule_list_result.side,
    figures=rule_list_result.figures,
    csv="the rules",
    asked=cuts.asked,
    way="sampler",
    ways=rule_list_inputs.SAMPLERS,
)
TREE = Family(
    released=get_family("tree"),
    page="tree.py",
    algorithm="Decision tree",
    parameters=tree_inputs.parameters,
    body=tree_result.show,
    side=tree_result.side,
    figures=tree_result.figures,
    csv="every node of the tree",
    asked=cuts.asked,
)
FOREST = Family(
    released=get_family("forest"),
    page="forest.py",
    algorithm="Forest of decision trees",
    parameters=forest_inputs.parameters,
    body=forest_result.show,
    side=forest_result.side,
    figures=forest_result.figures,
    csv="every node of every tree",
    asked=cuts.asked,
    repeats=1,
)
EBM = Family(
    released=get_family("ebm"),
    page="shape_functions.py",
    algorithm="Shape functions (explainable boosting)",
    parameters=ebm_inputs.parameters,
    body=ebm_result.show,
    side=ebm_result.side,
    figures=ebm_result.figures,
    csv=ebm_result.CSV,
    repeats=1,
)
REDESCRIPTIONS = Family(
    released=get_family("redescriptions"),
    page="redescriptions.py",
    algorithm="Redescriptions",
    parameters=redescriptions_inputs.parameters,
    body=redescriptions_result.show,
    side=redescriptions_result.side,
    figures=redescriptions_result.figures,
    csv=redescriptions_result.CSV,
)
ILP = Family(
    released=get_family("ilp"),
    page="relational_rules.py",
    algorithm="Relational rules (inductive logic programming)",
    parameters=ilp_inputs.parameters,
    body=ilp_result.show,
    side=ilp_result.side,
    figures=ilp_result.figures,
    csv=ilp_result.CSV,
    repeats=1,
    hint=ilp_hint.show,
)
FAMILIES = {family.name: family for family in (SUMMARIES, RULE_LIST, TREE, FOREST, EBM, REDESCRIPTIONS, ILP)}


def sets_up(url_path: str) -> bool:
    """Whether the page at an address is one on which runs are set up."""
    return any(family.page == f"{url_path}.py" for family in FAMILIES.values())


def predicted(label: str, target: str) -> dict[str, str]:
    """The line that names what is predicted; none without a target."""
    return {label: target} if target else {}


def of_release(release: Release) -> Family:
    """Family that a release belongs to."""
    return FAMILIES[release.kind]


def of_request(request: RunRequest) -> Family:
    """Family that a run belongs to."""
    return FAMILIES[request.algorithm]
