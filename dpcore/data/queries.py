"""The questions that families share, with their sensitivities, and the kernels that answer them.

A kernel finds integers in one partition; the answer is their sum over all of them.

Proofs are in ``docs/privacy/rule-list.md``; ``tests/data/test_queries.py`` holds a witness pair of
neighbours for each sensitivity and a search for one that exceeds it. Sensitivities are for
one row added or removed; a person with several rows is covered by
:func:`dpcore.privacy.budgets.row_epsilon`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dpcore.arrays import Array, Flags, Ints, Words
from dpcore.compiled import kernel
from dpcore.data.bits import capture_rule, count_bits, remaining_classes
from dpcore.data.counting import count_codes
from dpcore.data.packing import unpack
from dpcore.data.partition import Partition
from dpcore.data.table import PrivateTable
from dpcore.domain.schemas.schema import Part
from dpcore.errors import RequestError
from dpcore.privacy.sensitivity import Sensitivity

#: A row is captured by exactly one rule of a list (the default included) and has one class: one entry moves by one. So
#: the k rows of a person move all entries together by at most k in L1, and in L2, which Gaussian noise goes by.
CAPTURES = Sensitivity(1, "L1", monotone=True)


#: Bit vectors of some rules over the records of a partition: shape (n_rules, n_words).
Vectors = Callable[[Partition], Words]


def capture_counts(table: PrivateTable, target: str, part: Part, rules: Vectors) -> Ints:
    """Rows per class that each rule of a list captures. Sensitivity :data:`CAPTURES`.

    Parameters
    ----------
    rules : callable
        Bit vectors of the antecedents in a partition, in list order, without the default rule.

    Returns
    -------
    array of shape (n_rules + 1, n_classes)
        The last row is the default rule's.
    """
    return table.total(captures, target, part, rules)


def captures(partition: Partition, target: str, part: Part, rules: Vectors) -> Ints:
    """The kernel of :func:`capture_counts`."""
    classes, vectors = partition.class_members(target, part), rules(partition)
    remaining = np.bitwise_or.reduce(classes, axis=0)
    counts = np.zeros((len(vectors) + 1, len(classes)), dtype=np.int64)
    for position, rule in enumerate(vectors):
        after = np.empty_like(remaining)
        capture_rule(rule, classes, remaining, after, counts[position])
        remaining = after
    remaining_classes(remaining, classes, counts[-1])
    return counts


def itemset_counts(
    table: PrivateTable, target: str, part: Part, itemsets: Callable[[Partition], Iterable[Words]]
) -> Ints:
    """Rows (with a class of ``target``) in each itemset. See :func:`itemset_sensitivity`.

    Parameters
    ----------
    itemsets : callable
        Bit vectors of the itemsets in a partition, some at a time.
    """
    return table.total(supports, target, part, itemsets)


def supports(partition: Partition, target: str, part: Part, itemsets: Callable[[Partition], Iterable[Words]]) -> Ints:
    """The kernel of :func:`itemset_counts`."""
    members = np.bitwise_or.reduce(partition.class_members(target, part), axis=0)[None, :]
    return np.concatenate([count_bits(vectors, members)[:, 0] for vectors in itemsets(partition)])


#: Group of each place of a partition, a function of the record there: shape (rows,).
Groups = Callable[[Partition], Ints]
#: A row is in one group of a partition and has one class.
GROUPS = Sensitivity(1, "L1", monotone=True)


def group_counts(table: PrivateTable, target: str, part: Part, groups: Groups, group_count: int) -> Ints:
    """Rows of a part per group and class. Sensitivity :data:`GROUPS`.

    Parameters
    ----------
    groups : callable
        Group of each place of a partition; what is not below ``group_count`` is not counted.

    Returns
    -------
    array of shape (group_count, n_classes)
        Records whose target is ``(other)`` or ``(missing)`` are in none.
    """
    return table.total(grouped, target, part, groups, group_count)


def grouped(partition: Partition, target: str, part: Part, groups: Groups, group_count: int) -> Ints:
    """The kernel of :func:`group_counts`."""
    classes = len(partition.schema.column(target).classes)
    places = class_groups(partition, target, part, groups, group_count)
    return count_codes(places, group_count * classes + 1)[:-1].reshape(group_count, classes)


def class_groups(partition: Partition, target: str, part: Part, groups: Groups, group_count: int) -> Array:
    """Group and class of each place as one number: shape (rows,), unsigned.

    Group times the number of classes plus class; ``group_count`` times that number for what is
    not counted, groups beyond ``group_count`` included.
    """
    found, members = np.empty(partition.rows, dtype=np.uint32), unpack(partition.members(part), partition.rows)
    classes = len(partition.schema.column(target).classes)
    _class_groups(partition.codes_of(target), groups(partition), members, classes, group_count, found)
    return found


@kernel
def _class_groups(codes: Array, groups: Ints, members: Flags, classes: int, group_count: int, found: Array) -> None:
    nothing = np.int64(group_count) * np.int64(classes)
    for i in range(len(found)):
        code, group = np.int64(codes[i]), np.int64(groups[i])
        counted = members[i] & (code < classes) & (group < group_count)
        found[i] = nothing + np.int64(counted) * (group * classes + code - nothing)


def itemset_sensitivity(columns: Sequence[tuple[str, ...]], met: Mapping[str, int]) -> Sensitivity:
    """Sensitivity of the supports of candidate itemsets.

    A row moves each support by one at most. Among the candidates on one and the same set of columns, it is in at
    most the product of how many literals of each column it can satisfy, and in no more than there are: in one, if
    a column's literals exclude each other. Sum over the sets of columns.

    Parameters
    ----------
    columns : sequence of tuple of str
        Columns of each candidate, in an order that is the same for all.
    met : mapping of str to int
        Most literals of each column that a row can satisfy together.
    """
    alike = Counter(columns)
    most = (min(n, math.prod(met[name] for name in names)) for names, n in alike.items())
    return Sensitivity(max(1, sum(most)), "L1", monotone=True)


_LARGEST_ALPHA = 1e12
#: Terms of all classes that are tabulated at once.
_TERMS_AT_ONCE = 2**20


@dataclass(frozen=True)
class LogLikelihood:
    """Dirichlet-multinomial log-likelihood of a rule list, as an exactly monotone integer.

    The log-likelihood of a list is a sum over rules of
    sum_c A_c(n_c) - T(n), with A_c(k) = sum_{i<k} log(i + alpha_c) and
    T(k) = sum_{i<k} log(i + sum alpha). Both are tabulated in units of ``step``, A rounded
    down and T rounded up term by term. One more row of class c in a rule changes the utility
    by ``class_steps[c][n_c] - total_steps[n]``, an integer that is never positive: the
    utility is monotone in integer arithmetic, not only in the reals.

    Attributes
    ----------
    step : float
        Grid step, in nats.
    class_table : array of shape (n_classes, max_rows + 1), int64
    total_table : array of shape (max_rows + 1,), int64
    sensitivity : Sensitivity
        Exact for the tables: largest term of T minus smallest term of any A. In nats about
        log((max_rows - 1 + sum alpha) / min alpha), which is log(max_rows + 1) for two
        classes with alpha = 1 (Belardo 2018, Lemma 2, with the public N in place of n).
    """

    step: float
    class_table: Ints
    total_table: Ints
    sensitivity: Sensitivity

    @classmethod
    def tabulate(cls, alpha: Sequence[float], max_rows: int) -> LogLikelihood:
        """Build the tables.

        Raises
        ------
        RequestError
            If an alpha is not a positive number, or is absurdly large.
        """
        if not all(0 < a <= _LARGEST_ALPHA for a in alpha):
            raise RequestError("Every alpha must be a positive number, for example 1.")
        whole, own = math.fsum(alpha), np.asarray(alpha)[:, None]
        step = _grid_step(max_rows, max(1.0, abs(math.log(max_rows + whole))), min(alpha))
        class_table = np.zeros((len(alpha), max_rows + 1), dtype=np.int64)
        total_table = np.zeros(max_rows + 1, dtype=np.int64)
        at_once = max(1, _TERMS_AT_ONCE // len(alpha))
        highest = np.full((len(alpha), 1), np.iinfo(np.int64).min)
        least, most = [], []
        for first in range(0, max_rows, at_once):
            last = min(first + at_once, max_rows)
            rows = np.arange(first, last, dtype=np.float64)
            total_steps = np.ceil(np.log(rows + whole) / step).astype(np.int64)
            class_steps = np.floor(np.log(rows + own) / step).astype(np.int64)
            reached = np.maximum(np.maximum.accumulate(class_steps, axis=1), highest)
            if np.any(reached > total_steps):
                raise RequestError("These alphas leave no monotone likelihood: use larger ones.")
            highest = reached[:, -1:]
            least.append(int(class_steps.min()))
            most.append(int(total_steps.max()))
            class_table[:, first + 1 : last + 1] = class_table[:, first : first + 1] + np.cumsum(class_steps, axis=1)
            total_table[first + 1 : last + 1] = total_table[first] + np.cumsum(total_steps)
        return cls(step, class_table, total_table, Sensitivity(max(most) - min(least), "Linf", monotone=True))

    @staticmethod
    def room(classes: int, max_rows: int) -> int:
        """Bytes of the tables."""
        return 8 * (classes + 1) * (max_rows + 1)

    def utilities(self, captures: Ints) -> Ints:
        """Integer utility of each of several lists, from counts of shape (n_lists, n_rules, n_classes).

        The default rule is one of the rules; a rule that captures nothing adds nothing.
        """
        places = np.arange(captures.shape[-1])
        own = self.class_table[places, captures].sum(axis=(-2, -1))
        return np.asarray(own - self.total_table[captures.sum(axis=-1)].sum(axis=-1))


def _grid_step(max_rows: int, largest: float, smallest_alpha: float) -> float:
    """A power of two, 2**-30 or coarser, for which sums of all terms stay below 2**61."""
    span = max_rows * (largest + abs(math.log(smallest_alpha)) + 1.0)
    return 2.0 ** max(-30, math.ceil(math.log2(span)) - 60)
