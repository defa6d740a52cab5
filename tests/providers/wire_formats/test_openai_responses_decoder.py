"""The Responses dialect: what is sent, what is read, and every trap on the way."""

from __future__ import annotations

import json
from contextlib import aclosing
from typing import Any

import pytest

from moot.core.errors import Fault
from moot.core.terms import (
    ChatMessage,
    EncryptedReasoning,
    Model,
    PartStart,
    Reasoning,
    ReasoningPart,
    Request,
    Text,
    ToolCall,
    UnknownItem,
    Usage,
)
from moot.providers.client import ProviderClient
from moot.providers.contract import (
    Chunk,
    KeepAlive,
    ReplyDelta,
    ReplyDone,
    ReplySegment,
    ReplyStarted,
    Traits,
)
from moot.providers.wire_formats.openai_responses_decoder import ResponsesDecoder, usage
from moot.providers.wire_formats.openai_responses_request import WIRE_FORMAT, decoder
from tests.providers.wire_formats.openai_responses_calls import CHAINING, HISTORY, THINKING, ask, words
from tests.support.responses_service import SUMMARY, Replica

# --- what is read: helpers ----------------------------------------------------------------------------


class Stream:
    """Events in the service's shape, counted as the service counts them."""

    def __init__(self, *, numbered: bool = True, named: bool = True) -> None:
        self.packets: list[bytes] = []
        self._numbered = numbered
        self._named = named

    def add(self, kind: str, **event: Any) -> Stream:
        told = {"type": kind, **({"sequence_number": len(self.packets)} if self._numbered else {}), **event}
        name = f"event: {kind}\n".encode() if self._named else b""
        self.packets.append(name + b"data: " + json.dumps(told, ensure_ascii=False).encode() + b"\n\n")
        return self

    def raw(self, packet: bytes) -> Stream:
        self.packets.append(packet)
        return self

    def created(self, **response: Any) -> Stream:
        return self.add("response.created", response=whole("in_progress", usage=None, **response))

    def added(self, place: int, **item: Any) -> Stream:
        return self.add("response.output_item.added", output_index=place, item=item)

    def done(self, place: int, **item: Any) -> Stream:
        return self.add("response.output_item.done", output_index=place, item=item)

    def says(self, words: str, place: int = 0, **where: Any) -> Stream:
        spot = {"output_index": place, "content_index": 0, "item_id": f"i_{place}", **where}
        return self.add("response.output_text.delta", delta=words, logprobs=[], obfuscation="pad", **spot)

    def thinks(self, words: str, place: int = 0, part: int = 0) -> Stream:
        spot = {"output_index": place, "summary_index": part, "item_id": f"i_{place}"}
        return self.add("response.reasoning_summary_text.delta", delta=words, **spot)

    def broods(self, words: str, place: int = 0, part: int = 0) -> Stream:
        spot = {"output_index": place, "content_index": part, "item_id": f"i_{place}"}
        return self.add("response.reasoning_text.delta", delta=words, **spot)

    def completed(self, *output: dict[str, Any], **response: Any) -> Stream:
        return self.add("response.completed", response=whole("completed", *output, **response))

    def swapped(self, one: int, other: int) -> Stream:
        packets = self.packets
        packets[one], packets[other] = packets[other], packets[one]
        return self

    @property
    def body(self) -> bytes:
        return b"".join(self.packets)


FIGURES = {
    "input_tokens": 9,
    "input_tokens_details": {"cached_tokens": 4},
    "output_tokens": 7,
    "output_tokens_details": {"reasoning_tokens": 5},
    "total_tokens": 16,
}


COUNTED = Usage(input=9, output=7, reasoning=5, cached=4)


def whole(status: str, *output: dict[str, Any], **response: Any) -> dict[str, Any]:
    return {
        "id": "resp_1",
        "object": "response",
        "status": status,
        "error": None,
        "incomplete_details": None,
        "model": "gpt-5-mini-2025",
        "output": list(output),
        "reasoning": {"effort": "low", "summary": "auto"},
        "store": True,
        "text": {"format": {"type": "text"}},
        "usage": FIGURES,
        **response,
    }


def message(*texts: str, place: int = 0, **more: Any) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": [], "logprobs": []} for text in texts]
    return {"type": "message", "id": f"i_{place}", "role": "assistant", "content": content, **more}


def thought(*summaries: str, place: int = 0, **more: Any) -> dict[str, Any]:
    summary = [{"type": "summary_text", "text": text} for text in summaries]
    return {"type": "reasoning", "id": f"i_{place}", "summary": summary, **more}


def decode(stream: Stream | bytes, **options: Any) -> list[Chunk]:
    """At one go; byte by byte it must come to the same."""
    data = stream if isinstance(stream, bytes) else stream.body
    bytewise = _feed((data[at : at + 1] for at in range(len(data))), **options)
    at_once = _feed([data], **options)
    assert bytewise == at_once
    return at_once


def _feed(packets: Any, **options: Any) -> list[Chunk]:
    reader = ResponsesDecoder(**options)
    chunks = [chunk for packet in packets for chunk in reader.feed(packet)] + reader.end()
    return [chunk for chunk in chunks if chunk != KeepAlive()]


def fault_in(stream: Stream) -> Fault:
    with pytest.raises(Fault) as caught:
        decode(stream)
    return caught.value


