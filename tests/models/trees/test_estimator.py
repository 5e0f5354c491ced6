"""The scikit-learn side of trees and forests, beside what holds for every estimator."""

from __future__ import annotations

import inspect

import pytest

from dpcore.models.trees.learning.estimator import DPForestClassifier, DPTreeClassifier
from dpcore.models.trees.released.parameters import ForestParameters, TreeParameters
from tests.support.estimators import CASES

BOTH = [(DPTreeClassifier, TreeParameters), (DPForestClassifier, ForestParameters)]
#: A cheap setting of every way to learn.
SETTINGS = [
    *[(DPTreeClassifier, {"method": m}) for m in ("adiffp", "diffp_id3", "diffp_c45", "sulq_id3")],
    (DPTreeClassifier, {"blocks": (2,)}),
    (DPTreeClassifier, {"blocks": (1, 1), "criterion": "gini"}),
    (DPForestClassifier, {"trees": 5}),
    (DPForestClassifier, {"method": "random_trees", "sharing": "split", "trees": 5}),
]


@pytest.mark.parametrize(("kind", "parameters"), BOTH)
def test_every_parameter_is_a_keyword_with_its_default(kind, parameters):
    shared = {"self", "epsilon", "schema", "target", "accountant", "random_state"}
    keywords = inspect.signature(kind.__init__).parameters
    assert set(keywords) - shared == set(parameters.model_fields)
    for name, field in parameters.model_fields.items():
        expected = False if name == "evaluate" else field.default
        assert keywords[name].default == expected, name
        assert keywords[name].kind is inspect.Parameter.KEYWORD_ONLY
        assert name in kind.__doc__


@pytest.mark.parametrize(("kind", "settings"), SETTINGS)
def test_every_way_to_learn_predicts_what_its_release_says(kind, settings):
    case = CASES[kind.__name__]
    model = kind(epsilon=100, schema=case.schema, random_state=2, **settings)
    model.fit(case.rows, case.truth)
    assert model.score(case.rows, case.truth) > 0.7
    codes = model.model_.predict(case.rows, case.schema)
    assert model.predict(case.rows).tolist() == model.classes_[codes].tolist()
    for name, value in settings.items():
        released = model.release_.parameters[name]
        assert (tuple(released) if isinstance(released, list) else released) == value
