"""Standard concepts of the OMOP vocabularies that come with the program, in lists with their sources."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

_TABLE = Path(__file__).parents[1] / "standards" / "omop.csv"


@cache
def concepts(of: str) -> dict[str, str]:
    """Names of the concepts of a list, by their numbers."""
    with _TABLE.open(encoding="utf-8", newline="") as file:
        return {line["concept_id"]: line["name"] for line in csv.DictReader(file) if line["list"] == of}