def items(chunks: list[Chunk]) -> list[Any]:
    return [chunk.segment for chunk in chunks if isinstance(chunk, ReplySegment)]


def end(chunks: list[Chunk]) -> ReplyDone:
    last = chunks[-1]
    assert isinstance(last, ReplyDone)
    return last


def plain() -> Stream:
    return Stream().created().added(0, **message()).says("Zo").says("é").done(0, **message("Zoé"))


# --- what is read: shapes -----------------------------------------------------------------------------


def test_a_plain_reply() -> None:
    assert decode(plain().completed(message("Zoé"))) == [
        ReplyStarted("resp_1"),
        ReplyDelta("Zo", part=PartStart("i_0", 1)),
        ReplyDelta("é"),
        ReplySegment(Text("Zoé", 0, "i_0", 1)),
        ReplyDone("stop", COUNTED, "resp_1", reason="completed", model="gpt-5-mini-2025"),
    ]


def test_all_events_of_a_message() -> None:
    spot = {"output_index": 0, "content_index": 0, "item_id": "i_0"}
    empty = {"type": "output_text", "text": "", "annotations": []}
    stream = Stream().created().add("response.in_progress", response=whole("in_progress"))
    stream.added(0, **message()).add("response.content_part.added", part=empty, **spot)
    stream.says("a").add("response.output_text.done", text="a", **spot)
    stream.add("response.content_part.done", part={**empty, "text": "a"}, **spot)
    chunks = decode(stream.done(0, **message("a")).completed(message("a")))
    assert items(chunks) == [Text("a", 0, "i_0", 2)]
    assert (words(chunks), end(chunks).unread) == ("a", 0)


def test_a_thought_in_several_parts_reads_live_as_it_is_kept() -> None:
    parts = ("**One**\n\nfirst", "**Two**\n\nsecond")
    stream = Stream().created().added(0, **thought())
    for place, part in enumerate(parts):
        spot = {"output_index": 0, "summary_index": place, "item_id": "i_0"}
        empty = {"type": "summary_text", "text": ""}
        stream.add("response.reasoning_summary_part.added", part=empty, **spot)
        stream.thinks(part[:7], part=place).thinks(part[7:], part=place)
        stream.add("response.reasoning_summary_text.done", text=part, **spot)
        stream.add("response.reasoning_summary_part.done", part={**empty, "text": part}, **spot)
    stream.done(0, **thought(*parts, encrypted_content="sealed"))
    chunks = decode(stream.completed(thought(*parts, encrypted_content="sealed anew")))
    kept = Reasoning(
        (ReasoningPart(parts[0], 0, 2), ReasoningPart(parts[1], 1, 7)),
        0, "i_0", 1, effort="low", opaque="sealed",
    )  # fmt: skip
    assert items(chunks) == [kept]
    assert words(chunks, "reasoning") == kept.text


def test_parts_without_a_beginning_are_parts_all_the_same() -> None:
    stream = Stream().created().added(0, **thought()).thinks("a").thinks("b", part=1)
    chunks = decode(stream.done(0, **thought("a", "b")).completed())
    assert words(chunks, "reasoning") == "a\n\nb"
    assert not end(chunks).degraded


def test_a_summary_that_was_asked_for_and_never_sent() -> None:
    stream = Stream().created().added(0, **thought()).done(0, **thought(encrypted_content="sealed"))
    chunks = decode(stream.says("a", 1).completed())
    assert items(chunks)[0] == Reasoning((), 0, "i_0", 1, effort="low", opaque="sealed")
    assert words(chunks, "reasoning") == ""


def test_what_is_sealed_when_a_thought_is_added_is_sealed_too_early() -> None:
    stream = Stream().created().added(0, **thought(encrypted_content="half")).says("a", 1)
    assert items(decode(stream.completed()))[0].opaque == ""


def test_raw_thoughts() -> None:
    told = thought(content=[{"type": "reasoning_text", "text": "hm so"}])
    stream = Stream().created().added(0, **thought()).broods("hm").broods(" so")
    stream.add("response.reasoning_text.done", output_index=0, content_index=0, text="hm so")
    chunks = decode(stream.done(0, **told).completed(told))
    assert items(chunks) == [Reasoning((ReasoningPart("hm so", 0, 2),), 0, "i_0", 1, effort="low")]
    assert words(chunks, "reasoning") == "hm so"


def test_summary_and_raw_thoughts_are_both_kept() -> None:
    stream = Stream().created().thinks("brief").broods("at length")
    (kept,) = items(decode(stream.done(0, **thought("brief")).completed()))
    assert kept.text == "brief\n\nat length"


def test_a_server_that_counts_a_part_for_every_word() -> None:
    told = thought(content=[{"type": "reasoning_text", "text": "one two three"}])
    stream = Stream().created().added(0, **thought())
    stream.broods("one").broods(" two", part=1).broods(" three", part=2)
    chunks = decode(stream.done(0, **told).completed(told))
    assert words(chunks, "reasoning") == "one two three"
    assert not end(chunks).degraded


