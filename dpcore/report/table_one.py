"""Table 1 of a first look as a file of its own: for spreadsheets, browsers and word processors."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from dpcore.models.summaries.released.table_one_words import MEAN, MIDDLES, PrintedCell, PrintedLine, PrintedTable
from dpcore.numerals import small
from dpcore.privacy.budgets import format_epsilon
from dpcore.released.release import Release

if TYPE_CHECKING:
    import pandas as pd

_DIFFERENCE = "Standardised difference"
_STYLE = (
    "body{font-family:'Times New Roman',serif;font-size:11pt;margin:2em}"
    "table{border-collapse:collapse;border-top:1.5pt solid;border-bottom:1.5pt solid}"
    "caption{text-align:left;padding:0 0 .5em}th,td{padding:2pt 8pt;text-align:left;vertical-align:top}"
    "thead th{border-bottom:.75pt solid}.inner{padding-left:1.5em;font-weight:normal}"
    "tbody th{font-weight:bold}small{font-size:8.5pt}"
)


def table_one_rows(table: PrintedTable) -> pd.DataFrame:
    """What is printed, with the interval of each figure in a column of its own."""
    import pandas as pd

    head = ["Column", "Value"]
    for group in (*table.groups, _DIFFERENCE):
        head += [group, f"{group}: interval (95%)"]
    rows, column = [], ""
    for line in table.lines:
        column = column if line.inner else line.label
        rows.append([column, _value(line) if line.inner else "", *_figures(table, line)])
    return pd.DataFrame(rows, columns=head)


def _value(line: PrintedLine) -> str:
    return f"{MEAN} ({MIDDLES})" if line.label == MEAN else line.label


def _figures(table: PrintedTable, line: PrintedLine) -> list[str]:
    cells: list[PrintedCell | None] = [*(line.cells or [None] * len(table.groups)), line.difference]
    return [text for cell in cells for text in (("", "") if cell is None else (cell.figure, cell.interval))]


def table_one_document(release: Release, table: PrintedTable) -> str:
    """The table as HTML that browsers show and word processors open."""
    head = "".join(f"<th scope='col'>{escape(name)}</th>" for name in ("", *table.groups, _DIFFERENCE))
    body = "".join(_row(table, line) for line in table.lines)
    title = escape(f"Table 1. {table.caption}")
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f"<title>{title}</title><style>{_STYLE}</style></head><body>"
        f"<table><caption><b>{title}</b> ({escape(release.dataset_name)})</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        f"<p><small>{escape(_note(release, table))}</small></p></body></html>"
    )


def _note(release: Release, table: PrintedTable) -> str:
    card = release.certificate
    spent = f"epsilon = {format_epsilon(card.epsilon)}" + (f", delta = {small(card.delta)}" if card.delta else "")
    promise = f"Differentially private ({spent})." if card.private else "Not private."
    means = (
        f"A mean {MIDDLES}; what stands below it, or below a median, allows for numbers anywhere in their ranges. "
        if table.means
        else ""
    )
    return (
        f"{promise} Noise was added to every count; below each figure: where it may lie for this noise, with 95 % "
        f"confidence. {means}Chance in who was observed comes on top. Shares are of all in a group. The standardised "
        "difference is the largest between any two groups."
    )


def _row(table: PrintedTable, line: PrintedLine) -> str:
    cells: list[PrintedCell | None] = [*(line.cells or [None] * len(table.groups)), line.difference]
    style = " class='inner'" if line.inner else ""
    return f"<tr><th scope='row'{style}>{escape(line.label)}</th>{''.join(map(_cell, cells))}</tr>"


def _cell(cell: PrintedCell | None) -> str:
    if cell is None:
        return "<td></td>"
    return f"<td>{escape(cell.figure)}<br><small>{escape(cell.interval)}</small></td>"
