"""A dossier as a Word document: real headings, lists and tables, figures with alternative texts."""

from __future__ import annotations

import io
from typing import Any, Final

import docx
from docx.document import Document as WordDocument
from docx.enum.table import WD_TABLE_ALIGNMENT
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.oxml.xmlchemy import BaseOxmlElement
from docx.shared import Mm, Pt, RGBColor
from docx.table import Table as WordTable
from docx.text.paragraph import Paragraph as WordParagraph

from dpcore.plots.figures import alt, on_paper
from dpcore.released.blocks import Bullets, Code, Facts, Figure, Heading, Paragraph, Table, Written
from dpcore.report.document import Document, column_widths

#: Between the margins of a sheet of A4.
_WIDTH: Final = Mm(174)
#: Part of it that a figure takes at most.
_SHARE: Final = 0.82
_DEEP, _SOFT = RGBColor(0x0B, 0x4F, 0x60), RGBColor(0x46, 0x61, 0x6B)
_SHADE, _WARNING, _NOTE = "E8F2F5", "FFF4DC", "F2F8FA"
#: What XML cannot hold.
_FORBIDDEN: Final = dict.fromkeys((*range(9), 11, 12, *range(14, 32), 0xFFFE, 0xFFFF))


def dossier_word(document: Document) -> bytes:
    """A dossier to be edited, or put into another document."""
    word = docx.Document()
    _sheet(word, document)
    word.add_heading(_clean(document.title), level=0)
    _facts(word, Facts(document.facts))
    for section in document.sections:
        word.add_heading(_clean(section.title), level=1)
        for block in section.blocks:
            _put(word, block)
    told = io.BytesIO()
    word.save(told)
    return told.getvalue()


def _clean(words: str) -> str:
    return words.translate(_FORBIDDEN)


def _sheet(word: WordDocument, document: Document) -> None:
    """Size of the paper, letters, properties, page numbers."""
    [page] = word.sections
    page.page_width, page.page_height = Mm(210), Mm(297)
    page.left_margin = page.right_margin = Mm(18)
    page.top_margin = page.bottom_margin = Mm(20)
    core = word.core_properties
    core.title, core.author, core.language, core.comments = _clean(document.title)[:255], "Frostglass", "en", ""
    styles: Any = word.styles
    styles["Normal"].font.name, styles["Normal"].font.size = "Calibri", Pt(10)
    styles["Normal"].paragraph_format.space_after = Pt(5)
    language = OxmlElement("w:lang")
    language.set(qn("w:val"), "en-GB")
    styles["Normal"].element.get_or_add_rPr().append(language)
    for name, size in (("Title", 20), ("Heading 1", 14), ("Heading 2", 11)):
        styles[name].font.size, styles[name].font.color.rgb, styles[name].font.name = Pt(size), _DEEP, "Calibri"
        _same_letters(styles[name].element)
    styles["Caption"].font.color.rgb, styles["Caption"].font.size = _SOFT, Pt(8.5)
    foot = page.footer.paragraphs[0]
    foot.text = "Every number from the records is noisy. Page "
    _field(foot, "PAGE")
    foot.add_run(" of ")
    _field(foot, "NUMPAGES")
    page.header.paragraphs[0].text = f"{_clean(document.title)} · Frostglass dossier"
    for paragraph in (foot, page.header.paragraphs[0]):
        for run in paragraph.runs:
            run.font.size, run.font.color.rgb = Pt(8), _SOFT


def _same_letters(style: Any) -> None:
    """Let a heading use its own letters, not those of a theme."""
    for name in ("asciiTheme", "hAnsiTheme", "eastAsiaTheme", "cstheme"):
        style.rPr.rFonts.attrib.pop(qn(f"w:{name}"), None)


def _field(paragraph: WordParagraph, name: str) -> None:
    """A number that Word fills in."""
    field = OxmlElement("w:fldSimple")
    field.set(qn("w:instr"), name)
    run, text = OxmlElement("w:r"), OxmlElement("w:t")
    text.text = "1"
    run.append(text)
    field.append(run)
    paragraph._p.append(field)


