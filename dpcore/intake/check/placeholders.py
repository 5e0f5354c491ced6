"""Identifiers that stand for nobody in particular, by what they say or by how many rows they have."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

import numpy as np

from dpcore.arrays import Array, Ints
from dpcore.intake.columns.corrections import NOTHING

_LETTERS: Final = r"[^\W\d_]*"
_WORDS: Final = re.compile(
    r"(x{2,}|z{2,}|\?+|-+|_+|\.+|\*+|n[./ ]?a\.?|n[./ ]?k\.?|n\.?d\.?|k\.? ?a\.?|tbd|tba|nil|none|null|void|empty|"
    r"blank|missing|test|dummy|demo|temp|default|placeholder|anon@|unbekannt@|ohne( .*)?|keine?( .*)?|leer|fehlt|"
    r"inconnu@|sans( .*)?|aucun@|non[- ]?renseign@|desconocid@|desconhecid@|sin( .*)|ningun@|sconosciut@|ignot[oiae]|"
    r"onbekend@|geen( .*)?|okand@|okänd@|ukendt|ukjent|tuntematon|nieznan@|brak|neznam@|bilinmiyor|неизвестн@|нет|"
    r"不明|未知|(.*\b)?(unknown|unk|unidentified|not (known|available|recorded|stated)|no ?(id|number|mrn|name))(\b.*)?"
    r")".replace("@", _LETTERS)
)
#: Numbers that people type where there is none: one digit again and again, or digits in a row.
_TYPED: Final = re.compile(r"0+|9{2,}|([1-8])\1{2,}|-\d+|0?123456?7?8?9?0?|9876543?2?1?0?")
#: Keys that are remembered of each block, and in all; and that are listed.
_OF_A_BLOCK, _REMEMBERED, _LISTED = 20, 1_000, 12
#: A key has far more rows than others if it has so many times as many, and this share of all.
_TIMES, _SHARE, _LEAST = 10, 0.01, 10
#: Keys of people have digits if this share of them has.
_MOST: Final = 0.95


class Frequent:
    """The most frequent keys, and those that say nothing."""

    def __init__(self) -> None:
        self._names: dict[int, str] = {}
        self._rows: Counter[int] = Counter()
        self._with_digits = self._different = 0

    def add(self, keys: Array, names: Array, rows: Ints) -> None:
        """Remember some keys of a block, by their hashes."""
        digits = np.asarray([any(map(str.isdigit, name)) for name in names], dtype=np.bool_)
        self._with_digits += int(digits.sum())
        self._different += len(names)
        most = np.argsort(-rows, kind="stable")[:_OF_A_BLOCK]
        odd = [place for place in np.flatnonzero(~digits) if says_nothing(names[place])]
        for place in {*most.tolist(), *odd}:
            self._names[int(keys[place])] = str(names[place])
            self._rows[int(keys[place])] += int(rows[place])
        if len(self._names) > 2 * _REMEMBERED:
            self._rows = Counter(dict(self._rows.most_common(_REMEMBERED)))
            self._names = {key: self._names[key] for key in self._rows}

    def placeholders(self, counted: Array) -> dict[str, int]:
        """Keys that are likely to stand for nobody, and how many rows each has, the most frequent first."""
        if not len(counted):
            return {}
        usual = np.quantile(counted["rows"], 0.9, method="inverted_cdf") if len(counted) > _LEAST else 1
        dominant = _dominant(counted["rows"])
        known = counted[np.isin(counted["key"], np.fromiter(self._names, np.uint64, len(self._names)))]
        named = [(self._names[int(key)], int(rows)) for key, rows in zip(known["key"], known["rows"], strict=True)]
        found = [(name, rows) for name, rows in named if rows >= dominant or self._is_odd(name, rows, usual)]
        return dict(sorted(found, key=lambda pair: (-pair[1], pair[0]))[:_LISTED])

    def _is_odd(self, name: str, rows: int, usual: float) -> bool:
        """Whether a key says nothing, or is no number where others are, and has more rows than most."""
        if says_nothing(name):
            return bool(rows > 1)
        if _TYPED.fullmatch(name):
            return bool(rows >= max(5, 3 * usual))
        wordy = not any(map(str.isdigit, name)) and self._with_digits >= _MOST * self._different
        return wordy and bool(rows >= max(3, 2 * usual))


def says_nothing(name: str) -> bool:
    """Whether a text says that something is not known."""
    lower = name.lower()
    return lower in NOTHING or _WORDS.fullmatch(lower) is not None


def _dominant(rows: Ints) -> float:
    """From how many rows on a key has far more than all that have fewer; infinite if none has."""
    most = np.sort(rows)[::-1][: _LISTED + 1]
    if len(rows) < _LEAST:
        return np.inf
    jumps = (most[:-1] >= _TIMES * most[1:]) & (most[:-1] >= max(_LEAST, _SHARE * rows.sum()))
    return min(most[:-1][jumps].tolist(), default=np.inf)
