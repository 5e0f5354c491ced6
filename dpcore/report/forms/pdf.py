"""A dossier as PDF: tagged and archival (PDF/UA-1, PDF/A-2a), made without a browser."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl
import typst

from dpcore.errors import RequestError
from dpcore.plots.figures import alt, on_paper
from dpcore.released.blocks import Bullets, Code, Facts, Figure, Heading, Paragraph, Table, Written
from dpcore.report.document import Document, column_widths
from dpcore.report.forms.page import TEMPLATES

_TEMPLATE: Final = TEMPLATES / "dossier.typ"
#: What a reader may rely on: tags for screen readers, and everything inside the file.
_STANDARDS: Final[Any] = ["a-2a", "ua-1"]
#: Letters that are always at hand: those of the figures.
_FONTS: Final = Path(mpl.get_data_path()) / "fonts" / "ttf"
#: Signs that an archival PDF may not hold, as they mean something in one font alone, or nothing at all.
_MEANINGLESS: Final = re.compile("[\ue000-\uf8ff\ufffe\uffff\U000f0000-\U0010ffff]")
_MARK: Final = "\ufeff"
_CANNOT: Final = (
    "This dossier cannot be made as a PDF: its texts hold something that an archival PDF may not. "
    "Choose another form, such as Word or the web page."
)


def dossier_pdf(document: Document) -> bytes:
    """A dossier to be printed.

    Texts reach the typesetter as data, never as markup, and it reads no file but its template and its letters.
    Signs that no archival PDF may hold are replaced by the sign for what cannot be shown.

    Raises
    ------
    RequestError
        If the typesetter refuses it all the same.
    """
    told = {
        "title": document.title,
        "facts": list(document.facts.items()),
        "sections": [
            {"title": section.title, "result": section.result, "blocks": [_told(block) for block in section.blocks]}
            for section in document.sections
        ],
    }
    try:
        made: bytes = typst.compile(
            _TEMPLATE,
            None,
            root=_TEMPLATE.parent,
            font_paths=[_FONTS],
            format="pdf",
            sys_inputs={"document": _archival(json.dumps(told, ensure_ascii=False))},
            pdf_standards=_STANDARDS,
        )
    except typst.TypstError:
        raise RequestError(_CANNOT) from None
    return made


def _archival(words: str) -> str:
    """The same without signs that an archival PDF may not hold, in texts, figures and what stands for these."""
    return _MEANINGLESS.sub("\ufffd", words.replace(_MARK, ""))


def _told(block: Written) -> dict[str, object]:
    """A block as the template reads it."""
    match block:
        case Heading(words):
            return {"kind": "heading", "words": words}
        case Paragraph(words, lead, kind):
            return {"kind": "paragraph", "words": words, "lead": lead, "style": kind}
        case Bullets(entries):
            return {"kind": "bullets", "entries": [list(entry) for entry in entries]}
        case Facts(values):
            return {"kind": "facts", "values": list(values.items())}
        case Code(words):
            return {"kind": "code", "words": words}
        case Figure(title=title):
            (canvas, share), words = on_paper(block), alt(block)
            svg = canvas.svg(title, words)
            return {"kind": "drawing", "svg": svg, "alt": words, "caption": block.caption, "share": share}
        case Table(caption, head):
            return {
                "kind": "grid",
                "style": block.kind,
                "caption": caption,
                "head": list(head),
                "rows": [list(row) for row in block.texts],
                "shares": column_widths(block),
                "remark": block.remark,
            }
