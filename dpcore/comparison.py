"""Methods side by side on a public data set: exact accuracies over a range of epsilons.

Nothing here is private: it is for demonstration data and teaching only, and the service
refuses it for any other data set.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpcore.algorithms import get_learner
from dpcore.encoding import encode_columns
from dpcore.errors import RequestError
from dpcore.plan import check_classes, no_progress
from dpcore.randomness import SeededRandom
from dpcore.table import PrivateTable

#: Most fits of one comparison: it runs while somebody waits.
_MOST_FITS = 600
#: Groups of the tree that is not private: as many as a reader may still take in.
_PLAIN_LEAVES = 64


@dataclass(frozen=True)
class MethodScore:
    """Accuracy of one method at one epsilon on the people set aside.

    Attributes
    ----------
    method : int
        Position in the methods asked for.
    mean, low, high : float
        Mean, least and largest share predicted correctly over the repeats.
    """

    method: int
    epsilon: Decimal
    mean: float
    low: float
    high: float


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
        If a method cannot be used, nobody is set aside, or there is too much to fit.
    """
    _check_part(table, target)
    total = len(methods) * len(epsilons) * repeats
    if not 0 < total <= _MOST_FITS:
        raise RequestError(f"Choose methods and epsilons for 1 to {_MOST_FITS} fits.")
    plans = [
        get_learner(algorithm).plan(table.schema, target, epsilon, parameters)
        for algorithm, parameters in methods
        for epsilon in epsilons
    ]
    frame = table.public_frame("holdout")
    truth, known = _labels(table, target, frame)
    scores = []
    for place, plan in enumerate(plans):
        method = place // len(epsilons)
        learner, shares = get_learner(methods[method][0]), []
        for repeat in range(repeats):
            model = learner.run(table, plan, SeededRandom(repeat), no_progress)
            predicted = np.asarray(model.predict(frame, table.schema))  # type: ignore[attr-defined]
            shares.append(float((predicted == truth)[known].mean()))
            progress(place * repeats + repeat + 1, total)
        mean = float(np.mean(shares))
        scores.append(MethodScore(method, plan.epsilon, mean, min(shares), max(shares)))
    return scores


def plain_tree_accuracy(table: PrivateTable, target: str) -> float:
    """Share of the people set aside that a tree without any privacy predicts correctly.

    scikit-learn's tree of at most 64 leaves on the same cells.
    """
    from sklearn.preprocessing import OneHotEncoder
    from sklearn.tree import DecisionTreeClassifier

    _check_part(table, target)
    features = [column.name for column in table.schema if column.name != target]
    parts = {}
    for part in ("train", "holdout"):
        frame = table.public_frame(part)
        codes = encode_columns(frame, table.schema, features)
        labels, known = _labels(table, target, frame)
        parts[part] = (np.stack(list(codes.values()), axis=1)[known], labels[known])
    encoder = OneHotEncoder(handle_unknown="ignore").fit(parts["train"][0])
    tree = DecisionTreeClassifier(max_leaf_nodes=_PLAIN_LEAVES, random_state=0)
    tree.fit(encoder.transform(parts["train"][0]), parts["train"][1])
    return float(tree.score(encoder.transform(parts["holdout"][0]), parts["holdout"][1]))


def _check_part(table: PrivateTable, target: str) -> None:
    check_classes(table.schema, target)
    if table.schema.holdout_percent == 0:
        raise RequestError("This data set sets nobody aside, so no accuracy can be measured.")


def _labels(
    table: PrivateTable, target: str, frame: Any
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Class codes of a frame, and which of them are classes."""
    codes = encode_columns(frame, table.schema, [target])[target]
    known = codes < len(table.schema.column(target).classes)
    if not known.any():
        raise RequestError(f"Nobody among them has a known '{target}', so nothing can be measured.")
    return codes, known
