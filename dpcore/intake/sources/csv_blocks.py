"""Many lines of a CSV file at once, where pyarrow must read them as the strict reader does.

Both read a text alike if every quotation mark begins a value, ends it or stands twice within it,
and all lines end alike. What is otherwise is not read here.
"""

from __future__ import annotations

import csv
from typing import BinaryIO

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as pc

#: Bytes of a block, about.
_BLOCK = 1 << 22
_QUOTE, _LINE_END, _RETURN = b'"\n\r'


def next_block(raw: BinaryIO) -> bytes:
    """The next lines of a file, up to the end of a line that is outside quotation marks, if one is near."""
    pieces = [raw.read(_BLOCK), raw.readline()]
    size = sum(map(len, pieces))
    within = sum(piece.count(b'"') for piece in pieces) % 2
    while within and size < 2 * _BLOCK and (line := raw.readline()):
        pieces.append(line)
        size, within = size + len(line), (within + line.count(b'"')) % 2
    return b"".join(pieces)


def rows_of(block: bytes, names: list[str], delimiter: str, wanted: list[str]) -> pd.DataFrame | None:
    """The wanted columns of some whole lines, as text; ``None`` if they have to be read one by one."""
    if not block:
        return pd.DataFrame(dict.fromkeys(wanted, ()), dtype="str")
    if len(block) > csv.field_size_limit() or not _is_plain(block, delimiter):
        return None
    options = {
        "read_options": pc.ReadOptions(use_threads=False, block_size=len(block) + 1, column_names=names),
        "parse_options": pc.ParseOptions(delimiter=delimiter, newlines_in_values=True),
        "convert_options": pc.ConvertOptions(
            check_utf8=False,
            column_types=dict.fromkeys(names, pa.large_string()),
            null_values=[""],
            strings_can_be_null=True,
            include_columns=wanted or names[:1],
        ),
    }
    try:
        rows: pd.DataFrame = pc.read_csv(pa.BufferReader(block), **options).to_pandas()
    except pa.ArrowInvalid:  # A line has more or fewer fields, or there is none.
        return None
    return rows if wanted else rows[wanted]


def _is_plain(block: bytes, delimiter: str) -> bool:
    """Whether nothing in a block is unusual: text, lines that end alike, quotes around values."""
    if b"\0" in block or block.count(b"\r") != block.count(b"\r\n"):
        return False
    try:
        block.decode()
    except UnicodeDecodeError:
        return False
    signs = np.frombuffer(block, dtype=np.uint8)
    quotes = np.flatnonzero(signs == _QUOTE)
    # Outside quotation marks, one begins a value; within, it ends it, or is the first of two.
    opening, closing = quotes[::2], quotes[1::2]
    beside = np.zeros(256, dtype=np.bool_)
    beside[[_QUOTE, _LINE_END, ord(delimiter)]] = True
    before = beside[signs[opening[opening > 0] - 1]]
    beside[_RETURN] = True
    after = beside[signs[closing[closing < len(signs) - 1] + 1]]
    return len(opening) == len(closing) and bool(before.all() and after.all())