def test_several_thoughts_and_several_messages_in_the_order_of_the_service() -> None:
    stream = Stream().created()
    stream.thinks("a", 0).done(0, **thought("a"))
    stream.says("b", 1).done(1, **message("b", place=1, phase="commentary"))
    stream.thinks("c", 2).done(2, **thought("c", place=2))
    stream.says("d", 3).done(3, **message("d", place=3, phase="final_answer"))
    chunks = decode(stream.completed())
    kept = items(chunks)
    assert [(type(segment), segment.text, segment.index) for segment in kept] == [
        (Reasoning, "a", 0),
        (Reasoning, "b", 1),
        (Reasoning, "c", 2),
        (Text, "d", 3),
    ]
    assert [kept[1].phase, kept[3].phase] == ["commentary", "final_answer"]
    # The phase came too late: what was streamed as speech is taken back when the item is done.
    assert (words(chunks), words(chunks, "reasoning")) == ("bd", "ac")


def test_commentary_on_the_way_is_reasoning_and_only_the_answer_is_speech() -> None:
    stream = Stream().created().added(0, **message(phase="commentary")).says("Let me look.", 0)
    stream.done(0, **message("Let me look.", phase="commentary")).added(1, **call()).done(1, **call())
    stream.added(2, **message(place=2, phase="final_answer")).says("Zoos are cruel.", 2)
    chunks = decode(stream.completed())
    assert (words(chunks), words(chunks, "reasoning")) == ("Zoos are cruel.", "Let me look.")
    kept = items(chunks)
    assert kept[0] == Reasoning((ReasoningPart("Let me look."),), 0, "i_0", 1, phase="commentary")
    assert (kept[-1].text, kept[-1].phase, end(chunks).degraded) == ("Zoos are cruel.", "final_answer", "")


@pytest.mark.parametrize("listed", [False, True])
def test_a_thought_that_an_incomplete_response_cuts_is_incomplete(listed: bool) -> None:
    stream = Stream().created().thinks("a", 0).done(0, **thought("a")).thinks("b", 1).thinks("c", 1, part=1)
    told = [thought("a"), thought("b", "c", place=1, status="incomplete")] if listed else []
    response = whole("incomplete", *told, incomplete_details={"reason": "max_output_tokens"})
    kept = {item.index: item for item in items(decode(stream.add("response.incomplete", response=response)))}
    assert [(kept[at].text, kept[at].incomplete) for at in (0, 1)] == [("a", False), ("b\n\nc", True)]


def test_a_refusal_is_speech_in_every_phase() -> None:
    told = {**message(phase="commentary"), "content": [{"type": "refusal", "refusal": "No."}]}
    chunks = decode(Stream().created().done(0, **told).completed(told))
    assert (words(chunks), end(chunks).finish) == ("No.", "refusal")


def test_two_messages_of_one_reply_are_two_paragraphs() -> None:
    stream = Stream().created().says("One.", 0).done(0, **message("One."))
    stream.says("Two", 1).says(".", 1).done(1, **message("Two.", place=1))
    chunks = decode(stream.completed(message("One."), message("Two.", place=1), message("Three.", place=2)))
    assert words(chunks) == "One.\n\nTwo.\n\nThree."
    assert "".join(segment.text for segment in items(chunks)) == words(chunks)
    assert not end(chunks).degraded


def test_a_message_after_a_line_break_needs_no_other() -> None:
    stream = Stream().created().says("One.\n", 0).done(0, **message("One.\n")).says("Two.", 1)
    assert words(decode(stream.completed())) == "One.\nTwo."


def test_messages_that_are_told_at_the_same_time_keep_their_own_order() -> None:
    stream = Stream().created().added(0, **message()).added(1, **message(place=1))
    stream.says("Two", 1).says("One", 0).says(".", 1).says(".", 0)
    chunks = decode(stream.completed(message("One."), message("Two.", place=1)))
    assert [segment.text for segment in items(chunks)] == ["One.", "\n\nTwo."]
    assert not end(chunks).degraded


def test_text_and_refusal_of_one_message_are_one_segment() -> None:
    told = message("Well. ")
    told["content"].append({"type": "refusal", "refusal": "No."})
    stream = Stream().created().says("Well. ")
    stream.add("response.refusal.delta", delta="No.", output_index=0, content_index=1)
    stream.add("response.refusal.done", refusal="No.", output_index=0, content_index=1)
    chunks = decode(stream.done(0, **told).completed(told))
    assert items(chunks) == [Text("Well. No.", 0, "i_0", 1)]
    assert (words(chunks), end(chunks).finish, end(chunks).reason) == ("Well. No.", "refusal", "completed")


def test_annotations_are_kept() -> None:
    note = {"type": "url_citation", "url": "https://example.org", "start_index": 0, "end_index": 1}
    told = message("a")
    told["content"][0]["annotations"] = [note]
    stream = Stream().created().says("a")
    stream.add("response.output_text.annotation.added", annotation=note, annotation_index=0, output_index=0)
    assert items(decode(stream.done(0, **told).completed()))[0].annotations == (note,)
    assert items(decode(stream.completed()))[0].annotations == (note,)


def test_a_background_reply_waits_in_a_queue_first() -> None:
    stream = Stream().created().add("response.queued", response=whole("queued"))
    stream.add("response.in_progress", response=whole("in_progress"))
    assert end(decode(stream.says("a").completed())).unread == 0


# --- what is read: tools ------------------------------------------------------------------------------


def call(**more: Any) -> dict[str, Any]:
    told = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "look", "arguments": ""}
    return {**told, **more}


