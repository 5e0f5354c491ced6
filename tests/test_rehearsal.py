from dpcore.rehearsal import synthetic_frame
from dpcore.schema import Schema


def test_bounds_beyond_64_bits_can_be_rehearsed():
    columns = [
        {"name": "n", "type": "integer", "lower": -(10**20), "upper": 10**20, "bins": 4},
        {"name": "y", "type": "boolean", "target": True},
    ]
    schema = Schema.from_mapping({"name": "wide", "max_rows": 50, "columns": columns})
    drawn = synthetic_frame(schema, "y", 50, seed=1)["n"]
    assert drawn.between(-1e20, 1e20).all()
    assert (drawn == drawn.round()).all()
