"""Typed errors whose messages carry public values only.

A message of any error in this module may be shown to an analyst: it is a fixed sentence plus
values that are public by the schema or that the reader typed. :class:`IngestError` is the one
exception: it may name a column of an uploaded file and is shown to the custodian alone.
"""

from __future__ import annotations


class FrostglassError(Exception):
    """Base of every error this engine raises on purpose."""


class SchemaError(FrostglassError):
    """A schema is malformed or does not allow what was asked of it."""


class RequestError(FrostglassError):
    """A run was asked for with parameters that cannot be honoured."""


class InputError(RequestError, ValueError):
    """An estimator was given records of a form that it does not take.

    scikit-learn asks for a :class:`ValueError` here. The message may name columns and sizes, which
    the caller has at hand, and no value.
    """


class BudgetError(FrostglassError):
    """An epsilon or delta is not a usable number, or is more than what is left."""


class IngestError(FrostglassError):
    """An uploaded file cannot become a data set. Shown to the custodian only."""


class LossError(IngestError):
    """Something would be lost if a file were stored, and nobody has accepted that."""


class NotFoundError(FrostglassError):
    """A data set, run or release with this identifier does not exist."""


class ConflictError(FrostglassError):
    """Something with this name or nonce exists already with different content."""


class AccessError(FrostglassError):
    """The caller's roles do not allow this."""


class LoginError(AccessError):
    """The caller is not logged in, or no longer."""


class InstallationError(FrostglassError):
    """Home folder and database do not fit together, or one cannot be used: for operators."""


class AwayError(InstallationError):
    """Home folder or database cannot be used now, but perhaps later: it is worth trying again."""


class FullError(AwayError):
    """The disk of the database has no room."""


class UncertainError(AwayError):
    """The database went away as something was stored, which may be there or not."""


class ClusterError(FrostglassError):
    """The cluster that answers questions to records cannot be used."""


class CancelledError(FrostglassError):
    """A run was cancelled before it touched a private record."""


class PrivacyLeakWarning(UserWarning):
    """A public parameter was read off the data, so the stated guarantee does not hold."""
