"""How large and how smooth a shape is, by its noisy sums: empirical Bayes. Post-processing.

A shape is a Gaussian process over its bins, with an exponential kernel where they are in order. Its
size and length are not known: a grid of priors is weighed by the marginal likelihood of all noisy
sums that the feature has had so far (Rasmussen, Williams 2006, chapters 4 and 5).
"""

from __future__ import annotations

import numpy as np

from dpcore.arrays import Floats

#: Standard deviations of a score, in units of a large effect; lengths, in ranges of the column.
_SIZES, _LENGTHS = 2.0 ** np.arange(-5, 2), np.array([0.06, 0.25, 1.0, 4.0])
#: Before a sum is known: the size that is likeliest, and how far off, in logarithms.
_LIKELY, _OFF = 0.35, 0.9
#: Priors with less weight are left out.
_LEAST = 0.01


def distances(bins: int, ordered: int) -> Floats:
    """How far bins are apart, in ranges of the column; infinitely, where order means nothing.

    Parameters
    ----------
    ordered : int
        The first so many bins are in order.

    Returns
    -------
    array of shape (bins, bins)
    """
    place = np.where(np.arange(bins) < ordered, np.arange(bins) / max(1, ordered), np.nan)
    apart = np.nan_to_num(np.abs(place[:, None] - place), nan=np.inf)
    np.fill_diagonal(apart, 0.0)
    return np.asarray(apart)


class Prior:
    """Priors of one shape, and how likely each is.

    Parameters
    ----------
    apart : array of shape (n_bins, n_bins)
        :func:`distances`.
    unit : float
        Size of a large effect.
    doubt : float
        Standard deviation of what is added to all bins alike, because the intercept has noise.
    """

    def __init__(self, apart: Floats, unit: float, doubt: float) -> None:
        forms = np.exp(-apart / _LENGTHS[:, None, None])
        if np.isinf(apart).sum() == apart.size - len(apart):
            forms = forms[:1]
        sizes = np.repeat(_SIZES, len(forms))
        self._kernels = (sizes[:, None, None] * unit) ** 2 * np.tile(forms, (len(_SIZES), 1, 1)) + doubt**2
        self._belief = -((np.log(sizes / _LIKELY) / _OFF) ** 2) / 2
        self.weights = _shares(self._belief)

    def learn(self, precisions: Floats, gathered: Floats) -> None:
        """Weigh the priors by the marginal likelihood of what is known of the shape.

        Parameters
        ----------
        precisions : array of shape (n_outputs, n_bins, n_bins)
            Of the Gaussian likelihood of the scores of each output.
        gathered : array of shape (n_outputs, n_bins)
            Precision times the place of its maximum.
        """
        total = self._belief.copy()
        for precision, seen in zip(precisions, gathered, strict=True):
            system = np.eye(len(seen)) + self._kernels @ precision
            mean = np.linalg.solve(system, (self._kernels @ seen)[:, :, None])[:, :, 0]
            total += (mean @ seen - np.linalg.slogdet(system)[1]) / 2
        self.weights = _shares(total)

    def covariance(self, precision: Floats) -> Floats:
        """Posterior covariance given a likelihood's precision, the mean over the priors: (n_bins, n_bins)."""
        kept = self.weights > min(_LEAST, self.weights.max() / 2)
        own, weights = self._kernels[kept], self.weights[kept] / self.weights[kept].sum()
        posterior = np.linalg.solve(np.eye(len(precision)) + own @ precision, own)
        return np.asarray(np.tensordot(weights, posterior, axes=1))


def _shares(logarithms: Floats) -> Floats:
    powers = np.exp(logarithms - logarithms.max())
    return np.asarray(powers / powers.sum())
