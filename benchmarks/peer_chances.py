"""Chances of the second class by diffprivlib's models, run in an environment that has it.

``python peer_chances.py PROBLEM.npz SCORES.npy EPSILON ...`` prints one JSON entry per fit and writes the scores of
the test records, one row per entry. It imports nothing of this project. The problem holds ``codes`` (n_rows,
n_columns), ``sizes`` (n_columns,), ``labels`` (n_rows,) of 0 and 1, and ``tests`` (n_splits, n_rows), all of one size.
Bounds, norms and classes are public, so nothing leaks: a record has one cell in each column.
"""

from __future__ import annotations

import json
import sys
import warnings
from typing import Any

import numpy as np


def models(epsilon: float, columns: int, width: int) -> dict[str, Any]:
    """Fresh models by name, with the program's own settings."""
    from diffprivlib.models import LogisticRegression, RandomForestClassifier
    from diffprivlib.models.forest import DecisionTreeClassifier

    public = {"epsilon": epsilon, "bounds": (np.zeros(width), np.ones(width)), "classes": np.array([0, 1])}
    return {
        "diffprivlib tree": DecisionTreeClassifier(**public),
        "diffprivlib forest": RandomForestClassifier(shuffle=True, **public),
        "diffprivlib logistic regression": LogisticRegression(
            epsilon=epsilon, data_norm=float(np.sqrt(columns)), max_iter=500
        ),
    }


def main() -> None:
    """Read the problem, fit, write and print."""
    from diffprivlib.utils import PrivacyLeakWarning

    warnings.simplefilter("ignore")
    warnings.simplefilter("error", PrivacyLeakWarning)
    problem = np.load(sys.argv[1], allow_pickle=False)
    codes, sizes, labels = problem["codes"], problem["sizes"], problem["labels"]
    hot = np.concatenate([np.eye(size)[own] for own, size in zip(codes.T, sizes, strict=True)], axis=1)
    entries, scores = [], []
    for number, test in enumerate(problem["tests"]):
        for epsilon in map(float, sys.argv[3:]):
            for method, model in models(epsilon, codes.shape[1], hot.shape[1]).items():
                model.fit(hot[~test], labels[~test])
                scores.append(model.predict_proba(hot[test])[:, 1])
                entries.append({"method": method, "epsilon": epsilon, "split": number})
    np.save(sys.argv[2], np.stack(scores))
    json.dump(entries, sys.stdout)


if __name__ == "__main__":
    main()
