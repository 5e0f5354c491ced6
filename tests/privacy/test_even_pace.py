"""Counts between cut points: those of the held values alone, while every place is looked up."""

import numpy as np
import pytest

from dpcore.privacy.even_pace import counts_between

EDGES = np.array([0.0, 1.0, 2.5])


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("edges", [EDGES, EDGES[:0]])
@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_held_values_alone_are_counted(edges, side, share):
    draw = np.random.default_rng(1)
    values, held = draw.choice([-1.0, 0.0, 0.5, 1.0, 2.5, 9.0], 500), draw.random(500) < share
    told = counts_between(edges, np.where(held, values, np.nan), held, side)
    cells = np.searchsorted(edges, values[held], side=side)
    assert told.tolist() == np.bincount(cells, minlength=len(edges) + 1).tolist()


def test_every_place_is_looked_up_whatever_is_held(monkeypatch):
    looked_up, real = [], np.searchsorted
    monkeypatch.setattr(
        np, "searchsorted", lambda edges, values, side: looked_up.append(values) or real(edges, values, side)
    )
    for share in (0.0, 0.5, 1.0):
        counts_between(EDGES, np.full(1000, 0.5), np.arange(1000) < 1000 * share)
    assert [len(values) for values in looked_up] == [1000, 1000, 1000]
    assert set(looked_up[0]) == set(EDGES), "not one value again and again"
