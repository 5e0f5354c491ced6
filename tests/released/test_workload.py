"""What a run takes is told in round words, and its share that is done only grows."""

from __future__ import annotations

from dpcore.released.workload import DurationForecast, duration
from tests.support.rows import for_each

FORECAST = DurationForecast({"reading": 10.0, "learning": 30.0}, 3.04e8)


@for_each(
    ("seconds", "words"),
    [
        (0.0, "a few seconds"),
        (4.9, "a few seconds"),
        (5.1, "about 5 seconds"),
        (42.0, "about 40 seconds"),
        (89.0, "about 90 seconds"),
        (100.0, "about 2 minutes"),
        (3000.0, "about 50 minutes"),
        (7000.0, "about 2 hours"),
    ],
)
def test_seconds_are_told_in_round_words(seconds: float, words: str) -> None:
    assert duration(seconds) == words


@for_each(
    ("size", "words"), [(4.4e6, "4 MB"), (3.04e8, "300 MB"), (9.96e8, "1 GB"), (2.54e9, "2.5 GB"), (2.4e10, "24 GB")]
)
def test_memory_is_told_in_two_digits(size: float, words: str) -> None:
    assert f" {words} of memory" in DurationForecast({}, size).text


def test_the_share_of_a_run_is_that_of_its_work() -> None:
    assert FORECAST.share("reading", 0, 1) == 0.0
    assert FORECAST.share("reading", 1, 2) == 0.125
    assert FORECAST.share("reading", 1, 1) == FORECAST.share("learning", 0, 100) == 0.25
    assert FORECAST.share("learning", 50, 100) == 0.625
    assert FORECAST.share("learning", 100, 100) < 1.0, "the result is not stored yet"
    assert FORECAST.share("of another version", 1, 1) == DurationForecast({}, 0.0).share("reading", 1, 1) == 0.0
