"""Twenty thousand invented patients, two outcomes drawn from rule lists that we wrote down.

Everything before the outcomes is made to look like admissions of a stroke service: chronic
illness grows with age, findings follow illness, and values are missing for reasons. The
outcomes then follow the planted lists exactly, on recorded values.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from dpcore.arrays import Flags, Floats, Texts
from dpcore.demo.truth import Demo, PlantedList, PlantedRule, when
from dpcore.domain.schemas.schema import Schema
from dpcore.privacy.randomness import public_generator

PATIENTS = 20_000
SEED = 20_250_301
#: Share of patients with one, two and three admissions.
_ADMISSIONS = (0.78, 0.16, 0.06)

Generator = np.random.Generator


def _risk(chance: float, *texts: str) -> PlantedRule:
    return PlantedRule(when(*texts), (1 - chance, chance))


STROKE = PlantedList(
    target="stroke_within_year",
    classes=("no", "yes"),
    rules=(
        _risk(0.70, "prior_tia = yes", "atrial_fibrillation = yes"),
        _risk(0.45, "atrial_fibrillation = yes", "anticoagulant = no"),
        _risk(0.35, "prior_tia = yes"),
        _risk(0.30, "systolic_bp > 180"),
        _risk(0.20, "age > 70", "hypertension = yes"),
        _risk(0.12, "diabetes = yes", "smoking = current"),
        _risk(0.03),
    ),
)

DISCHARGE = PlantedList(
    target="discharge",
    classes=("home", "rehabilitation", "care home", "died"),
    rules=(
        PlantedRule(when("nihss > 20"), (0.05, 0.25, 0.30, 0.40)),
        PlantedRule(when("age > 80", "nihss > 4"), (0.15, 0.25, 0.45, 0.15)),
        PlantedRule(when("nihss > 4"), (0.30, 0.55, 0.10, 0.05)),
        PlantedRule(when("admission = planned"), (0.96, 0.02, 0.01, 0.01)),
        PlantedRule(when("age > 80"), (0.60, 0.10, 0.22, 0.08)),
        PlantedRule((), (0.88, 0.06, 0.04, 0.02)),
    ),
)


def make_stroke() -> Demo:
    """Make the data set ``stroke``: the same records at every call."""
    generator = public_generator(SEED)
    patients = _patients(generator)
    visits = _admissions(patients, generator)
    frame = _with_gaps(_findings(visits, generator), generator)
    frame["stroke_within_year"] = STROKE.draw(frame, generator) == 1
    frame["discharge"] = np.asarray(DISCHARGE.classes, dtype=object)[DISCHARGE.draw(frame, generator)]
    schema = Schema.from_file(Path(__file__).with_name("stroke.yaml"))
    ordered = frame[["patient_id", *(column.name for column in schema)]]
    return Demo(ordered, schema, _truth(ordered), "stroke")


def _chance(generator: Generator, log_odds: Floats) -> Flags:
    return np.asarray(generator.random(len(log_odds)) < 1 / (1 + np.exp(-log_odds)))


def _choose(generator: Generator, labels: tuple[str, ...], weights: Floats) -> Texts:
    """One label per row of ``weights`` (n_rows, n_labels), in proportion to the weights."""
    cumulative = np.cumsum(weights / weights.sum(axis=1, keepdims=True), axis=1)[:, :-1]
    drawn = (generator.random(len(weights))[:, None] >= cumulative).sum(axis=1)
    return np.asarray(np.asarray(labels, dtype=object)[drawn])


def _patients(generator: Generator) -> pd.DataFrame:
    """What does not change between admissions: one row per patient."""
    age = np.clip(np.rint(generator.normal(66, 14, PATIENTS)), 18, 97)
    male = generator.random(PATIENTS) < 0.51
    old = (age - 65) / 10
    ones = np.ones(PATIENTS)
    smoking = np.column_stack([ones, 0.7 + 0.15 * male, 0.45 * np.exp(-0.35 * old)])
    drinking = np.column_stack([ones, 1.1 * ones, 0.10 + 0.08 * male])
    bmi = np.clip(generator.normal(27.5, 5.0, PATIENTS), 15, 58)
    hypertension = _chance(generator, -0.2 + 0.5 * old + 0.06 * (bmi - 27))
    diabetes = _chance(generator, -1.9 + 0.25 * old + 0.10 * (bmi - 27))
    fibrillation = _chance(generator, -2.4 + 0.65 * old + 0.3 * hypertension)
    return pd.DataFrame(
        {
            "patient_id": [f"P{number:05d}" for number in generator.permutation(PATIENTS)],
            "age": age.astype(int),
            "sex": np.where(male, "male", "female").astype(object),
            "smoking": _choose(generator, ("never", "former", "current"), smoking),
            "alcohol": _choose(generator, ("little", "moderate", "heavy"), drinking),
            "bmi": bmi,
            "hypertension": hypertension,
            "diabetes": diabetes,
            "atrial_fibrillation": fibrillation,
            "heart_failure": _chance(generator, -2.6 + 0.5 * old + 0.9 * fibrillation),
            "prior_tia": _chance(generator, -2.9 + 0.3 * old + 0.4 * hypertension),
            "cholesterol": generator.normal(5.1, 1.1, PATIENTS),
        }
    )


def _admissions(patients: pd.DataFrame, generator: Generator) -> pd.DataFrame:
    """One row per admission, in random order; the sicker come back no more often."""
    counts = generator.choice([1, 2, 3], size=PATIENTS, p=_ADMISSIONS)
    rows = generator.permutation(np.repeat(np.arange(PATIENTS), counts))
    return patients.iloc[rows].reset_index(drop=True)


def _findings(visits: pd.DataFrame, generator: Generator) -> pd.DataFrame:
    """What is measured or decided at each admission."""
    rows = len(visits)
    frame = visits.copy()
    old = (frame["age"].to_numpy() - 65) / 10
    pressure = generator.normal(132 + 18 * frame["hypertension"] + 2 * old, 17)
    sugar = np.exp(generator.normal(np.log(5.6 + 3.2 * frame["diabetes"]), 0.20))
    kidney = np.exp(generator.normal(4.4 + 0.06 * old + 0.15 * frame["heart_failure"], 0.28))
    frame["systolic_bp"] = np.clip(np.rint(pressure), 80, 240).astype(int)
    frame["glucose"] = np.round(np.clip(sugar, 2, 30), 1)
    frame["bmi"] = np.round(np.clip(frame["bmi"] + generator.normal(0, 0.4, rows), 14, 60), 1)
    frame["cholesterol"] = np.round(np.clip(frame["cholesterol"] + generator.normal(0, 0.2, rows), 2, 12), 1)
    frame["creatinine"] = np.clip(np.rint(kidney), 30, 800).astype(int)
    frame["activity"] = _choose(
        generator,
        ("low", "moderate", "high"),
        np.column_stack([np.exp(0.4 * old), np.ones(rows), 0.5 * np.exp(-0.4 * old)]),
    )
    fibrillation, attack, sweet = (
        frame[name].to_numpy(dtype=float) for name in ("atrial_fibrillation", "prior_tia", "diabetes")
    )
    blocked = _chance(generator, -3.2 + 3.4 * fibrillation)
    frame["anticoagulant"] = blocked
    frame["antiplatelet"] = _chance(generator, -1.6 + 1.8 * attack + 0.5 * sweet - 1.5 * blocked)
    return _pathway(frame, generator)


def _pathway(frame: pd.DataFrame, generator: Generator) -> pd.DataFrame:
    """Deficit on arrival, and with it the way in and the ward."""
    rows = len(frame)
    acute = generator.random(rows) < 0.28
    points = np.clip(np.rint(generator.gamma(1.5, 5.5, rows)), 1, 42).astype(int)
    frame["nihss"] = np.where(acute, points, 0)
    ways = [np.where(acute, 0.02, 0.45), np.where(acute, 0.83, 0.45), np.full(rows, 0.12)]
    frame["admission"] = _choose(generator, ("planned", "emergency", "transfer"), np.column_stack(ways))
    cardiac = (frame["atrial_fibrillation"] | frame["heart_failure"]).to_numpy(dtype=float)
    ones = np.ones(rows)
    weights = [0.25 + 0.2 * acute, 0.15 + 1.2 * acute, 0.10 + 0.8 * cardiac, 0.6 * ones]
    frame["ward"] = _choose(generator, ("emergency", "neurology", "cardiology", "general"), np.column_stack(weights))
    return frame


def _with_gaps(frame: pd.DataFrame, generator: Generator) -> pd.DataFrame:
    """Remove values: at random, by the way in, by ward, and by the patient's own state."""
    urgent = (frame["admission"] != "planned").to_numpy()
    general = (frame["ward"] == "general").to_numpy()
    speechless = (frame["nihss"] > 15).to_numpy()
    chances = {
        "cholesterol": np.full(len(frame), 0.08),
        "bmi": np.where(urgent, 0.15, 0.02),
        "glucose": np.where(general, 0.10, 0.02),
        "smoking": np.where(speechless, 0.40, 0.05),
        "alcohol": np.where(speechless, 0.45, 0.10),
        "activity": np.where(speechless, 0.50, 0.12),
        "systolic_bp": np.full(len(frame), 0.01),
        "antiplatelet": np.where(urgent, 0.06, 0.01),
    }
    gappy = frame.astype({"systolic_bp": "Int64", "antiplatelet": "boolean"})
    for name, chance in chances.items():
        gappy[name] = gappy[name].mask(generator.random(len(frame)) < chance)
    return gappy


def _truth(frame: pd.DataFrame) -> str:
    """What was planted, in Markdown, with counts taken from the records themselves."""
    people = frame["patient_id"].nunique()
    return "\n\n".join(
        [
            "### What is true of `stroke`",
            f"A program invented these **{len(frame):,} admissions of {people:,} patients**. "
            "Both targets were drawn, independently for each admission, from the two rule lists "
            "below: the first rule that fits decides the chance. Rules refer to recorded values; "
            "a missing value fits no condition. A private rule list should come near these "
            "lists, but it sees at most two admissions of each patient, chooses from a limited "
            "number of conditions, and is noisy on purpose.",
            f"**Target `{STROKE.target}`**",
            STROKE.to_markdown(frame),
            f"**Target `{DISCHARGE.target}`**",
            DISCHARGE.to_markdown(frame),
            "**Missing values**: `cholesterol` and `systolic_bp` at random; `bmi` and "
            "`antiplatelet` mostly for unplanned admissions; `glucose` mostly on the general "
            "ward; `smoking`, `alcohol` and `activity` mostly for patients too ill to be asked "
            "(`nihss > 15`).",
            "All other columns influence the targets only through the conditions above.",
        ]
    )
