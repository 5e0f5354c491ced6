"""Methods side by side on a public data set: exact quality over a range of epsilons.

Nothing here is private: it is for demonstration data and teaching only, and the service
refuses it for any other data set.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal, Protocol

import numpy as np
import pandas as pd

from dpcore.arrays import Array, Flags, Ints
from dpcore.data.table import PrivateTable
from dpcore.domain.columns import NumericColumn
from dpcore.domain.encoding import encode_columns
from dpcore.domain.schemas.schema import Part, Schema
from dpcore.errors import BudgetError, RequestError
from dpcore.learning.learner import Run
from dpcore.models.redescriptions.released.extraction import Constraints
from dpcore.models.redescriptions.released.reading import exact_agreement
from dpcore.models.redescriptions.released.redescription_model import RedescriptionModel
from dpcore.models.registry import get_learner, public_records
from dpcore.privacy.budgets import format_epsilon
from dpcore.privacy.randomness import SeededRandom
from dpcore.released.plan import RunPlan, check_classes, target_column

#: Most fits of one comparison: it runs while somebody waits.
_MOST_FITS = 600
#: Groups of the tree that is not private: as many as a reader may still take in.
_PLAIN_LEAVES = 64
#: Who is asked about, and what cannot be done without anybody.
_ASIDE, _LEARNED = ("set aside", "measured"), ("to learn from", "learned")


Measure = Literal["accuracy", "AUC", "RMSE", "Jaccard index"]
#: Redescriptions of a run that are judged.
_BEST = 10


@dataclass(frozen=True)
class MethodScore:
    """Quality of one method at one epsilon on the people set aside."""

    method: int
    """Position in the methods asked for."""
    epsilon: Decimal
    mean: float
    low: float
    high: float
    """``mean``, ``low``, ``high``: mean, least and largest value of the measure over the repeats."""
    people: int
    """How many people set aside have a known target: the measure is over them."""
    measure: Measure = "accuracy"
    """Share predicted correctly; how often one of two people with and without a class gets the higher chance of it, as
    a mean over the classes; root mean squared error, in units of a numeric target: the less the better; or mean exact
    Jaccard index of the best ten redescriptions, where one that is not found counts as 0."""


def compare_methods(
    table: PrivateTable,
    target: str,
    methods: Sequence[tuple[str, Mapping[str, object]]],
    epsilons: Sequence[Decimal],
    repeats: int,
    progress: Callable[[int, int], None],
    measure: Measure = "accuracy",
) -> list[MethodScore]:
    """Fit every method at every epsilon on the training part, with seeded noise.

    Parameters
    ----------
    methods : sequence of (algorithm, parameters)
    progress : callable
        Told how many of how many fits are done.
    measure : {"accuracy", "AUC"}
        Of methods that predict classes.

    Raises
    ------
    RequestError
        If a method cannot be used (its name and epsilon stand before the reason), nobody is set
        aside, or there is too much to fit.
    """
    _check_size(methods, epsilons, repeats)
    _check_targeted(methods)
    numbers = _as_numbers(table, target, methods)
    _check_part(table, target, numbers=numbers)
    plans = [_plan(table, target, method, epsilon) for method in methods for epsilon in epsilons]
    frame = table.public_frame("holdout")
    read = {name: public_records(get_learner(name).family, table, "holdout") for name in {kind for kind, _ in methods}}
    if numbers:
        people, measured = _rmse(target, frame)
    else:
        people, measured = (_area if measure == "AUC" else _accuracy)(table, target, frame)
    names = [algorithm for algorithm, _ in methods]
    return _scored(
        table,
        names,
        plans,
        repeats,
        progress,
        (people, lambda name, model: measured(model, read[name], table.schema), "RMSE" if numbers else measure),
    )


def compare_redescriptions(
    table: PrivateTable,
    methods: Sequence[Mapping[str, object]],
    epsilons: Sequence[Decimal],
    repeats: int,
    progress: Callable[[int, int], None],
) -> list[MethodScore]:
    """Search with every method at every epsilon, with seeded noise; what is found is judged by the exact records.

    Parameters
    ----------
    methods : sequence of mapping
        Parameters of redescriptions, the sides among them.

    Raises
    ------
    RequestError
        If a method cannot be used, or there is too much to search.
    """

    named = [("redescriptions", parameters) for parameters in methods]
    _check_size(named, epsilons, repeats)
    plans = [_plan(table, "", method, epsilon) for method in named for epsilon in epsilons]
    frame = table.public_frame("all")

    def measured(_: str, model: RedescriptionModel) -> float:
        found = model.extract(table.schema, Constraints())
        best = found.pruned(found.suggested_support)[:_BEST]
        exact = exact_agreement(model.exact_tables(frame, table.schema), best) if best else ()
        return float(sum(item.jaccard for item in exact)) / _BEST

    return _scored(
        table, [name for name, _ in named], plans, repeats, progress, (len(frame), measured, "Jaccard index")
    )


def _scored(
    table: PrivateTable,
    names: Sequence[str],
    plans: Sequence[RunPlan],
    repeats: int,
    progress: Callable[[int, int], None],
    judged: tuple[int, Callable[[str, Any], float], Measure],
) -> list[MethodScore]:
    """Run every plan, as many for each method, and judge its models: people, function and its name."""
    people, measured, measure = judged
    scores, each = [], len(plans) // len(names)
    for place, plan in enumerate(plans):
        learner, values = get_learner(names[place // each]), []
        for repeat in range(repeats):
            model = learner.run(Run(table, plan, SeededRandom(repeat)))
            values.append(measured(learner.name, model))
            progress(place * repeats + repeat + 1, len(plans) * repeats)
        mean = float(np.mean(values))
        scores.append(MethodScore(place // each, plan.epsilon, mean, min(values), max(values), people, measure))
    return scores


def _check_size(methods: Sequence[object], epsilons: Sequence[Decimal], repeats: int) -> None:
    if not 0 < len(methods) * len(epsilons) * repeats <= _MOST_FITS:
        raise RequestError(f"Choose methods and epsilons for 1 to {_MOST_FITS} fits.")


def _plan(table: PrivateTable, target: str, method: tuple[str, Mapping[str, Any]], epsilon: Decimal) -> RunPlan:
    algorithm, parameters = method
    learner = get_learner(algorithm)
    try:
        return learner.plan(table.schema, target, epsilon, parameters)
    except (RequestError, BudgetError) as refusal:
        name = " ".join(filter(None, [learner.title, parameters.get("method")]))
        raise RequestError(f"{name}, ε = {format_epsilon(epsilon)}: {refusal}") from None


def _check_targeted(methods: Sequence[tuple[str, Mapping[str, object]]]) -> None:
    for learner in (get_learner(algorithm) for algorithm, _ in methods):
        if not learner.targeted:
            raise RequestError(f"{learner.title} predict nothing, so their predictions cannot be compared.")


def _as_numbers(table: PrivateTable, target: str, methods: Sequence[tuple[str, Mapping[str, object]]]) -> bool:
    """Whether the methods predict a number. Those that predict its groups cannot be mixed in."""
    if not isinstance(target_column(table.schema, target), NumericColumn):
        return False
    families = [get_learner(algorithm).family for algorithm, _ in methods]
    kinds = {family.numbers for family in families}
    if len(kinds) > 1:
        title = next(family.title for family in families if family.numbers)
        raise RequestError(
            f"{title} predict '{target}' as a number, the other methods predict its groups: compare them apart."
        )
    return kinds == {True}


#: Records as models read them: one table, or every one by its name.
Tables = pd.DataFrame | dict[str, pd.DataFrame]


class Predictor(Protocol):
    """A released model that predicts."""

    def predict(self, records: Tables, schema: Schema) -> Array:
        """Predicted class or number of each record."""

    def predict_proba(self, records: Tables, schema: Schema) -> Array:
        """Chances of each class."""


#: How many people a measure is over, and the measure of a model, records and a schema.
_Measure = tuple[int, Callable[[Predictor, Tables, Schema], float]]


def _accuracy(table: PrivateTable, target: str, frame: pd.DataFrame) -> _Measure:
    """Share of a frame's known classes that is predicted correctly."""
    truth, known = _labels(table, target, frame)

    def right(model: Predictor, records: Tables, schema: Schema) -> float:
        return float((np.asarray(model.predict(records, schema)) == truth)[known].mean())

    return int(known.sum()), right


