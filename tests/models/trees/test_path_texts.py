"""What holds at a node is told once for each column, and means what the answers on the way mean."""

import re
from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from dpcore.domain.columns import MISSING, OTHER, NumericColumn
from dpcore.domain.conditions import Condition, split_conditions
from dpcore.models.trees.released.splits import Split, path_texts, split_on
from dpcore.models.trees.released.tree_model import TreeModel
from tests.support.results.hand_made_trees import SCHEMA as PLAIN
from tests.support.results.hand_made_trees import inner, leaf, split, tree
from tests.support.rows import for_each
from tests.support.tables.small_tables import schema_of

COLUMNS = (
    {"name": "age", "type": "integer", "lower": 0, "upper": 100, "edges": [30, 60, 70]},
    {"name": "home", "type": "categorical", "categories": ["alone", "family", "care home"]},
    {"name": "size", "type": "ordinal", "categories": ["low", "mid", "high", "top"]},
    {"name": "smoker", "type": "boolean"},
)
OUTCOME = {"name": "ill", "type": "boolean", "target": True}


def schema(**more):
    return schema_of([*({**column, **more} for column in COLUMNS), OUTCOME], max_rows=500)


#: As programs read it, as people do, and without missing values.
SCHEMAS = {
    "plain": schema(),
    "for people": schema_of([*({**column, "label": column["name"]} for column in COLUMNS), OUTCOME], max_rows=500),
    "never missing": schema(missing="never"),
}


def words_of(column, cell):
    """What stands for a cell in a sentence, and what compares it with others."""
    label = column.cells[cell]
    if label in (OTHER, MISSING):
        return label.strip("()"), None
    if not isinstance(column, NumericColumn):
        return label, cell
    edges = (column.lower, *column.inner_edges, column.upper)
    return "", (edges[cell] + edges[cell + 1]) / 2


def value_of(column, words):
    return column.cells.index(words) if not isinstance(column, NumericColumn) else float(words)


def says(text, column, cell):
    """Whether a condition holds for a cell, as a reader of its words alone would say."""
    name, value = words_of(column, cell)
    rest = text.removeprefix(column.name)
    if rest.startswith(" is not "):
        return name not in rest.removeprefix(" is not ").split(" or ")
    return any(_one(part, column, name, value) for part in text.split(" or "))


def _one(part, column, name, value):
    between = re.fullmatch(rf"(\S+) < {column.name} <= (\S+)", part)
    if between:
        low, high = between.groups()
        return value is not None and value_of(column, low) < value <= value_of(column, high)
    rest = part.removeprefix(column.name).strip()
    if rest.startswith("<="):
        return value is not None and value <= value_of(column, rest.removeprefix("<= "))
    if rest.startswith(">"):
        return value is not None and value > value_of(column, rest.removeprefix("> "))
    rest = rest.removeprefix(":").removeprefix("=").strip()
    return name in ("other", "missing") if rest == "unknown" else rest == name


def agrees(answers, whole):
    """Whether the texts hold for just those cells that all answers let pass, column by column."""
    texts = path_texts([answers], whole)[0][1]
    for name in {asked.column for asked, _ in answers}:
        column = whole.column(name)
        own = [text for text in texts if re.search(rf"(^| < ){name}\b", text)]
        for cell in sorted(set(range(len(column.cells))) - column.unsaid):
            passes = all(asked.branches[cell] == branch for asked, branch in answers if asked.column == name)
            assert all(says(text, column, cell) for text in own) == passes, (texts, column.cells[cell])
    return texts


def offered(whole):
    return [split_on(asked, whole.column(asked.column)) for asked in split_conditions(whole, "ill", reserved=True)]


@for_each("whole", SCHEMAS.values())
def test_every_two_questions_of_a_column_mean_what_their_answers_mean(whole):
    for one, other in product(offered(whole), repeat=2):
        for answer in product((0, 1), repeat=2):
            agrees(list(zip((one, other), answer, strict=True)), whole)


@settings(deadline=None)
@given(st.data(), st.sampled_from(list(SCHEMAS.values())))
def test_any_way_through_any_splits_means_what_its_answers_mean(data, whole):
    def any_split(name):
        cells = len(whole.column(name).cells)
        branches = st.lists(st.integers(0, 2), min_size=cells, max_size=cells)
        return branches.map(lambda drawn: Split(column=name, branches=[sorted(set(drawn)).index(b) for b in drawn]))

    splits = st.sampled_from([column["name"] for column in COLUMNS]).flatmap(any_split)
    way = data.draw(st.lists(st.one_of(splits, st.sampled_from(offered(whole))), min_size=1, max_size=6))
    answers = [(split, data.draw(st.sampled_from(split.branches))) for split in way]
    texts = agrees(answers, whole)
    asked = [split.column for split in way]
    possible = {
        name: frozenset.intersection(*(split.cells(branch) for split, branch in answers if split.column == name))
        for name in asked
    }
    if all(possible.values()):
        assert len(texts) == len(possible), "one condition for each column"


@for_each(
    ("answers", "told"),
    [
        ([("home", 2, 1), ("home", 0, 0)], ("home = alone",)),
        ([("home", 2, 1), ("home", 0, 1)], ("home is not alone or care home",)),
        ([("age", 1, 1), ("age", 2, 1)], ("age > 70 or missing",)),
        ([("age", 2, 0), ("age", 1, 0)], ("age <= 60",)),
        ([("age", 1, 1), ("home", 0, 0), ("age", 2, 0)], ("60 < age <= 70", "home = alone")),
        ([("home", 0, 0), ("home", 1, 0)], ("home = alone", "home = family")),
    ],
)
def test_what_another_answer_tells_is_not_repeated(answers, told):
    whole = SCHEMAS["plain"]
    splits = []
    for name, cell, branch in answers:
        first = 0 if whole.column(name).ordered else cell
        splits.append((split_on(Condition(column=name, first=first, last=cell), whole.column(name)), branch))
    assert path_texts([splits], whole)[0][1] == told


def asked_twice():
    below = inner(split("age", 0, 0), leaf(1, 9), leaf(8, 2))
    return tree(inner(split("age", 0, 1), below, leaf(2, 40)))


def test_a_tree_tells_each_column_once_wherever_it_is_read():
    model = asked_twice()
    told = ["everyone", "age <= 60", "(age > 60 or missing)", "age <= 30", "30 < age <= 60"]
    assert [model.condition(place) for place in range(len(model.nodes))] == told
    assert [node.text for node in model.nodes] == [*told[:2], "age > 60 or missing", "age <= 30", "age > 30 or missing"]
    assert model.to_frame()["condition"].tolist() == told
    assert model.reading("ill")[2].startswith("If 30 < age <= 60: predicted ill = no. ")


def test_a_tree_of_an_earlier_version_tells_the_answers_as_they_were_given():
    content = asked_twice().model_dump(mode="json")
    for node in content["nodes"]:
        del node["conditions"]
    before = TreeModel.model_validate(content)
    assert before.condition(4) == "age <= 60 and (age > 30 or missing)"
    assert before.worded(PLAIN) == asked_twice()
