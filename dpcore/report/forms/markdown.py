"""A dossier as Markdown, beside its figures."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator, Mapping
from typing import Final

from dpcore.plots.figures import alt, on_paper
from dpcore.released.blocks import Bullets, Code, Facts, Figure, Heading, Paragraph, Table, Written
from dpcore.report.document import Document

#: Signs that Markdown, or HTML inside it, would take for marks.
_MARKS: Final = re.compile(r"([\\`*_{}\[\]<>#|~$&!])")
#: What would begin a list, a heading or a rule at the start of a line.
_STARTS: Final = re.compile(r"^(\s*)([-+=]|\d+[.)])")

#: Of a file in an archive.
_TIME: Final = (1980, 1, 1, 0, 0, 0)


def dossier_folder(document: Document) -> bytes:
    """An archive with a dossier as Markdown, and its figures in a folder."""
    told = dossier_markdown(document, folder="figures/").encode()
    return zipped({"dossier.md": told, **{f"figures/{name}": drawn for name, drawn in figure_files(document).items()}})


def figure_files(document: Document) -> dict[str, bytes]:
    """Every figure twice: to be scaled (SVG), and to be put anywhere (PNG at 200 dots per inch)."""
    found: dict[str, bytes] = {}
    for figure in document.figures:
        canvas, _ = on_paper(figure)
        found[f"{figure.name}.svg"] = canvas.svg(figure.title, alt(figure)).encode()
        found[f"{figure.name}.png"] = canvas.png()
    return found


def zipped(files: Mapping[str, bytes]) -> bytes:
    """Files in one archive, which is the same whenever it is made."""
    told = io.BytesIO()
    with zipfile.ZipFile(told, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, _TIME), content, zipfile.ZIP_DEFLATED)
    return told.getvalue()


def dossier_markdown(document: Document, folder: str = "") -> str:
    """A dossier as Markdown, with tables as on GitHub; figures are SVG files in ``folder``."""
    lines = [f"# {escaped(document.title)}", "", *_told(Facts(document.facts), folder)]
    for section in document.sections:
        lines += [f"## {escaped(section.title)}", ""]
        for block in section.blocks:
            lines += _told(block, folder)
    return "\n".join(lines).rstrip() + "\n"


def escaped(words: str) -> str:
    """Words as they are, whatever Markdown would make of them."""
    plain = _MARKS.sub(r"\\\1", " ".join(words.split()))
    return _STARTS.sub(lambda found: f"{found[1]}{_started(found[2])}", plain)


def _started(sign: str) -> str:
    return f"{sign[:-1]}\\{sign[-1]}" if len(sign) > 1 else f"\\{sign}"


def _told(block: Written, folder: str) -> Iterator[str]:
    """Lines of a block, an empty one at the end."""
    match block:
        case Heading(words):
            yield f"### {escaped(words)}"
        case Paragraph(words, lead, kind):
            start = "> " if kind in {"warning", "note"} else ""
            yield start + _led(lead, words)
        case Bullets(entries):
            yield from (f"- {_led(lead, words)}" for lead, words in entries)
        case Facts(values):
            yield from (f"- {escaped(name)}: **{escaped(value)}**" for name, value in values.items())
        case Table():
            yield from _table(block)
        case Figure(name=name):
            yield f"![{escaped(alt(block))}]({folder}{name}.svg)"
            yield ""
            yield f"*{escaped(block.caption)}*"
        case Code(words):
            yield from _program(words)
    yield ""


def _led(lead: str, words: str) -> str:
    told = escaped(words)
    return f"**{escaped(lead)}** {told}".rstrip() if lead else told


def _table(table: Table) -> Iterator[str]:
    yield f"**{escaped(table.caption)}**"
    yield ""
    yield _row(table.head)
    yield "|" + " --- |" * len(table.head)
    yield from map(_row, table.texts)
    if table.remark:
        yield ""
        yield escaped(table.remark)


def _row(cells: tuple[str, ...]) -> str:
    return "| " + " | ".join(escaped(cell) for cell in cells) + " |"


def _program(words: str) -> Iterator[str]:
    """Lines of a program in a fence that is longer than any inside."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", words)), default=0))
    yield fence
    yield words.rstrip()
    yield fence
