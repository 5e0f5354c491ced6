"""Frostglass engine: interpretable models of private tables, with exact differential privacy.

What a program needs stands here and is loaded when it is first used::

    from dpcore import BudgetAccountant, DPTreeClassifier, Schema
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from dpcore.version import __version__ as __version__

if TYPE_CHECKING:
    from dpcore.client import Client
    from dpcore.domain.schemas.schema import Schema
    from dpcore.models.convergence import chain_courses
    from dpcore.models.ebm.learning.ebm_estimator import DPEBMClassifier, DPEBMRegressor
    from dpcore.models.ilp.learning.ilp_estimator import DPILPClassifier
    from dpcore.models.redescriptions.learning.redescription_estimator import RedescriptionMiner
    from dpcore.models.rules.learning.rule_list_estimator import DPRuleListClassifier
    from dpcore.models.summaries.learning.summary_estimator import DPSummary
    from dpcore.models.trees.learning.tree_estimator import DPForestClassifier, DPTreeClassifier
    from dpcore.privacy.accountant import BudgetAccountant
    from dpcore.report.notebook import figures

__all__ = [
    "BudgetAccountant",
    "Client",
    "DPEBMClassifier",
    "DPEBMRegressor",
    "DPForestClassifier",
    "DPILPClassifier",
    "DPRuleListClassifier",
    "DPSummary",
    "DPTreeClassifier",
    "RedescriptionMiner",
    "Schema",
    "chain_courses",
    "figures",
]
_MODULES: Final = {
    "BudgetAccountant": "dpcore.privacy.accountant",
    "Client": "dpcore.client",
    "DPEBMClassifier": "dpcore.models.ebm.learning.ebm_estimator",
    "DPEBMRegressor": "dpcore.models.ebm.learning.ebm_estimator",
    "DPForestClassifier": "dpcore.models.trees.learning.tree_estimator",
    "DPILPClassifier": "dpcore.models.ilp.learning.ilp_estimator",
    "DPRuleListClassifier": "dpcore.models.rules.learning.rule_list_estimator",
    "DPSummary": "dpcore.models.summaries.learning.summary_estimator",
    "DPTreeClassifier": "dpcore.models.trees.learning.tree_estimator",
    "RedescriptionMiner": "dpcore.models.redescriptions.learning.redescription_estimator",
    "Schema": "dpcore.domain.schemas.schema",
    "chain_courses": "dpcore.models.convergence",
    "figures": "dpcore.report.notebook",
}


def __getattr__(name: str) -> Any:
    """Load what is asked for by name: importing the package itself stays quick."""
    if name not in _MODULES:
        raise AttributeError(f"module 'dpcore' has no attribute '{name}'")
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]


def _show_in_notebooks() -> None:
    """Let IPython show releases as reports do; what makes them is loaded with the first one."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is not None:
        as_html = shell.display_formatter.formatters["text/html"].for_type_by_name
        as_html("dpcore.released.release", "Release", lambda it: import_module("dpcore.report.notebook").shown(it))


_show_in_notebooks()
