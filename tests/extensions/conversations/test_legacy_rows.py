"""Old rows become unified events and the same rows again, whatever was in them."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from moot.core.errors import Invalid
from moot.extensions.conversations.archive_rows import (
    decode_segments,
    incoming_event,
    legacy_row,
    legacy_shape,
    nesting_depth,
    unified_shape,
)
from moot.extensions.conversations.legacy_rows import (
    LegacyRow,
    ReasoningColumn,
    canonical,
    only_segment_types,
    read_reasoning,
    read_row,
    reasoning_text,
    thoughts_in,
    to_legacy_shape,
    to_unified,
)
from tests.support.old_rows import rows

Row = dict[str, Any]

texts = st.text(max_size=12)
json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
objects = st.dictionaries(texts, json, max_size=4)
indexes = st.integers(0, 5)


def having(**members: st.SearchStrategy[Any]) -> st.SearchStrategy[Row]:
    """An object with some of these members, and perhaps others."""
    return st.builds(
        lambda more, known: {**more, **known}, objects, st.fixed_dictionaries({}, optional=members)
    )


segments = st.lists(
    st.one_of(
        having(type=st.just("text"), text=texts, output_index=indexes),
        having(type=st.just("tool_call"), id=texts, name=texts, args=objects, server_type=texts),
        having(type=st.just("tool_result"), id=texts, output=objects, error=texts),
        having(
            type=st.sampled_from(["reasoning", "completion_status", "image"]), output_index=indexes | texts
        ),
        objects,
    ),
    max_size=4,
)
parts = having(
    summary_index=indexes | st.booleans(),
    type=st.just("summary_text"),
    text=texts,
    sequence_number=st.integers(0, 99) | st.none(),
    is_complete=st.booleans() | st.integers(0, 1),
    created_at=st.integers(0, 2**53),
)
thoughts = having(
    item_id=texts | st.none(),
    id=texts,
    type=texts,
    output_index=indexes | json,
    sequence_number=indexes,
    parts=st.dictionaries(st.sampled_from(["0", "1", "2", "10", "01", "x"]), parts | json)
    | st.lists(parts)
    | json,
    combined_text=texts,
    effort_level=st.sampled_from(["low", "medium", "high"]),
    reasoning_tokens=indexes,
    streaming_part_index=indexes,
)
words = texts.filter(lambda text: read_reasoning(text) == text)
names = st.text("abcdef0123456789-", min_size=1, max_size=8)
old = st.builds(
    LegacyRow,
    id=names,
    conversation_id=names,
    role=st.sampled_from(["system", "user", "assistant", "tool", "developer"]),
    segments=segments,
    reasoning=st.none() | thoughts | st.lists(parts | thoughts | json, max_size=3) | words,
    order_key=names,
    ts=st.integers(-(2**63), 2**63 - 1),
    created_at=st.none() | names | st.integers(0, 2**60) | st.floats(0, 1e18),
    more=st.dictionaries(st.sampled_from(["user_id", "response_metadata"]), json),
)


@settings(max_examples=100, deadline=None)
@given(row=old)
def test_a_row_that_was_kept_is_given_back_as_it_was(row: LegacyRow) -> None:
    kept = incoming_event(row).event
    assert canonical(legacy_row(kept)) == canonical(row)
    shape = msgspec.json.encode(legacy_shape(kept))
    assert canonical(msgspec.json.decode(shape)) == canonical(row.shape())


@settings(max_examples=50, deadline=None)
@given(row=old)
def test_nothing_is_lost_on_the_way_to_readers(row: LegacyRow) -> None:
    event = decode_segments(unified_shape(incoming_event(row).event))
    told = [segment for segment in event["segments"] if segment.get("type") != "reasoning"]
    others = [segment for segment in row.segments if segment.get("type") != "reasoning"]
    assert canonical(told) == canonical(others)
    assert len(event["segments"]) == len(row.segments) + len(thoughts_in(row.reasoning))


@settings(max_examples=50, deadline=None)
@given(row=old)
def test_a_row_is_read_as_it_is_written(row: LegacyRow) -> None:
    assert canonical(read_row(row.shape())) == canonical(row)


def made(reasoning: ReasoningColumn = None, *told: Row) -> LegacyRow:
    return LegacyRow(
        id="e",
        conversation_id="c",
        role="assistant",
        segments=[*told],
        reasoning=reasoning,
        order_key="a0",
        ts=5,
    )


PART = {"type": "summary_text", "sequence_number": 3, "is_complete": True, "created_at": 7}


def test_how_deep_a_row_is_does_not_depend_on_its_words() -> None:
    told = {"type": "text", "text": '[[{"\\', "args": [[{}]]}
    assert nesting_depth(made(None, told)) == 6


def test_parts_by_number_become_a_list_in_their_order() -> None:
    numbered = {key: {**PART, "summary_index": int(key), "text": key} for key in ("10", "2", "0")}
    event = to_unified(made({"item_id": "rs", "output_index": 1, "parts": numbered, "effort_level": "low"}))
    (segment,) = event.segments
    assert [part["text"] for part in segment["parts"]] == ["0", "2", "10"]
    assert segment["parts"][0] == {**PART, "summary_index": 0, "text": "0"}
    del segment["parts"]
    assert segment == {
        "type": "reasoning",
        "id": "rs",
        "output_index": 1,
        "sequence_number": 3,
        "effort_level": "low",
    }
    assert event.remainder == {"at": 0}, "what the segment says need not be kept twice"


def test_thoughts_stand_where_their_index_says_or_at_the_end() -> None:
    call, text = {"type": "tool_call", "output_index": 0}, {"type": "text", "output_index": 2}
    thoughts = {"item_id": "rs", "output_index": 1, "parts": {}}
    assert [s["type"] for s in to_unified(made(thoughts, call, text)).segments] == [
        "tool_call",
        "reasoning",
        "text",
    ]
    assert [s["type"] for s in to_unified(made(thoughts, {"type": "text"})).segments] == ["text", "reasoning"]


def test_thoughts_stand_by_an_index_that_is_text_too() -> None:
    later = {"type": "text", "output_index": "12"}
    event = to_unified(made({"item_id": "rs", "output_index": "9", "parts": {}}, later))
    assert [segment["output_index"] for segment in event.segments] == [9, "12"]


def test_thoughts_in_the_shape_of_the_stream_keep_their_id_and_number() -> None:
    part = {**PART, "summary_index": 0, "text": "Hm", "sequence_number": 9}
    event = to_unified(made({"id": "rs", "output_index": 3, "sequence_number": 7, "parts": [part]}))
    (segment,) = event.segments
    assert (segment["id"], segment["sequence_number"], segment["parts"]) == ("rs", 7, [part])


def test_an_array_has_the_parts_of_one_thought() -> None:
    part = {**PART, "summary_index": 0, "text": "Hm"}
    event = to_unified(made([part, "Well"], {"type": "text", "text": "So"}))
    _, segment = event.segments
    assert [(part["summary_index"], part["text"]) for part in segment["parts"]] == [(0, "Hm"), (1, "Well")]
    assert segment["parts"][0] == part


def test_an_array_of_thoughts_has_each_where_its_index_says() -> None:
    """As the service sent them, too: with a summary, or a bare text."""
    call, text = {"type": "tool_call", "output_index": 1}, {"type": "text", "output_index": 4}
    thoughts = [
        {"id": "rs_3", "type": "reasoning", "output_index": 3, "summary": [{"text": "Then"}]},
        {"item_id": "rs_0", "output_index": 0, "parts": {"0": {**PART, "text": "First"}}},
        {"item_id": "rs_2", "output_index": "2", "text": "Next"},
        "Last",
    ]
    event = to_unified(row := made(thoughts, call, text))
    assert [(s["type"], s.get("id")) for s in event.segments] == [
        ("reasoning", "rs_0"),
        ("tool_call", None),
        ("reasoning", "rs_2"),
        ("reasoning", "rs_3"),
        ("text", None),
        ("reasoning", ""),
    ]
    told = [part["text"] for segment in event.segments for part in segment.get("parts", ())]
    assert told == ["First", "Next", "Then", "Last"]
    assert legacy_row(incoming_event(row).event) == row


def test_words_are_a_thought_and_nothing_is_none() -> None:
    (segment,) = to_unified(made("Let me see.")).segments
    assert [part["text"] for part in segment["parts"]] == ["Let me see."]
    for nothing in (None, [], "", " "):
        row = made(nothing)
        assert to_unified(row).segments == []
        assert legacy_row(incoming_event(row).event) == row


def test_what_is_null_is_as_good_as_not_there() -> None:
    nothing = dict.fromkeys(("item_id", "output_index", "combined_text", "effort_level", "reasoning_tokens"))
    parts = {"0": dict.fromkeys(("summary_index", "text", "sequence_number", "is_complete")), "odd": "Hm"}
    event = to_unified(made({**nothing, "parts": parts}))
    (segment,) = event.segments
    assert [part["text"] for part in segment.pop("parts")] == ["", "Hm"]
    assert segment == {"type": "reasoning", "id": "", "output_index": 0, "sequence_number": 0}
    assert event.metadata is None


def test_thoughts_that_are_segments_already_have_their_parts_in_a_list() -> None:
    """As the document's own statement leaves them."""
    part = {**PART, "summary_index": 0, "text": "Hm", "is_complete": False}
    thought = {"type": "reasoning", "id": "rs", "output_index": 0, "sequence_number": 0, "parts": {"0": part}}
    unsaid = {"combined_text": None, "effort_level": None, "reasoning_tokens": None}
    row = made(None, {"type": "text", "text": "So"}, {**thought, **unsaid})
    event = to_unified(row)
    assert event.segments == [{"type": "text", "text": "So"}, {**thought, "parts": [part]}]
    assert event.metadata == {"completion_status": "partial"}
    assert to_unified(made(None, *event.segments)).remainder is None, "what is right already is kept once"
    kept = incoming_event(row).event
    assert canonical(legacy_row(kept)) == canonical(row)
    assert msgspec.json.encode(legacy_shape(kept)["segments"]) == msgspec.json.encode(row.segments)


