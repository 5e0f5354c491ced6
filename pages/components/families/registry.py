"""The families of models on offer, by machine name: where each is set up, shown and compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from itertools import combinations
from typing import Any

from dpcore.domain.schemas.labels import called
from dpcore.models.released import get_family
from dpcore.released.family import ReleasedFamily
from dpcore.released.release import Release
from dpcore.report.names import RULE_LIST_SAMPLERS
from dpcore.workspace.ledger.requests import Quote, RunRequest
from pages.components.families.shared import inputs
from pages.components.families.shared.inputs import FormContext
from pages.components.visitor import access


@dataclass(frozen=True)
class IntervalText:
    """A figure as it is printed, and the ends of its interval."""

    words: str
    low: float
    high: float


def compared(sides: Sequence[str | IntervalText | None]) -> tuple[list[str], str]:
    """One line of a comparison: what is printed for each side, and how the sides compare.

    ``None`` is a side to which the line does not apply. Figures with intervals differ only where two of these do not
    overlap.
    """
    told = [_words(side) for side in sides]
    if any(side is None for side in sides):
        return told, ""
    if len(set(told)) == 1:
        return told, "same"
    ranged = [side for side in sides if isinstance(side, IntervalText)]
    if len(ranged) == len(sides) and all(a.low <= b.high and b.low <= a.high for a, b in combinations(ranged, 2)):
        return told, "intervals overlap"
    return told, "≠ differs"


def _words(side: str | IntervalText | None) -> str:
    if side is None:
        return "does not apply"
    return side.words if isinstance(side, IntervalText) else side


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
    parameters: Callable[[FormContext], dict[str, Any]]
    body: Callable[..., None]
    side: Callable[[Release, Any, str], None]
    figures: Callable[[Any], Mapping[str, str | IntervalText]]
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


def _later(module: str, name: str) -> Callable[..., Any]:
    """A function of one family, whose module is loaded when it is first called: a page loads its own family alone."""

    def call(*values: Any, **named: Any) -> Any:
        return getattr(import_module(f"{__package__}.{module}"), name)(*values, **named)

    return call


def _family(name: str, page: str, algorithm: str, stem: str = "", **more: Any) -> Family:
    """What ``<name>.<stem>_inputs`` and ``<name>.<stem>_result`` hold, by the names that every family gives it."""
    inputs_of, result_of = (f"{name}.{stem or name}_{part}" for part in ("inputs", "result"))
    return Family(
        released=get_family(name),
        page=page,
        algorithm=algorithm,
        parameters=_later(inputs_of, "parameters"),
        body=_later(result_of, "render"),
        side=_later(result_of, "side"),
        figures=_later(result_of, "figures"),
        **more,
    )


SUMMARIES = _family(
    "summaries", "first_look.py", "First look", "summary", asked=_later("summaries.summary_inputs", "asked")
)
RULE_LIST = _family(
    "rule_list", "rule_list.py", "Bayesian rule list", way="sampler", ways=RULE_LIST_SAMPLERS, asked=inputs.cuts_asked
)
TREE = _family("tree", "tree.py", "Decision tree", asked=inputs.cuts_asked)
FOREST = _family("forest", "forest.py", "Forest of decision trees", repeats=1, asked=inputs.cuts_asked)
EBM = _family("ebm", "shape_functions.py", "Shape functions (explainable boosting)", repeats=1)
REDESCRIPTIONS = _family("redescriptions", "redescriptions.py", "Redescriptions", "redescription")
ILP = _family(
    "ilp",
    "relational_rules.py",
    "Relational rules (inductive logic programming)",
    repeats=1,
    hint=_later("ilp.hint", "render"),
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


def run_heading(request: RunRequest) -> str:
    """Its algorithm, and what it predicts."""
    return of_request(request).heading(column_label(request.dataset_id, request.target))


def column_label(dataset_id: str, name: str) -> str:
    """What a column is called; its name, if the visitor may not see the data set."""
    dataset, _ = access.attempt(lambda: access.service().dataset(dataset_id))
    return name if dataset is None else called(dataset.schema, name)
