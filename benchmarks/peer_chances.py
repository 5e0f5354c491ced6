"""Chances of the second class by diffprivlib's models, run in an environment that has it.

``python peer_chances.py PROBLEM.npz SCORES.npy EPSILON ...`` prints one JSON entry per fit and writes the scores of
the test records, one row per entry. It imports nothing of this project. The problem holds ``codes`` (n_rows,
n_columns), ``sizes`` (n_columns,), ``labels`` (n_rows,) of 0 and 1, and ``tests`` (n_splits, n_rows), all of one size.
Every model is fitted in each encoding, and the method of an entry names it. Bounds, norms and classes are public, so
nothing leaks: a record has one cell in each column.
"""

from __future__ import annotations

import json
import sys
import warnings
from typing import Any

import numpy as np

ENCODINGS = ("one-hot", "ordinal")


def encoded(codes: Any, sizes: Any) -> dict[str, Any]:
    """Matrix of each encoding: all entries from 0 to 1, and no row longer than the root of the number of columns."""
    hot = [np.eye(size)[own] for own, size in zip(codes.T, sizes, strict=True)]
    ordinal = codes / np.maximum(np.asarray(sizes) - 1, 1)
    return dict(zip(ENCODINGS, (np.concatenate(hot, axis=1), ordinal), strict=True))


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
    codes, labels = problem["codes"], problem["labels"]
    entries, scores = [], []
    for encoding, matrix in encoded(codes, problem["sizes"]).items():
        for number, test in enumerate(problem["tests"]):
            for epsilon in map(float, sys.argv[3:]):
                for method, model in models(epsilon, codes.shape[1], matrix.shape[1]).items():
                    model.fit(matrix[~test], labels[~test])
                    scores.append(model.predict_proba(matrix[test])[:, 1])
                    entries.append({"method": f"{method}, {encoding}", "epsilon": epsilon, "split": number})
    np.save(sys.argv[2], np.stack(scores))
    json.dump(entries, sys.stdout)


if __name__ == "__main__":
    main()