def _put(word: WordDocument, block: Written) -> None:
    match block:
        case Heading(words):
            word.add_heading(_clean(words), level=2)
        case Paragraph():
            _paragraph(word, block)
        case Bullets(entries):
            for lead, words in entries:
                _led(word.add_paragraph(style="List Bullet"), lead, words)
        case Facts():
            _facts(word, block)
        case Table():
            _table(word, block)
        case Figure():
            _figure(word, block)
        case Code(words):
            run = word.add_paragraph().add_run(_clean(words))
            run.font.name, run.font.size = "Consolas", Pt(8)


def _led(paragraph: WordParagraph, lead: str, words: str) -> None:
    if lead:
        paragraph.add_run(_clean(lead)).bold = True
    paragraph.add_run(_clean(f" {words}" if lead and words else words))


def _paragraph(word: WordDocument, block: Paragraph) -> None:
    paragraph = word.add_paragraph()
    _led(paragraph, block.lead, block.words)
    if block.kind == "small":
        for run in paragraph.runs:
            run.font.size, run.font.color.rgb = Pt(8.5), _SOFT
    elif block.kind != "plain":
        _shade(paragraph._p.get_or_add_pPr(), _WARNING if block.kind == "warning" else _NOTE)


def _facts(word: WordDocument, block: Facts) -> None:
    paragraph = word.add_paragraph()
    for number, (name, value) in enumerate(block.values.items()):
        paragraph.add_run(_clean(f"{'   ' if number else ''}{name}: ")).font.color.rgb = _SOFT
        paragraph.add_run(_clean(value)).bold = True


def _shade(parent: BaseOxmlElement, fill: str) -> None:
    shade = OxmlElement("w:shd")
    shade.set(qn("w:val"), "clear")
    shade.set(qn("w:color"), "auto")
    shade.set(qn("w:fill"), fill)
    parent.append(shade)


def _table(word: WordDocument, table: Table) -> None:
    caption = word.add_paragraph(_clean(table.caption), style="Caption")
    caption.paragraph_format.keep_with_next = True
    made = word.add_table(rows=1, cols=len(table.head), style="Table Grid")
    made.alignment, made.autofit = WD_TABLE_ALIGNMENT.LEFT, False
    _described(made, table.caption)
    widths = [int(_WIDTH * share) for share in column_widths(table)]
    for column, width in zip(made.columns, widths, strict=True):
        column.width = width
    _row(made.rows[0], table.head, widths, head=True)
    repeated = OxmlElement("w:tblHeader")
    made.rows[0]._tr.get_or_add_trPr().append(repeated)
    for row in table.texts:
        _row(made.add_row(), row, widths)
    _paragraph(word, Paragraph(table.remark, kind="small"))


def _row(row: Any, cells: tuple[str, ...], widths: list[int], *, head: bool = False) -> None:
    whole = OxmlElement("w:cantSplit")
    row._tr.get_or_add_trPr().append(whole)
    for cell, words, width in zip(row.cells, cells, widths, strict=True):
        cell.width = width
        paragraph = cell.paragraphs[0]
        paragraph.paragraph_format.space_after = Pt(1)
        run = paragraph.add_run(_clean(words))
        run.font.size, run.bold = Pt(8.5), head
        if head:
            _shade(cell._tc.get_or_add_tcPr(), _SHADE)


def _described(table: WordTable, words: str) -> None:
    """What a table is about, for who cannot see it."""
    caption = OxmlElement("w:tblCaption")
    caption.set(qn("w:val"), _clean(words))
    table._tbl.tblPr.append(caption)


def _figure(word: WordDocument, block: Figure) -> None:
    canvas, share = on_paper(block)
    shape = word.add_picture(io.BytesIO(canvas.png()), width=int(_WIDTH * _SHARE * share))
    properties = shape._inline.docPr
    properties.set("title", _clean(block.title))
    properties.set("descr", _clean(alt(block)))
    word.paragraphs[-1].paragraph_format.keep_with_next = True
    word.add_paragraph(_clean(block.caption), style="Caption")
