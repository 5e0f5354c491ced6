"""Table 1 of a first look as a file of its own: for spreadsheets, browsers and word processors."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from dpcore.models.summaries.released.summary_reading import MEAN, MIDDLES
from dpcore.numerals import small
from dpcore.privacy.budgets import plain_epsilon
from dpcore.released.blocks import Cell, Inner, Noisy, Table
from dpcore.released.release import Release

if TYPE_CHECKING:
    import pandas as pd

_STYLE = (
    "body{font-family:'Times New Roman',serif;font-size:11pt;margin:2em}"
    "table{border-collapse:collapse;border-top:1.5pt solid;border-bottom:1.5pt solid}"
    "caption{text-align:left;padding:0 0 .5em}th,td{padding:2pt 8pt;text-align:left;vertical-align:top}"
    "thead th{border-bottom:.75pt solid}.inner{padding-left:1.5em;font-weight:normal}"
    "tbody th{font-weight:bold}small{font-size:8.5pt}"
)


def table_one_rows(table: Table) -> pd.DataFrame:
    """What is printed, with the interval of each figure in a column of its own."""
    import pandas as pd

    head = ["Column", "Value"]
    for group in table.head[1:]:
        head += [group, f"{group}: interval (95%)"]
    rows, column = [], ""
    for label, *cells in table.rows:
        inner = isinstance(label, Inner)
        column = column if inner else str(label)
        figures = [text for cell in cells for text in _parts(cell)]
        rows.append([column, _value(label.words) if isinstance(label, Inner) else "", *figures])
    return pd.DataFrame(rows, columns=head)


def _value(label: str) -> str:
    return f"{MEAN} ({MIDDLES})" if label == MEAN else label


def _parts(cell: Cell) -> tuple[str, str]:
    return (cell.figure, cell.interval) if isinstance(cell, Noisy) else (str(cell), "")


def table_one_document(release: Release, table: Table) -> str:
    """The table as HTML that browsers show and word processors open."""
    head = "".join(f"<th scope='col'>{escape(name)}</th>" for name in table.head)
    body = "".join(map(_row, table.rows))
    title = escape(table.caption.partition(";")[0].replace("Table 1:", "Table 1."))
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f"<title>{title}</title><style>{_STYLE}</style></head><body>"
        f"<table><caption><b>{title}</b> ({escape(release.dataset_name)})</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        f"<p><small>{escape(_note(release, table))}</small></p></body></html>"
    )


def _note(release: Release, table: Table) -> str:
    card = release.certificate
    spent = f"epsilon = {plain_epsilon(card.epsilon)}" + (f", delta = {small(card.delta)}" if card.delta else "")
    promise = f"Differentially private ({spent})." if card.private else "Not private."
    means = (
        f"A mean {MIDDLES}; what stands below it, or below a median, allows for numbers anywhere in their ranges. "
        if any(isinstance(row[0], Inner) and row[0].words == MEAN for row in table.rows)
        else ""
    )
    return (
        f"{promise} Noise was added to every count; below each figure: where it may lie for this noise, with 95 % "
        f"confidence. {means}Chance in who was observed comes on top. Shares are of all in a group. The standardised "
        "difference is the largest between any two groups."
    )


def _row(row: tuple[Cell, ...]) -> str:
    label, *cells = row
    style, words = (" class='inner'", label.words) if isinstance(label, Inner) else ("", str(label))
    return f"<tr><th scope='row'{style}>{escape(words)}</th>{''.join(map(_cell, cells))}</tr>"


def _cell(cell: Cell) -> str:
    if not isinstance(cell, Noisy):
        return "<td></td>"
    return f"<td>{escape(cell.figure)}<br><small>{escape(cell.interval)}</small></td>"