def test_a_function_call_says_nothing_to_viewers() -> None:
    stream = Stream().created().added(0, **call())
    for piece in ('{"q"', ":1}"):
        stream.add("response.function_call_arguments.delta", delta=piece, output_index=0, item_id="fc_1")
    stream.add("response.function_call_arguments.done", arguments='{"q":1}', output_index=0)
    told = call(arguments='{"q":1}', status="completed")
    chunks = decode(stream.done(0, **told).completed(told))
    assert chunks[1:] == [
        ReplySegment(ToolCall("call_1", "look", '{"q":1}', 0, "fc_1", 1, "function_call", "completed")),
        ReplyDone("tool", COUNTED, "resp_1", reason="completed", model="gpt-5-mini-2025"),
    ]


def test_arguments_may_come_at_the_end_only_or_in_pieces_only() -> None:
    late = Stream().created().added(0, **call())
    late.add("response.function_call_arguments.done", arguments="{}", output_index=0)
    pieces = Stream().created().added(0, **call())
    for piece in "{}":
        pieces.add("response.function_call_arguments.delta", delta=piece, output_index=0)
    assert [items(decode(stream.completed()))[0].arguments for stream in (late, pieces)] == ["{}", "{}"]


def test_two_calls_at_once_keep_their_own_arguments() -> None:
    stream = Stream().created().added(0, **call()).added(1, **call(id="fc_2", call_id="call_2"))
    for piece, place in (("[1", 0), ("[2", 1), ("]", 1), ("]", 0)):
        stream.add("response.function_call_arguments.delta", delta=piece, output_index=place)
    kept = items(decode(stream.completed()))
    assert [(one.id, one.arguments) for one in kept] == [("call_1", "[1]"), ("call_2", "[2]")]


@pytest.mark.parametrize(
    ("item", "asked", "given"),
    [
        ({"type": "custom_tool_call", "input": "print(1)"}, "print(1)", ""),
        ({"type": "code_interpreter_call", "code": "1+1", "outputs": [{"l": "2"}]}, "1+1", '[{"l":"2"}]'),
        ({"type": "web_search_call", "action": {"query": "q"}}, '{"query":"q"}', ""),
        ({"type": "mcp_call", "arguments": "{}", "output": "found", "error": None}, "{}", "found"),
        ({"type": "mcp_list_tools", "tools": [{"name": "t"}]}, "", '[{"name":"t"}]'),
    ],
)  # fmt: skip
def test_tools_of_every_kind(item: dict[str, Any], asked: str, given: str) -> None:
    stream = Stream().created().added(0, id="t_1", **item).done(0, id="t_1", **item)
    (kept,) = items(decode(stream.completed({"id": "t_1", **item})))
    assert (kept.kind, kept.name, kept.arguments, kept.output) == (item["type"], item["type"], asked, given)
    assert kept.id == "t_1"


@pytest.mark.parametrize(
    ("kind", "finish", "needs_answer"),
    [
        ("function_call", "tool", True),
        ("custom_tool_call", "tool", True),
        ("computer_call", "tool", False),
        ("web_search_call", "stop", False),
    ],
)
def test_a_reply_that_ends_in_a_call_waits_for_it_if_the_call_is_for_us(
    kind: str, finish: str, needs_answer: bool
) -> None:
    chunks = decode(Stream().created().done(0, id="t_1", type=kind).completed({"id": "t_1", "type": kind}))
    (call,) = items(chunks)
    assert call.needs_answer is needs_answer
    assert end(chunks).finish == finish


@pytest.mark.parametrize(
    ("error", "told"),
    [
        ("down", "down"),
        ({"type": "http_error", "code": 502}, '{"type":"http_error","code":502}'),
        (None, "failed"),
    ],
)
def test_a_tool_of_the_services_that_failed_says_so(error: Any, told: str) -> None:
    item = {"type": "mcp_call", "id": "t_1", "arguments": "{}", "status": "failed", "error": error}
    (kept,) = items(decode(Stream().created().added(0, **item).done(0, **item).completed(item)))
    assert (kept.output, kept.error) == ("", told)


def test_an_item_of_a_type_that_nobody_knows_is_kept_as_it_came() -> None:
    begun = {"type": "hologram", "id": "h_1", "status": "in_progress", "frames": []}
    item = {**begun, "status": "completed", "frames": [{"x": 1, "y": None}], "note": ""}
    stream = Stream().created().says("a").added(1, **begun).done(1, **item)
    chunks = decode(stream.completed(message("a"), item))
    assert items(chunks)[-2:] == [UnknownItem("hologram", item, 1, "h_1", 2), Text("a", 0, "i_0", 1)]
    assert end(chunks).unread == 0
    cut = decode(Stream().created().added(0, **begun).completed())
    assert items(cut) == [UnknownItem("hologram", begun, 0, "h_1", 1)]


def test_how_far_a_tool_has_come_is_a_sign_of_life() -> None:
    stream = Stream().created().added(0, type="web_search_call", id="w")
    for stage in ("in_progress", "searching", "completed"):
        stream.add(f"response.web_search_call.{stage}", output_index=0, item_id="w")
    assert end(decode(stream.completed())).unread == 0


def test_words_after_a_call_are_what_it_stopped_with() -> None:
    stream = Stream().created().done(0, **call()).says("a", 1)
    assert end(decode(stream.completed())).finish == "stop"


# --- what is read: accents ----------------------------------------------------------------------------


