"""The suites, each a declaration: by name, with the module that holds it and what it measures."""

from __future__ import annotations

from importlib import import_module
from typing import Final

from benchmarks.declared import Suite

SUITES: Final[dict[str, tuple[str, str]]] = {
    "rules": ("rules", "rule lists on three data sets, beside a thesis and greedy lists with smooth sensitivity"),
    "rule-counts": ("rules", "rule lists of 1 to 8 rules: how many there are, and AUC"),
    "trees": ("trees", "accuracy of trees and forests on four data sets, beside each other and diffprivlib"),
    "trees-chances": ("trees", "how well trees and forests separate chances where an outcome is rare"),
    "ebm": ("ebm", "boosting machines on five data sets, beside the paper and interpret"),
    "ebm-coverage": ("ebm", "how often the noise bands of boosting machines hold, rare outcomes included"),
    "redescriptions": ("redescriptions", "redescriptions on four data sets, beside published methods and no privacy"),
    "ilp": ("ilp", "how many generated trains relational rules need, beside published methods and no privacy"),
    "ilp-data": ("ilp", "relational rules on published relational data, on patients and on beneficiaries"),
    "records": ("records", "AUC on six tables with rare outcomes or few records, beside private rivals"),
    "persons": ("records", "AUC with three rows, one row and summaries of people who come again"),
    "summaries": ("looks", "errors and intervals of first looks, beside evenly shared histograms"),
    "associations": ("looks", "how often the intervals of Cramér's V in first looks hold"),
    "cuts": ("after_looks", "trees, forests and rule lists with the cut points of a first look"),
    "invented": ("after_looks", "invented records of first looks, beside AIM and MST of SmartNoise and dpmm"),
    "invented-models": ("after_looks", "models trained on invented records, beside private models of real ones"),
    "learned": ("budgets", "how far privately learned deciles of twenty columns are off"),
    "budget": ("budgets", "how many runs fit into a cap, added and composed"),
    "budget-errors": ("budgets", "what the room gained by composition is worth on Adult"),
    "unspent": ("budgets", "what mined rule lists, greedy trees and reductions leave of their budget"),
    "rehearsal": ("rehearsal", "whether what rehearsals reach tells what private runs reach"),
    "costs": ("growth", "seconds and memory that runs are forecast to take, beside what they take"),
    "growth": ("growth", "seconds and memory of single fits as rows grow"),
    "scale": ("scale", "seconds and memory at ten million people, beside DuckDB and Polars"),
    "clusters": ("scale", "Dask workers beside threads, and what crosses the wires"),
    "ledger": ("storage", "seconds of a reservation while many processes spend at once, some of them killed"),
    "intake": ("storage", "rows a second of storing a CSV file and a PostgreSQL table, beside DuckDB"),
    "app": ("app", "seconds until a person sees an answer, and what pages take with 200 results"),
    "app-reading": ("app", "seconds until redescriptions follow a moved threshold and a clicked point"),
    "app-first-look": ("app", "seconds from choosing a data set to twenty columns on the screen"),
}


def find(name: str) -> Suite:
    """A suite by its name."""
    module = import_module(f"benchmarks.suites.{SUITES[name][0]}")
    found: Suite = next(own for own in vars(module).values() if isinstance(own, Suite) and own.name == name)
    return found
