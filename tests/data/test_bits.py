from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dpcore.data import bits, packing
from tests.oracles import bits_oracle
from tests.support.rows import for_each

ROWS = st.integers(1, 200)


@st.composite
def flag_matrices(draw, vectors: int):
    rows = draw(ROWS)
    seed = draw(st.integers(0, 2**32 - 1))
    density = draw(st.sampled_from([0.0, 0.1, 0.5, 1.0]))
    return np.random.default_rng(seed).random((vectors, rows)) < density


def packed(flags: np.ndarray) -> np.ndarray:
    words = packing.word_count(flags.shape[1]) + 1  # one word more than needed, as padding
    return np.stack([packing.pack(row, words) for row in flags])


@for_each(("rows", "words"), [(0, 0), (1, 1), (63, 1), (64, 1), (65, 2), (128, 2)])
def test_word_count(rows, words):
    assert packing.word_count(rows) == words


@given(flag_matrices(1))
def test_pack_matches_oracle_and_unpack_inverts_it(flags):
    words = packing.word_count(flags.shape[1]) + 1
    result = packing.pack(flags[0], words)
    assert result.dtype == np.uint64
    assert result.tolist() == bits_oracle.pack(flags[0].tolist(), words)
    assert packing.unpack(result, flags.shape[1]).tolist() == flags[0].tolist()


@given(flag_matrices(5), st.data())
def test_conjunctions_match_oracle(flags, data):
    members = data.draw(st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=3), min_size=1, max_size=6))
    lengths = np.array([len(m) for m in members])
    # Places beyond a conjunction's length point at a literal that would change the result.
    padded = np.array([m + [data.draw(st.integers(0, 4))] * (3 - len(m)) for m in members])
    result = bits.conjunctions(packed(flags), padded, lengths)
    for vector, places in zip(result, members, strict=True):
        expected = bits_oracle.conjunction(flags.tolist(), places)
        assert packing.unpack(vector, flags.shape[1]).tolist() == expected


@given(flag_matrices(6))
def test_count_bits_matches_oracle(flags):
    vectors, masks = flags[:4], flags[4:]
    counts = bits.count_bits(packed(vectors), packed(masks))
    expected = [[bits_oracle.count_both(v, m) for m in masks.tolist()] for v in vectors.tolist()]
    assert counts.tolist() == expected


def test_count_bits_sees_the_highest_bit():
    top = np.full((1, 1), 2**63, dtype=np.uint64)
    assert bits.count_bits(top, top).tolist() == [[1]]


@given(flag_matrices(2), st.integers(2, 4), st.integers(0, 1000))
def test_capture_rule_matches_oracle(flags, classes, seed):
    rule, remaining = flags
    labels = np.random.default_rng(seed).integers(0, classes, flags.shape[1])
    members = packed(np.stack([labels == c for c in range(classes)]))
    packed_rule, packed_remaining = packed(flags)
    after, counts = np.empty_like(packed_remaining), np.ones(classes, dtype=np.int64)
    bits.capture_rule(packed_rule, members, packed_remaining, after, counts)
    expected, left = bits_oracle.capture(rule, labels.tolist(), remaining.tolist(), classes)
    assert (counts - 1).tolist() == expected
    assert packing.unpack(after, flags.shape[1]).tolist() == left


@given(flag_matrices(4))
def test_remaining_classes_matches_oracle(flags):
    counts = np.full(3, -1)
    words = packed(flags)
    bits.remaining_classes(words[0], words[1:], counts)
    assert counts.tolist() == [bits_oracle.count_both(flags[0], mask) for mask in flags[1:]]


@given(st.integers(0, 5000), st.integers(1, 9), st.integers(1, 5), st.integers(0, 10**6))
def test_rows_of_each_mask_are_closed_up_in_order(rows, vectors, masks, seed):
    generator = np.random.default_rng(seed)
    flags, groups = generator.random((vectors, rows)) < 0.5, generator.integers(masks + 1, size=rows)
    words = packing.word_count(rows)
    packed = np.stack([packing.pack(row, words) for row in flags]).reshape(vectors, words)
    chosen = np.stack([packing.pack(groups == mask, words) for mask in range(masks)]).reshape(masks, words)
    room = bits.room_of(chosen)
    first = int(generator.integers(masks))
    closed = bits.closed_up(packed, chosen[first:], room[first:])
    assert closed.shape == (vectors, room[-1] - room[first])
    for mask in range(first, masks):
        for row, vector in zip(flags, closed[:, room[mask] - room[first] : room[mask + 1] - room[first]], strict=True):
            own = row[groups == mask]
            assert packing.unpack(vector, len(own)).tolist() == own.tolist()
            assert np.bitwise_count(vector).sum() == own.sum()


def test_room_for_rows_that_are_closed_up_does_not_tell_how_they_are_spread():
    ends = {
        int(bits.room_of(np.array([[mask] * 40, [~mask] * 40], dtype=np.uint64))[-1])
        for mask in map(np.uint64, (0, 1, 2**64 - 1))
    }
    assert len(ends) == 1


@for_each("columns", [0, 1, 63, 64, 65, 200])
def test_rows_are_packed_as_each_alone(columns):
    flags = np.random.default_rng(columns).random((5, columns)) < 0.5
    words = packing.word_count(columns)
    alone = np.stack([packing.pack(row, words) for row in flags])
    assert np.array_equal(packing.pack_rows(flags), alone)