def test_a_stream_without_numbers_and_names() -> None:
    stream = Stream(numbered=False, named=False).created().added(0, **message()).says("a")
    stream.raw(b": still here\n\n").done(0, **message("a")).completed().raw(b"data: [DONE]\n\n")
    chunks = decode(stream)
    assert items(chunks) == [Text("a", 0, "i_0")]
    assert end(chunks).finish == "stop"


def test_the_name_of_an_event_may_stand_outside_it() -> None:
    stream = Stream().created()
    stream.raw(b'event: response.output_text.delta\ndata: {"output_index": 0, "delta": "a"}\n\n')
    assert words(decode(stream.completed())) == "a"


def test_names_that_only_older_papers_know() -> None:
    stream = Stream(numbered=False)
    stream.add("response.reasoning.delta", delta={"content": "hm"})
    stream.add("response.reasoning.delta", delta={"text": " so"})
    stream.add("response.output_text.delta", delta={"content": "a"})
    chunks = decode(stream.add("response.done", response=whole("completed")))
    assert (words(chunks, "reasoning"), words(chunks)) == ("hm so", "a")
    assert [segment.index for segment in items(chunks)] == [0, 1]
    assert end(chunks).finish == "stop"


def test_a_resumed_stream_begins_without_its_beginning() -> None:
    stream = Stream().created().add("response.in_progress", response=whole("in_progress"))
    stream.says("a").completed()
    chunks = decode(b"".join(stream.packets[1:]))
    assert (chunks[0], words(chunks), end(chunks).response_id) == (ReplyStarted("resp_1"), "a", "resp_1")


def test_ids_that_change_between_events_join_by_their_place() -> None:
    stream = Stream().created().added(0, **{**message(), "id": "x1"})
    stream.says("a", item_id="x2").says("b", item_id="x3").done(0, **{**message("ab"), "id": "x4"})
    assert items(decode(stream.completed({**message("ab"), "id": "x5"}))) == [Text("ab", 0, "x4", 1)]


def test_events_without_a_place_join_by_their_id() -> None:
    stream = Stream(numbered=False).created()
    stream.add("response.output_item.added", item={**thought(), "id": "r"})
    stream.add("response.reasoning_text.delta", item_id="r", delta="hm")
    stream.add("response.output_item.done", item={**thought(), "id": "r"})
    stream.add("response.output_item.added", item={**message(), "id": "m"})
    stream.add("response.output_text.delta", item_id="m", delta="a")
    chunks = decode(stream.completed({**thought(), "id": "r"}, {**message("a"), "id": "m"}))
    assert [(type(one), one.text, one.index) for one in items(chunks)] == [
        (Reasoning, "hm", 0),
        (Text, "a", 1),
    ]


def test_one_place_for_everything_is_told_apart_by_what_it_is() -> None:
    stream = Stream(numbered=False).created().thinks("hm").done(0, **thought("hm")).says("a")
    chunks = decode(stream.done(0, **message("a")).completed(thought("hm"), message("a")))
    assert [(type(one), one.text, one.index) for one in items(chunks)] == [
        (Reasoning, "hm", 0),
        (Text, "a", 1),
    ]


def test_items_that_overlap_and_never_end_are_finished_by_the_last_event() -> None:
    tools = [
        {"type": "mcp_list_tools", "id": f"l_{place}", "server_label": f"s{place}", "tools": []}
        for place in range(3)
    ]
    full = [{**tool, "tools": [{"name": f"t{place}"}]} for place, tool in enumerate(tools)]
    stream = Stream().created()
    for place, tool in enumerate(tools):
        stream.added(place, **tool)
    stream.done(2, **full[2]).says("a", 3)
    kept = items(decode(stream.completed(*full, message("a", place=3))))
    assert [(one.index, one.output) for one in kept if isinstance(one, ToolCall)] == [
        (2, '[{"name":"t2"}]'),
        (0, '[{"name":"t0"}]'),
        (1, '[{"name":"t1"}]'),
    ]


def test_a_last_event_that_leaves_items_out_takes_nothing_away() -> None:
    stream = Stream().created().thinks("hm", 0).says("a", 1).says("b", 2)
    chunks = decode(stream.completed(message("a", place=1), message("b", place=2)))
    assert [segment.text for segment in items(chunks)] == ["hm", "a", "\n\nb"]
    empty = decode(Stream().created().done(0, **message("a")).completed(message()))
    assert [segment.text for segment in items(empty)] == ["a"]


def test_a_last_event_that_leaves_items_out_is_about_the_others() -> None:
    stream = Stream().created().says("a", 0).says("b", 1).done(2, type="mcp_list_tools", id="l", tools=[1])
    stream.added(3, **call())
    told = (message("b!", place=1), {"type": "compaction"}, call(id="renamed", arguments="{}"))
    kept = {segment.index: segment for segment in items(decode(stream.completed(*told)))}
    assert (kept[0].text, kept[1].text, kept[2].arguments, kept[3].arguments) == ("a", "\n\nb!", "", "{}")


def test_a_last_event_that_renames_its_items_is_taken_by_their_place() -> None:
    stream = Stream().created().says("a", 0).says("b", 1)
    told = ({"type": "compaction"}, {**message("b!"), "id": "renamed"})
    assert [segment.text for segment in items(decode(stream.completed(*told)))] == ["a", "\n\nb!"]


