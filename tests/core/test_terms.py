"""The vocabulary: small values that add up and cannot be changed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.core.terms import FREE, Model, Reasoning, ReasoningPart, Seat, Usage
from tests.rules.random_debates import LAW

usages = st.tuples(*[st.integers(0, 1000)] * 5, st.booleans(), st.booleans()).map(lambda t: Usage(*t))


@given(usages, usages, usages)
@LAW
def test_usage_adds_up_in_any_order(a: Usage, b: Usage, c: Usage) -> None:
    assert a + b == b + a
    assert (a + b) + c == a + (b + c)
    assert a + Usage() == a
    assert (a + b).total == a.total + b.total


def test_a_sum_with_a_guess_in_it_is_a_guess() -> None:
    assert (Usage(1, 1) + Usage(1, 1, estimated=True)).estimated
    assert (Usage(1, 1) + Usage(1, 1, suspect=True)).suspect


def test_a_model_is_called_by_provider_and_name() -> None:
    assert Model("scripted", "parrot").label == "scripted/parrot"


def test_the_parts_of_a_thought_are_paragraphs() -> None:
    assert Reasoning((ReasoningPart("First."), ReasoningPart("Then."))).text == "First.\n\nThen."


def test_a_seat_cannot_be_changed() -> None:
    seat = Seat("a", "A", "for", Model("p", "m"))
    with pytest.raises(AttributeError):
        seat.side = "against"  # type: ignore[misc]


def test_free_is_a_price() -> None:
    assert Model("p", "m").price is None
    assert FREE.input[0].per_million == 0
