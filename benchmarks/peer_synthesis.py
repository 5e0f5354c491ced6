"""Invented records of other programs, run in environments that have them.

``python peer_synthesis.py PROBLEM.npz RECORDS.npz METHOD EPSILON DELTA`` prints JSON with the seconds
of a core for fit and draw. It imports nothing of this project, because these programs need other versions of what the
project needs. The problem holds ``codes`` (n_rows, n_columns), in the cells of public bins, and ``sizes``
(n_columns,), how many cells there are; the records have the same form and the same number of rows.
"""

from __future__ import annotations

import contextlib
import json
import sys
import time
import warnings
from typing import Any

import numpy as np
import pandas as pd


def smartnoise(name: str, codes: Any, sizes: Any, epsilon: float, delta: float) -> Any:
    """AIM or MST of SmartNoise, with cells from ``sizes`` alone."""
    from functools import partialmethod

    from mbi import MarkovRandomField
    from snsynth import Synthesizer
    from snsynth.transform import LabelTransformer, TableTransformer

    # Its default in mbi 1.1.0 deals values out in the order of rows within a group, without shuffling: columns that
    # follow the same one go together then, whatever was measured.
    MarkovRandomField.synthetic_data = partialmethod(MarkovRandomField.synthetic_data, method="sample")
    public = TableTransformer([LabelTransformer(nullable=False) for _ in sizes])
    longest = int(max(sizes))
    public.fit([tuple(int(min(row, size - 1)) for size in sizes) for row in range(longest)])
    synthesizer = Synthesizer.create(name, epsilon=epsilon, delta=delta)
    synthesizer.fit([tuple(map(int, row)) for row in codes], transformer=public)
    return np.asarray(synthesizer.sample(len(codes)), dtype=np.int64)


def dpmm(name: str, codes: Any, sizes: Any, epsilon: float, delta: float) -> Any:
    """AIM or MST of dpmm, without its own binning."""
    from dpmm.pipelines import AIMPipeline, MSTPipeline

    kind = {"aim": AIMPipeline, "mst": MSTPipeline}[name]
    pipeline = kind(epsilon=epsilon, delta=delta, disable_processing=True, n_jobs=1)
    names = [f"c{place}" for place in range(len(sizes))]
    pipeline.fit(pd.DataFrame(codes, columns=names), domain=dict(zip(names, map(int, sizes), strict=True)))
    return pipeline.generate(n_records=len(codes))[names].to_numpy().astype(np.int64)


PROGRAMS = {"smartnoise": smartnoise, "dpmm": dpmm}


def main() -> None:
    """Read the problem, fit, draw, write and print."""
    warnings.simplefilter("ignore")
    problem = np.load(sys.argv[1], allow_pickle=False)
    program, _, name = sys.argv[3].partition(" ")
    epsilon, delta = map(float, sys.argv[4:6])
    start = time.process_time()
    with contextlib.redirect_stdout(sys.stderr):
        records = PROGRAMS[program](name, problem["codes"], problem["sizes"], epsilon, delta)
    np.savez(sys.argv[2], codes=records)
    json.dump({"seconds": time.process_time() - start}, sys.stdout)


if __name__ == "__main__":
    main()