def test_a_last_event_that_knows_no_place_and_no_id_is_taken_in_order() -> None:
    stream = Stream().created().thinks("hm", 4).says("a", 5).says("b", 6)
    told = [{**message(text), "id": "other"} for text in ("a.", "b.")]
    assert [segment.text for segment in items(decode(stream.completed(*told)))] == ["hm", "a.", "\n\nb."]


def test_a_whole_reply_where_a_stream_was_asked() -> None:
    told = json.dumps(whole("completed", thought("hm"), message("Zoé", place=1)), indent=1).encode()
    chunks = decode(told)
    assert (words(chunks, "reasoning"), words(chunks)) == ("hm", "Zoé")
    assert [segment.index for segment in items(chunks)] == [0, 1]
    assert end(chunks) == ReplyDone("stop", COUNTED, "resp_1", reason="completed", model="gpt-5-mini-2025")


def test_unknown_events_are_passed_over_and_counted() -> None:
    stream = Stream().created().add("response.novelty", delta=3, text={}).says("a")
    stream.added(1, type="compaction", id="c", encrypted_content="x")
    assert end(decode(stream.completed())).unread == 2


# --- what is read: words that differ ------------------------------------------------------------------


def test_words_that_only_the_end_tells_are_said_then() -> None:
    stream = Stream().created().says("Zo").done(0, **message("Zoos"))
    chunks = decode(stream.completed(message("Zoos")))
    assert chunks[1:4] == [
        ReplyDelta("Zo", part=PartStart("i_0", 1)),
        ReplyDelta("os"),
        ReplySegment(Text("Zoos", 0, "i_0", 1)),
    ]


def test_the_first_words_of_an_item_and_of_each_part_tell_what_the_service_calls_them() -> None:
    stream = Stream().created().added(0, **thought()).thinks("Hm").thinks(".").thinks("So", part=1)
    stream = stream.thinks(".", part=1).done(0, **thought("Hm.", "So.")).says("Zo", place=1)
    chunks = decode(stream.says("os", place=1).completed(thought("Hm.", "So."), message("Zoos", place=1)))
    assert [chunk.part for chunk in chunks if isinstance(chunk, ReplyDelta)] == [
        PartStart("i_0", 1, 0, 2),
        None,
        PartStart("i_0", 1, 1, 4),
        None,
        PartStart("i_1", 7),
        None,
    ]
    told = items(chunks)[0]
    assert (told.item_id, told.sequence_number) == ("i_0", 1)
    assert [(part.summary_index, part.sequence_number) for part in told.parts] == [(0, 2), (1, 4)]


def test_a_service_that_neither_names_nor_counts_costs_nothing_more() -> None:
    stream = Stream(numbered=False).created().says("Zo", item_id=None).says("os", item_id=None)
    chunks = decode(stream.completed({**message("Zoos"), "id": ""}))
    assert [chunk.part for chunk in chunks if isinstance(chunk, ReplyDelta)] == [None, None]
    assert not end(chunks).degraded


def test_an_item_without_any_words_of_its_own_is_said_at_the_end() -> None:
    chunks = decode(Stream().created().completed(thought("hm"), message("a", place=1)))
    assert (words(chunks, "reasoning"), words(chunks)) == ("hm", "a")


def test_the_end_of_a_part_counts_where_the_item_has_none() -> None:
    stream = Stream().created().says("Zo")
    stream.add("response.output_text.done", text="Zoos", output_index=0, content_index=0)
    chunks = decode(stream.completed())
    assert (words(chunks), items(chunks)[0].text) == ("Zoos", "Zoos")


def test_a_whole_that_differs_wins_and_is_marked() -> None:
    chunks = decode(Stream().created().says("Zaa").completed(message("Zoo")))
    assert (words(chunks), items(chunks)[0].text, end(chunks).degraded) == ("Zaa", "Zoo", "mended")


def test_the_last_word_on_an_item_is_the_last_event() -> None:
    chunks = decode(plain().completed(message("Zoë")))
    assert [segment.text for segment in items(chunks)] == ["Zoé", "Zoë"]
    assert end(chunks).degraded == "mended"


def test_an_event_that_comes_twice_counts_once() -> None:
    stream = Stream().created().added(0, **message()).says("ha")
    stream.packets.append(stream.packets[-1])
    chunks = decode(stream.says(" ho", sequence_number=3).completed())
    assert (words(chunks), end(chunks).degraded) == ("ha ho", "")


def test_a_replay_of_earlier_events_counts_once() -> None:
    stream = Stream().created().added(0, **message()).says("a").says("b")
    stream.packets.extend(stream.packets[1:4])
    assert words(decode(stream.completed())) == "ab"


def test_words_out_of_order_are_put_in_order_as_far_as_that_goes() -> None:
    stream = Stream().created().says("a").says("b").says("c").swapped(2, 3).completed()
    chunks = decode(stream)
    assert (words(chunks), items(chunks)[0].text, end(chunks).degraded) == ("acb", "abc", "mended")


def test_words_that_come_after_their_item_was_done_are_not_said_again() -> None:
    stream = Stream().created().says("a").says("b").done(0, **message("ab")).swapped(2, 3)
    chunks = decode(stream.completed())
    assert (words(chunks), items(chunks), end(chunks).degraded) == ("ab", [Text("ab", 0, "i_0", 1)], "")


