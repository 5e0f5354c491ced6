from __future__ import annotations

import math
import os
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chi2

import dpcore
from dpcore.privacy import randomness
from dpcore.privacy.randomness import Choice, SecureRandom, SeededRandom
from tests.support.rows import for_each

FALSE_ALARM = 1e-6
SOURCES = [SecureRandom(), SeededRandom(7)]


class Fixed:
    """A source that returns words given in advance."""

    secure = False

    def __init__(self, *words: int) -> None:
        self.given = np.array(words, dtype=np.uint64)

    def words(self, count: int) -> np.ndarray:
        assert count == len(self.given)
        return self.given


def chi_square_passes(counts: np.ndarray) -> bool:
    expected = counts.sum() / len(counts)
    statistic = ((counts - expected) ** 2 / expected).sum()
    return bool(statistic < chi2.isf(FALSE_ALARM, len(counts) - 1))


@for_each("source", SOURCES)
@for_each("count", [0, 1, 1000])
def test_words_have_shape_and_type(source, count):
    words = source.words(count)
    assert words.shape == (count,)
    assert words.dtype == np.uint64


@pytest.mark.parametrize("source", SOURCES)
def test_every_bit_of_a_word_is_fair(source):
    ones = np.unpackbits(source.words(20_000).view(np.uint8)).reshape(-1, 64).sum(axis=0)
    sigma = math.sqrt(20_000 / 4)
    assert np.abs(ones.astype(int) - 10_000).max() < 6.5 * sigma  # false alarm below 64 * 1e-10


def test_only_the_operating_system_is_secure():
    assert SecureRandom().secure is True
    assert SeededRandom(0).secure is False
    assert randomness.source_for(None).secure
    assert not randomness.source_for(0).secure


def test_secure_words_come_from_urandom(monkeypatch):
    monkeypatch.setattr(os, "urandom", lambda size: b"\x01" + b"\0" * (size - 1))
    assert SecureRandom().words(2).tolist() == [1, 0]


def test_seeded_source_repeats_itself_and_differs_by_seed():
    assert SeededRandom(3).words(5).tolist() == SeededRandom(3).words(5).tolist()
    assert SeededRandom(3).words(5).tolist() != SeededRandom(4).words(5).tolist()
    source = SeededRandom(3)
    assert source.words(5).tolist() != source.words(5).tolist()


def test_uniforms_reach_both_ends_but_never_one():
    low, high = randomness.uniforms(Fixed(0, 2**64 - 1), 2)
    assert low == 0.0
    assert high == 1 - 2.0**-53


def test_uniforms_are_uniform():
    counts = np.bincount((randomness.uniforms(SecureRandom(), 50_000) * 20).astype(int))
    assert chi_square_passes(counts)


def test_every_permutation_is_equally_likely():
    source = SecureRandom()
    drawn = [tuple(randomness.permutation(source, 3).tolist()) for _ in range(12_000)]
    counts = np.array([drawn.count(p) for p in set(drawn)])
    assert len(counts) == 6
    assert chi_square_passes(counts)
    assert not chi_square_passes(counts + np.array([600, 0, 0, 0, 0, 0]))  # positive control


def test_seeded_geometric_noise_has_the_distribution_it_names():
    scale, count = 2.0, 200_000
    noise = SeededRandom(1).geometric_noise(scale, count)
    for k in range(-3, 4):
        mass = math.tanh(1 / (2 * scale)) * math.exp(-abs(k) / scale)
        assert abs((noise == k).mean() - mass) < 5 * math.sqrt(mass / count)


def test_other_seeded_noise_has_the_right_moments():
    source, count = SeededRandom(2), 100_000
    gaussian = source.gaussian_noise(10.0, count)
    assert gaussian.dtype == np.int64
    assert abs(gaussian.std() - 10) < 0.2
    for law, chance in (("gumbel", 1 / (1 + math.e)), ("exponential", 1 / (2 * math.e))):
        drawn = source.choose(Choice(law, 2.0, None, None), np.tile([0, 2], (count, 1)))
        assert abs((drawn == 0).mean() - chance) < 0.008


def test_generators_of_numpy_are_made_in_one_module():
    """Elsewhere they are only named, as types."""
    package = Path(dpcore.__path__[0])
    made = re.compile(r"random\.(?!Generator\b(?!\())\w+\(|from numpy\.random|import numpy\.random")
    lines = [
        (file.relative_to(package).as_posix(), line)
        for file in package.rglob("*.py")
        for line in file.read_text(encoding="utf-8").splitlines()
        if made.search(line) and re.search(r"\b(np|numpy)\.random", line)
    ]
    assert lines
    assert {name for name, _ in lines} == {"privacy/randomness.py"}
