"""What every scikit-learn estimator shares: what a fit costs, its run on a private table, what it predicts."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from decimal import Decimal
from inspect import Signature, cleandoc, signature
from numbers import Integral
from typing import Any, ClassVar, Final, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from dpcore.arrays import Array, Floats, Ints
from dpcore.data.building.ingest import check_children, frame_chunks, ingest
from dpcore.domain.columns import Column, NumericColumn
from dpcore.domain.encoding import encode
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import InputError, RequestError
from dpcore.learning.learner import Learner, Run
from dpcore.learning.sklearn_frames import (
    Labels,
    Rows,
    check_lengths,
    class_labels,
    class_places,
    labels_of,
    level_outside,
    prediction_frame,
    prepare_fit,
    warn_of,
)
from dpcore.privacy.budgets import default_delta, exact_amount, parse_epsilon
from dpcore.privacy.randomness import source_for
from dpcore.released.family import ReleasedFamily
from dpcore.released.parameters import numpy_item, numpy_items
from dpcore.released.plan import RunPlan
from dpcore.released.release import SEEDED, Release, make_release

#: Largest delta of a budget, times the number of people, that goes without saying.
_MOST_DELTA = Decimal("0.1")
_TARGET: Final = (
    "Name of the target in ``schema``; ``None`` takes the name of ``y``, or the only column that "
    "the schema marks as target."
)
_SCORES: Final = (
    " Scores are charged to nobody: on private records they are exact, and **not private**. "
    "``model_.evaluation`` is the private check, if ``evaluate`` asks for it."
)


def _warn_of_delta(delta: Decimal, max_rows: int) -> None:
    """Warn of a cap whose delta is not well below one in the number of people."""
    if delta * max_rows > _MOST_DELTA:
        usual = exact_amount(default_delta(max_rows))
        words = (
            f"The budget's delta, {exact_amount(delta)}, is large for up to {max_rows:,} people: its promise allows "
            f"that someone's record is given away. Make it with delta_cap='{usual}' or less."
        )
        warnings.warn(words, stacklevel=level_outside())


def _seed(random_state: object) -> int | None:
    """The seed that a ``random_state`` is.

    Raises
    ------
    InputError
        If it is none.
    """
    if random_state is None:
        return None
    if isinstance(random_state, Integral) and int(random_state) >= 0:
        return int(random_state)
    raise InputError(
        "random_state must be None, which is private, or a whole number from 0 on: a seed. Generators of numpy "
        "are not taken."
    )


def _parameter_section(family: ReleasedFamily, written: Signature) -> str:
    """The section "Parameters" of an estimator's docstring."""
    return "\n".join(
        [
            "Parameters",
            "----------",
            numpy_item("epsilon", "float or Decimal, default=1.0", "Cost of one call of ``fit``."),
            numpy_item(
                "schema",
                "Schema or None, default=None",
                "Public domain. ``None`` infers one from the data, a single table, which leaks: a "
                ":class:`~dpcore.errors.PrivacyLeakWarning` says so, and so does the release, "
                "which is not private.",
            ),
            *([numpy_item("target", "str or None, default=None", _TARGET)] * family.targeted),
            numpy_items(family.parameters, {name: one.default for name, one in written.parameters.items()}),
            numpy_item(
                "accountant",
                "Accountant or None, default=None",
                "Charged before each fit, so once for each fold of a cross-validation. Clones "
                "share it. One with a delta may have a fit made to compose with others: less noise, "
                f"and a certificate of epsilon and delta.{_SCORES * family.targeted}",
            ),
            numpy_item(
                "random_state",
                "int or None, default=None",
                "``None`` uses the operating system's secure source. A seed makes the result "
                "reproducible and **not private**, which a warning says.",
            ),
        ]
    )