def test_metadata_that_is_kept_as_text_is_metadata() -> None:
    row = replace(made(), more={"response_metadata": '{"completion_status": "interrupted"}'})
    assert to_unified(row).metadata == {"completion_status": "interrupted"}
    assert to_unified(replace(row, more={"response_metadata": "{"})).metadata is None


def test_a_part_that_was_never_finished_makes_a_partial_event() -> None:
    parts = {"0": {**PART, "summary_index": 0, "text": "Hm", "is_complete": False}}
    event = to_unified(made({"item_id": "rs", "output_index": 0, "parts": parts, "reasoning_tokens": 9}))
    assert event.metadata == {"completion_status": "partial", "usage": {"reasoning_tokens": 9}}
    assert to_unified(made()).metadata is None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"id": None}, "id is missing"),
        ({"id": "x" * 300}, "id is missing, or no text"),
        ({"conversation_id": 5}, "conversation_id is missing"),
        ({"role": ""}, "role is missing"),
        ({"role": "us\0er"}, "role is missing"),
        ({"order_key": None}, "order_key is missing"),
        ({"ts": "12"}, "ts is missing"),
        ({"ts": True}, "ts is missing"),
        ({"ts": 2**63}, "ts is missing"),
        ({"segments": "[{"}, "segments is not valid JSON"),
        ({"segments": "[1e999]"}, "segments is not valid JSON"),
        ({"segments": {}}, "segments is no array"),
        ({"segments": ["text"]}, "a segment is no object"),
        ({"reasoning": 5}, "reasoning is no object, array or text"),
        ({"reasoning": b"\xff"}, "reasoning is no object, array or text"),
        ({"created_at": [5]}, "created_at is no moment"),
        ({"created_at": float("inf")}, "created_at is no moment"),
    ],
)
def test_a_row_that_cannot_be_read_says_why(change: Row, words: str) -> None:
    with pytest.raises(Invalid, match=words):
        read_row({**rows(1)[0], **change})


