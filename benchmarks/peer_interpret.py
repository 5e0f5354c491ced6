"""Predictions and seconds of interpret's boosting machines, run in an environment that has them.

``python peer_interpret.py PROBLEM.npz PREDICTIONS.npy EPSILON ...`` prints one JSON entry per
fit and writes the predictions on the test records, one row per entry: the probability of the
second class, or the number. It imports nothing of this project. The problem holds ``names``,
``continuous``, ``lower`` and ``upper`` (n_columns,), ``column_0`` ... (n_rows,), ``target``
(n_rows,), ``target_bounds`` (2,), ``tests`` (n_splits, n_rows), ``delta`` and ``plain``. The
classes of ``target`` are 0 and 1, and ``target_bounds`` is then empty. All bounds are public, so
nothing leaks; ``plain`` asks for the program without privacy and without pairs, too.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

PRIVATE, PLAIN = "interpret DP-EBM", "interpret EBM, not private"


def machines(problem: Any, epsilons: list[float]) -> dict[tuple[str, float], Callable[[], Any]]:
    """How to make a fresh model, by name and epsilon; infinity without privacy."""
    from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor
    from interpret.privacy import (
        DPExplainableBoostingClassifier,
        DPExplainableBoostingRegressor,
    )

    numeric = len(problem["target_bounds"]) > 0
    private_kind = DPExplainableBoostingRegressor if numeric else DPExplainableBoostingClassifier
    plain_kind = ExplainableBoostingRegressor if numeric else ExplainableBoostingClassifier
    public = _public(problem)

    def private(epsilon: float) -> Callable[[], Any]:
        return lambda: private_kind(epsilon=epsilon, composition="gdp", **public)

    found: dict[tuple[str, float], Callable[[], Any]] = {(PRIVATE, epsilon): private(epsilon) for epsilon in epsilons}
    if problem["plain"]:
        kinds = public["feature_types"]
        found[PLAIN, np.inf] = lambda: plain_kind(interactions=0, outer_bags=1, feature_types=kinds)
    return found


def _public(problem: Any) -> dict[str, Any]:
    """What the schema declares, as the program's arguments."""
    ranges = zip(problem["lower"].tolist(), problem["upper"].tolist(), strict=True)
    continuous = problem["continuous"].tolist()
    public: dict[str, Any] = {
        "delta": float(problem["delta"]),
        "feature_types": ["continuous" if number else "nominal" for number in continuous],
        "privacy_bounds": {
            place: pair for place, (pair, number) in enumerate(zip(ranges, continuous, strict=True)) if number
        },
    }
    if len(problem["target_bounds"]):
        low, high = problem["target_bounds"].tolist()
        public |= {"privacy_target_min": low, "privacy_target_max": high}
    return public


def measure(problem: Any, epsilons: list[float]) -> tuple[list[dict[str, Any]], Any]:
    """One entry per split and model, and the predictions, shape (n_entries, n_test)."""
    import pandas as pd

    names = problem["names"].tolist()
    frame = pd.DataFrame({name: problem[f"column_{i}"] for i, name in enumerate(names)})
    target, kinds = problem["target"], machines(problem, epsilons)
    entries, predictions = [], []
    for number, test in enumerate(problem["tests"]):
        for (method, epsilon), make in kinds.items():
            model = make()
            start = time.perf_counter()
            model.fit(frame[~test], target[~test])
            seconds = time.perf_counter() - start
            if len(problem["target_bounds"]):
                predictions.append(model.predict(frame[test]))
            else:
                predictions.append(model.predict_proba(frame[test])[:, 1])
            entries.append({"method": method, "epsilon": epsilon, "split": number, "seconds": seconds})
    return entries, np.stack(predictions)


def main() -> None:
    """Read the problem, fit once to warm up, measure, write and print."""
    warnings.filterwarnings("error", message=".*rivacy")
    problem = dict(np.load(sys.argv[1], allow_pickle=False))
    epsilons = [float(text) for text in sys.argv[3:]]
    if epsilons:
        measure({**problem, "tests": problem["tests"][:1], "plain": False}, epsilons[:1])
    entries, predictions = measure(problem, epsilons)
    np.save(sys.argv[2], predictions)
    for entry in entries:
        entry["epsilon"] = entry["epsilon"] if np.isfinite(entry["epsilon"]) else None
    json.dump(entries, sys.stdout)


if __name__ == "__main__":
    main()