class LearnerEstimator(BaseEstimator):  # type: ignore[misc]
    """A scikit-learn estimator over one learner of this engine.

    A subclass names its learner. Its ``__init__`` stores the learner's parameters, as keyword arguments
    beside ``epsilon``, ``schema``, ``accountant``, ``random_state`` and perhaps ``target``; its docstring
    describes them, above what it says of attributes.
    """

    _learner: ClassVar[Learner]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        before, mark, after = cleandoc(cls.__doc__ or "").partition("Attributes\n------")
        if mark and hasattr(cls, "_learner"):
            cls.__doc__ = f"{before}{_parameter_section(cls._learner.family, signature(cls))}\n\n{mark}{after}"

    def __sklearn_tags__(self) -> Tags:
        """Missing values and text are members of the domain like any other value."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    def _plan(self, schema: Schema, target: str, **changes: object) -> RunPlan:
        """Plan of a fit: parameters of the learner, some of them changed.

        Composed at the accountant's delta; without one pure.
        """
        settings = self.get_params()
        known = self._learner.parameters.model_fields
        given = {name: value for name, value in settings.items() if name in known}
        budget, epsilon = settings["accountant"], parse_epsilon(settings["epsilon"])

        delta = Decimal(0) if budget is None else budget.filter.run_delta
        return self._learner.plan(schema, target, epsilon, given | changes, delta)

    def _run(
        self,
        plan: RunPlan,
        frame: pd.DataFrame,
        children: Mapping[str, pd.DataFrame] | None = None,
    ) -> tuple[Release, Any]:
        """Charge the accountant, then read the records; ``children`` are further tables.

        What can be refused without a look at records is refused before.
        """
        settings, further = self.get_params(), children or {}
        randomness = source_for(_seed(settings["random_state"]))
        check_children(further, plan.schema)
        if not randomness.secure:
            warn_of(SEEDED, "Leave random_state at None, and out of ensembles that set it on their members.")
        if settings["accountant"] is not None:
            _warn_of_delta(settings["accountant"].filter.delta, plan.schema.max_rows)
            settings["accountant"].spend(plan.loss, self._learner.title)
        chunks = {name: frame_chunks(rows) for name, rows in further.items()}
        table = ingest(frame_chunks(frame), plan.schema, randomness, chunks)
        model = self._learner.run(Run(table, plan, randomness))
        release = make_release(self._learner.name, plan, model, secure=randomness.secure)
        return release, model

    @classmethod
    def _of(cls, release: Release, **settings: object) -> tuple[Self, Any]:
        """Estimator with the parameters of a release, and the released model.

        Raises
        ------
        RequestError
            If the release is of another learner.
        """
        if release.kind != cls._learner.name:
            raise RequestError(
                f"This release is a '{release.kind}' and {cls.__name__} reads "
                f"a '{cls._learner.name}': use the estimator that made it."
            )
        parameters = dict(cls._learner.parameters.model_validate(release.parameters))
        known = {name: parameters[name] for name in cls._get_param_names() if name in parameters}
        warn_of(" ".join(release.certificate.problems))
        card = release.certificate
        estimator = cls(epsilon=card.epsilon, schema=release.domain, **settings, **known)
        return estimator, cls._learner.family.model.model_validate(release.model)

    def _fitted(self, release: Release, model: Any, outputs: Mapping[str, object], features: int) -> Self:
        self.release_ = release
        self.model_ = model
        self.schema_ = release.domain
        self.n_features_in_ = features
        for name, value in outputs.items():
            setattr(self, name, value)
        return self


class PrivateEstimator(LearnerEstimator):
    """A :class:`LearnerEstimator` that predicts a target."""

    #: Whether the target is a number; else it is one of a list of classes.
    _numeric_target: ClassVar[bool] = False

    def fit(self, X: Rows, y: Labels) -> Self:  # noqa: N803
        """Spend ``epsilon`` and fit.

        Parameters
        ----------
        X : DataFrame or array of shape (n_rows, n_features)
        y : Series or array of shape (n_rows,)

        Raises
        ------
        InputError
            If ``X`` or ``y`` is not of the form above, or ``random_state`` is no seed. Nothing is charged.
        RequestError, SchemaError
            If parameters, schema and columns do not fit together. Nothing is charged.
        BudgetError
            If the accountant has too little left. Nothing is charged.
        IngestError
            If a column or a table of the schema is missing; nothing is charged then. Or if the rows do not
            fit the schema, such as more rows than ``max_rows``: to see that takes a look at the
            records, so the charge stands.
        """
        settings = self.get_params()
        prepared = prepare_fit(X, y, settings["schema"], settings["target"], numeric_target=self._numeric_target)
        self._check_target(prepared.schema.column(prepared.target))
        plan = self._plan(prepared.schema, prepared.target)
        outputs = self._outputs(prepared.schema.column(prepared.target))
        release, model = self._run(plan, prepared.frame)
        return self._fitted(release, model, outputs, prepared.features)

    @classmethod
    def from_release(cls, release: Release) -> Self:
        """Fitted estimator of a release, for prediction without any data.

        Its parameters are those of the release. Warns if it is not private.

        Raises
        ------
        RequestError
            If the release is of another learner or predicts another kind of target.
        """
        estimator, model = cls._of(release, target=release.target)
        cls._check_target(release.domain.column(release.target))
        outputs = cls._outputs(release.domain.column(release.target))
        return estimator._fitted(release, model, outputs, len(release.domain.columns) - 1)

    @classmethod
    def _outputs(cls, column: Column) -> dict[str, object]:
        """Attributes that the target gives to a fitted estimator."""
        return {} if cls._numeric_target else {"classes_": class_labels(column)}

    @classmethod
    def _check_target(cls, column: Column) -> None:
        """Refuse a target that this estimator does not predict."""

    def _features(self, X: Rows) -> pd.DataFrame:  # noqa: N803
        check_is_fitted(self)
        return prediction_frame(X, self.schema_, self.release_.target)


class Labelling(ClassifierMixin):  # type: ignore[misc]
    """What an estimator of classes makes of the codes that its model predicts.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Labels, ascending, in the type that the schema implies: see :func:`class_labels`.
    """

    classes_: Array
    schema_: Schema
    release_: Release

    def _codes(self, X: Rows) -> Ints:  # noqa: N803
        """Predicted class of each row, by its place in the schema."""
        raise NotImplementedError

    def _chances(self, X: Rows) -> Floats:  # noqa: N803
        """Class probabilities, columns in the order of the schema: shape (n_rows, n_classes)."""
        raise NotImplementedError

    @property
    def _places(self) -> Ints:
        """Place in the schema of each of ``classes_``: shape (n_classes,)."""
        return class_places(self.schema_.column(self.release_.target))

    def predict(self, X: Rows) -> Array:  # noqa: N803
        """Predicted class of each row."""
        codes = self._codes(X)
        return np.asarray(self.classes_[np.argsort(self._places)[codes]])

    def predict_proba(self, X: Rows) -> Floats:  # noqa: N803
        """Class probabilities, columns in the order of ``classes_``: shape (n_rows, n_classes)."""
        return np.asarray(self._chances(X)[:, self._places])

    def score(self, X: Rows, y: Labels, sample_weight: Floats | None = None) -> float:  # noqa: N803
        """Share of rows predicted right: **exact**, so not private if the rows are.

        Labels count in every spelling that the schema reads.
        """
        codes, labels = self._codes(X), labels_of(y)
        check_lengths(len(codes), len(labels))
        truth = encode(self.schema_.column(self.release_.target), labels)[0]
        return float(np.average(codes == truth, weights=sample_weight))


class PrivateClassifier(Labelling, PrivateEstimator):
    """A :class:`PrivateEstimator` that predicts classes."""

    def _chances(self, X: Rows) -> Floats:  # noqa: N803
        frame = self._features(X)
        return np.asarray(self.model_.predict_proba(frame, self.schema_))

    def _codes(self, X: Rows) -> Ints:  # noqa: N803
        frame = self._features(X)
        return np.asarray(self.model_.predict(frame, self.schema_))


class PrivateRegressor(RegressorMixin, PrivateEstimator):  # type: ignore[misc]
    """A :class:`PrivateEstimator` that predicts a number within public bounds.

    ``score`` is scikit-learn's, and **exact**: not private if the rows are.
    """

    _numeric_target: ClassVar[bool] = True

    def predict(self, X: Rows) -> Floats:  # noqa: N803
        """Predicted number of each row: shape (n_rows,)."""
        frame = self._features(X)
        return np.asarray(self.model_.predict(frame, self.schema_))

    @classmethod
    def _check_target(cls, column: Column) -> None:
        if not isinstance(column, NumericColumn):
            raise RequestError(f"The target '{column.name}' is not a number in the schema: use a classifier.")
