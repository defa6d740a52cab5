"""What is kept of a reply, and how much of it."""

from __future__ import annotations

from moot.hearing import MOST_BULK, MOST_SEGMENTS, Heard
from moot.terms import Reasoning, ReasoningPart, Text, ToolCall, ToolResult


def test_a_segment_that_was_said_before_is_not_counted_again() -> None:
    heard = Heard()
    heard.keep(0, "text", "Well, no.")
    assert heard.take(Text("Well, no.", 0), 9) == Text("Well, no.", 0)
    assert (heard.size, heard.chars, heard.truncated) == (9, 9, None)


def test_what_a_segment_adds_to_what_was_said_is_counted() -> None:
    heard = Heard()
    heard.keep(0, "text", "Well")
    heard.take(Text("Well, né.", 0), 100)
    assert (heard.size, heard.chars, heard.text) == (10, 9, "Well, né.")


def test_a_segment_is_clipped_where_the_room_ends() -> None:
    heard = Heard()
    heard.keep(0, "text", "Hello")
    segment = heard.take(Text("Hello" + "x" * 1000, 0), 8)
    assert segment == Text("Helloxxx", 0)
    assert (heard.truncated, heard.text) == ("cap", "Helloxxx")


def test_thoughts_are_clipped_alike() -> None:
    heard = Heard()
    segment = heard.take(Reasoning((ReasoningPart("abc"), ReasoningPart("def")), 0), 4)
    assert isinstance(segment, Reasoning)
    assert (segment.text, heard.reasoning_chars, heard.truncated) == ("abc\n", 4, "cap")


def test_what_tools_are_asked_and_give_has_a_limit_of_its_own() -> None:
    heard = Heard()
    heard.take(ToolCall("1", "look", "x" * MOST_BULK, 0), 10)
    assert heard.truncated is None
    heard.take(ToolResult("1", "found", index=1), 10)
    assert heard.truncated == "cap"


def test_too_many_segments_are_no_speech() -> None:
    heard = Heard()
    for index in range(MOST_SEGMENTS + 2):
        heard.take(Text("", index), 10)
    assert heard.truncated == "cap"
