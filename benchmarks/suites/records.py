"""Tables with rare outcomes or few records, beside private rivals and no privacy; and people with several rows.

People with rows in a further table, for relational rules, are made here, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from benchmarks import privatree, smooth_lists
from benchmarks.datasets import load
from benchmarks.declared import Quick, Suite
from benchmarks.problems import RARE, Split, diffprivlib, fifth_of_each, fitted, interpret, split
from benchmarks.processes import asked
from benchmarks.results import VARIANT, Cell, Layout, Result
from benchmarks.suites.rules import greedy
from dpcore import DPSummary
from dpcore.data.building.ingest import frame_chunks, ingest
from dpcore.domain.schemas.schema import Schema
from dpcore.models.summaries.released.summary_parameters import axes_of
from dpcore.models.summaries.released.synthesis import Source, draw_codes
from dpcore.privacy.randomness import SeededRandom, permutation, public_generator

DELTA: Final = 1e-6
#: Seconds by the clock that AIM may take for one table of records.
_AIM_SECONDS: Final = 1800.0
#: Scores of the records set aside at an epsilon.
Way = Callable[[Split, float], Any]


def _house(family: str, **chosen: Any) -> Way:
    """A learner with its defaults, and the rivals' delta where it has one."""
    delta = {"delta": DELTA} if family == "ebm" else {}
    return lambda own, epsilon: fitted(own.table, family, epsilon, {**chosen, **delta}).chances(own.frame)[:, 1]


def regressed_on_look(own: Split, epsilon: float) -> Any:
    """A regression trained on invented records of a first look that knows how every column goes with the target."""
    data = own.one.data
    look = DPSummary(epsilon=epsilon, schema=data.schema, delta=DELTA, by=data.target, records=True)
    model = look.fit(data.frame[own.learn]).model_
    codes = draw_codes(Source(model), int(own.learn.sum()), np.random.default_rng())
    places = {axis.column: place for place, axis in enumerate(axes_of(data.schema, None))}
    training = np.stack([codes[places[column.name]] for column in own.one.columns], axis=1)
    return regressed(own, training, codes[places[data.target]] == 1)


def _aim(own: Split, epsilon: float) -> Any:
    """The same regression on records of a rival."""
    codes = np.column_stack([own.one.codes, own.one.truth])[own.learn]
    problem = {"codes": codes, "sizes": [*own.one.sizes, 2], "epsilon": epsilon, "delta": DELTA}
    made = asked("smartnoise", "aim", problem, _AIM_SECONDS)["codes"]
    return regressed(own, made[:, :-1], made[:, -1] == 1)


