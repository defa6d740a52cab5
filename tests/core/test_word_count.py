"""Tokens of a text, as they are estimated."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.core.word_count import first_tokens, quarter_tokens, tokens
from tests.rules.random_debates import LAW

SCRIPTS = {
    "Should homework be banned?": 7,
    "Следует ли запретить домашние задания?": 18,
    "应该禁止家庭作业吗？": 10,
    "क्या गृहकार्य पर रोक होनी चाहिए?": 28,
    "숙제를 금지해야 할까요?": 11,
    "🙂": 2,
    "": 0,
}


@pytest.mark.parametrize("text", SCRIPTS)
def test_tokens_are_estimated_by_the_script(text: str) -> None:
    assert tokens(text) == SCRIPTS[text]


@given(st.text(), st.text())
@LAW
def test_a_text_in_pieces_comes_to_as_many_tokens_as_the_whole(one: str, other: str) -> None:
    assert quarter_tokens(one) + quarter_tokens(other) == quarter_tokens(one + other)
    assert len(one.encode()) <= quarter_tokens(one) <= 4 * len(one.encode())


@given(st.text(), st.integers(-5, 100))
@LAW
def test_the_first_tokens_of_a_text_are_as_much_as_fits(text: str, room: int) -> None:
    first = first_tokens(text, room)
    assert text.startswith(first)
    assert quarter_tokens(first) <= max(0, room)
    assert first == text or quarter_tokens(text[: len(first) + 1]) > room
