"""The public description of a data set as Croissant."""

from __future__ import annotations

import json

from dpcore.domain.schemas.schema import Schema
from dpcore.intake.dictionaries.writing import text_of
from tests.support.tables.small_relations import small_schema

SCHEMA = Schema.from_mapping(
    {
        "name": "Stroke unit",
        "max_rows": 5000,
        "columns": [
            {"name": "age now", "type": "integer", "lower": 18, "upper": 100, "bins": 4, "unit": "years"},
            {"name": "sex", "type": "categorical", "categories": ["1", "2"], "labels": {"1": "male"}, "label": "Sex"},
            {"name": "died", "type": "boolean"},
        ],
    }
)


def _written(schema):
    return json.loads(text_of(schema, "croissant"))


def _nodes(content):
    """Every object with an identifier of its own."""
    if isinstance(content, list):
        return [node for each in content for node in _nodes(each)]
    if not isinstance(content, dict):
        return []
    inner = [node for name, each in content.items() if name != "@context" for node in _nodes(each)]
    return [*([content] if "@type" in content and "@id" in content else []), *inner]


def _references(content):
    if isinstance(content, list):
        return [found for each in content for found in _references(each)]
    if not isinstance(content, dict):
        return []
    own = [content["@id"]] if set(content) == {"@id"} else []
    return own + [found for name, each in content.items() if name != "@context" for found in _references(each)]


def test_it_has_what_the_format_needs():
    content = _written(SCHEMA)
    assert content["conformsTo"] == "http://mlcommons.org/croissant/1.0"
    assert content["@type"] == "sc:Dataset"
    assert {"name", "description", "distribution", "recordSet"} <= content.keys()
    [file] = content["distribution"]
    assert {"@type", "@id", "name", "contentUrl", "encodingFormat"} <= file.keys()
    assert content["isLiveDataset"], "without it, a checksum of the file would be needed"
    for node in _nodes(content):
        assert node["name"]
        if node["@type"] == "cr:Field":
            assert node["dataType"] in {"sc:Text", "sc:Integer", "sc:Float", "sc:Boolean"}


def test_every_word_of_the_format_is_in_its_context_and_every_reference_leads_somewhere():
    for content in (_written(SCHEMA), _written(small_schema())):
        known = [node["@id"] for node in _nodes(content)]
        assert len(set(known)) == len(known)
        assert {*_references(content)} <= {*known}
        words = {name for node in [content, *_nodes(content)] for name in node if not name.startswith("@")}
        schema_org = {
            *("name", "description", "conditionsOfAccess", "isAccessibleForFree", "distribution"),
            *("variableMeasured", "contentUrl", "encodingFormat"),
        }
        assert words <= {*content["@context"], *schema_org}


def test_categories_are_an_enumeration_with_their_labels():
    listed, rows = _written(SCHEMA)["recordSet"]
    assert listed["dataType"] == "sc:Enumeration"
    fields = [field["@id"] for field in listed["field"]]
    assert [[line[field] for field in fields] for line in listed["data"]] == [["1", "male"], ["2", "2"]]
    age, sex, died = rows["field"]
    assert age["source"]["extract"] == {"column": "age now"}
    assert sex["references"]["field"] == listed["key"]
    assert (age["dataType"], died["dataType"]) == ("sc:Integer", "sc:Boolean")
