"""Methods side by side, on public data only."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from dpcore.comparison import compare_methods, plain_tree_accuracy
from dpcore.errors import RequestError
from dpcore.ingest import frame_chunks, ingest
from dpcore.randomness import SeededRandom
from dpcore.schema import Schema
from dpcore.service import Service

METHODS = [("tree", {"method": "lookahead", "blocks": (2,)}), ("rule_list", {"pool_size": 500})]


def schema(holdout=30):
    return Schema.from_mapping(
        {
            "name": "planted",
            "max_rows": 2000,
            "holdout_percent": holdout,
            "columns": [
                {"name": "a", "type": "boolean"},
                {"name": "b", "type": "categorical", "categories": ["x", "y", "z"]},
                {"name": "c", "type": "boolean", "target": True},
            ],
        }
    )


def frame(rows=2000):
    generator = np.random.default_rng(4)
    a, b = generator.integers(0, 2, rows), generator.choice(["x", "y", "z"], rows)
    c = np.where(generator.random(rows) < 0.9, (a == 1) & (b == "x"), generator.random(rows) < 0.5)
    return pd.DataFrame({"a": a, "b": b, "c": c.astype(int)})


def table(holdout=30):
    return ingest(frame_chunks(frame()), schema(holdout), SeededRandom(0))


def test_more_budget_predicts_better_and_progress_counts_every_fit():
    told = []
    scores = compare_methods(
        table(), "c", METHODS, [Decimal("0.0001"), Decimal(10)], 5, lambda *at: told.append(at)
    )
    assert told == [(done, 20) for done in range(1, 21)]
    assert [(s.method, s.epsilon) for s in scores] == [
        (0, Decimal("0.0001")), (0, Decimal(10)), (1, Decimal("0.0001")), (1, Decimal(10)),
    ]  # fmt: skip
    for low, high in (scores[:2], scores[2:]):
        assert high.mean > 0.9
        assert high.mean > low.mean
        assert low.low <= low.mean <= low.high


def test_the_plain_tree_finds_the_planted_rule():
    assert plain_tree_accuracy(table(), "c") == pytest.approx(0.95, abs=0.03)


@pytest.mark.parametrize(
    ("methods", "epsilons", "repeats", "sentence"),
    [
        ([], ["1"], 1, "Choose methods"),
        (METHODS, ["1"], 400, "Choose methods"),
        ([("none", {})], ["1"], 1, "no algorithm"),
        ([("tree", {"depth": -1})], ["1"], 1, "depth"),
    ],
)
def test_what_cannot_be_compared_is_refused(methods, epsilons, repeats, sentence):
    with pytest.raises(RequestError, match=sentence):
        compare_methods(
            table(), "c", methods, [Decimal(e) for e in epsilons], repeats, lambda *_: None
        )


def test_without_people_set_aside_there_is_nothing_to_measure():
    with pytest.raises(RequestError, match="nobody aside"):
        compare_methods(table(0), "c", METHODS, [Decimal(1)], 1, lambda *_: None)
    with pytest.raises(RequestError, match="nobody aside"):
        plain_tree_accuracy(table(0), "c")


def test_the_service_refuses_private_data(tmp_path):
    with Service(home=tmp_path, workers=0) as service:
        private = service.add_dataset(frame(), schema(), budget=Decimal(1))
        with pytest.raises(RequestError, match="private"):
            service.compare_methods(private.id, "c", METHODS, ["1"], 1, lambda *_: None)
        with pytest.raises(RequestError, match="private"):
            service.plain_tree_accuracy(private.id, "c")


def test_the_service_compares_on_public_data_for_free(tmp_path):
    with Service(home=tmp_path, workers=0) as service:
        public = service.add_dataset(frame(), schema(), budget=Decimal(1), public=True)
        scores = service.compare_methods(public.id, "c", METHODS[:1], ["1"], 2, lambda *_: None)
        assert len(scores) == 1
        assert scores[0].mean > 0.8
        assert service.balance(public.id).left == 1
