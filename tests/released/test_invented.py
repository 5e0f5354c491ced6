"""Invented records, and what models say of them."""

from __future__ import annotations

import numpy as np

from dpcore.released.invented import Records
from tests.support.workspaces.fake_learner import small_frame, small_schema


def test_codes_are_those_of_the_model_that_asks_also_when_others_are_gone() -> None:
    schema = small_schema()
    records = Records(schema, {schema.entity: small_frame()})
    found = [records.once(object(), lambda n=n: np.array([n])) for n in range(5)]
    assert np.concatenate(found).tolist() == [0, 1, 2, 3, 4]
