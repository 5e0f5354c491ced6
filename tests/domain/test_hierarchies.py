"""Groups above the categories of columns of codes."""

from __future__ import annotations

from dpcore.domain.columns import RESERVED
from dpcore.domain.hierarchies import OWN_GROUPS, levels_above
from dpcore.domain.schemas.schema import Schema
from tests.support.rows import for_each


def column(**content):
    schema = Schema.from_mapping({"name": "ward", "max_rows": 100, "columns": [{"name": "code", **content}]})
    return schema.column("code")


def test_blocks_lie_in_chapters():
    blocks = column(type="categorical", derive={"code": "icd", "system": "icd10", "level": "block"})
    (chapters,) = levels_above(blocks)
    assert chapters.name == "chapters"
    assert len(chapters.groups) == len(blocks.cells)
    stroke = chapters.groups[blocks.cells.index("I60-I69")]
    assert chapters.cells[stroke].startswith("IX: ")
    assert chapters.cells[-2:] == RESERVED
    assert [chapters.cells[group] for group in chapters.groups[-2:]] == list(RESERVED)


def test_levels_of_a_fine_column_are_nested_and_ever_finer():
    drugs = ["C07A", "C09A", "N02A", "N02B", "N05A", "none"]
    levels = levels_above(
        column(type="categorical", categories=drugs, derive={"code": "atc", "system": "atc", "level": "3"})
    )
    assert [level.name for level in levels] == ["level 1", "level 2"]
    coarse, fine = levels
    assert len(coarse.cells) < len(fine.cells) < len(drugs) + len(RESERVED)
    assert len(set(zip(coarse.groups, fine.groups, strict=True))) == len(fine.cells)
    assert coarse.cells[coarse.groups[drugs.index("none")]] == "none"


def test_groups_of_the_schema_are_a_level():
    (level,) = levels_above(column(type="categorical", categories=["a", "b", "c"], groups={"vowels": ["a", "c"]}))
    assert (level.name, level.cells[:2]) == (OWN_GROUPS, ("vowels", "b"))
    assert level.groups[:3] == (0, 1, 0)


@for_each(
    "content",
    [
        {"type": "boolean"},
        {"type": "integer", "lower": 0, "upper": 9, "bins": 3},
        {"type": "categorical", "categories": ["a", "b"]},
        {"type": "categorical", "derive": {"code": "icd", "system": "icd10", "level": "chapter"}},
        {"type": "categorical", "categories": ["a", "b", "c"], "groups": {"one": ["a", "b"], "two": ["b", "c"]}},
    ],
)
def test_other_columns_have_none(content):
    assert levels_above(column(**content)) == ()
