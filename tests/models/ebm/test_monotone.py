"""The nearest shape that only rises, or only falls."""

import numpy as np
import pytest

from dpcore.models.ebm.learning.monotone import monotone


def test_by_hand():
    shapes = np.array([0.0, 3.0, 1.0, 5.0, -9.0])[None, :, None]
    weights = np.array([1.0, 1.0, 3.0, 1.0, 1.0])
    assert monotone(shapes, weights, 4, 1)[0, :, 0].tolist() == [0.0, 1.5, 1.5, 5.0, -9.0]
    assert monotone(shapes, weights, 4, -1)[0, :3, 0].tolist() == pytest.approx([11 / 6] * 3)
    assert monotone(shapes, weights, 4, 0) is shapes


def test_what_is_monotone_stays():
    rising = np.sort(np.random.default_rng(0).normal(size=(3, 8, 1)), axis=1)
    np.testing.assert_allclose(monotone(rising, np.ones(8), 8, 1), rising)