def _area(table: PrivateTable, target: str, frame: pd.DataFrame) -> _Measure:
    """Area under the ROC curve of a frame's known classes, as a mean over those that occur."""
    from sklearn.metrics import roc_auc_score

    truth, known = _labels(table, target, frame)
    present = [code for code in np.unique(truth[known]) if 0 < (truth[known] == code).mean() < 1]
    if not present:
        raise RequestError(f"All people set aside have the same '{target}', so there is nothing to tell apart.")
    told = present[1:] if len(table.schema.column(target).classes) == len(("no", "yes")) else present

    def area(model: Predictor, records: Tables, schema: Schema) -> float:
        chances = np.asarray(model.predict_proba(records, schema))[known]
        return float(np.mean([roc_auc_score(truth[known] == code, chances[:, code]) for code in told]))

    return int(known.sum()), area


def commonest_share(table: PrivateTable, target: str) -> float:
    """Share of the people set aside for whom always saying the commonest class is right."""
    _check_part(table, target, numbers=False)
    truth, known = _labels(table, target, table.public_frame("holdout"))
    return float(np.bincount(truth[known]).max() / known.sum())


def _rmse(target: str, frame: pd.DataFrame) -> _Measure:
    """Root mean squared error of a frame's known numbers."""
    truth = frame[target].to_numpy(dtype=float)
    known = ~np.isnan(truth)
    if not known.any():
        raise RequestError(_nobody(target, *_ASIDE))

    def error(model: Predictor, records: Tables, schema: Schema) -> float:
        missed = np.asarray(model.predict(records, schema)) - truth
        return float(np.sqrt(np.mean(missed[known] ** 2)))

    return int(known.sum()), error