def regressed(own: Split, training: Any, truth: Any) -> Any:
    """Scores of the records set aside by a logistic regression on other records: one column for each cell."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import OneHotEncoder

    if truth.all() or not truth.any():
        return np.zeros(int(own.apart.sum()))
    hot = OneHotEncoder(categories=[np.arange(size) for size in own.one.sizes])
    model = LogisticRegression(max_iter=500).fit(hot.fit_transform(training), truth)
    return model.predict_proba(hot.transform(own.one.codes[own.apart]))[:, 1]


def _privatree(*, sound: bool) -> Way:
    def scores(own: Split, epsilon: float) -> Any:
        one, truth = own.one, (own.one.truth == 1).astype(np.int64)
        known = one.codes[own.learn], one.sizes, one.ordered, truth[own.learn]
        return privatree.scores(*known, epsilon, one.codes[own.apart], sound=sound)

    return scores


def _classifier(name: str, **chosen: Any) -> Way:
    def scores(own: Split, _: float) -> Any:
        from sklearn import ensemble, tree

        kind = getattr(tree, name, None) or getattr(ensemble, name)
        model = kind(random_state=0, **chosen).fit(own.one.codes[own.learn], own.one.truth[own.learn])
        return model.predict_proba(own.one.codes[own.apart])[:, 1]

    return scores


def _diffprivlib(what: str) -> Way:
    return lambda own, epsilon: diffprivlib(own, what, epsilon)["scores"]


_RIVALS: Final[dict[str, Way]] = {
    "interpret DP-EBM": lambda own, epsilon: interpret(own, epsilon, DELTA)["scores"],
    **{
        f"diffprivlib {model}{VARIANT}{encoding}]": _diffprivlib(f"{model}, {encoding}")
        for model in ("tree", "forest", "logistic regression")
        for encoding in ("one-hot", "ordinal")
    },
    "SmartNoise AIM, then regression": _aim,
}
_PLAIN: Final[dict[str, Way]] = {
    "logistic regression, not private": lambda own, _: regressed(
        own, own.one.codes[own.learn], own.one.truth[own.learn] == 1
    ),
    "tree, not private": _classifier("DecisionTreeClassifier", max_depth=5, min_samples_leaf=10),
    "gradient boosting, not private": _classifier("HistGradientBoostingClassifier"),
    "interpret EBM, not private": lambda own, _: interpret(own, None, DELTA)["scores"],
}
_WAYS: Final[dict[str, Way]] = {
    "tree": _house("tree"),
    "rule list": _house("rule_list"),
    "forest": _house("forest"),
    "forest of ten trees": _house("forest", trees=10),
    "shape functions": _house("ebm"),
    "first look, then regression": regressed_on_look,
    **_RIVALS,
    **{
        f"rule list, {smooth_lists.name(noise)}": lambda own, epsilon, noise=noise: greedy(own, epsilon, noise)
        for noise in smooth_lists.NOISES
    },
    "PrivaTree, budget divided among columns": _privatree(sound=True),
    "PrivaTree as its program has it (not private)": _privatree(sound=False),
    **_PLAIN,
}


def _measure(cell: Cell, _: Mapping[str, Any]) -> dict[str, float]:
    own = split(cell.data, fifth_of_each, cell.seed)
    return {"AUC": own.area(_WAYS[cell.method](own, cell.epsilon or 0.0))}


def _twenty(own: Result) -> bool:
    return own.n >= 20


_SHOWN: Final = {"columns": ("data",), "rows": ("epsilon", "method"), "digits": 3}

RECORDS = Suite(
    "records",
    _measure,
    tuple(RARE),
    tuple(_WAYS),
    [Layout(**_SHOWN, where=lambda own: not _twenty(own)), Layout(**_SHOWN, title="Twenty splits", where=_twenty)],
    (0.1, 1.0, 4.0),
    seeds=5,
    plain=tuple(_PLAIN),
    programs=dict.fromkeys((*_RIVALS, "interpret EBM, not private"), "apart"),
    quick=Quick(epsilons=(1.0,)),
)

TARGET: Final = "back soon"
PEOPLE: Final = 10_000
_COLUMNS: Final[list[dict[str, Any]]] = [
    {
        "name": "age",
        "type": "integer",
        "lower": 18,
        "upper": 98,
        "bins": 8,
        "derive": {"years_from": "born", "to": "admitted"},
    },
    {
        "name": "days",
        "type": "integer",
        "lower": 0,
        "upper": 30,
        "edges": [1, 3, 7, 14],
        "derive": {"days_from": "admitted", "to": "discharged"},
    },
    {"name": "diagnosis", "type": "categorical", "derive": {"code": "code", "system": "icd10", "level": "chapter"}},
    {"name": "lactate", "type": "real", "lower": 0, "upper": 8, "edges": [1, 2, 4]},
    {"name": "intensive care", "type": "boolean"},
    {"name": TARGET, "type": "boolean", "target": True},
]
_SUMMARIES: Final[list[dict[str, Any]]] = [
    {"name": "stays", "type": "integer", "lower": 1, "upper": 9, "edges": [1, 2, 4], "summary": "count"},
    {"name": "ever intensive care", "type": "boolean", "derive": {"column": "intensive care"}, "summary": "any"},
    {**_COLUMNS[3], "name": "highest lactate", "derive": {"column": "lactate"}, "summary": "maximum"},
]
_LAST: Final = {"keep": "last", "order_by": "admitted"}
#: What is kept of a person.
WAYS: Final[dict[str, tuple[dict[str, Any], list[dict[str, Any]]]]] = {
    "three rows": ({"max_rows_per_person": 3}, _COLUMNS),
    "one row": ({}, _COLUMNS),
    "last row": (_LAST, _COLUMNS),
    "last row, summaries": (_LAST, [*_COLUMNS, *_SUMMARIES]),
}


def admissions(people: int, seed: int) -> pd.DataFrame:
    """Invented admissions, one a row, in the order of their dates.

    People are admitted once to nine times, and whether they come back within a month depends on them and on the stay.
    """
    draw = public_generator(seed)
    frail = draw.normal(size=people)
    who = np.repeat(np.arange(people), np.minimum(1 + draw.poisson(np.exp(0.5 + 0.6 * frail)), 9))
    rows, own = len(who), frail[who]
    born = pd.Timestamp("1970-01-01") - pd.to_timedelta(draw.integers(-9000, 15_000, people) + 2000 * frail, unit="D")
    admitted = pd.Timestamp("2022-01-01") + pd.to_timedelta(draw.integers(0, 1000, rows), unit="D")
    days = draw.poisson(np.exp(1.2 + 0.3 * own))
    lactate = np.exp(0.3 + 0.4 * own + 0.4 * draw.normal(size=rows)).round(1)
    intensive = draw.random(rows) < 1 / (1 + np.exp(2 - own))
    score = -1.2 + 1.2 * own + 0.12 * np.minimum(days, 10) + 0.5 * intensive
    frame = pd.DataFrame(
        {
            "who": who,
            "born": born[who].strftime("%Y-%m-%d"),
            "admitted": admitted.strftime("%Y-%m-%d"),
            "discharged": (admitted + pd.to_timedelta(days, unit="D")).strftime("%Y-%m-%d"),
            "code": draw.choice(["I21.4", "I50.9", "J44.1", "E11.9", "N18.3", "K57.3", "S72.0"], rows),
            "lactate": lactate,
            "intensive care": intensive,
            TARGET: draw.random(rows) < 1 / (1 + np.exp(-score)),
        }
    )
    return frame.sort_values("admitted", ignore_index=True)


def _schema_of(way: str) -> Schema:
    unit, columns = WAYS[way]
    content = {"name": "admissions", "max_rows": 3 * PEOPLE, "holdout_percent": 0, "columns": columns}
    return Schema.from_mapping({**content, "privacy_unit": {"column": "who", **unit}})


def _measure_persons(cell: Cell, _: Mapping[str, Any]) -> dict[str, float]:
    """Of a fifth of the people: whether the last stay will be followed by another. Noise is seeded."""
    rows = admissions(PEOPLE, cell.seed)
    apart, source, schema = rows["who"] % 5 == 0, SeededRandom(cell.seed), _schema_of(cell.data)
    fit = fitted(ingest(frame_chunks(rows[~apart]), schema, source), cell.method, cell.epsilon, seed=cell.seed)
    test = ingest(frame_chunks(rows[apart]), _schema_of("last row, summaries"), source).public_frame()
    return {"AUC": float(roc_auc_score(test[TARGET] == "yes", fit.chances(test)[:, 1]))}


PERSONS = Suite(
    "persons",
    _measure_persons,
    tuple(WAYS),
    ("rule_list", "tree", "ebm"),
    [Layout(rows=("method", "epsilon"), columns=("data",), digits=3)],
    (0.1, 0.5, 2.0),
    seeds=20,
    quick=Quick(epsilons=(0.5,), seeds=3),
)

#: Of invented patients, and the share of them who come back soon.
_PATIENTS, _SHARE, _BACK = 20_000, 0.06, "back_soon"
_STAY: Final[list[dict[str, Any]]] = [
    {"name": "days", "type": "integer", "lower": 0, "upper": 30, "edges": [1, 3, 7, 14]},
    {"name": "lactate", "type": "real", "lower": 0, "upper": 8, "edges": [1, 2, 4]},
    {"name": "intensive_care", "type": "boolean"},
]


def _asking(entity: str, rows: int, own: list[dict[str, Any]], target: str, child: dict[str, Any]) -> Schema:
    """A main table with one child table."""
    columns = [*own, {"name": target, "type": "boolean", "target": True}]
    content = {"name": entity, "entity": entity, "max_rows": rows, "holdout_percent": 0, "columns": columns}
    return Schema.from_mapping({**content, "privacy_unit": {"column": "who"}, "children": [child]})


@lru_cache(maxsize=1)
def stays(seed: int) -> tuple[Schema, pd.DataFrame, pd.DataFrame]:
    """Schema, last stays, one a person, and all stays before them, of those whose last one is known.

    Those who come back within a month are thinned out.
    """
    rows = admissions(_PATIENTS, seed).rename(columns={"intensive care": "intensive_care", TARGET: _BACK})
    rows["intensive_care"] = np.where(rows["intensive_care"], "yes", "no")
    rows["days"] = (pd.to_datetime(rows["discharged"]) - pd.to_datetime(rows["admitted"])).dt.days
    rows["age"] = (pd.to_datetime(rows["admitted"]) - pd.to_datetime(rows["born"])).dt.days // 365
    last = ~rows.duplicated("who", keep="last")
    main, source = rows[last], SeededRandom(seed)
    back, others = np.flatnonzero(main[_BACK]), np.flatnonzero(~main[_BACK])
    kept = back[permutation(source, len(back))[: round(_SHARE / (1 - _SHARE) * len(others))]]
    main = main.iloc[np.sort(np.concatenate([others, kept]))]
    age = {"name": "age", "type": "integer", "lower": 18, "upper": 98, "bins": 8}
    child = {"name": "earlier_stay", "max_rows_per_person": 8, "columns": _STAY}
    schema = _asking("patient", _PATIENTS, [age, *_STAY], _BACK, child)
    return schema, main, rows[~last & rows["who"].isin(main["who"])]


_CONDITIONS: Final = (
    *("esrd", "alzheimer", "heart_failure", "chronic_kidney_disease", "cancer", "copd", "depression", "diabetes"),
    *("ischemic_heart_disease", "osteoporosis", "arthritis", "stroke_tia"),
)
#: Dollars paid, with cut points.
_PAID: Final = {
    "MEDREIMB_IP": [1, 8_000, 20_000],
    "MEDREIMB_OP": [100, 1_000, 5_000],
    "MEDREIMB_CAR": [500, 2_000, 5_000],
}
_OF_PEOPLE: Final = ("birth_year", "sex", "race")


@lru_cache(maxsize=3)
def years(outcome: str) -> tuple[Schema, pd.DataFrame, pd.DataFrame]:
    """Schema, one row for each beneficiary of whom 2010 is known, and a row for each of the two years before."""
    data, target = load("cms"), f"{outcome}_2010"
    known = data.frame[data.frame[target].notna()].reset_index(drop=True).rename_axis("who").reset_index()
    has = known[target].astype(str).isin(("1", "1.0", "True", "yes"))  # How the files may say so.
    columns = (*_CONDITIONS, *_PAID)
    rows = [
        known[["who", *(f"{name}_{year}" for name in columns)]].set_axis(["who", *columns], axis=1).assign(year=year)
        for year in (2008, 2009)
    ]
    paid = [{"name": n, "type": "real", "lower": 0, "upper": 50_000, "edges": e} for n, e in _PAID.items()]
    child = {
        "name": "year",
        "max_rows_per_person": 2,
        "keep": "last",
        "order_by": "year",
        "columns": [*({"name": name, "type": "boolean"} for name in _CONDITIONS), *paid],
    }
    own = [column for column in data.schema.to_mapping()["columns"] if column["name"] in _OF_PEOPLE]
    schema = _asking("beneficiary", data.schema.max_rows, own, target, child)
    return schema, known[["who", *_OF_PEOPLE]].assign(**{target: has}), pd.concat(rows, ignore_index=True)