def test_a_gap_is_closed_by_the_whole() -> None:
    stream = Stream().created().says("a").says("b").says("c").completed(message("abc"))
    del stream.packets[2]
    chunks = decode(stream)
    assert (items(chunks)[0].text, end(chunks).degraded) == ("abc", "mended")


def test_words_that_overtake_their_item() -> None:
    stream = Stream().created().added(0, **message(phase="final_answer")).says("a").swapped(1, 2)
    (kept,) = items(decode(stream.completed()))
    assert (kept.text, kept.phase, kept.sequence_number) == ("a", "final_answer", 1)


def test_a_service_that_does_not_count_loses_nothing() -> None:
    stream = Stream(numbered=False).created().says("a", sequence_number=0)
    stream.says("b", sequence_number=0).says("a", sequence_number=0)
    assert words(decode(stream.completed())) == "aba"


def test_two_halves_of_a_character_are_one() -> None:
    stream = Stream().created()
    for half in (rb"\ud83d", rb"\ude00"):
        stream.raw(
            b'data: {"type":"response.output_text.delta","output_index":0,"delta":"' + half + b'"}\n\n'
        )
    chunks = decode(stream.completed(message("😀")))
    assert (words(chunks), items(chunks)[0].text, end(chunks).degraded) == ("😀", "😀", "")


# --- how it ends --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reason", "finish"),
    [("max_output_tokens", "length"), ("content_filter", "filter"), ("whim", "length")],
)
def test_a_reply_that_was_cut_short_says_why(reason: str, finish: str) -> None:
    told = whole("incomplete", message("a"), incomplete_details={"reason": reason})
    done = end(decode(Stream().created().says("a").add("response.incomplete", response=told)))
    assert (done.finish, done.reason, done.usage) == (finish, reason, COUNTED)


def test_figures_are_known_of_a_reply_that_failed() -> None:
    told = whole("failed", error={"code": "server_error", "message": "x"})
    reader = ResponsesDecoder()
    reader.feed(Stream().add("response.failed", response=told).body)
    with pytest.raises(Fault):
        reader.end()
    assert reader.usage == COUNTED


def test_noughts_are_no_figures() -> None:
    nothing = {"input_tokens": 0, "output_tokens": 0, "total_tokens": 0}
    told = whole("incomplete", incomplete_details={"reason": "max_output_tokens"}, usage=nothing)
    assert end(decode(Stream().says("a").add("response.incomplete", response=told))).usage is None
    assert end(decode(Stream().says("a").completed(usage=None))).usage is None


def test_figures_that_cannot_be_true_are_marked() -> None:
    assert usage({"input_tokens": -1, "output_tokens": "many"}) == Usage(suspect=True)
    assert usage({"input_tokens": 5, "output_tokens": 10**12}) == Usage(input=5, suspect=True)


@pytest.mark.parametrize("nested", [True, False])
@pytest.mark.parametrize("named", [True, False])
def test_an_error_in_a_reply_that_began_well(nested: bool, named: bool) -> None:
    error = {"code": "insufficient_quota", "message": "Spent.", "param": None}
    event = {"error": {"type": "insufficient_quota", **error}} if nested else error
    fault = fault_in(Stream(named=named).created().add("error", **event))
    assert (fault.kind, fault.severity) == ("billing", "permanent")
    assert "Spent." in fault.detail


def test_an_error_without_any_name() -> None:
    stream = Stream().created().raw(b'data: {"error": {"code": "rate_limit_exceeded"}}\n\n')
    assert fault_in(stream).kind == "rate_limited"


def test_a_reply_that_failed() -> None:
    told = whole("failed", error={"code": "server_error", "message": "Oh."})
    fault = fault_in(Stream().created().says("a").add("response.failed", response=told))
    assert (fault.kind, fault.severity) == ("server_error", "transient")
    assert fault_in(Stream().add("response.failed", response=whole("failed"))).kind == "server_error"


def test_a_reply_that_was_cancelled() -> None:
    stream = Stream().created().add("response.cancelled", response=whole("cancelled"))
    assert fault_in(stream).kind == "cut"


def test_an_end_without_a_last_event_is_no_end() -> None:
    assert fault_in(plain()).kind == "disconnected"
    assert fault_in(Stream().created().add("response.in_progress", response=whole("in_progress"))).kind == (
        "disconnected"
    )


def test_broken_json_is_not_passed_over() -> None:
    assert fault_in(Stream().created().raw(b'data: {"type": "response.out\n\n')).kind == "malformed"


def test_the_last_event_is_the_end_and_a_farewell_does_no_harm() -> None:
    reader = ResponsesDecoder()
    reader.feed(plain().completed().body)
    assert reader.over
    reader.feed(b"data: [DONE]\n\n")
    assert end(reader.end()).finish == "stop"


@pytest.mark.parametrize("blank", [b"data:\n\n", b"data: \n\n", b"data:   \n\n", b"event: x\ndata: \t\n\n"])
def test_a_blank_event_is_a_sign_of_life(blank: bytes) -> None:
    chunks = decode(plain().raw(blank).completed())
    assert (words(chunks), end(chunks).unread) == ("Zoé", 0)


def test_a_reply_without_an_id_has_none() -> None:
    stream = Stream().created(id=None).says("a").completed(id=None)
    chunks = decode(stream)
    assert (chunks[0], end(chunks).response_id) == (ReplyStarted(None), None)


