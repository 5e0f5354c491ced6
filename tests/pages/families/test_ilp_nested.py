"""Relational rules over rows that belong to rows, on the pages: what is asked, read, made up and tried."""

from __future__ import annotations

from decimal import Decimal

import pandas as pd

from dpcore.models.ilp.language.atoms import Atom
from dpcore.models.ilp.language.clause import Variable
from dpcore.models.ilp.language.nested_conditions import NestedCondition
from dpcore.models.released import parse_model
from pages.components.families.ilp import ilp_cases
from pages.components.visitor import access
from tests.support.pages.family_pages import by_hand
from tests.support.pages.page_tools import checked, open_page, plain_words, spent_on, words
from tests.support.results.small_theories import release_of_one
from tests.support.tables.nested_relations import draw_patients, nested_schema

PAGE = "relational_rules"
SCHEMA = nested_schema(max_rows=2000)
URGENT = Atom(table="stay", column="kind", cells=(1,))
HIGH = NestedCondition(table="stay", inner="lab", atoms=(Atom(table="lab", column="value", cells=(1,)),))


def theory():
    return release_of_one(Variable(table="stay", atoms=(URGENT, HIGH)), SCHEMA)


def test_what_belongs_to_rows_may_be_asked_for_and_is_run():
    frames = draw_patients(200, 1).frames(SCHEMA)
    info = access.service().add_dataset(frames, SCHEMA, budget=Decimal(9))
    app = open_page(PAGE)
    app.checkbox(key="set-ilp-automatic").set_value(False).run()
    said = app.multiselect(key=f"set-ilp-said-{SCHEMA.hash[:8]}")
    assert "Which rows of another table belong to one" in said.options
    said.set_value(["within"]).run()
    assert "About rows, they may also say what belongs to them." in words(checked(app))
    assert spent_on(app, info.id)["quantifiers"] == ["exists", "within"]


def test_a_clause_over_nested_rows_is_read_made_up_and_tried(monkeypatch):
    release = theory()
    app, key = by_hand(monkeypatch, release), f"release-{release.id}"
    text = plain_words(checked(app))
    assert "Any patient with a stay that has kind = urgent and a lab with value > 4" in text
    assert "has_stay(P, A), kind(A, urgent), stay_has_lab(A, B), value_above(B, 4)." in "".join(
        item.value for item in app.code
    )
    tables = [str(item.value) for item in app.get("html") if "<caption>" in str(item.value)]
    made = {name: next(table for table in tables if f"<caption>{name}: " in table) for name in ("stay", "lab")}
    assert ">stay_id<" in made["stay"]
    assert ">of<" in made["lab"]
    assert all("fulfils it" in table for table in made.values())
    assert "lab: at most 6 rows; 'of' names the stay of each" in text.replace("**", "")
    assert "Clause 1 covers it" in _titles(app)
    app.selectbox(key=f"{key}-try-start").set_value(-1).run()
    assert "No clause covers it" in _titles(checked(app)), "without a row"


def test_keys_of_a_case_are_texts_that_may_be_told_or_not():
    release = theory()
    model = parse_model(release)
    clause_columns = ilp_cases.clause_columns(model.clauses)
    links = {child.name: ilp_cases._links(child, clause_columns) for child in SCHEMA.children}
    assert links["stay"] == {"stay_id": "What rows of lab call it. Any number or name."}
    assert links["lab"] == {"of": "The stay that it belongs to, as the table of these calls it."}
    assert links["drug"] == {}
    tables = ilp_cases.made_up(release, model, 0, 1)
    assert model.possible_groups(tables, SCHEMA) == (0,)
    told = {**tables, "lab": tables["lab"].assign(of=tables["lab"]["of"].astype(str))}
    assert model.possible_groups(told, SCHEMA) == (0,)
    untold = {**tables, "lab": tables["lab"].assign(of=pd.Series([None] * len(tables["lab"]), dtype=object))}
    assert model.possible_groups(untold, SCHEMA) == (0, 1)


def _titles(app) -> str:
    return " ".join(item.proto.title for item in app.success)
