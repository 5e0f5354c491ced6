"""Rival programs, run in environments that have them: ``python peer.py PROGRAM WHAT PROBLEM.npz ANSWER.npz``.

It imports nothing of this project, because these programs need other versions of what the project needs. A problem
holds ``epsilon``, ``delta`` and the records: for models ``apart`` (n_rows,), those that are predicted and not learned
from. All bounds and classes are public, so nothing leaks, and a warning that something does is an error.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

ENCODINGS = ("one-hot", "ordinal")


def diffprivlib(what: str, problem: Any) -> dict[str, Any]:
    """Classes and chances of the second one, by a model in an encoding: ``"tree, one-hot"``.

    The problem holds ``codes`` (n_rows, n_columns), ``sizes`` (n_columns,), ``labels`` (n_rows,) and ``classes``.
    """
    from diffprivlib.models import LogisticRegression, RandomForestClassifier
    from diffprivlib.models.forest import DecisionTreeClassifier
    from diffprivlib.utils import PrivacyLeakWarning

    warnings.simplefilter("ignore")
    warnings.simplefilter("error", PrivacyLeakWarning)
    name, _, encoding = what.partition(", ")
    matrix = encoded(encoding, problem["codes"], problem["sizes"])
    epsilon, width, apart = float(problem["epsilon"]), matrix.shape[1], problem["apart"]
    public = {"epsilon": epsilon, "bounds": (np.zeros(width), np.ones(width)), "classes": problem["classes"]}
    if name == "logistic regression":
        norm = float(np.sqrt(problem["codes"].shape[1]))  # A record has one cell in each column.
        model = LogisticRegression(epsilon=epsilon, data_norm=norm, max_iter=500)
    elif name == "forest":
        model = RandomForestClassifier(shuffle=True, **public)
    else:
        model = DecisionTreeClassifier(**public)
    seconds = timed(lambda: model.fit(matrix[~apart], problem["labels"][~apart]))
    found = {"classes": model.predict(matrix[apart]), "seconds": seconds}
    if len(problem["classes"]) == 2:
        found["scores"] = model.predict_proba(matrix[apart])[:, 1]
    return found


def encoded(encoding: str, codes: Any, sizes: Any) -> Any:
    """Matrix of an encoding: all entries from 0 to 1, and no row longer than the root of the number of columns."""
    if encoding == "ordinal":
        return codes / np.maximum(np.asarray(sizes) - 1, 1)
    return np.concatenate([np.eye(size)[own] for own, size in zip(codes.T, sizes, strict=True)], axis=1)


def interpret(what: str, problem: Any) -> dict[str, Any]:
    """Predictions of a boosting machine, ``private`` or ``plain``: the probability of the second class, or the number.

    The problem holds ``names``, ``continuous``, ``lower`` and ``upper`` (n_columns,), ``column_0`` ... (n_rows,),
    ``target`` (n_rows,) and ``target_bounds`` (2,), which is empty for classes 0 and 1. It is fitted once to warm up.
    """
    import pandas as pd

    warnings.filterwarnings("error", message=".*rivacy")
    frame = pd.DataFrame({name: problem[f"column_{i}"] for i, name in enumerate(problem["names"].tolist())})
    apart, target, make = problem["apart"], problem["target"], machine(what, problem)
    if problem["warm"]:
        make().fit(frame[~apart], target[~apart])
    model = make()
    seconds = timed(lambda: model.fit(frame[~apart], target[~apart]))
    numeric = len(problem["target_bounds"]) > 0
    return {
        "scores": model.predict(frame[apart]) if numeric else model.predict_proba(frame[apart])[:, 1],
        "seconds": seconds,
    }


def machine(what: str, problem: Any) -> Callable[[], Any]:
    """How to make a fresh one, with what the schema declares."""
    from interpret import glassbox, privacy

    kind = "Regressor" if len(problem["target_bounds"]) else "Classifier"
    continuous = problem["continuous"].tolist()
    kinds = ["continuous" if number else "nominal" for number in continuous]
    if what == "plain":
        plain = getattr(glassbox, f"ExplainableBoosting{kind}")
        return lambda: plain(interactions=0, outer_bags=1, feature_types=kinds)
    ranges = zip(problem["lower"].tolist(), problem["upper"].tolist(), strict=True)
    public: dict[str, Any] = {
        "epsilon": float(problem["epsilon"]),
        "delta": float(problem["delta"]),
        "composition": "gdp",
        "feature_types": kinds,
        "privacy_bounds": {place: pair for place, pair in enumerate(ranges) if continuous[place]},
    }
    if len(problem["target_bounds"]):
        low, high = problem["target_bounds"].tolist()
        public |= {"privacy_target_min": low, "privacy_target_max": high}
    private = getattr(privacy, f"DPExplainableBoosting{kind}")
    return lambda: private(**public)


def smartnoise(what: str, problem: Any) -> dict[str, Any]:
    """Invented records of AIM or MST of SmartNoise, with cells from ``sizes`` alone.

    The problem holds ``codes`` (n_rows, n_columns), in the cells of public bins, and ``sizes`` (n_columns,).
    """
    from functools import partialmethod

    from mbi import MarkovRandomField
    from snsynth import Synthesizer
    from snsynth.transform import LabelTransformer, TableTransformer

    # Its default in mbi 1.1.0 deals values out in the order of rows within a group, without shuffling: columns that
    # follow the same one go together then, whatever was measured.
    MarkovRandomField.synthetic_data = partialmethod(MarkovRandomField.synthetic_data, method="sample")
    codes, sizes, start = problem["codes"], problem["sizes"], time.process_time()
    public = TableTransformer([LabelTransformer(nullable=False) for _ in sizes])
    public.fit([tuple(int(min(row, size - 1)) for size in sizes) for row in range(int(max(sizes)))])
    synthesizer = Synthesizer.create(what, epsilon=float(problem["epsilon"]), delta=float(problem["delta"]))
    synthesizer.fit([tuple(map(int, row)) for row in codes], transformer=public)
    records = np.asarray(synthesizer.sample(len(codes)), dtype=np.int64)
    return {"codes": records, "seconds": time.process_time() - start}


def dpmm(what: str, problem: Any) -> dict[str, Any]:
    """The same of dpmm, without its own binning."""
    import pandas as pd
    from dpmm.pipelines import AIMPipeline, MSTPipeline

    kind = {"aim": AIMPipeline, "mst": MSTPipeline}[what]
    codes, sizes, start = problem["codes"], problem["sizes"], time.process_time()
    chosen = {"epsilon": float(problem["epsilon"]), "delta": float(problem["delta"])}
    pipeline = kind(**chosen, disable_processing=True, n_jobs=1)
    names = [f"c{place}" for place in range(len(sizes))]
    pipeline.fit(pd.DataFrame(codes, columns=names), domain=dict(zip(names, map(int, sizes), strict=True)))
    records = pipeline.generate(n_records=len(codes))[names].to_numpy().astype(np.int64)
    return {"codes": records, "seconds": time.process_time() - start}


PROGRAMS = {"diffprivlib": diffprivlib, "interpret": interpret, "smartnoise": smartnoise, "dpmm": dpmm}


def timed(work: Callable[[], object]) -> float:
    """Seconds by the clock."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


if __name__ == "__main__":
    program, asked, told, answer = sys.argv[1:]
    warnings.simplefilter("ignore")
    np.savez(answer, **PROGRAMS[program](asked, dict(np.load(told, allow_pickle=False))))
