"""Check-ups of twelve thousand invented people, with redescriptions that we wrote down.

Diagnoses on the left follow age, sex and weight. For each planted redescription it is then drawn
who satisfies its right query, and laboratory values are drawn on that side of the thresholds;
within a side they follow age, illness and medicines. A test that shows nothing may not have been
ordered: values are missing only where they would not satisfy the query.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import ndtr, ndtri

from dpcore.arrays import Array, Flags, Texts
from dpcore.demo.truth import (
    Demo,
    PlantedList,
    PlantedRedescription,
    PlantedRule,
    Query,
    redescriptions_table,
    when,
)
from dpcore.domain.schemas.schema import Schema
from dpcore.privacy.randomness import public_generator

PEOPLE = 12_000
SEED = 20_250_411

Generator = np.random.Generator

PLANTED = (
    PlantedRedescription(
        name="blood sugar",
        left=Query((when("diabetes = yes"), when("prediabetes = yes"))),
        right=Query((when("hba1c > 5.6"), when("fasting_glucose > 5.5"))),
        jaccard=0.85,
        caught=0.94,
    ),
    PlantedRedescription(
        name="kidneys",
        left=Query((when("kidney_disease = yes"),)),
        right=Query((when("egfr <= 59"),)),
        jaccard=0.80,
        caught=0.92,
    ),
    PlantedRedescription(
        name="heart",
        left=Query((when("heart_failure = yes"), when("atrial_fibrillation = yes"))),
        right=Query((when("nt_probnp > 400"),)),
        jaccard=0.75,
        caught=0.88,
    ),
    PlantedRedescription(
        name="blood pressure",
        left=Query((when("hypertension = yes"),)),
        right=Query((when("systolic_bp > 139"), when("diastolic_bp > 89"))),
        jaccard=0.70,
        caught=0.84,
    ),
    PlantedRedescription(
        name="cholesterol",
        left=Query((when("high_cholesterol = yes", "statin = no"),)),
        right=Query((when("ldl > 3.4"),)),
        jaccard=0.65,
        caught=0.85,
    ),
)


def _risk(chance: float, *texts: str) -> PlantedRule:
    return PlantedRule(when(*texts), (1 - chance, chance))


ADMITTED = PlantedList(
    target="admitted_within_year",
    classes=("no", "yes"),
    rules=(
        _risk(0.55, "heart_failure = yes", "egfr <= 59"),
        _risk(0.40, "copd = yes", "crp > 10"),
        _risk(0.35, "nt_probnp > 900"),
        _risk(0.25, "age > 80"),
        _risk(0.18, "diabetes = yes", "hba1c > 8"),
        _risk(0.06),
    ),
)


def make_checkups() -> Demo:
    """Make the data set ``checkups``: the same records at every call."""
    generator = public_generator(SEED)
    frame, weight = _background(generator)
    frame = _medicines(frame, generator)
    held = {item.name: item.draw(frame, generator) for item in PLANTED}
    frame["bmi"] = weight
    values = _Values(frame, generator)
    _sugar(values, held["blood sugar"])
    _kidneys(values, held["kidneys"])
    _heart(values, held["heart"])
    _pressure(values, held["blood pressure"])
    _lipids(values, held["cholesterol"])
    _others(values)
    _unasked(values)
    frame[ADMITTED.target] = ADMITTED.draw(frame, generator) == 1
    frame["person_id"] = [f"C{number:05d}" for number in generator.permutation(PEOPLE)]
    schema = Schema.from_file(Path(__file__).with_name("checkups.yaml"))
    ordered = frame[["person_id", *(column.name for column in schema)]]
    return Demo(ordered, schema, _truth(ordered), "checkups", PLANTED)


def _chance(generator: Generator, log_odds: Array) -> Flags:
    return np.asarray(generator.random(len(log_odds)) < 1 / (1 + np.exp(-log_odds)))


def _levels(generator: Generator, labels: tuple[str, ...], *log_odds: Array) -> Texts:
    """One of several ordered labels: ``log_odds`` of passing from each to the next."""
    level = np.zeros(len(log_odds[0]), dtype=int)
    for step, odds in enumerate(log_odds):
        level += (level == step) & _chance(generator, odds)
    return np.asarray(np.asarray(labels, dtype=object)[level])


def _background(generator: Generator) -> tuple[pd.DataFrame, Array]:
    """Background and diagnoses of each person, and the body mass index behind some of them."""
    age = np.clip(np.rint(generator.normal(60, 13, PEOPLE)), 30, 95)
    male = generator.random(PEOPLE) < 0.49
    old, ones = (age - 60) / 10, np.ones(PEOPLE)
    weight = np.round(np.clip(generator.normal(27.6, 4.8, PEOPLE), 15, 58), 1)
    heavy = (weight - 27.6) / 4.8
    smoking = _levels(generator, ("never", "former", "current"), 0.3 * male, -0.2 - 0.4 * old)
    smoked = (smoking != "never").astype(float)
    family = _chance(generator, -1.3 * ones)
    diabetes = _chance(generator, -2.0 + 0.25 * old + 0.6 * heavy + 0.8 * family)
    before = _chance(generator, -1.7 + 0.2 * old + 0.5 * heavy + 0.5 * family) & ~diabetes
    pressure = _chance(generator, -0.25 + 0.5 * old + 0.35 * heavy)
    cholesterol = _chance(generator, -0.75 + 0.2 * old + 0.15 * heavy)
    coronary = _chance(generator, -2.9 + 0.6 * old + 0.5 * male + 0.5 * smoked + 0.5 * cholesterol)
    failure = _chance(generator, -3.5 + 0.6 * old + 0.9 * coronary + 0.3 * pressure)
    frame = pd.DataFrame(
        {
            "age": age.astype(int),
            "sex": np.where(male, "male", "female").astype(object),
            "smoking": smoking,
            "alcohol": _levels(generator, ("little", "moderate", "heavy"), 0.1 * ones, -1.8 + male),
            "activity": _levels(generator, ("low", "moderate", "high"), 0.8 - 0.5 * old, -1 * ones),
            "family_diabetes": family,
            "hypertension": pressure,
            "diabetes": diabetes,
            "prediabetes": before,
            "high_cholesterol": cholesterol,
            "coronary_disease": coronary,
            "heart_failure": failure,
            "atrial_fibrillation": _chance(generator, -3.1 + 0.7 * old + 0.6 * failure),
            "kidney_disease": _chance(generator, -3.1 + 0.7 * old + 0.5 * diabetes + 0.4 * pressure),
            "copd": _chance(generator, -3.6 + 0.3 * old + 1.5 * smoked),
            "arthritis": _chance(generator, -1.5 + 0.5 * old + 0.3 * heavy - 0.2 * male),
            "depression": _chance(generator, -1.9 - 0.1 * old - 0.4 * male),
        }
    )
    return frame, weight


def _medicines(frame: pd.DataFrame, generator: Generator) -> pd.DataFrame:
    """What each person takes, given the diagnoses."""
    ill = {name: frame[name].to_numpy(dtype=float) for name in frame if frame[name].dtype == bool}
    high, coronary = ill["high_cholesterol"], ill["coronary_disease"]
    statin = _chance(generator, -3.5 + 3.6 * high + 2.0 * coronary)
    drug = _chance(generator, -3.5 + 4.3 * ill["hypertension"] + 1.5 * ill["heart_failure"])
    count = generator.poisson(0.6 + 0.9 * sum(ill.values())) + statin + drug
    return frame.assign(statin=statin, blood_pressure_drug=drug, medicines=np.clip(count, 0, 20).astype(int))


@dataclass(frozen=True)
class _Values:
    """Draws measurements of the people of a frame and writes them into it."""

    frame: pd.DataFrame
    generator: Generator

    def of(self, name: str) -> Array:
        """A column as numbers; yes is 1."""
        return self.frame[name].to_numpy(dtype=float)

    @property
    def old(self) -> Array:
        """Decades above sixty."""
        return (self.of("age") - 60) / 10

    def chance(self, share: float) -> Flags:
        """A coin per person."""
        return np.asarray(self.generator.random(len(self.frame)) < share)

    def between(self, low: Array | float, high: Array | float, mean: Array | float, spread: float) -> Array:
        """Normal values cut off at both ends, one per person."""
        low, high = np.asarray(low), np.asarray(high)
        first, last = ndtr((low - mean) / spread), ndtr((high - mean) / spread)
        drawn = first + (last - first) * self.generator.random(len(self.frame))
        return np.asarray(np.clip(mean + spread * ndtri(drawn), low, high))

    def beyond(
        self, above: Flags, edge: float, step: float, low: float, high: float, mean: Array | float, spread: float
    ) -> Array:
        """Values that, rounded to ``step``, lie above the edge where told so, else not above."""
        return self.between(
            np.where(above, edge + 0.51 * step, low),
            np.where(above, high, edge + 0.49 * step),
            mean,
            spread,
        )

    def put(self, name: str, values: Array, digits: int, missing: Flags | None = None) -> None:
        """Write a column, rounded, with gaps."""
        rounded = pd.Series(np.round(values, digits))
        column = rounded.astype("Int64") if digits == 0 else rounded
        self.frame[name] = column if missing is None else column.mask(missing)


def _either(values: _Values, held: Flags) -> tuple[Flags, Flags]:
    """For a query of two tests: who fails the first, who the second; mostly both."""
    draw = values.generator.random(len(held))
    return held & (draw < 0.8), held & (draw > 0.25)


def _sugar(values: _Values, held: Flags) -> None:
    long_term, fasting = _either(values, held)
    known, before = values.of("diabetes"), values.of("prediabetes")
    mean = 5.3 + 2.0 * known + 0.5 * before
    hba1c = values.beyond(long_term, 5.6, 0.1, 4.2, 13.5, mean, 0.8)
    glucose = values.beyond(fasting, 5.5, 0.1, 3.2, 19, mean + 0.1 + known, 1.0)
    asked = (known + before) > 0
    values.put("hba1c", hba1c, 1, ~long_term & values.chance(0.30) & ~asked)
    values.put("fasting_glucose", glucose, 1, ~fasting & values.chance(0.12))


def _kidneys(values: _Values, held: Flags) -> None:
    mean = 88 - 7 * values.old - 25 * values.of("kidney_disease")
    rate = values.beyond(~held, 59, 1, 5.5, 125, mean, 14)
    values.put("egfr", rate, 0, ~held & values.chance(0.06))


def _heart(values: _Values, held: Flags) -> None:
    ill = values.of("heart_failure") + 0.5 * values.of("atrial_fibrillation")
    mean = 4.3 + 0.35 * values.old + 1.6 * ill
    low = np.where(held, float(np.log(400.51)), float(np.log(8)))
    high = np.where(held, float(np.log(19_000)), float(np.log(400.49)))
    hormone = np.exp(values.between(low, high, mean, 0.9))
    suspected = (ill > 0) | (values.of("copd") > 0)
    values.put("nt_probnp", hormone, 0, ~held & values.chance(0.55) & ~suspected)


def _pressure(values: _Values, held: Flags) -> None:
    upper, lower = _either(values, held)
    treated = values.of("blood_pressure_drug")
    systolic = values.beyond(upper, 139, 1, 85, 235, 128 + 3 * values.old, 14)
    diastolic = values.beyond(lower, 89, 1, 45, 135, 80 - 2 * values.old - 2 * treated, 9)
    missing = ~held & values.chance(0.02)
    values.put("systolic_bp", systolic, 0, missing)
    values.put("diastolic_bp", diastolic, 0, missing)


def _lipids(values: _Values, held: Flags) -> None:
    heavy = (values.of("bmi") - 27.6) / 4.8
    statin, male = values.of("statin"), (values.frame["sex"] == "male").to_numpy(dtype=float)
    missing = ~held & values.chance(0.10)
    ldl = values.beyond(held, 3.4, 0.1, 0.7, 7.5, 2.9 - 0.8 * statin, 0.7)
    values.put("ldl", ldl, 1, missing)
    hdl = values.between(0.5, 3.2, 1.5 - 0.2 * male - 0.1 * heavy, 0.3)
    values.put("hdl", hdl, 1, missing)
    fat = np.exp(values.between(-1, 2.3, 0.25 + 0.2 * heavy + 0.15 * values.of("diabetes"), 0.45))
    values.put("triglycerides", fat, 1, missing)


def _others(values: _Values) -> None:
    """What follows age and illness without being planted."""
    old, generator = values.old, values.generator
    male = (values.frame["sex"] == "male").to_numpy(dtype=float)
    heavy = (values.of("bmi") - 27.6) / 4.8
    smokes = (values.frame["smoking"] == "current").to_numpy(dtype=float)
    blood = values.between(70, 190, 136 + 10 * male - 2 * old - 5 * values.of("kidney_disease"), 11)
    values.put("haemoglobin", blood, 0, values.chance(0.05))
    inflamed = 0.4 + 0.3 * heavy + 0.3 * smokes + 0.6 * values.of("copd") + 0.2 * values.of("arthritis")
    values.put("crp", np.exp(values.between(-2, 5.2, inflamed, 0.9)), 1, values.chance(0.30))
    liver = np.exp(values.between(1.8, 6, 3.05 + 0.12 * heavy + 0.15 * male, 0.4))
    values.put("alt", liver, 0, values.chance(0.15))
    pulse = 72 + 3 * smokes + 5 * values.of("atrial_fibrillation")
    values.put("heart_rate", values.between(42, 150, pulse, 10), 0, values.chance(0.02))
    outdoors = (values.frame["activity"] != "low").to_numpy(dtype=float)
    values.put(
        "vitamin_d",
        values.between(8, 180, 48 + 9 * outdoors - 3 * heavy, 20),
        0,
        values.chance(0.5),
    )
    values.put("bmi", values.of("bmi"), 1, generator.random(PEOPLE) < 0.03)


def _unasked(values: _Values) -> None:
    """Answers that some did not give."""
    for name, share in {"smoking": 0.04, "alcohol": 0.08, "activity": 0.10}.items():
        values.frame[name] = values.frame[name].mask(values.chance(share))


def _truth(frame: pd.DataFrame) -> str:
    """What was planted, in Markdown, with counts taken from the records themselves."""
    return "\n\n".join(
        [
            "### What is true of `checkups`",
            f"A program invented these **{len(frame):,} people**. Five redescriptions were "
            "planted: conditions on the left (background, diagnoses, medicines) and on the right "
            "(laboratory values, measurements) that hold for nearly the same people. For each, "
            "who satisfies the right side was drawn from who satisfies the left side and from "
            "nothing else. Conditions refer to recorded values; a missing value satisfies none.",
            redescriptions_table(PLANTED, frame),
            "The Jaccard index is the number of people in both, divided by the number in at least "
            "one. Within a side, values follow age, illness and medicines: so weaker "
            "redescriptions are true as well, such as `diabetes` and a still higher `hba1c`.",
            "**Missing values**: a test that would show nothing was not ordered for all: "
            "`nt_probnp` and `hba1c` mostly where nothing was suspected, the lipids together. "
            "`crp`, `alt`, `vitamin_d`, `haemoglobin`, `heart_rate`, `bmi`, `smoking`, `alcohol` "
            "and `activity` are missing at random.",
            f"**Target `{ADMITTED.target}`**, on neither side, was drawn from this rule list:",
            ADMITTED.to_markdown(frame),
        ]
    )
