"""scikit-learn's own checks of estimators, all of them, on every classifier and the regressor.

None is expected to fail. The checks know no schema, so they run on inferred ones, without any
privacy. Their few hundred rows and an accuracy that they ask for need an epsilon under which noise
is small; everything else holds for any.
"""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from dpcore.models.ebm.learning.estimator import DPEBMClassifier, DPEBMRegressor
from dpcore.models.ilp.learning.estimator import DPILPClassifier
from dpcore.models.rules.learning.estimator import DPRuleListClassifier
from dpcore.models.trees.learning.estimator import DPForestClassifier, DPTreeClassifier

ESTIMATORS = [
    DPRuleListClassifier(100, pool_size=500, max_antecedent_length=1),
    DPTreeClassifier(100, blocks=(2, 1)),
    DPForestClassifier(100, trees=5),
    DPEBMClassifier(100, epochs=2),
    DPEBMRegressor(100, epochs=2),
    DPILPClassifier(100, max_literals=2),
]


@parametrize_with_checks(ESTIMATORS)
@pytest.mark.filterwarnings("ignore::dpcore.errors.PrivacyLeakWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)
