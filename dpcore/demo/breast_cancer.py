"""The breast cancer data of scikit-learn, with a public domain declared by hand.

Bounds and edges in ``breast_cancer.yaml`` are round numbers that hold every published value.
The records have been public since 1995, so nothing is lost by knowing them when choosing; for
private data bounds must come from knowledge of the field, never from the records.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer

from dpcore.demo.truth import Demo, PlantedCondition, markdown_table
from dpcore.domain.schemas.schema import Schema

_SHOWN = (
    PlantedCondition("mean_concave_points", ">", 0.05),
    PlantedCondition("mean_radius", ">", 16),
    PlantedCondition("mean_perimeter", ">", 100),
    PlantedCondition("mean_concavity", ">", 0.1),
    PlantedCondition("mean_texture", ">", 20),
)


def make_breast_cancer() -> Demo:
    """Make the data set ``breast_cancer`` from the ten mean measurements."""
    loaded = load_breast_cancer(as_frame=True)
    frame = loaded.data.filter(regex="^mean ").rename(columns=lambda name: name.replace(" ", "_"))
    labels = np.asarray(loaded.target_names, dtype=object)
    frame["diagnosis"] = labels[loaded.target.to_numpy()]
    schema = Schema.from_file(Path(__file__).with_name("breast_cancer.yaml"))
    return Demo(frame, schema, _truth(frame), "breast_cancer")


def _truth(frame: pd.DataFrame) -> str:
    malignant = (frame["diagnosis"] == "malignant").to_numpy()
    rows = []
    for condition in _SHOWN:
        held = condition.holds(frame)
        share = 100 * np.mean(malignant[held])
        rows.append([str(condition), f"{np.count_nonzero(held):,}", f"{share:.1f}%"])
    return "\n\n".join(
        [
            "### What is true of `breast_cancer`",
            f"**{len(frame):,} samples, {np.count_nonzero(malignant)} of them malignant** "
            f"({100 * np.mean(malignant):.1f}%). Nothing was planted here: these are real "
            "measurements, published in 1995. Some conditions taken alone:",
            markdown_table(["condition", "samples", "malignant"], rows),
            "With so few samples, expect a private list to be rough when epsilon is small.",
        ]
    )
