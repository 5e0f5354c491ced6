"""A domain so small that every rule list over it can be listed."""

from __future__ import annotations

from dpcore.domain.conditions import Condition
from dpcore.models.rules.learning.antecedents import Antecedents
from dpcore.models.rules.learning.prior import ListPrior
from tests.support.tables.small_tables import schema_of

COLUMNS = [
    {"name": "u", "type": "boolean"},
    {"name": "v", "type": "boolean"},
    {"name": "y", "type": "boolean", "target": True},
]


LITERALS = [
    Condition(column="u", first=1, last=1),
    Condition(column="v", first=1, last=1),
    Condition(column="v", first=0, last=0),
]
#: Antecedents: u = yes, v = yes, v = no, then u = yes and v = yes, u = yes and v = no.
ITEMSETS = [(0,), (1,), (2,), (0, 1), (0, 2)]
ALL = len(ITEMSETS)
PLAIN = [[("uv".index(LITERALS[i].column), LITERALS[i].first, LITERALS[i].last) for i in items] for items in ITEMSETS]
ROWS = [(1, 1, 1)] * 9 + [(1, 0, 1)] * 4 + [(0, 1, 0)] * 8 + [(0, 0, 0), (0, 0, 1), (1, 1, 0)]
SCHEMA = schema_of(COLUMNS, max_rows=40)
LAMBDA, ETA, LONGEST = 1.5, 1.0, 3


def antecedents(count=ALL):
    return Antecedents(LITERALS, ITEMSETS[:count])


def prior_of(count=ALL, longest=LONGEST):
    return ListPrior.build(antecedents(count), LAMBDA, ETA, longest)


TINY = schema_of(COLUMNS, max_rows=8)
