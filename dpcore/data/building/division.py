"""How people are divided among partitions: how many there are, how large, who goes where, and who is set aside.

All of it is public but who goes where, and that cannot be learned: answers are sums over all
partitions, the same for every division (``docs/privacy/partitions.md``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np
import pandas as pd

from dpcore.arrays import Array, Flags, Ints, Words
from dpcore.data.packing import whole_words
from dpcore.domain.encoding import Block
from dpcore.domain.schemas.schema import PrivacyUnit
from dpcore.privacy.randomness import RandomSource

#: Records in a partition, about: its columns fit in the caches of a core, and so many cost a
#: kernel some milliseconds.
PARTITION_ROWS: Final = 2**18
#: A division overflows with a probability below 2 to the minus this.
_CERTAINTY: Final = 64


def partition_count(max_rows: int) -> int:
    """Partitions of a table of at most so many records: a public number."""
    return max(1, math.ceil(max_rows / PARTITION_ROWS))


def partition_rows(max_rows: int, each: int, count: int) -> int:
    """Places of each of ``count`` partitions, with room for what chance adds to their share.

    Records of people go together, at most ``each`` of a person, and people go to a partition
    independently and uniformly. Of N records in all, its number has mean m = N / count and a
    variance of at most ``each`` m, so by Bernstein's inequality it exceeds m + t with a
    probability of at most exp(-t^2 / (2 each (m + t / 3))). With the t that is returned beside m,
    that is at most 2^-64 / count.
    """
    if count == 1:
        return whole_words(max_rows)
    mean, surprise = max_rows / count, math.log(count) + _CERTAINTY * math.log(2)
    third = each * surprise / 3
    slack = third + math.sqrt(third**2 + 2 * each * surprise * mean)
    return whole_words(min(max_rows, math.ceil(mean + slack)))


def new_key(randomness: RandomSource) -> str:
    """A key for :func:`hashes_of`, of 16 letters."""
    return f"{int(randomness.words(1)[0]):016x}"


def hashes_of(people: Array, keys: Sequence[str]) -> Words:
    """Keyed hashes (SipHash) of names: shape (n_people, n_keys). Others cannot be found by them."""
    texts = np.array([name.encode("utf-8", "surrogatepass") for name in people], dtype=object)
    return np.stack([pd.util.hash_array(texts, hash_key=key, categorize=False) for key in keys], axis=1)


def named_rows(block: Block, column: str, keys: Sequence[str], unit: PrivacyUnit | None = None) -> tuple[Words, Flags]:
    """Hashes of what each row names in a column of keys, shape (n_rows, n_keys), and which rows name something.

    A row that names nothing has hashes that tell nothing. A ``unit`` says how a column names people.
    """
    places, names = block.named(column, unit)
    hashes = hashes_of(names, keys)
    return hashes[places] if len(names) else np.zeros((len(places), len(keys)), np.uint64), places >= 0


def scaled(words: Words, count: int) -> Ints:
    """Uniform 64-bit words as uniform numbers below ``count``."""
    high = words >> np.uint64(32)
    return np.asarray(high * np.uint64(count) >> np.uint64(32), dtype=np.int64)


def coins(people: Words, percent: int) -> Flags:
    """Who is set aside: a function of the person and the keys, so the same in every version."""
    return np.asarray(people[:, 1] < threshold(percent))


def threshold(percent: int) -> np.uint64:
    """Uniform words below it are so many in a hundred."""
    return np.uint64(percent * (2**64 - 1) // 100)
