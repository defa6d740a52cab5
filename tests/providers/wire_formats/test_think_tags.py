"""Thoughts between tags, however the tags are cut, and the tags that are missing."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.core.terms import PartStart, Reasoning, ReasoningPart, Text, ToolCall
from moot.engine.call import CallResult
from moot.providers.contract import Chunk, ReplyDelta, ReplySegment
from moot.providers.wire_formats import (
    anthropic_decoder,
    google_decoder,
    openai_chat_decoder,
    openai_responses_decoder,
)
from moot.providers.wire_formats.contract import Decoder
from moot.providers.wire_formats.think_tags import TaggedText, ThinkTagParser, ThoughtSorter, split_thoughts


def sort(*texts: str) -> list[TaggedText]:
    tags = ThinkTagParser()
    return [found for text in texts for found in tags.feed(text)] + tags.close()


def heard(*texts: str) -> tuple[str, str]:
    """What was thought and what was said, in the end."""
    thought = said = ""
    for kind, words in sort(*texts):
        if kind == "retracted":
            thought, said = said, ""
        elif kind == "text":
            said += words
        else:
            thought += words
    return thought, said


@pytest.mark.parametrize(
    ("text", "thought", "said"),
    [
        ("Yes.", "", "Yes."),
        ("<think>Hm.</think>Yes.", "Hm.", "Yes."),
        ("\n <think>\nHm.\n</think>\n\nYes.", "Hm.\n", "Yes."),
        ("<think>\n\n</think>\n\nYes.", "", "Yes."),
        ("<think></think>", "", ""),
        ("<think>Hm.", "Hm.", ""),
        ("<think>Hm.</thi", "Hm.</thi", ""),
        ("<think>a <b> c</think>d", "a <b> c", "d"),
        ("Hm.</think>Yes.", "Hm.", "Yes."),
        ("Hm.\n</think>\n\nYes.", "Hm.\n", "Yes."),
        ("</think>Yes.", "", "Yes."),
        ("\n\n</think>\n\nYes.", "", "Yes."),
        ("Hm.</think>", "Hm.", ""),
        ("<think>a</think><think>b</think>Yes.", "a\n\nb", "Yes."),
        ("<think>a</think>\n\n<think>\n\n</think>\n\nYes.", "a", "Yes."),
        ("<think>a</think> <think>\nb", "a\n\nb", ""),
        ("<think>a</think></think>Yes.", "a", "Yes."),
        ("a</think><think>b</think>Yes.", "a\n\nb", "Yes."),
        ("<think>a</think> <b>Yes</b>", "a", "<b>Yes</b>"),
        ("<think>a</think> <thi", "a", "<thi"),
        ("<think>Hm.</think>Yes <think>no</think>", "Hm.", "Yes <think>no</think>"),
        ("<think>Hm.</think>Yes </think>", "Hm.", "Yes </think>"),
        ("Hm.</think>Yes </think>", "Hm.", "Yes </think>"),
        ("The tag <think> opens, </think> closes.", "", "The tag <think> opens, </think> closes."),
        ("\n\n1, 2", "", "\n\n1, 2"),
        ("   ", "", "   "),
        ("<", "", "<"),
        ("<thin", "", "<thin"),
        ("a < b, a <t> b", "", "a < b, a <t> b"),
        ("<thinking> is hard", "", "<thinking> is hard"),
        ("<<think>x", "", "<<think>x"),
    ],
)
def test_what_was_thought_and_what_was_said(text: str, thought: str, said: str) -> None:
    assert heard(text) == (thought, said)
    assert heard(*text) == (thought, said)


PIECES = st.sampled_from(["<think>", "</think>", "<", "</th", "ink>", "think", " ", "\n", "word", ">"])


@given(st.lists(PIECES, max_size=12), st.data())
def test_any_cut_gives_the_same_words(pieces: list[str], data: st.DataObject) -> None:
    text = "".join(pieces)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    ends = [0, *cuts, len(text)]
    assert heard(*(text[a:b] for a, b in itertools.pairwise(ends))) == heard(text)


@given(st.lists(PIECES, max_size=12))
def test_no_word_is_lost(pieces: list[str]) -> None:
    text = "".join(pieces)
    assert "".join(heard(text)).count("word") == text.count("word")


def test_words_are_held_back_no_longer_than_they_may_be_a_tag() -> None:
    tags = ThinkTagParser()
    assert tags.feed(" <th") == []
    assert tags.feed("e") == [TaggedText("text", " <the")]
    assert tags.feed(" end <") == [TaggedText("text", " end ")]
    assert tags.feed("b>") == [TaggedText("text", "<b>")]


def test_once_it_speaks_only_an_angle_bracket_is_of_interest() -> None:
    tags = ThinkTagParser()
    assert not tags.is_plain
    tags.feed("Yes")
    assert tags.is_plain
    tags.feed("</thi")
    assert not tags.is_plain
    tags.feed("nk>")
    assert not tags.is_plain
    tags.feed(" \nSo")
    assert tags.is_plain


# --- in every wire format ------------------------------------------------------------------------------


def _sse(*events: dict[str, Any]) -> bytes:
    told = (f"event: {event['type']}\n" if "type" in event else "" for event in events)
    data = (f"data: {json.dumps(event)}\n\n" for event in events)
    return "".join(name + line for name, line in zip(told, data, strict=True)).encode()


def _chat(pieces: list[str]) -> bytes:
    deltas = [{"id": "c", "choices": [{"delta": {"content": piece}}]} for piece in pieces]
    return _sse(*deltas, {"choices": [{"delta": {}, "finish_reason": "stop"}]})


def _responses(pieces: list[str]) -> bytes:
    where = {"output_index": 0, "content_index": 0, "item_id": "i"}
    item = {"type": "message", "id": "i", "content": [{"type": "output_text", "text": "".join(pieces)}]}
    return _sse(
        {"type": "response.output_item.added", "output_index": 0, "item": {"type": "message", "id": "i"}},
        *({"type": "response.output_text.delta", "delta": piece, **where} for piece in pieces),
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": {"status": "completed", "output": [item]}},
    )


def _anthropic(pieces: list[str]) -> bytes:
    deltas = [{"type": "text_delta", "text": piece} for piece in pieces]
    return _sse(
        {"type": "message_start", "message": {"id": "m"}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        *({"type": "content_block_delta", "index": 0, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
        {"type": "message_stop"},
    )


def _google(pieces: list[str]) -> bytes:
    chunks = [{"candidates": [{"content": {"parts": [{"text": piece}]}}]} for piece in pieces]
    return _sse(*chunks, {"candidates": [{"finishReason": "STOP"}]})


DECODERS = [
    (openai_chat_decoder.ChatDecoder, _chat),
    (openai_responses_decoder.ResponsesDecoder, _responses),
    (anthropic_decoder.AnthropicDecoder, _anthropic),
    (google_decoder.GoogleDecoder, _google),
]


def told(decoder: Decoder, stream: bytes) -> tuple[list[Chunk], str, str]:
    """The chunks, and what was thought and said by the words alone."""
    chunks = [*decoder.feed(stream), *decoder.end()]
    thought = said = ""
    back = False
    for chunk in chunks:
        if isinstance(chunk, ReplySegment) and isinstance(chunk.segment, Reasoning) and not thought and said:
            thought, said, back = said, "", True
        elif isinstance(chunk, ReplyDelta):
            thought += chunk.text if chunk.kind == "reasoning" else ""
            said += chunk.text if chunk.kind == "text" else ""
    assert not back or said
    return chunks, thought, said


@pytest.mark.parametrize(("decoder", "stream"), DECODERS, ids=["chat", "responses", "anthropic", "google"])
@pytest.mark.parametrize("size", [1, 3, 7, 100])
@pytest.mark.parametrize("text", ["<think>Hm.</think>\n\nYes < no.", "Hm.</think>\n\nYes < no."])
def test_no_decoder_says_aloud_what_stands_between_tags(
    decoder: type[Decoder], stream: Any, size: int, text: str
) -> None:
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    chunks, thought, said = told(decoder(), stream(pieces))
    assert (thought, said) == ("Hm.", "Yes < no.")
    texts = [c.segment for c in chunks if isinstance(c, ReplySegment) and isinstance(c.segment, Text)]
    assert all((segment.text, segment.index) == ("Yes < no.", 1) for segment in texts)
    thoughts = [c.segment for c in chunks if isinstance(c, ReplySegment) and isinstance(c.segment, Reasoning)]
    assert all((segment.text, segment.index) == ("Hm.", 0) for segment in thoughts)
    assert len(thoughts) <= 1
    assert all(
        chunk.segment == (chunk.kind == "text") for chunk in chunks if isinstance(chunk, ReplyDelta)
    ) or (text[0] == "H")


@pytest.mark.parametrize(("decoder", "stream"), DECODERS, ids=["chat", "responses", "anthropic", "google"])
def test_speech_without_tags_passes_as_it_is(decoder: type[Decoder], stream: Any) -> None:
    _, thought, said = told(decoder(), stream(["Is 1 ", "< 2", "? The <th", "ink> tag is text here."]))
    assert (thought, said) == ("", "Is 1 < 2? The <think> tag is text here.")


def sorted_chunks(*chunks: Chunk) -> list[Chunk]:
    sorter = ThoughtSorter()
    return [*(out for chunk in chunks for out in sorter.sort([chunk])), *sorter.close()]


def test_what_follows_is_counted_on_and_keeps_what_the_service_told() -> None:
    part = PartStart("msg_1", 4)
    text = Text("<think>Hm.</think>Yes.", 1, "msg_1", 4, phase="final_answer")
    assert sorted_chunks(
        ReplyDelta("First.", "reasoning", 0),
        ReplyDelta("<think>Hm.", "text", 1, part),
        ReplyDelta("</think>Yes.", "text", 1),
        ReplySegment(text),
        ReplySegment(ToolCall("c", "look", "{}", 2)),
        ReplyDelta("<think>So.</think>No.", "text", 3),
    ) == [
        ReplyDelta("First.", "reasoning", 0),
        ReplyDelta("Hm.", "reasoning", 1),
        ReplyDelta("Yes.", "text", 2, part),
        ReplySegment(Reasoning((ReasoningPart("Hm."),), 1)),
        ReplySegment(Text("Yes.", 2, "msg_1", 4, phase="final_answer")),
        ReplySegment(ToolCall("c", "look", "{}", 3)),
        ReplyDelta("So.", "reasoning", 4),
        ReplyDelta("No.", "text", 5),
    ]


def test_a_number_that_is_already_taken_is_not_given_twice() -> None:
    chunks = sorted_chunks(
        ReplyDelta("<thi", "text", 0),
        ReplySegment(ToolCall("c", "look", "{}", 1)),
        ReplyDelta("nk>Hm.</think>Yes.", "text", 0),
    )
    assert chunks == [
        ReplySegment(ToolCall("c", "look", "{}", 1)),
        ReplyDelta("Hm.", "reasoning", 0),
        ReplyDelta("Yes.", "text", 2),
    ]


def test_only_the_first_text_is_taken_back() -> None:
    chunks = sorted_chunks(ReplyDelta("Yes.", "text", 0), ReplyDelta("No.</think> Or so.", "text", 1))
    assert chunks == [ReplyDelta("Yes.", "text", 0), ReplyDelta("No.</think> Or so.", "text", 1)]


@given(st.lists(st.sampled_from(["<think>", "</think>", "Hm.", " ", "Yes", "<th", "ink>"]), max_size=6))
def test_a_text_at_once_and_in_pieces_comes_to_the_same(pieces: list[str]) -> None:
    whole = "".join(pieces)
    heard = CallResult()
    for chunk in sorted_chunks(
        *(ReplyDelta(piece, "text", 0) for piece in pieces if piece), ReplySegment(Text(whole))
    ):
        if isinstance(chunk, ReplyDelta):
            heard.add_delta(chunk.segment, chunk.kind, chunk.text)
        elif isinstance(chunk, ReplySegment):
            heard.add_segment(chunk.segment, 1000)
    thought, said = split_thoughts(whole)
    assert heard.text == said
    assert "".join(heard.reasoning.split()) == "".join(thought.split())
