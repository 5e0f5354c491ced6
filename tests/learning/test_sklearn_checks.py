"""scikit-learn's own checks of estimators, all of them, on every classifier and the regressor.

None is expected to fail. In the short form each check is made of one estimator, of another each time, and of the
others in the long form: they share what most of the checks are about, ``sklearn_base``. The checks know no schema, so
they run on inferred ones, without any privacy. Their few hundred rows and an accuracy that they ask for need an epsilon
under which noise is small; everything else holds for any.
"""

from __future__ import annotations

from itertools import groupby

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from dpcore.models.ebm.learning.ebm_estimator import DPEBMClassifier, DPEBMRegressor
from dpcore.models.ilp.learning.ilp_estimator import DPILPClassifier
from dpcore.models.rules.learning.rule_list_estimator import DPRuleListClassifier
from dpcore.models.trees.learning.tree_estimator import DPForestClassifier, DPTreeClassifier

ESTIMATORS = [
    DPRuleListClassifier(100, pool_size=500, max_antecedent_length=1),
    DPTreeClassifier(100, blocks=(2, 1)),
    DPForestClassifier(100, trees=5),
    DPEBMClassifier(100, epochs=2),
    DPEBMRegressor(100, epochs=2),
    DPILPClassifier(100, max_literals=2),
]


def _checks():
    """Every check by its name, with the estimators that it is made of."""
    every = [(estimator, check) for own in ESTIMATORS for estimator, check in estimator_checks_generator(own)]
    return {name: list(same) for name, same in groupby(sorted(every, key=_name), _name)}


def _name(case):
    """Name of a check, with what it is given."""
    check = case[1]
    given = [f"{value}" for value in check.keywords.values()]
    return "-".join([check.func.__name__, *given])


CHECKS = _checks()


@pytest.mark.parametrize("name", CHECKS)
@pytest.mark.filterwarnings("ignore::dpcore.errors.PrivacyLeakWarning")
def test_scikit_learn_checks(name):
    same, turn = CHECKS[name], list(CHECKS).index(name)
    estimator, check = same[turn % len(same)]
    check(estimator)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [type(own) for own in ESTIMATORS])
@pytest.mark.filterwarnings("ignore::dpcore.errors.PrivacyLeakWarning")
def test_scikit_learn_checks_of_one_estimator(kind):
    for estimator, check in (one for same in CHECKS.values() for one in same if type(one[0]) is kind):
        check(estimator)
