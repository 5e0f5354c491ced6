"""Chains as they went, drawn and in words."""

from __future__ import annotations

import numpy as np
import pytest

from dpcore.plots.chain_courses import chains_alt, chains_figure
from tests.support.texts import lacking


@pytest.mark.parametrize("steps", [1_000, 50_000])
def test_a_line_for_each_chain_from_its_first_step_to_its_last(steps: int) -> None:
    scores = np.add.outer([0.0, -5.0, 3.0], np.arange(steps) / steps)
    figure = chains_figure(scores)
    assert [own.name for own in figure.data] == ["Chain 1", "Chain 2", "Chain 3"]
    for line, own in zip(figure.data, scores, strict=True):
        assert (line.x[0], line.x[-1]) == (1, steps)
        assert (line.y[0], line.y[-1]) == (own[0], own[-1])
        assert len(line.x) <= 400
    assert not lacking(chains_alt(scores), f"3 chains over {steps:,} steps", "−5 to −4")