def reasoning_segment(ident: str, text: str, index: int) -> Row:
    part = {**PART, "summary_index": 0, "text": text}
    thought = {"type": "reasoning", "id": ident, "output_index": index, "sequence_number": 0, "parts": [part]}
    return {**thought, "combined_text": text, "reasoning_tokens": 4}


def test_of_several_thoughts_the_old_shape_joins_the_parts() -> None:
    told = [
        reasoning_segment("rs_1", "First", 0),
        {"type": "text", "text": "So"},
        reasoning_segment("rs_2", "Then", 2),
    ]
    event = {"id": "e", "role": "assistant", "segments": [*told, {"type": "completion_status"}], "ts": 1}
    shape = to_legacy_shape(event)
    assert shape["segments"] == [{"type": "text", "text": "So"}]
    joined = shape["reasoning"]
    assert (joined["item_id"], joined["output_index"], joined["reasoning_tokens"]) == ("rs_1", 0, 8)
    assert joined["combined_text"] == "First\n\nThen"
    assert [(key, part["summary_index"], part["text"]) for key, part in joined["parts"].items()] == [
        ("0", 0, "First"), ("1", 1, "Then")
    ]  # fmt: skip


def test_parts_with_the_same_number_are_all_there_in_the_old_shape() -> None:
    thought = reasoning_segment("rs", "Hm", 0)
    thought["parts"] = [{**thought["parts"][0], "text": text} for text in ("Hm", "Well")]
    shape = to_legacy_shape({"id": "e", "segments": [thought]})
    assert [part["text"] for part in shape["reasoning"]["parts"].values()] == ["Hm", "Well"]


