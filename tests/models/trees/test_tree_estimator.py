"""The scikit-learn side of trees and forests, beside what holds for every estimator."""

from __future__ import annotations

from dpcore.models.trees.learning.tree_estimator import DPForestClassifier, DPTreeClassifier
from tests.support.learning.estimators import CASES
from tests.support.rows import for_each

#: A cheap setting of every way to learn.
SETTINGS = [
    *[(DPTreeClassifier, {"method": m}) for m in ("adiffp", "diffp_id3", "diffp_c45", "sulq_id3")],
    (DPTreeClassifier, {"blocks": (2,)}),
    (DPTreeClassifier, {"blocks": (1, 1), "criterion": "gini"}),
    (DPForestClassifier, {"trees": 5}),
    (DPForestClassifier, {"method": "random_trees", "sharing": "split", "trees": 5}),
]


@for_each(("kind", "settings"), SETTINGS)
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