def test_what_the_service_does_not_keep_is_not_to_be_referred_to() -> None:
    assert end(decode(Stream().says("a").completed())).stored
    assert not end(decode(Stream().says("a").completed(store=False))).stored


# --- what the service could have remembered -----------------------------------------------------------


@pytest.mark.parametrize(
    ("request_", "traits", "mark"),
    [
        (ask(), CHAINING, ""),
        (ask(messages=HISTORY, previous_response_id="resp_0"), CHAINING, ""),
        (ask(messages=HISTORY), CHAINING, "chain"),
        (ask(messages=HISTORY), Traits(), ""),
    ],
)
def test_a_history_sent_in_full_for_want_of_a_chain_is_marked(
    request_: Request, traits: Traits, mark: str
) -> None:
    reader = decoder(request_, traits)
    reader.feed(plain().completed().body)
    assert end(reader.end()).degraded == mark


# --- over the line ------------------------------------------------------------------------------------


async def collect(client: ProviderClient, request: Request) -> list[Chunk]:
    async with aclosing(client.stream(request)) as chunks:
        return [chunk async for chunk in chunks if chunk != KeepAlive()]


async def talk(replica: Replica, *requests: Request, key: str = "test") -> list[list[Chunk]]:
    client = ProviderClient(WIRE_FORMAT, replica.url, key=key, traits=THINKING)
    try:
        return [await collect(client, request) for request in requests]
    finally:
        await client.close()


async def test_a_reply_over_the_line() -> None:
    async with Replica(say=lambda _call: "Zoé has a point.") as replica:
        (chunks,) = await talk(replica, ask())
    (noted,) = replica.calls
    assert chunks[0] == ReplyStarted(noted.response_id, "req_1")
    assert words(chunks) == "Zoé has a point."
    reasoning, text = items(chunks)
    assert reasoning.text == words(chunks, "reasoning") == "\n\n".join(SUMMARY)
    assert (reasoning.index, reasoning.effort) == (0, "low")
    assert reasoning.opaque == f"sealed-{reasoning.item_id}"
    assert (text.text, text.index) == ("Zoé has a point.", 1)
    done = end(chunks)
    assert noted.usage is not None
    assert done.usage == Usage(
        input=noted.usage["input_tokens"], output=noted.usage["output_tokens"], reasoning=64
    )
    assert (done.finish, done.model, done.stored, done.unread) == ("stop", "gpt-5-mini-2025-08-07", True, 0)


async def test_the_key_goes_out_and_no_ledger_keeps_it() -> None:
    async with Replica(key="secret") as replica:
        await talk(replica, ask(), key="secret")
    assert "secret" not in repr(replica.calls)


async def test_a_chain_over_the_line_is_remembered_and_counted() -> None:
    async with Replica() as replica:
        (first,) = await talk(replica, ask())
        again = ask(
            messages=(*ask().messages, ChatMessage("assistant", words(first)), ChatMessage("user", "More.")),
            previous_response_id=end(first).response_id,
            fresh=(ChatMessage("user", "More."),),
        )
        (second,) = await talk(replica, again)
    assert replica.calls[1].words == [("user", "Go."), ("assistant", words(first)), ("user", "More.")]
    one, two = (end(chunks).usage for chunks in (first, second))
    assert one is not None
    assert two is not None
    assert two.input > one.input


async def test_the_whole_history_is_taken_back_with_its_seals() -> None:
    async with Replica(retains=False) as replica:
        (first,) = await talk(replica, ask())
        seal = EncryptedReasoning(items(first)[0].item_id, items(first)[0].opaque)
        history = (
            *ask().messages,
            ChatMessage("assistant", words(first), (seal,)),
            ChatMessage("user", "More."),
        )
        (second,) = await talk(replica, ask(messages=history))
    assert [call.status for call in replica.calls] == [200, 200]
    assert not end(first).stored
    assert end(second).degraded == "chain"


@pytest.mark.parametrize(
    ("changes", "options", "kind", "severity"),
    [
        ({"previous_response_id": "resp_nowhere"}, {}, "chain_lost", "unusable"),
        ({"previous_response_id": "resp_1"}, {"retains": False}, "chain_lost", "unusable"),
        ({"model": Model("openai", "gpt-nil")}, {}, "unknown_model", "permanent"),
        ({"model": Model("openai", "gpt-4.1-mini")}, {}, "summary_refused", "unusable"),
        ({}, {"key": "another"}, "bad_key", "permanent"),
    ],
)
async def test_what_the_service_refuses(
    changes: dict[str, Any], options: dict[str, Any], kind: str, severity: str
) -> None:
    async with Replica(**options) as replica:
        with pytest.raises(Fault) as caught:
            await talk(replica, ask(**changes))
    assert (caught.value.kind, caught.value.severity, caught.value.billed) == (kind, severity, False)
    assert caught.value.request_id == "req_1"
    assert len(replica.calls) == 1


def test_a_second_message_at_the_place_of_a_finished_one_is_not_lost() -> None:
    stream = Stream().created().added(0, **message()).says("One.", 0).done(0, **message("One."))
    stream.added(0, **message()).says("Two.", 0)
    assert words(decode(stream.completed())) == "One.\n\nTwo."


def test_a_farewell_does_not_make_a_reply_whole_that_was_cut() -> None:
    stream = Stream().created().says("Zoos ar").raw(b"data: [DONE]\n\n")
    assert fault_in(stream).kind == "disconnected"
