"""Readers are told which words of a very small model's speech Moot wrote."""

from __future__ import annotations

from msgspec.structs import replace

from moot.core.terms import Model, Seat
from moot.prompts.first_words import EXCHANGE_WORDS, SPEECH_WORDS, expected_words, first_words
from moot.prompts.small_model_prompts import stance_for

LITTLE = Model("local", "smollm2-135m", small=True)
MOTIONS = (
    "Homework should be banned",
    "This house would tax meat",
    "Social media does more harm than good",
    "Should AI development be regulated by government?",
    "St. John's wort helps. Everyone should use it",
    "数学是被发现的，还是被发明的？",
)
OWN = " it gives people time. That is what counts."


def seat(side: str = "for", model: Model = LITTLE) -> Seat:
    return Seat("a", "Ann", side, model)  # pyright: ignore[reportArgumentType]


def test_every_beginning_that_moot_writes_is_recognised_and_nothing_of_the_models_own() -> None:
    point = "it fosters critical thinking. And more is that the case"
    for motion in MOTIONS:
        for side in ("for", "against"):
            stance = stance_for(motion, side)
            beginnings = (
                stance.opening(), stance.again(2, point), stance.again(3, ""), stance.closing(),
                stance.question(point), stance.question(""), stance.answer(),
            )  # fmt: skip
            for begun in beginnings:
                assert first_words(seat(side), begun + OWN) == begun


def test_words_are_the_models_own_where_moot_wrote_none() -> None:
    begun = stance_for("Homework should be banned", "for").opening() + OWN
    assert first_words(seat(), "The problem with homework is that" + OWN) == ""
    assert first_words(seat("neutral"), begun) == ""
    assert first_words(replace(seat(), role="moderator"), begun) == ""
    assert first_words(seat(model=replace(LITTLE, small=False)), begun) == ""


def test_a_very_small_model_is_not_said_to_fill_a_long_speech() -> None:
    assert expected_words(seat(), "opening", 200) == SPEECH_WORDS
    assert expected_words(seat(), "answer", 200) == EXCHANGE_WORDS
    assert expected_words(seat(), "opening", 50) == 50
    assert expected_words(seat(model=replace(LITTLE, small=False)), "opening", 200) == 200
