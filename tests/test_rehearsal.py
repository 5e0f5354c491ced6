from decimal import Decimal

from dpcore.algorithms import get_learner
from dpcore.rehearsal import rehearse, synthetic_frame
from dpcore.schema import Schema
from tests.fake_learner import small_schema


def test_bounds_beyond_64_bits_can_be_rehearsed():
    columns = [
        {"name": "n", "type": "integer", "lower": -(10**20), "upper": 10**20, "bins": 4},
        {"name": "y", "type": "boolean", "target": True},
    ]
    schema = Schema.from_mapping({"name": "wide", "max_rows": 50, "columns": columns})
    drawn = synthetic_frame(schema, "y", 50, seed=1)["n"]
    assert drawn.between(-1e20, 1e20).all()
    assert (drawn == drawn.round()).all()


def test_a_rehearsal_does_a_limited_amount_of_work(monkeypatch):
    learner, schema = get_learner("rule_list"), small_schema()
    seen = []
    run = type(learner).run

    def watch(self, table, plan, *more):
        seen.append(plan.parameters)
        return run(self, table, plan, *more)

    monkeypatch.setattr(type(learner), "run", watch)
    for chosen in ({"pool_size": 5_000_000}, {"sampler": "mcmc", "mcmc_steps": 1_000_000}, {}):
        rehearse(learner, schema, learner.plan(schema, "ill", Decimal(1), chosen))
    assert [kept.pool_size for kept in seen] == [100_000] * 3
    assert [kept.mcmc_steps for kept in seen] == [5_000, 20_000, 5_000]
