"""The texts of prompts: one for each intensity, seeds for each turn, and where a text is clipped."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from moot.prompts.templates import clip, seed
from tests.rules.random_debates import LAW


def test_each_turn_and_attempt_has_a_seed_of_its_own_and_always_the_same() -> None:
    assert seed(None, 1, 1) is None
    seeds = {seed(base, turn, attempt) for base in (1, 2) for turn in range(1, 11) for attempt in range(1, 5)}
    assert len(seeds) == 80
    assert all(number is not None and 0 <= number < 2**31 for number in seeds)
    assert seed(7, 3, 2) == seed(7, 3, 2)


@given(st.text(), st.integers(1, 50))
@LAW
def test_clipping_cuts_between_letters(text: str, most: int) -> None:
    short = clip(text, most)
    if len(text.encode()) <= most:
        assert short == text
    else:
        assert short.endswith(" …")
        assert text.startswith(short.removesuffix(" …"))
        assert len(short.removesuffix(" …").encode()) <= most
