"""How sure a figure is that was found in a few people: what other audiences like this one would have given.

Two thousand of them are drawn from those who were asked, with replacement, and the middle 95 of 100 figures
make the interval (a bootstrap). Whoever was asked twice is drawn with both answers. The dice come in by the
door, so that everybody who looks gets the same interval.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from msgspec import Struct

RESAMPLES = 2000
PROBABILITY_BITS = 24
"""Bits to which a chance is kept."""

GroupSizes = tuple[int, ...]
"""How many people there are of each kind."""


class SwingInterval(Struct, frozen=True):
    low: float
    high: float

    @property
    def holds_zero(self) -> bool:
        return self.low <= 0 <= self.high


def intervals(
    random: Random, people: GroupSizes, figures: tuple[GroupSizes, ...]
) -> tuple[SwingInterval, ...]:
    """A figure is a sum over people; it says what somebody of each kind adds to it. Given per head."""
    whole, tail = sum(people), RESAMPLES // 40
    audiences = [tuple(_resampled(random, people)) for _ in range(RESAMPLES)]
    result: list[SwingInterval] = []
    for worth in figures:
        sums = sorted(
            sum(value * number for value, number in zip(worth, audience, strict=True))
            for audience in audiences
        )
        result.append(SwingInterval(sums[tail] / whole, sums[-1 - tail] / whole))
    return tuple(result)


def _resampled(dice: Random, people: GroupSizes) -> Iterator[int]:
    """As many people as there are, drawn with replacement: how many of each kind that gives."""
    left = whole = sum(people)
    for number in people:
        drawn = _hits(dice, left, number / whole) if number else 0
        left, whole = left - drawn, whole - number
        yield drawn


def _hits(dice: Random, tries: int, chance: float) -> int:
    """How many of so many tries succeed. All are made at once: a bit for each, set with that chance."""
    if not tries or chance >= 1:
        return tries
    bits, odds = 0, round(chance * (1 << PROBABILITY_BITS))
    for place in range(PROBABILITY_BITS):
        even = dice.getrandbits(tries)
        bits = bits | even if odds >> place & 1 else bits & even
    return bits.bit_count()
