"""Methods side by side on a public data set: exact quality over a range of epsilons.

Nothing here is private: it is for demonstration data and teaching only, and the service
refuses it for any other data set.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

import numpy as np

from dpcore.arrays import Array, Flags, Ints
from dpcore.data.table import PrivateTable
from dpcore.domain.columns import NumericColumn
from dpcore.domain.encoding import encode_columns
from dpcore.domain.schema import Part
from dpcore.errors import BudgetError, RequestError
from dpcore.learning.learner import Run
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


@dataclass(frozen=True)
class MethodScore:
    """Quality of one method at one epsilon on the people set aside.

    Attributes
    ----------
    method : int
        Position in the methods asked for.
    mean, low, high : float
        Mean, least and largest value of the measure over the repeats.
    people : int
        How many people set aside have a known target: the measure is over them.
    measure : {"accuracy", "RMSE"}
        Share predicted correctly, or root mean squared error, in units of a numeric target:
        the less the better.
    """

    method: int
    epsilon: Decimal
    mean: float
    low: float
    high: float
    people: int
    measure: Literal["accuracy", "RMSE"] = "accuracy"


def compare_methods(
    table: PrivateTable,
    target: str,
    methods: Sequence[tuple[str, Mapping[str, Any]]],
    epsilons: Sequence[Decimal],
    repeats: int,
    progress: Callable[[int, int], None],
) -> list[MethodScore]:
    """Fit every method at every epsilon on the training part, with seeded noise.

    Parameters
    ----------
    methods : sequence of (algorithm, parameters)
    progress : callable
        Told how many of how many fits are done.

    Raises
    ------
    RequestError
        If a method cannot be used (its name and epsilon stand before the reason), nobody is set
        aside, or there is too much to fit.
    """
    _check_targeted(methods)
    numbers = _as_numbers(table, target, methods)
    _check_part(table, target, numbers=numbers)
    total = len(methods) * len(epsilons) * repeats
    if not 0 < total <= _MOST_FITS:
        raise RequestError(f"Choose methods and epsilons for 1 to {_MOST_FITS} fits.")
    plans = [_plan(table, target, method, epsilon) for method in methods for epsilon in epsilons]
    frame = table.public_frame("holdout")
    read = {name: public_records(get_learner(name).family, table, "holdout") for name in {kind for kind, _ in methods}}
    people, measured = _rmse(target, frame) if numbers else _accuracy(table, target, frame)
    scores = []
    for place, plan in enumerate(plans):
        method = place // len(epsilons)
        learner, values = get_learner(methods[method][0]), []
        for repeat in range(repeats):
            model: Any = learner.run(Run(table, plan, SeededRandom(repeat)))
            values.append(measured(np.asarray(model.predict(read[learner.name], table.schema))))
            progress(place * repeats + repeat + 1, total)
        scores.append(
            MethodScore(
                method,
                plan.epsilon,
                float(np.mean(values)),
                min(values),
                max(values),
                people,
                "RMSE" if numbers else "accuracy",
            )
        )
    return scores


def _plan(table: PrivateTable, target: str, method: tuple[str, Mapping[str, Any]], epsilon: Decimal) -> RunPlan:
    algorithm, parameters = method
    learner = get_learner(algorithm)
    try:
        return learner.plan(table.schema, target, epsilon, parameters)
    except (RequestError, BudgetError) as refusal:
        name = " ".join(filter(None, [learner.title, parameters.get("method")]))
        raise RequestError(f"{name}, ε = {format_epsilon(epsilon)}: {refusal}") from None


def _check_targeted(methods: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
    for learner in (get_learner(algorithm) for algorithm, _ in methods):
        if not learner.targeted:
            raise RequestError(f"{learner.title} predict nothing, so their predictions cannot be compared.")


def _as_numbers(table: PrivateTable, target: str, methods: Sequence[tuple[str, Mapping[str, Any]]]) -> bool:
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


#: How many people a measure is over, and the measure of what was predicted.
_Measure = tuple[int, Callable[[Array], float]]


def _accuracy(table: PrivateTable, target: str, frame: Any) -> _Measure:
    """Share of a frame's known classes that is predicted correctly."""
    truth, known = _labels(table, target, frame)
    return int(known.sum()), lambda predicted: float((predicted == truth)[known].mean())


def _rmse(target: str, frame: Any) -> _Measure:
    """Root mean squared error of a frame's known numbers."""
    truth = frame[target].to_numpy(dtype=float)
    known = ~np.isnan(truth)
    if not known.any():
        raise RequestError(_nobody(target, *_ASIDE))
    return int(known.sum()), lambda predicted: float(np.sqrt(np.mean((predicted - truth)[known] ** 2)))


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


def _labels(table: PrivateTable, target: str, frame: Any, people: tuple[str, str] = _ASIDE) -> tuple[Ints, Flags]:
    """Class codes of a frame, and which of them are classes."""
    codes = encode_columns(frame, table.schema, [target])[target]
    known = codes < len(table.schema.column(target).classes)
    if not known.any():
        raise RequestError(_nobody(target, *people))
    return codes, known


def _nobody(target: str, people: str, done: str) -> str:
    return f"Nobody among the people {people} has a known '{target}', so nothing can be {done}."
