"""Twenty thousand invented patients of a hospital, with rows of three kinds about each.

Illnesses follow age; medicines and laboratory results follow illnesses. Whether a patient comes
back then follows the planted theory alone. Some patients have more rows of a kind than are kept;
none of their rows of that kind is one that the theory asks for, so that what it says of a patient
does not depend on which rows are kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import numpy as np
import pandas as pd

from dpcore.arrays import Array, Flags, Ints
from dpcore.demo.theories import Children, PlantedClause, PlantedTheory, asks, some
from dpcore.demo.truth import Demo
from dpcore.domain.schemas.schema import Schema
from dpcore.privacy.randomness import public_generator

PATIENTS: Final = 20_000
SEED: Final = 20_250_602
#: Share of the patients, of those to whom it may happen, with more rows than are kept.
_MANY: Final = 0.06
_KEY: Final = "patient_id"

_SCHEMA: Final = Schema.from_file(Path(__file__).with_name("hospital.yaml"))

Generator = np.random.Generator
#: Patients, as positions, and for each what stands in one row.
_Rows = tuple[Ints, dict[str, Array]]
#: Rows of which the first ones of each patient are used, and rows that may be too many.
_Parts = tuple[list[_Rows], _Rows]
_LIMITS: Final = {child.name: child.max_rows_per_person for child in _SCHEMA.children}
_DOSES: Final = {"low": 0.3, "usual": 0.5, "high": 0.2}
_WARDS: Final = {"emergency": 0.3, "medicine": 0.4, "surgery": 0.2, "intensive": 0.1}

PLANTED: Final = PlantedTheory(
    target="readmitted",
    classes=("no", "yes"),
    entity="patient",
    key=_KEY,
    clauses=(
        PlantedClause(
            units=(
                some(_SCHEMA, "prescription", "drug in anticoagulant"),
                some(_SCHEMA, "prescription", "drug in nsaid"),
            )
        ),
        PlantedClause(
            units=(
                some(_SCHEMA, "diagnosis", "code in kidney"),
                some(_SCHEMA, "measurement", "test = creatinine", "result = high"),
            )
        ),
        PlantedClause(
            asks(_SCHEMA, "", "age > 75"),
            (some(_SCHEMA, "diagnosis", "code in heart", "status = acute"),),
        ),
    ),
    chance=0.75,
    otherwise=0.10,
)


def make_hospital() -> Demo:
    """Make the data set ``hospital``: the same records at every call."""
    generator = public_generator(SEED)
    frame = _patients(generator)
    ill = _illnesses(frame, generator)
    parts = {
        "prescription": _prescriptions(ill, generator),
        "measurement": _measurements(ill, generator),
        "diagnosis": _diagnoses(ill, generator),
    }
    names = frame[_KEY].to_numpy()
    children = {table: _joined(table, parts[table], names, generator) for table in parts}
    frame["readmitted"] = PLANTED.draw(PLANTED.holds(frame, children), generator)
    ordered = frame[[_KEY, *(column.name for column in _SCHEMA)]]
    return Demo(ordered, _SCHEMA, _truth(ordered, children), "hospital", children=children)


def _chance(generator: Generator, chances: Array | float) -> Flags:
    return np.asarray(generator.random(PATIENTS) < chances)


def _patients(generator: Generator) -> pd.DataFrame:
    age = np.clip(np.rint(generator.normal(67, 14, PATIENTS)), 18, 99).astype(int)
    return pd.DataFrame(
        {
            _KEY: [f"H{number:05d}" for number in generator.permutation(PATIENTS)],
            "age": age,
            "sex": np.where(_chance(generator, 0.5), "male", "female").astype(object),
            "smoker": _chance(generator, np.where(age < 65, 0.28, 0.14)),
            "lives_alone": _chance(generator, np.where(age < 75, 0.22, 0.45)),
            "admission": np.where(_chance(generator, 0.6), "emergency", "planned").astype(object),
        }
    )


def _illnesses(frame: pd.DataFrame, generator: Generator) -> dict[str, Flags]:
    """Who has what: one flag per patient and illness."""
    old = np.clip((frame["age"].to_numpy() - 65) / 10, -3, 3)
    smoker = frame["smoker"].to_numpy()
    return {
        "acute heart": _chance(generator, 0.30 + 0.05 * old),
        "chronic heart": _chance(generator, 0.34 + 0.08 * old),
        "lung": _chance(generator, 0.18 + 0.15 * smoker),
        "pneumonia": _chance(generator, 0.10 + 0.01 * old),
        "kidney": _chance(generator, 0.28 + 0.02 * old),
        "diabetes": _chance(generator, 0.24 + 0.02 * old),
        "pain": _chance(generator, 0.45),
        "confusion": _chance(generator, 0.06 + 0.02 * old),
    }


def _rows(generator: Generator, chances: Array | float, **columns: dict[str, float] | tuple[str, ...]) -> _Rows:
    """At most one row per patient; of the labels of each column one is drawn."""
    chosen = np.flatnonzero(_chance(generator, chances))
    return chosen, _values(generator, len(chosen), columns)


def _values(
    generator: Generator, rows: int, columns: Mapping[str, dict[str, float] | tuple[str, ...]]
) -> dict[str, Array]:
    """Labels drawn for some rows: equally often, or with given chances."""
    values = {}
    for name, labels in columns.items():
        chances = list(labels.values()) if isinstance(labels, dict) else None
        values[name] = generator.choice(np.asarray(list(labels), dtype=object), rows, p=chances)
    return values


def _more(generator: Generator, unasked: Flags, rows: int, **columns: dict[str, float] | tuple[str, ...]) -> _Rows:
    """Many rows about a few of the patients that the theory says nothing about."""
    few = np.flatnonzero(unasked & _chance(generator, _MANY))
    chosen = np.repeat(few, rows)
    return chosen, _values(generator, len(chosen), columns)


def _prescriptions(ill: dict[str, Flags], generator: Generator) -> _Parts:
    """What the theory asks for stands first."""

    def drugs(chances: Array | float, *names: str, routes: tuple[str, ...] = ("oral",)) -> _Rows:
        return _rows(generator, chances, drug=names, daily_dose=_DOSES, route=routes)

    both = ("oral", "injection")
    clot = drugs(0.20 + 0.30 * ill["chronic heart"], "warfarin", "apixaban")
    ache = drugs(0.22 + 0.32 * ill["pain"], "ibuprofen", "diclofenac")
    heart = ill["acute heart"] | ill["chronic heart"]
    usual = [
        clot,
        ache,
        drugs(0.05 + 0.45 * heart, "furosemide", "spironolactone"),
        drugs(0.80 * ill["diabetes"], "metformin"),
        drugs(0.35 * ill["diabetes"], "insulin", routes=("injection",)),
        drugs(0.05 + 0.30 * ill["pain"], "morphine", "oxycodone", routes=both),
        drugs(0.05 + 0.60 * ill["lung"], "salbutamol", routes=("inhaled",)),
        drugs(0.05 + 0.60 * ill["pneumonia"], "amoxicillin", routes=both),
    ]
    more = _more(
        generator,
        _without(clot, ache),
        6,
        drug=("furosemide", "metformin", "amoxicillin"),
        daily_dose=_DOSES,
        route=("oral",),
    )
    return usual, more


def _measurements(ill: dict[str, Flags], generator: Generator) -> _Parts:
    """A test may be repeated, with another result; high creatinine stands first."""

    def results(chances: Array | float, test: str, low: float, high: float) -> _Rows:
        shares = {"low": low, "normal": 1 - low - high, "high": high}
        return _rows(generator, chances, test=(test,), result=shares, ward=_WARDS)

    kidney, sweet = ill["kidney"], ill["diabetes"]
    high = results(0.24 + 0.22 * kidney, "creatinine", 0.0, 1.0)
    usual = [
        high,
        results(0.55, "creatinine", 0.05, 0.0),
        results(0.60, "potassium", 0.15, 0.15),
        results(0.60, "sodium", 0.20, 0.05),
        results(0.55, "haemoglobin", 0.30, 0.05),
        results(0.20 + 0.70 * sweet, "glucose", 0.05, 0.60),
        results(0.05 + 0.15 * ~sweet, "glucose", 0.10, 0.10),
        results(0.25 + 0.65 * ill["pneumonia"], "crp", 0.0, 0.50),
        results(0.10 + 0.60 * ill["acute heart"], "troponin", 0.0, 0.40),
        results(0.25, "albumin", 0.40, 0.0),
    ]
    more = _more(
        generator,
        _without(high),
        8,
        test=("creatinine", "potassium", "glucose", "crp"),
        result=("normal",),
        ward=("intensive",),
    )
    return usual, more


def _diagnoses(ill: dict[str, Flags], generator: Generator) -> _Parts:
    """What the theory asks for stands first; illnesses that it does not ask for, after."""

    def codes(chances: Array | float, status: str, *names: str) -> _Rows:
        return _rows(generator, chances, code=names, status=(status,))

    acute = codes(1.0 * ill["acute heart"], "acute", "I21", "I48", "I50")
    kidney = _rows(generator, 1.0 * ill["kidney"], code=("N17", "N18"), status=("acute", "chronic"))
    usual = [
        acute,
        kidney,
        codes(1.0 * ill["chronic heart"], "chronic", "I25", "I48", "I50"),
        codes(1.0 * ill["lung"], "chronic", "J44", "J45"),
        codes(1.0 * ill["pneumonia"], "acute", "J18"),
        codes(1.0 * ill["diabetes"], "chronic", "E10", "E11", "E11", "E11"),
        codes(1.0 * ill["confusion"], "acute", "F05"),
        codes(0.05 + 0.25 * ill["pain"], "chronic", "M17"),
        codes(0.08, "acute", "S72"),
        codes(0.05, "chronic", "C50"),
    ]
    more = _more(generator, _without(acute, kidney), 6, code=("J18", "F05", "S72"), status=("acute",))
    return usual, more


def _without(*parts: _Rows) -> Flags:
    """Patients who have none of these rows."""
    return ~np.isin(np.arange(PATIENTS), np.concatenate([chosen for chosen, _ in parts]))


def _joined(table: str, parts: _Parts, names: Array, generator: Generator) -> pd.DataFrame:
    """A child table in random order: of what is usual, the first rows of each patient, and more."""
    usual, more = parts
    frame = pd.concat([_frame(part) for part in usual], ignore_index=True)
    frame = frame[frame.groupby("patient").cumcount() < _LIMITS[table]]
    frame = pd.concat([frame, _frame(more)], ignore_index=True)
    frame = frame.iloc[generator.permutation(len(frame))].reset_index(drop=True)
    frame.insert(0, _KEY, names[frame.pop("patient").to_numpy()])
    return frame


def _frame(rows: _Rows) -> pd.DataFrame:
    patients, values = rows
    return pd.DataFrame({"patient": patients, **values})


def _truth(frame: pd.DataFrame, children: Children) -> str:
    """What was planted, in Markdown, with counts taken from the records themselves."""
    rows = ", ".join(f"{len(children[child.name]):,} of {child.name}" for child in _SCHEMA.children)
    beyond = [_beyond(children[child.name], child.max_rows_per_person) for child in _SCHEMA.children]
    return "\n\n".join(
        [
            "### What is true of `hospital`",
            f"A program invented these **{len(frame):,} patients** and the rows about them: "
            f"{rows} and {len(children['diagnosis']):,} diagnoses. Who comes back was drawn for "
            f"each patient: with a chance of **{100 * PLANTED.chance:.0f}%** where one of the "
            f"clauses below holds, and of **{100 * PLANTED.otherwise:.0f}%** elsewhere.",
            PLANTED.to_markdown(frame, children),
            "Conditions in one pair of brackets must hold for **one and the same row**. The "
            "first clause asks for two prescriptions, the second for rows of two tables.",
            f"In each table, {min(beyond):,} to {max(beyond):,} patients have more rows than are "
            "kept. None of these rows is one that a clause asks for, so that clauses hold for "
            "the same patients whichever rows are kept.",
            "All other columns and rows influence the target only through the clauses above.",
        ]
    )


def _beyond(rows: pd.DataFrame, limit: int) -> int:
    return int((rows[_KEY].value_counts() > limit).sum())
