"""The one door to the engine: everything that pages and the command line may call.

Who calls decides what may be called: see :mod:`dpcore.service.base`.
"""

from __future__ import annotations

from dpcore.service.budgets import Budgets
from dpcore.service.class_rooms import ClassRoomsOfUser
from dpcore.service.dataset_upkeep import DatasetUpkeep
from dpcore.service.datasets import DEMO_BUDGET
from dpcore.service.imports import Imports
from dpcore.service.public_truth import PublicTruth
from dpcore.service.rehearsals import Rehearsals
from dpcore.service.tokens import Tokens

__all__ = ["DEMO_BUDGET", "Service"]


class Service(DatasetUpkeep, Budgets, Rehearsals, Imports, PublicTruth, Tokens, ClassRoomsOfUser):
    """Data sets, budgets, runs, releases and classrooms of one installation, as one user sees them."""