def plain_tree_accuracy(table: PrivateTable, target: str) -> float | None:
    """Share of the people set aside that a tree without any privacy predicts correctly.

    scikit-learn's tree of at most 64 leaves on the same cells of the main table; ``None`` if that
    has no column but the target.
    """
    from sklearn.preprocessing import OneHotEncoder
    from sklearn.tree import DecisionTreeClassifier

    _check_part(table, target, numbers=False)
    features = [column.name for column in table.schema if column.name != target]
    if not features:
        return None
    asked: dict[Part, tuple[str, str]] = {"train": _LEARNED, "holdout": _ASIDE}
    parts = {}
    for part, people in asked.items():
        frame = table.public_frame(part)
        codes = encode_columns(frame, table.schema, features)
        labels, known = _labels(table, target, frame, people)
        parts[part] = (np.stack(list(codes.values()), axis=1)[known], labels[known])
    encoder = OneHotEncoder(handle_unknown="ignore").fit(parts["train"][0])
    tree = DecisionTreeClassifier(max_leaf_nodes=_PLAIN_LEAVES, random_state=0)
    tree.fit(encoder.transform(parts["train"][0]), parts["train"][1])
    return float(tree.score(encoder.transform(parts["holdout"][0]), parts["holdout"][1]))


def _check_part(table: PrivateTable, target: str, *, numbers: bool) -> None:
    if not numbers:
        check_classes(table.schema, target)
    if table.schema.holdout_percent == 0:
        raise RequestError("This data set sets nobody aside, so nothing can be measured.")


def _labels(
    table: PrivateTable, target: str, frame: pd.DataFrame, people: tuple[str, str] = _ASIDE
) -> tuple[Ints, Flags]:
    """Class codes of a frame, and which of them are classes."""
    codes = encode_columns(frame, table.schema, [target])[target]
    known = codes < len(table.schema.column(target).classes)
    if not known.any():
        raise RequestError(_nobody(target, *people))
    return codes, known


def _nobody(target: str, people: str, done: str) -> str:
    return f"Nobody among the people {people} has a known '{target}', so nothing can be {done}."
