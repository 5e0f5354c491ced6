"""Excel files of a test's own, made by hand, so that anything can be wrong with them."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

Cells = Sequence[Sequence[Any]]
_TYPES = """<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
<Default Extension="xml" ContentType="application/xml"/>
<Override PartName="/xl/workbook.xml"
 ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/></Types>"""
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
_DATES = (
    f"""<styleSheet xmlns="{_MAIN}"><cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>"""
)


class Day(int):
    """A day as Excel counts it: a number that is shown as a date."""


def workbook(path: Path, sheets: Mapping[str, Cells], *, within: Mapping[str, str] | None = None) -> Path:
    """Write an Excel file with these sheets. ``within`` is put into a sheet behind its cells."""
    names = list(sheets)
    listed = "".join(f'<sheet name={quoteattr(n)} sheetId="{i}" r:id="r{i}"/>' for i, n in enumerate(names, 1))
    book = f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>{listed}</sheets></workbook>'
    links = [("r0", "styles", "styles.xml")]
    links += [(f"r{i}", "worksheet", f"worksheets/sheet{i}.xml") for i in range(1, len(names) + 1)]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as packed:
        packed.writestr("[Content_Types].xml", _TYPES)
        packed.writestr("_rels/.rels", _links([("r1", "officeDocument", "xl/workbook.xml")]))
        packed.writestr("xl/workbook.xml", book)
        packed.writestr("xl/styles.xml", _DATES)
        packed.writestr("xl/_rels/workbook.xml.rels", _links(links))
        for number, (name, rows) in enumerate(sheets.items(), 1):
            with packed.open(f"xl/worksheets/sheet{number}.xml", "w") as sheet:
                sheet.write(f'<worksheet xmlns="{_MAIN}"><sheetData>'.encode())
                for place, row in enumerate(rows, 1):
                    sheet.write(_row(place, row).encode())
                sheet.write(f"</sheetData>{(within or {}).get(name, '')}</worksheet>".encode())
    return path


def _links(links: list[tuple[str, str, str]]) -> str:
    made = "".join(f'<Relationship Id="{i}" Type="{_OFFICE}/{kind}" Target="{to}"/>' for i, kind, to in links)
    return f'<Relationships xmlns="{_RELATIONS}">{made}</Relationships>'


def _row(place: int, row: Sequence[Any]) -> str:
    cells = "".join(_cell(f"{_letters(i)}{place}", value) for i, value in enumerate(row))
    return f'<row r="{place}">{cells}</row>'


def _letters(column: int) -> str:
    first, last = divmod(column, 26)
    return (_letters(first - 1) if first else "") + chr(65 + last)


def _cell(place: str, value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return f'<c r="{place}" t="inlineStr"><is><t xml:space="preserve">{escape(value)}</t></is></c>'
    if isinstance(value, bool):
        return f'<c r="{place}" t="b"><v>{int(value)}</v></c>'
    style = ' s="1"' if isinstance(value, Day) else ""
    return f'<c r="{place}"{style}><v>{value}</v></c>'
