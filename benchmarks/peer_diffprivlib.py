"""Accuracy and seconds of diffprivlib's tree and forest, run in an environment that has it.

``python peer_diffprivlib.py PROBLEM.npz EPSILON ...`` prints JSON. It imports nothing of this
project, because diffprivlib needs an older scikit-learn than the project does. The problem
holds ``codes`` (n_rows, n_columns), ``sizes`` (n_columns,), ``labels`` (n_rows,), ``classes``
(n_classes,), and ``folds`` (n_repeats, n_rows). Bounds and classes are public, so nothing leaks.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from typing import Any

import numpy as np


def models(epsilon: float, bounds: Any, classes: Any) -> dict[str, Any]:
    """Fresh models by name, with the program's own depth and number of trees."""
    from diffprivlib.models import RandomForestClassifier
    from diffprivlib.models.forest import DecisionTreeClassifier

    public = {"epsilon": epsilon, "bounds": bounds, "classes": classes}
    return {
        "diffprivlib tree": DecisionTreeClassifier(**public),
        "diffprivlib forest": RandomForestClassifier(shuffle=True, **public),
    }


def encodings(codes: Any, sizes: Any) -> dict[str, tuple[Any, Any]]:
    """Matrix and public bounds of each encoding."""
    hot = [np.eye(size)[column] for column, size in zip(codes.T, sizes, strict=True)]
    one_hot = np.concatenate(hot, axis=1)
    width = one_hot.shape[1]
    return {
        "ordinal": (codes.astype(float), (np.zeros(len(sizes)), np.maximum(sizes - 1.0, 0))),
        "one-hot": (one_hot, (np.zeros(width), np.ones(width))),
    }


def measure(problem: Any, epsilons: list[float]) -> list[dict[str, Any]]:
    """One entry per encoding, fold, epsilon and model."""
    labels, classes = problem["labels"], problem["classes"]
    entries = []
    for encoding, (matrix, bounds) in encodings(problem["codes"], problem["sizes"]).items():
        for repeat, folds in enumerate(problem["folds"]):
            for number in np.unique(folds[folds >= 0]):
                training = folds != number
                for epsilon in epsilons:
                    for name, model in models(epsilon, bounds, classes).items():
                        start = time.perf_counter()
                        model.fit(matrix[training], labels[training])
                        seconds = time.perf_counter() - start
                        predicted = model.predict(matrix[~training])
                        entries.append(
                            {
                                "method": name,
                                "encoding": encoding,
                                "repeat": repeat,
                                "fold": int(number),
                                "epsilon": epsilon,
                                "accuracy": float((predicted == labels[~training]).mean()),
                                "seconds": seconds,
                            }
                        )
    return entries


def main() -> None:
    """Read the problem, measure, print."""
    from diffprivlib.utils import PrivacyLeakWarning

    warnings.simplefilter("error", PrivacyLeakWarning)
    problem = np.load(sys.argv[1], allow_pickle=False)
    json.dump(measure(problem, [float(text) for text in sys.argv[2:]]), sys.stdout)


if __name__ == "__main__":
    main()