@pytest.mark.parametrize(
    ("combined", "parts", "shown"),
    [
        ("First\nThen", ["First", "Then"], "First\nThen"),
        ("First", ["First", "Then", "Last"], "First\n\nThen\n\nLast"),
        ("Something else", ["First"], "Something else\n\nFirst"),
        (None, ["First", "", "Then"], "First\n\nThen"),
        ("Only this", [], "Only this"),
    ],
)
def test_parts_that_the_combined_text_leaves_out_are_shown(
    combined: str | None, parts: list[str], shown: str
) -> None:
    segment = {"combined_text": combined, "parts": [{"text": text} for text in parts]}
    assert reasoning_text(segment) == shown


def test_a_filter_leaves_only_what_was_asked_for_in_either_shape() -> None:
    events = [
        {"id": "1", "segments": [{"type": "text", "text": "a"}, reasoning_segment("rs", "b", 0)]},
        {"id": "2", "segments": [{"type": "text", "text": "c"}]},
    ]
    assert [e["id"] for e in only_segment_types(events, ["reasoning"])] == ["1"]
    assert [len(e["segments"]) for e in only_segment_types(events, ["text", "image"])] == [1, 1]
    old_ones = [to_legacy_shape(event) for event in events]
    assert [(e["id"], e["segments"]) for e in only_segment_types(old_ones, ["reasoning"])] == [("1", [])]
    assert only_segment_types(old_ones, ["text"])[0]["reasoning"] is None
    assert only_segment_types(events, []) == events
    empty = decode_segments(legacy_shape(incoming_event(made([])).event))
    assert only_segment_types([empty], ["reasoning"]) == []
