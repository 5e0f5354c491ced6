"""CSV files that a spreadsheet may open: no cell that somebody typed becomes a formula."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

#: A spreadsheet takes a cell that begins like this for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
#: Where a spreadsheet of another country, or one that is told so, ends a cell, whatever quotation marks say.
_SEPARATORS = re.compile(r"([;|\t\r\n])")
_PIECE = re.compile(r'[\s"]*[-=+@＝＋－＠]')
#: A number, or signs alone: nothing that a formula could be made of.
_HARMLESS = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[-+=/ ]+")


def safe_cell(typed: str | None) -> str:
    """Text for a cell: with an apostrophe in front if a spreadsheet would run it as a formula.

    The same holds of each piece, if it is divided at semicolons, bars, tabs or ends of lines. A number stays as it
    is, also with a sign, and so do signs without anything that they could be applied to: ``++``.

    Source: OWASP, "CSV Injection".
    """
    text = (typed or "").replace("\0", "")
    begins = text.startswith(_FORMULA) or text.lstrip().startswith(_FORMULA)
    mark = "'" if begins and not _HARMLESS.fullmatch(text) else ""
    first, *more = _SEPARATORS.split(text)
    return mark + first + "".join(map(_safe_piece, more))


def _safe_piece(piece: str) -> str:
    return f"'{piece}" if _PIECE.match(piece) and not _HARMLESS.fullmatch(piece) else piece


def frame_csv(frame: pd.DataFrame) -> str:
    """A table as CSV, with safe texts in its cells and its header; numbers as they are."""
    safe = frame.map(lambda cell: safe_cell(cell) if isinstance(cell, str) else cell)
    return str(safe.rename(columns=lambda name: safe_cell(str(name))).to_csv(index=False))
