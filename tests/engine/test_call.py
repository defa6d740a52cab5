"""What is kept of a reply, and how much of it."""

from __future__ import annotations

from moot.core.terms import Reasoning, ReasoningPart, Text, ToolCall, ToolResult
from moot.engine.call import MAX_NON_TEXT_CHARS, MAX_SEGMENTS, CallResult


def test_a_segment_that_was_said_before_is_not_counted_again() -> None:
    heard = CallResult()
    heard.add_delta(0, "text", "Well, no.")
    assert heard.add_segment(Text("Well, no.", 0), 9) == Text("Well, no.", 0)
    assert (heard.size, heard.chars, heard.truncated) == (9, 9, None)


def test_what_a_segment_adds_to_what_was_said_is_counted() -> None:
    heard = CallResult()
    heard.add_delta(0, "text", "Well")
    heard.add_segment(Text("Well, né.", 0), 100)
    assert (heard.size, heard.chars, heard.text) == (10, 9, "Well, né.")


def test_a_segment_is_clipped_where_the_room_ends() -> None:
    heard = CallResult()
    heard.add_delta(0, "text", "Hello")
    segment = heard.add_segment(Text("Hello" + "x" * 1000, 0), 8)
    assert segment == Text("Helloxxx", 0)
    assert (heard.truncated, heard.text) == ("cap", "Helloxxx")


def test_thoughts_are_clipped_alike() -> None:
    heard = CallResult()
    segment = heard.add_segment(Reasoning((ReasoningPart("abc"), ReasoningPart("def")), 0), 4)
    assert isinstance(segment, Reasoning)
    assert (segment.text, heard.reasoning_chars, heard.truncated) == ("abc\n", 4, "cap")


def test_what_tools_are_asked_and_give_has_a_limit_of_its_own() -> None:
    heard = CallResult()
    heard.add_segment(ToolCall("1", "look", "x" * MAX_NON_TEXT_CHARS, 0), 10)
    assert heard.truncated is None
    heard.add_segment(ToolResult("1", "found", index=1), 10)
    assert heard.truncated == "cap"


def test_too_many_segments_are_no_speech() -> None:
    heard = CallResult()
    for index in range(MAX_SEGMENTS + 2):
        heard.add_segment(Text("", index), 10)
    assert heard.truncated == "cap"


def test_words_that_turn_out_to_have_been_thoughts_are_counted_once_and_as_thoughts() -> None:
    heard = CallResult()
    heard.add_delta(0, "text", "Hm, perhaps.")
    thought = Reasoning((ReasoningPart("Hm, perhaps."),), 0)
    assert heard.was_reasoning(thought)
    assert heard.add_segment(thought, 12) == thought
    assert (heard.size, heard.chars, heard.reasoning_chars, heard.truncated) == (12, 0, 12, None)


def test_a_segment_that_is_told_again_is_counted_once() -> None:
    heard = CallResult()
    for _ in range(3):
        heard.add_segment(Text("x" * 1000, 0), 2500)
        heard.add_segment(ToolCall("1", "look", "y" * (MAX_NON_TEXT_CHARS // 2), 1), 2500)
    assert (heard.size, heard.truncated) == (1000, None)
    assert heard.non_text_size == MAX_NON_TEXT_CHARS // 2


def test_thoughts_that_are_told_again_with_a_seal_are_counted_once() -> None:
    heard = CallResult()
    heard.add_delta(0, "text", "Hm.")
    for seal in ("", "c2VhbGVk"):
        heard.add_segment(Reasoning((ReasoningPart("Hm."),), 0, opaque=seal), 100)
    assert (heard.size, heard.chars, heard.reasoning_chars, heard.non_text_size) == (3, 0, 3, 8)


def test_seals_and_citations_have_a_limit_too() -> None:
    heard = CallResult()
    heard.add_segment(Reasoning((), 0, opaque="x" * MAX_NON_TEXT_CHARS), 10)
    assert heard.truncated is None
    heard.add_segment(Text("", 1, annotations=({"url": "https://example.org"},)), 10)
    assert heard.truncated == "cap"


def test_thoughts_that_are_clipped_lose_their_seal() -> None:
    segment = CallResult().add_segment(Reasoning((ReasoningPart("abcdef"),), 0, opaque="c2VhbGVk"), 3)
    assert segment == Reasoning((ReasoningPart("abc"),), 0)
