"""What one run costs, how the cost is divided among its steps, and the house rule for how long and how fast to learn.

All of it from public inputs. The rule was chosen on Adult, California housing and synthetic sets, then checked on telco
churn, wine quality and elevators: see ``docs/decisions/0005-shape-functions.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal
from fractions import Fraction
from functools import partial
from itertools import combinations

from dpcore.domain.columns import NumericColumn
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import BudgetError
from dpcore.models.ebm.learning.grid import histogram_sensitivity, residual_sensitivity
from dpcore.models.ebm.released.ebm_derived import CHOICE
from dpcore.models.ebm.released.ebm_parameters import EBMParameters
from dpcore.privacy.bounded_range import Selections
from dpcore.privacy.budgets import BudgetSplit, calibrate_fine_gaussian, gaussian_delta, gaussian_part, row_epsilon
from dpcore.privacy.losses import RHO_STEP, gaussian_rho, selection_epsilon, selection_rho
from dpcore.privacy.mechanisms import FineGaussian

#: Published values (Nori et al. 2021, section 4).
_PUBLISHED = {"epochs": 300, "learning_rate": 0.01, "max_bins": 32, "bin_share": 0.1}
_BIN_SHARE = 0.15
#: Precision below and above which numeric features get other numbers of bins, and these.
_IMPRECISE, _VERY_PRECISE = 15.0, 100.0
_FEWEST_BINS, _FEW_BINS, _MANY_BINS = 16, 32, 64
#: Cells that are counted to find so few bins, or more: each cell has its noise.
_COARSE_CELLS, _FINE_CELLS = 64, 1024
#: Where noise hides most records, bins are rather of equal width: few people at the ends of a range
#: may tell most, and would share a bin with the many.
_EVEN = 0.75
#: Epochs for classes and for numbers. For classes the noise of an iterate also bends the
#: logistic function, more so the longer it runs.
_EPOCHS_CLASSES, _EPOCHS_NUMBERS = 12, 24
#: Rate per precision, and its range. Where noise is large, no noisy sum is forgotten; where it is
#: small, the shapes soon are elsewhere than when the first ones were asked for.
_RATE, _SLOW, _FAST = 0.005, 0.02, 0.7
#: Rate from which on iterates are averaged, and share of the epochs that are left out of it.
_AVERAGED, _BURN_IN = 0.25, 0.3


class EBMSettings(EBMParameters):
    """What the analyst asked for, with every choice made that was left open but delta."""

    max_bins: int
    epochs: int
    learning_rate: float
    bin_share: float


def precision(max_rows: int, mu: float, features: int) -> float:
    """Clips per standard deviation of noise on the mean residual of one bin of 32."""
    return max_rows * mu / (math.sqrt(features) * _FEW_BINS)


def resolve(parameters: EBMParameters, *, numbers: bool, max_rows: int, mu: float, features: int) -> EBMSettings:
    """Fill in what the analyst left open.

    Parameters
    ----------
    numbers : bool
        Whether the target is numeric.
    mu : float
        Gaussian-DP bound of the whole run per row.
    """
    if parameters.method == "random_splits":
        return _filled(parameters, _PUBLISHED)
    precise = precision(max_rows, mu, features)
    rate = min(max(_RATE * precise, _SLOW), _FAST)
    bins = _FEW_BINS if precise < _VERY_PRECISE else _MANY_BINS
    rule = {
        "epochs": _EPOCHS_NUMBERS if numbers else _EPOCHS_CLASSES,
        "learning_rate": round(rate, 3),
        "max_bins": _FEWEST_BINS if precise < _IMPRECISE else bins,
        "bin_share": _BIN_SHARE,
    }
    return _filled(parameters, rule)


def _filled(parameters: EBMParameters, rule: dict[str, float]) -> EBMSettings:
    return EBMSettings(**(rule | parameters.model_dump(exclude_none=True)))


def most_cells(max_bins: int) -> int:
    """Most cells of a numeric column that are counted to find its bins."""
    return _COARSE_CELLS if max_bins <= _FEWEST_BINS else _FINE_CELLS


def even_share(settings: EBMSettings) -> float:
    """Share of the records that count as spread evenly when bins are cut."""
    return _EVEN if settings.method == "all_bins" and settings.max_bins <= _FEWEST_BINS else 0.0


def averaged(settings: EBMSettings) -> bool:
    """Whether the result is the mean of the late iterates, and not the last one, which has gathered all."""
    return settings.method == "all_bins" and settings.learning_rate >= _AVERAGED


def burn_in(epochs: int) -> int:
    """Epochs whose iterates are left out of the average."""
    return int(epochs * _BURN_IN)


BINS, SIZES, SHAPES = "bins", "residual sizes", "shapes"
PAIRS = "pairs"
#: Shares of the budget: of epsilon for the choice of pairs, of the rest for the others.
_CHOICE_SHARE, _PAIRS_SHARE, _SIZES_SHARE = Decimal("0.1"), Decimal("0.25"), Decimal("0.02")
#: Relative error of a square root, many times over.
_ROUNDING = 1e-12
#: Share of rho for the choice of pairs.
_CHOICE_RHO = Decimal("0.02")
#: Share of the budget of a pair that its noisy cell counts get.
PAIR_COUNTS_SHARE = Fraction(1, 5)
#: Residual sizes are asked for before these epochs, those of them that there are.
_SIZE_EPOCHS = (2, 4, 8)


@dataclass(frozen=True)
class Cost:
    """Budget of one run, from public inputs."""

    parameters: EBMSettings
    split: BudgetSplit
    """Share of each step. That of the choice of pairs is the sum of the epsilons of its selections; the others are
    shares of mu squared."""
    mu: float
    """Gaussian-DP bound, per row, of all steps but the choice of pairs, such that all steps together keep epsilon and
    delta, or have a rho."""
    rows_per_person: int
    choice: Decimal = Decimal(0)
    """Epsilon of all selections together, for a person; 0 if nothing is chosen."""

    @property
    def rho(self) -> Decimal:
        """Zero-concentrated loss of a person by all steps: Gaussian noise, and selections.

        A person's rows move a sum by ``rows_per_person`` times as much as one row.
        """
        gaussian = gaussian_rho(math.nextafter(self.mu * self.rows_per_person, math.inf))
        pairs = self.parameters.pairs
        return gaussian + pairs * selection_rho(self.choice / pairs) if self.choice else gaussian

    def part(self, step: str, count: int = 1, share: Fraction = Fraction(1)) -> float:
        """Mu per row of one of ``count`` equal queries that have ``share`` of a step."""
        gaussian = self.split.total - self.split.parts.get(CHOICE, Decimal(0))
        fraction = Fraction(self.split[step]) / Fraction(gaussian)
        return gaussian_part(self.mu, fraction * share / count)


def cost_of(
    schema: Schema,
    target: str,
    epsilon: Decimal,
    delta: Decimal,
    parameters: EBMParameters,
    rho: Decimal | None = None,
) -> Cost:
    """Divide a budget, and fill in what the parameters leave open.

    Parameters
    ----------
    rho : Decimal, optional
        What all steps have together, in zero-concentrated DP; by default, what epsilon and delta allow in Gaussian DP.

    Raises
    ------
    BudgetError
        If the budget is too small to be divided.
    """
    features = len(schema.columns) - 1
    numbers = isinstance(schema.column(target), NumericColumn)
    rows = schema.privacy_unit.max_rows_per_person
    outputs = output_count(schema, target)
    possible = pair_count(schema, target, parameters)
    divide = partial(_split, epsilon, numbers=numbers, possible_pairs=possible, composed=rho is not None)
    choice = divide(parameters, Decimal("0.1")).parts.get(CHOICE, Decimal(0))
    profile = _selections(choice, parameters.pairs).delta if choice else gaussian_delta
    if rho is not None:
        own = (rho * choice / epsilon).quantize(RHO_STEP, rounding=ROUND_FLOOR)
        choice = parameters.pairs * selection_epsilon(own / parameters.pairs) if own else choice
        gaussian = math.sqrt(2 * float(rho - own)) * (1 - _ROUNDING)

    def mu_for(filled: EBMSettings) -> float:
        draws = rows * _draws(filled, features, outputs)
        whole = gaussian if rho is not None else calibrate_fine_gaussian(epsilon, delta, draws, profile)
        return gaussian_part(whole, Fraction(1, rows**2))

    # The rule needs mu; mu hardly depends on the number of draws, so any will do for the rule.
    settle = partial(resolve, numbers=numbers, max_rows=schema.max_rows, features=features)
    guess = settle(parameters.model_copy(update={"epochs": parameters.epochs or 300}), mu=1.0)
    filled = settle(parameters, mu=mu_for(guess))
    split = divide(filled, Decimal(str(filled.bin_share)))
    return Cost(filled, split, mu_for(filled), rows, choice)


def size_epochs(parameters: EBMParameters) -> tuple[int, ...]:
    """Epochs before which a learner of numbers asks for the sizes of residuals."""
    if parameters.method != "all_bins":
        return ()
    epochs = parameters.epochs
    return tuple(epoch for epoch in _SIZE_EPOCHS if epochs is None or epoch < epochs)


def _selections(choice: Decimal, pairs: int) -> Selections:
    """What the choice of pairs is for a person, with several rows too."""
    return Selections(math.nextafter(float(choice / pairs), math.inf), pairs)


def _split(
    epsilon: Decimal,
    parameters: EBMParameters,
    bin_share: Decimal,
    *,
    numbers: bool,
    possible_pairs: int,
    composed: bool,
) -> BudgetSplit:
    """A share for each step that asks something, of epsilon or of rho. All pairs there are need not be chosen."""
    pairs = parameters.pairs > 0
    rest = 1 - bin_share
    sizes = _SIZES_SHARE * rest if numbers and size_epochs(parameters) else Decimal(0)
    own = _PAIRS_SHARE * rest if pairs else Decimal(0)
    weights: dict[str, Decimal | int] = {BINS: bin_share, SIZES: sizes, PAIRS: own, SHAPES: rest - sizes - own}
    if 0 < parameters.pairs < possible_pairs:
        choice = _CHOICE_RHO if composed else _CHOICE_SHARE
        weights = {CHOICE: choice, **{name: weight * (1 - choice) for name, weight in weights.items()}}
    return BudgetSplit.by_weights(epsilon, {name: w for name, w in weights.items() if w})


def _draws(parameters: EBMSettings, features: int, outputs: int) -> int:
    """Noisy integers whose exact value one row may change."""
    fits = parameters.replicates * parameters.epochs * outputs
    sizes = len(size_epochs(parameters))
    return features + 1 + sizes + fits * features + parameters.pairs * (1 + fits)


def possible_pairs(schema: Schema, target: str, parameters: EBMParameters) -> list[tuple[int, int]]:
    """Places of the features of every pair that may be learned."""
    return list(combinations(_paired(schema, target, parameters), 2))


def pair_count(schema: Schema, target: str, parameters: EBMParameters) -> int:
    """How many :func:`possible_pairs` there are."""
    return math.comb(len(_paired(schema, target, parameters)), 2)


def _paired(schema: Schema, target: str, parameters: EBMParameters) -> list[int]:
    """Places of the features that may be in pairs: not of those held to rise or fall, which a pair could undo."""
    held = {*parameters.increasing, *parameters.decreasing}
    names = [column.name for column in schema if column.name != target]
    return [place for place, name in enumerate(names) if name not in held]


def output_count(schema: Schema, target: str) -> int:
    """Scores per record: one for a number or two classes, else one per class."""
    column = schema.column(target)
    if isinstance(column, NumericColumn) or len(column.classes) == 2:
        return 1
    return len(column.classes)


def histogram_mechanism(cost: Cost, schema: Schema) -> FineGaussian:
    """Noise of all histograms together: one per feature, one of the target."""
    return FineGaussian(histogram_sensitivity(len(schema.columns)), cost.part(BINS))


def residual_mechanism(cost: Cost, schema: Schema, target: str, features: int = 1) -> FineGaussian:
    """Noise of one query of the main course: the residual sums of some features, once, of all replicates.

    A row is in one run of each feature of each replicate, and each feature has its part of the budget.
    So the noise hardly depends on how many are asked for together.
    """
    queries = (len(schema.columns) - 1) * cost.parameters.epochs
    sensitivity = residual_sensitivity(output_count(schema, target), features * cost.parameters.replicates)
    return FineGaussian(sensitivity, cost.part(SHAPES, queries, Fraction(features)))


def size_mechanism(cost: Cost) -> FineGaussian:
    """Noise of one histogram of residual sizes."""
    return FineGaussian(histogram_sensitivity(1), cost.part(SIZES, len(size_epochs(cost.parameters))))


def choice_epsilon(cost: Cost) -> Decimal:
    """Row-level budget of the choice of one pair."""
    return row_epsilon(cost.choice / cost.parameters.pairs, cost.rows_per_person)


def pair_count_mechanism(cost: Cost) -> FineGaussian:
    """Noise of the cell counts of all pairs together."""
    mu = cost.part(PAIRS, share=PAIR_COUNTS_SHARE)
    return FineGaussian(histogram_sensitivity(cost.parameters.pairs), mu)


def pair_residual_mechanism(cost: Cost, schema: Schema, target: str) -> FineGaussian:
    """Noise of the residual sums of one pair, once, of all replicates."""
    queries = cost.parameters.pairs * cost.parameters.epochs
    mu = cost.part(PAIRS, queries, 1 - PAIR_COUNTS_SHARE)
    return FineGaussian(residual_sensitivity(output_count(schema, target), cost.parameters.replicates), mu)


def check_budget(cost: Cost, schema: Schema, target: str) -> None:
    """Refuse, before a record is seen, a budget that some step of the run could not use.

    Raises
    ------
    BudgetError
        If it is too small.
    """
    try:
        histogram_mechanism(cost, schema)
        residual_mechanism(cost, schema, target)
        if SIZES in cost.split.parts:
            size_mechanism(cost)
        if CHOICE in cost.split.parts:
            choice_epsilon(cost)
        if PAIRS in cost.split.parts:
            pair_count_mechanism(cost)
            pair_residual_mechanism(cost, schema, target)
    except BudgetError:
        raise BudgetError(
            "This epsilon is too small for so many noisy sums: use a larger one, or fewer epochs, replicates or pairs."
        ) from None
