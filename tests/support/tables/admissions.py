"""An invented table of hospital admissions as hospitals really export them.

Wrong case, ranges as text, several codes for what is missing, repeated people, dates, codes of
diagnoses: what a first guess from a header gets wrong.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

_DIAGNOSES = ["I21.4", "I50.9", "J44.1", "E11.9", "N18.3", "K57.3", "C34.1", "S72.0", "F32.1", "Z51.1"]
_DRUGS = 16
_FLAGS = 8


def admissions(rows: int = 2000, seed: int = 1) -> pd.DataFrame:
    """Admissions of fewer people, in 50 columns."""
    draw = np.random.default_rng(seed)
    people = draw.integers(10_000, 10_000 + rows * 7 // 10, rows)
    admitted = pd.Timestamp("2019-01-01") + pd.to_timedelta(draw.integers(0, 1400, rows), unit="D")
    stay = draw.poisson(4, rows) + 1
    columns: dict[str, object] = {
        "encounter_id": np.arange(1, rows + 1) + 200_000,
        "patient_nbr": people,
        "race": draw.choice(
            ["Caucasian", "AfricanAmerican", "Asian", "Other", "?"], rows, p=[0.7, 0.18, 0.05, 0.05, 0.02]
        ),
        "gender": draw.choice(["Female", "Male", "Unknown/Invalid"], rows, p=[0.53, 0.46, 0.01]),
        "age": [f"[{low}-{low + 10})" for low in 10 * draw.integers(0, 10, rows)],
        "admission_date": admitted.strftime("%Y-%m-%d"),
        "discharge_date": (admitted + pd.to_timedelta(stay, unit="D")).strftime("%Y-%m-%d"),
        "admission_type_id": draw.choice([1, 2, 3, 5, 6], rows),
        "discharge_disposition_id": draw.choice([1, 3, 6, 11], rows, p=[0.7, 0.15, 0.12, 0.03]),
        "time_in_hospital": stay,
        "num_lab_procedures": draw.integers(1, 100, rows),
        "num_medications": draw.integers(1, 60, rows),
        "number_outpatient": draw.poisson(0.4, rows),
        "number_emergency": draw.poisson(0.2, rows),
        "number_inpatient": draw.poisson(0.6, rows),
        "systolic_bp": np.where(draw.random(rows) < 0.1, -9, draw.normal(135, 20, rows).round()).astype(int),
        "creatinine_mg_dl": np.where(draw.random(rows) < 0.1, 99, draw.gamma(4, 0.3, rows).round(2)),
        "bmi": draw.normal(27, 5, rows).round(1),
        "smoking_status": draw.choice(["NEVER", "Former", "current", "None"], rows),
        "insurance": draw.choice(["public", "Private ", "self pay"], rows),
        "primary_diagnosis": draw.choice(_DIAGNOSES, rows),
        "secondary_diagnosis": draw.choice([*_DIAGNOSES, "?"], rows),
        "discharge_note": [f"seen by team {number}" for number in draw.integers(0, 10**6, rows)],
        "max_glu_serum": draw.choice(["None", "Norm", ">200", ">300"], rows, p=[0.9, 0.05, 0.03, 0.02]),
        "readmitted": draw.choice(["NO", ">30", "<30"], rows, p=[0.54, 0.35, 0.11]),
    }
    for number in range(_DRUGS):
        columns[f"drug_{number + 1:02d}"] = draw.choice(["No", "Steady", "Up", "Down"], rows, p=[0.8, 0.14, 0.04, 0.02])
    for number in range(_FLAGS):
        columns[f"has_condition_{number + 1}"] = draw.choice(["Y", "N"], rows, p=[0.2, 0.8])
    columns["survived"] = draw.choice([1, 0], rows, p=[0.95, 0.05])
    return pd.DataFrame(columns)
