"""Booleans as bits of 64-bit words, and back. Nothing here is compiled: who stores a table loads no compiler."""

from __future__ import annotations

import numpy as np

from dpcore.arrays import Flags, Words


def word_count(rows: int) -> int:
    """Words that hold ``rows`` bits."""
    return -(-rows // 64)


def whole_words(rows: int) -> int:
    """The next number of rows that fill whole words."""
    return 64 * word_count(rows)


def pack(flags: Flags, words: int) -> Words:
    """Pack booleans into ``words`` words, the first row in the lowest bit; the rest is 0."""
    packed = np.packbits(flags, bitorder="little")
    padded = np.zeros(8 * words, dtype=np.uint8)
    padded[: len(packed)] = packed
    return padded.view(np.uint64)


def pack_rows(flags: Flags) -> Words:
    """Pack each row of a table of booleans: shape (n_rows, words for the columns)."""
    words = word_count(flags.shape[1])
    packed = np.packbits(flags, axis=1, bitorder="little")
    padded = np.zeros((len(flags), 8 * words), dtype=np.uint8)
    padded[:, : packed.shape[1]] = packed
    return padded.view(np.uint64)


def unpack(words: Words, rows: int) -> Flags:
    """Inverse of :func:`pack` for the first ``rows`` rows."""
    flags = np.unpackbits(np.ascontiguousarray(words).view(np.uint8), bitorder="little")
    return flags[:rows].astype(np.bool_)
