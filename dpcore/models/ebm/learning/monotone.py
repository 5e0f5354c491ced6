"""Shapes that may only rise, or only fall: the nearest such shape. Post-processing."""

from __future__ import annotations

from dpcore.arrays import Floats


def monotone(shapes: Floats, weights: Floats, ordered: int, direction: int) -> Floats:
    """Isotonic projection of the ordered bins by least squares (pool adjacent violators; Barlow et al. 1972).

    Parameters
    ----------
    shapes : array of shape (n_replicates, n_bins, n_outputs)
    weights : array of shape (n_bins,)
        Positive.
    ordered : int
        The first so many bins are in order; the others stay as they are.
    direction : int
        1: never falls; -1: never rises; 0: anything.
    """
    if direction == 0:
        return shapes
    from scipy.optimize import isotonic_regression

    found = shapes.copy()
    for own in found:
        for output in range(own.shape[1]):
            found_one = isotonic_regression(own[:ordered, output], weights=weights[:ordered], increasing=direction > 0)
            own[:ordered, output] = found_one.x
    return found
