"""Releases, data sets and budgets as plain text for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from dpcore.commands.shell import lines_of, one_line, text_table
from dpcore.models.readable import blocks_of, readable
from dpcore.models.released import family_of, parse_model
from dpcore.numerals import whole
from dpcore.privacy.budgets import percent, plain_epsilon
from dpcore.released.blocks import Block, Bullets, Code, Facts, Figure, Heading, Paragraph, Table, Written, written
from dpcore.released.plan import guaranteed_odds
from dpcore.released.release import Release
from dpcore.report.certificate import certificate_lines
from dpcore.report.spending import price
from dpcore.workspace.ledger.requests import Quote

#: Characters of a line that are still read as a table.
_WIDEST: Final = 160


def release_text(release: Release) -> str:
    """A release for reading: title, what it says, its quality and its certificate."""
    told, model = readable(release), parse_model(release)
    kind = family_of(release).title
    what = f"{kind} for '{told.target}'" if told.target else kind
    parts = [
        f"{what} on '{told.dataset_name}'  (release {told.id})",
        blocks_text(blocks_of(release)),
        f"Counts are noisy: within ±{whole(model.count_margin)} of the truth with 95% confidence, and "
        "so may be negative. Ranges in brackets show the noise alone.",
        certificate_text(told),
    ]
    return "\n\n".join(map(lines_of, parts))


def blocks_text(blocks: Iterable[Block]) -> str:
    """Blocks as plain text, one empty line between them; figures are left out."""
    return "\n\n".join(filter(None, (_told(written(block)) for block in blocks)))


def _told(block: Written) -> str:
    match block:
        case Heading(words):
            return one_line(words)
        case Paragraph(words, lead):
            return f"{one_line(lead)} {one_line(words)}".strip()
        case Bullets(entries):
            return "\n".join(f"{one_line(lead)} {one_line(words)}".strip() for lead, words in entries)
        case Facts(values):
            return "\n".join(f"{one_line(name)}: {one_line(value)}" for name, value in values.items())
        case Table():
            return "\n".join(filter(None, [one_line(block.caption), _table(block), block.remark]))
        case Code(words):
            return lines_of(words.rstrip())
        case Figure():
            return ""


def _table(table: Table) -> str:
    """Columns beside each other, or if they are too wide each row as lines that name them."""
    shown = text_table(table.head, table.texts)
    if max(map(len, shown.splitlines())) <= _WIDEST:
        return shown
    names = [row[0] for row in table.texts]
    same = [place > 0 and names[place - 1] == name for place, name in enumerate(names)]
    rows = zip(table.texts, same, strict=True)
    return "\n".join(line for row, again in rows for line in _lines(table.head, row)[again:])


def _lines(head: Sequence[str], row: Sequence[str]) -> list[str]:
    """One row as lines: its name, then what the other columns say."""
    first, *rest = (one_line(cell) for cell in row)
    if len(rest) == 1:
        return [f"{first}: {rest[0]}"]
    return [first, *(f"  {one_line(name)}: {cell}" for name, cell in zip(head[1:], rest, strict=True) if cell)]


def certificate_text(release: Release) -> str:
    """What a release promises, line by line, and as odds."""
    card = release.certificate
    odds = guaranteed_odds(card.epsilon, card.delta, card.guarantee)
    told = blocks_text([Table.pairs("Certificate", certificate_lines(release))])
    # Not every terminal has these letters.
    return f"{told.replace('ε', 'epsilon').replace('δ', 'delta')}\n\n{odds}"


def quote_text(quote: Quote) -> str:
    """What a run would promise and take of the budget."""
    margin = quote.plan.count_margin()
    lines = [
        f"This run would promise epsilon = {plain_epsilon(quote.epsilon)}; nothing has been spent.",
        f"It takes {price(quote)}. {percent(quote.balance.left, up=False)} is left now.",
        f"Noise on each printed count: ±{margin} with 95% confidence.",
        f"It takes {quote.forecast.text}, if nothing else runs here.",
        quote.guarantee,
        quote.allowance,
        quote.refusal,
    ]
    return "\n".join(filter(None, lines))
