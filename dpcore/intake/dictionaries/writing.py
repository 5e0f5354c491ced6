"""The public description of a data set in forms that others read."""

from __future__ import annotations

import json
from typing import Final

from dpcore.domain.schemas.schema import Schema
from dpcore.intake.dictionaries import croissant, csvw, frictionless

_WRITERS: Final = {"frictionless": frictionless.written, "csvw": csvw.written, "croissant": croissant.written}
#: What each form is called, and the usual name of such a file.
FORMS: Final = {
    "frictionless": ("Data Package", "datapackage.json"),
    "csvw": ("CSVW-EO", "csv-metadata.json"),
    "croissant": ("Croissant", "croissant.json"),
}


def text_of(schema: Schema, form: str) -> str:
    """A schema as JSON in one of the :data:`FORMS`."""
    return json.dumps(_WRITERS[form](schema), indent=2, ensure_ascii=False) + "\n"
