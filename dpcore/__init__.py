"""Frostglass engine: interpretable models of private tables, with exact differential privacy.

What a program needs stands here and is loaded when it is first used::

    from dpcore import BudgetAccountant, DPTreeClassifier, Schema
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from dpcore.accountant import BudgetAccountant
    from dpcore.ebm.estimator import DPEBMClassifier, DPEBMRegressor
    from dpcore.ilp.estimator import DPILPClassifier
    from dpcore.redescriptions.estimator import RedescriptionMiner
    from dpcore.rules.estimator import DPRuleListClassifier
    from dpcore.schema import Schema
    from dpcore.trees.estimator import DPForestClassifier, DPTreeClassifier

__version__ = "0.1.0"
__all__ = [
    "BudgetAccountant",
    "DPEBMClassifier",
    "DPEBMRegressor",
    "DPForestClassifier",
    "DPILPClassifier",
    "DPRuleListClassifier",
    "DPTreeClassifier",
    "RedescriptionMiner",
    "Schema",
]
_MODULES: Final = {
    "BudgetAccountant": "dpcore.accountant",
    "DPEBMClassifier": "dpcore.ebm.estimator",
    "DPEBMRegressor": "dpcore.ebm.estimator",
    "DPForestClassifier": "dpcore.trees.estimator",
    "DPILPClassifier": "dpcore.ilp.estimator",
    "DPRuleListClassifier": "dpcore.rules.estimator",
    "DPTreeClassifier": "dpcore.trees.estimator",
    "RedescriptionMiner": "dpcore.redescriptions.estimator",
    "Schema": "dpcore.schema",
}


def __getattr__(name: str) -> Any:
    """Load what is asked for by name: importing the package itself stays quick."""
    if name not in _MODULES:
        raise AttributeError(f"module 'dpcore' has no attribute '{name}'")
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
