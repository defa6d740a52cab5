"""Anthropic's dialect: what is sent, what is read whole and byte by byte, and how it goes wrong."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from aiohttp import web

from moot.core.errors import Fault
from moot.core.terms import Reasoning, ReasoningPart, Segment, Text, ToolCall, ToolResult, UnknownItem, Usage
from moot.providers.client import ProviderClient, merge_words
from moot.providers.contract import Chunk, KeepAlive, ReplyDelta, ReplyDone, ReplySegment, ReplyStarted
from moot.providers.wire_formats.anthropic_decoder import AnthropicDecoder, usage
from moot.providers.wire_formats.anthropic_request import WIRE_FORMAT
from tests.providers.served import Serve, served, streamed
from tests.providers.wire_formats.anthropic_calls import NEW, ask, body

# --- what is read -------------------------------------------------------------------------------------


def event(type: str, **told: Any) -> bytes:
    """As it comes: named, and padded before the last brace."""
    data = json.dumps({"type": type, **told}, ensure_ascii=False)
    return f"event: {type}\ndata: {data[:-1]}   }}\n\n".encode()


def opened(index: int, type: str, **given: Any) -> bytes:
    return event("content_block_start", index=index, content_block={"type": type, **given})


def delta(index: int, type: str, **told: Any) -> bytes:
    return event("content_block_delta", index=index, delta={"type": f"{type}_delta", **told})


def shut(index: int) -> bytes:
    return event("content_block_stop", index=index)


def stopped(reason: str, **told: Any) -> bytes:
    return event("message_delta", delta={"stop_reason": reason, "stop_sequence": None}, **told)


START = event(
    "message_start",
    message={
        "id": "m1",
        "model": "claude-x-1",
        "content": [],
        "usage": {"input_tokens": 9, "output_tokens": 1},
    },
)


PING = event("ping")


SPEECH = (
    opened(0, "text", text="") + delta(0, "text", text="Zo") + PING + delta(0, "text", text="é.") + shut(0)
)


END = stopped("end_turn", usage={"output_tokens": 5}) + event("message_stop")


def fed(stream: bytes, step: int) -> list[Chunk]:
    decoder = AnthropicDecoder()
    chunks = [chunk for at in range(0, len(stream), step) for chunk in decoder.feed(stream[at : at + step])]
    return [chunk for chunk in [*chunks, *decoder.end()] if chunk != KeepAlive()]


def decode(*packets: bytes) -> list[Chunk]:
    """However the stream is cut, it reads the same."""
    stream = b"".join(packets)
    chunks = fed(stream, len(stream) or 1)
    assert fed(stream, 1) == chunks
    return chunks


def segments(*packets: bytes) -> list[Segment]:
    return [chunk.segment for chunk in decode(*packets) if isinstance(chunk, ReplySegment)]


def done(*packets: bytes) -> ReplyDone:
    last = decode(*packets)[-1]
    assert isinstance(last, ReplyDone)
    return last


def test_a_plain_reply() -> None:
    assert decode(START, PING, SPEECH, END) == [
        ReplyStarted("m1"),
        ReplyDelta("Zo"),
        ReplyDelta("é."),
        ReplySegment(Text("Zoé.")),
        ReplyDone("stop", Usage(input=9, output=5), "m1", reason="end_turn", model="claude-x-1"),
    ]


def test_thoughts_come_before_words_and_keep_their_signature() -> None:
    chunks = decode(
        START,
        opened(0, "thinking", thinking="", signature=""),
        delta(0, "thinking", thinking="Hm"),
        delta(0, "thinking", thinking="m."),
        delta(0, "signature", signature="s1"),
        shut(0),
        opened(1, "text", text=""),
        delta(1, "text", text="So."),
        shut(1),
        END,
    )
    assert chunks[1:-1] == [
        ReplyDelta("Hm", "reasoning", 0),
        ReplyDelta("m.", "reasoning", 0),
        ReplySegment(Reasoning((ReasoningPart("Hmm."),), 0, opaque="s1")),
        ReplyDelta("So.", "text", 1),
        ReplySegment(Text("So.", 1)),
    ]


def test_thoughts_may_be_a_signature_and_nothing_else() -> None:
    thought = opened(0, "thinking", thinking="") + delta(0, "signature", signature="s1") + shut(0)
    assert segments(START, thought, END) == [Reasoning((), opaque="s1")]


def test_redacted_thoughts_are_kept_unread() -> None:
    assert segments(START, opened(0, "redacted_thinking", data="xyz"), shut(0), END) == [
        Reasoning((), opaque="xyz", redacted=True)
    ]


def test_the_arguments_of_a_call_come_in_pieces_or_at_once_or_not_at_all() -> None:
    chunks = segments(
        START,
        opened(0, "tool_use", id="t0", name="roll", input={}),
        delta(0, "input_json", partial_json=""),
        delta(0, "input_json", partial_json='{"dice'),
        delta(0, "input_json", partial_json='": 2}'),
        shut(0),
        opened(1, "mcp_tool_use", id="t1", name="look", server_name="eyes", input={"at": "it"}),
        shut(1),
        opened(2, "tool_use", id="t2", name="wait", input={}),
        shut(2),
        stopped("tool_use"),
    )
    assert chunks == [
        ToolCall("t0", "roll", '{"dice": 2}', 0, kind="tool_use"),
        ToolCall("t1", "look", '{"at":"it"}', 1, kind="mcp_tool_use"),
        ToolCall("t2", "wait", "", 2, kind="tool_use"),
    ]


def test_tools_that_run_at_the_service_leave_their_results() -> None:
    found = [{"type": "web_search_result", "url": "https://a.example", "title": "A"}]
    lost = {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"}
    assert segments(
        START,
        opened(0, "server_tool_use", id="s1", name="web_search", input={}),
        delta(0, "input_json", partial_json='{"query": "a"}'),
        shut(0),
        opened(1, "web_search_tool_result", tool_use_id="s1", content=found),
        shut(1),
        opened(2, "web_search_tool_result", tool_use_id="s2", content=lost),
        shut(2),
        opened(3, "mcp_tool_result", tool_use_id="s3", is_error=True, content=[]),
        shut(3),
        stopped("pause_turn"),
    ) == [
        ToolCall("s1", "web_search", '{"query": "a"}', 0, kind="server_tool_use"),
        ToolResult("s1", json.dumps(found, separators=(",", ":")), index=1),
        ToolResult("s2", json.dumps(lost, separators=(",", ":")), "max_uses_exceeded", 2),
        ToolResult("s3", "", "error", 3),
    ]


def test_sources_stay_with_the_words_that_cite_them() -> None:
    cite = {"type": "web_search_result_location", "url": "https://a.example"}
    assert segments(
        START,
        opened(0, "text", text="", citations=[]),
        delta(0, "citations", citation=cite),
        delta(0, "text", text="So it is."),
        delta(0, "citations", citation=None),
        shut(0),
        END,
    ) == [Text("So it is.", annotations=(cite,))]


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("tool_use", "tool"),
        ("pause_turn", "pause"),
        ("refusal", "refusal"),
        ("boredom", "unknown"),
    ],
)
def test_why_it_stopped(reason: str, finish: str) -> None:
    ended = done(START, SPEECH, stopped(reason), event("message_stop"))
    assert (ended.finish, ended.reason) == (finish, reason)


def test_text_after_a_tool_is_a_new_paragraph_and_cited_text_is_none() -> None:
    found = {"tool_use_id": "t1", "content": [{"title": "Zoos"}]}
    chunks = decode(
        START,
        opened(0, "text", text="") + delta(0, "text", text="I shall look.") + shut(0),
        opened(1, "server_tool_use", id="t1", name="web_search", input={}) + shut(1),
        opened(2, "web_search_tool_result", **found) + shut(2),
        opened(3, "text", text="") + delta(3, "text", text="Zoos ") + shut(3),
        opened(4, "text", text="") + delta(4, "text", text="are cruel.") + shut(4),
        END,
    )
    said = "".join(chunk.text for chunk in chunks if isinstance(chunk, ReplyDelta))
    kept = [chunk.segment for chunk in chunks if isinstance(chunk, ReplySegment)]
    assert said == "I shall look.\n\nZoos are cruel."
    assert "".join(segment.text for segment in kept if isinstance(segment, Text)) == said


def test_what_is_told_between_tool_calls_in_a_thinking_block_is_no_speech() -> None:
    chunks = decode(
        START,
        opened(0, "thinking", thinking="") + delta(0, "thinking", thinking="Hm.") + shut(0),
        opened(1, "tool_use", id="t1", name="look", input={}) + shut(1),
        opened(2, "thinking", thinking="") + delta(2, "thinking", thinking="Now the other one.") + shut(2),
        opened(3, "tool_use", id="t2", name="look", input={}) + shut(3),
        opened(4, "text", text="") + delta(4, "text", text="Zoos are cruel.") + shut(4),
        END,
    )
    said = [(chunk.kind, chunk.text) for chunk in chunks if isinstance(chunk, ReplyDelta)]
    assert said == [("reasoning", "Hm."), ("reasoning", "Now the other one."), ("text", "Zoos are cruel.")]


@pytest.mark.parametrize(("reason", "incomplete"), [("max_tokens", True), ("end_turn", False)])
def test_a_thought_in_which_the_tokens_ran_out_is_incomplete(reason: str, incomplete: bool) -> None:
    thought = opened(0, "thinking", thinking="") + delta(0, "thinking", thinking="Hm, so") + shut(0)
    kept = segments(START, thought, stopped(reason), event("message_stop"))
    assert kept[-1] == Reasoning((ReasoningPart("Hm, so"),), 0, incomplete=incomplete)
    told = segments(
        START, thought, opened(1, "text", text="So.") + shut(1), stopped(reason), event("message_stop")
    )
    assert told == [Reasoning((ReasoningPart("Hm, so"),), 0), Text("So.", 1)]


def test_a_refusal_may_have_no_words_at_all() -> None:
    why = {"stop_reason": "refusal", "stop_details": {"type": "refusal", "category": "bio"}}
    chunks = decode(
        START, event("message_delta", delta=why, usage={"output_tokens": 2}), event("message_stop")
    )
    assert chunks == [
        ReplyStarted("m1"),
        ReplyDone(
            "refusal", Usage(input=9, output=2), "m1", reason="refusal", model="claude-x-1",
            refusal_category="bio", unbilled=True,
        ),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("details", "category"),
    [({"type": "refusal", "category": "cyber"}, "cyber"), ({"category": None}, ""), (None, ""), ("no", "")],
)
def test_a_refusal_in_mid_speech_is_billed_and_its_category_is_kept(details: Any, category: str) -> None:
    why = {"stop_reason": "refusal", "stop_details": details}
    ended = done(
        START, SPEECH, event("message_delta", delta=why, usage={"output_tokens": 7}), event("message_stop")
    )
    assert (ended.refusal_category, ended.unbilled, ended.usage) == (category, False, Usage(9, 7))


def test_other_endings_have_no_category_and_are_billed() -> None:
    why = {"stop_reason": "end_turn", "stop_details": {"category": "cyber"}}
    ended = done(START, event("message_delta", delta=why), event("message_stop"))
    assert (ended.refusal_category, ended.unbilled) == ("", False)


def test_the_last_figures_count_and_hold_what_was_cached() -> None:
    figures = {
        "input_tokens": 100,
        "cache_read_input_tokens": 30,
        "cache_creation_input_tokens": 7,
        "output_tokens": 50,
        "output_tokens_details": {"thinking_tokens": 40},
        "server_tool_use": {"web_search_requests": 1},
    }
    ended = done(START, SPEECH, stopped("end_turn", usage=figures), event("message_stop"))
    assert ended.usage == Usage(input=137, output=50, reasoning=40, cached=30, cache_write=7)


@pytest.mark.parametrize(
    "late", [{"input_tokens": 0, "output_tokens": 5}, {"output_tokens": 5}, None, {}, []]
)
def test_figures_that_were_told_are_not_forgotten_for_lesser_ones(late: Any) -> None:
    first = {"input_tokens": 40, "output_tokens": 1, "cache_read_input_tokens": 60}
    start = event("message_start", message={"id": "m1", "usage": first})
    ended = done(start, SPEECH, stopped("end_turn", usage=late), event("message_stop"))
    assert ended.usage == Usage(input=100, output=5 if late else 1, cached=60)


def test_figures_that_cannot_be_true_are_marked() -> None:
    assert usage({"input_tokens": -1, "output_tokens": "many"}) == Usage(suspect=True)
    assert usage({"input_tokens": 3, "output_tokens": 10**12}) == Usage(input=3, suspect=True)


def test_what_we_do_not_know_is_counted_and_loses_nothing_else() -> None:
    strange = [
        event("weather", delta="rain"),
        b'data: {"type": "weather"}\n\n',
        opened(0, "hologram", text=7),
        delta(0, "photon", text=[1, 2]),
        delta(9, "photon"),
        shut(0),
        opened(1, "text", text="Z"),
        delta(1, "perfume", text={"a": 1}),
        delta(1, "text", text="oé", novelty=True),
        shut(1),
    ]
    chunks = decode(START, *strange, END)
    given = {"type": "hologram", "text": 7, "deltas": [{"type": "photon_delta", "text": [1, 2]}]}
    assert chunks[1:-1] == [
        ReplySegment(UnknownItem("hologram", given)),
        ReplyDelta("Z", "text", 1),
        ReplyDelta("oé", "text", 1),
        ReplySegment(Text("Zoé", 1)),
    ]
    assert done(START, *strange, END).unread == 4


def test_words_in_a_block_that_nobody_knows_are_speech_all_the_same() -> None:
    chunks = decode(START, opened(0, "scroll"), delta(0, "text", text="So."), shut(0), END)
    assert chunks[1:-1] == [
        ReplySegment(UnknownItem("scroll", {"type": "scroll"})),
        ReplyDelta("So.", "text", 1),
        ReplySegment(Text("So.", 1)),
    ]


def test_a_block_that_is_never_shut_is_whole_at_the_end() -> None:
    chunks = decode(START, opened(0, "text", text=""), delta(0, "text", text="So."), stopped("max_tokens"))
    assert chunks[1:-1] == [ReplyDelta("So."), ReplySegment(Text("So."))]


def test_words_without_a_start_or_after_the_end_of_their_block_are_kept() -> None:
    late = delta(0, "text", text="So") + shut(0) + delta(0, "text", text=" late.")
    assert segments(START, late, END) == [Text("So"), Text(" late.", 1)]
    thought = delta(3, "thinking", thinking="Hm.") + delta(3, "signature", signature="s")
    assert segments(START, thought, END) == [Reasoning((ReasoningPart("Hm."),), 3, opaque="s")]


def test_thoughts_and_words_that_share_a_number_and_have_no_start_are_told_apart() -> None:
    heard = segments(START, delta(0, "thinking", thinking="Hm."), delta(0, "text", text="So."), END)
    assert heard == [Reasoning((ReasoningPart("Hm."),), 0), Text("So.", 1)]


def test_blocks_that_share_a_number_are_still_two() -> None:
    thought = opened(0, "thinking", thinking="") + delta(0, "thinking", thinking="Hm.")
    speech = opened(0, "text", text="") + delta(0, "text", text="So.") + shut(0)
    expected = [Reasoning((ReasoningPart("Hm."),), 0), Text("So.", 1)]
    assert segments(START, thought, shut(0), speech, END) == expected
    assert segments(START, thought, speech, END) == expected


def test_gateways_may_drop_the_names_of_events_or_the_types() -> None:
    whole = START + SPEECH + END
    nameless = b"\n".join(line for line in whole.split(b"\n") if not line.startswith(b"event:"))
    assert decode(nameless) == decode(whole)
    typeless = START.replace(b'"type": "message_start", ', b"") + SPEECH + END
    assert decode(typeless) == decode(whole)


def test_a_whole_message_where_a_stream_was_asked() -> None:
    message = {
        "type": "message",
        "id": "m1",
        "model": "claude-x-1",
        "content": [
            {"type": "thinking", "thinking": "Hm.", "signature": "s"},
            {"type": "text", "text": "So.", "citations": [{"url": "u"}]},
            {"type": "tool_use", "id": "t", "name": "roll", "input": {"dice": 2}},
        ],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 3, "output_tokens": 4},
    }
    assert decode(json.dumps(message).encode()) == [
        ReplyStarted("m1"),
        ReplyDelta("Hm.", "reasoning", 0),
        ReplySegment(Reasoning((ReasoningPart("Hm."),), 0, opaque="s")),
        ReplyDelta("So.", "text", 1),
        ReplySegment(Text("So.", 1, annotations=({"url": "u"},))),
        ReplySegment(ToolCall("t", "roll", '{"dice":2}', 2, kind="tool_use")),
        ReplyDone("tool", Usage(input=3, output=4), "m1", reason="tool_use", model="claude-x-1"),
    ]


@pytest.mark.parametrize("blank", [b"data:\n\n", b"data: \n\n", b"data:   \n\n", b"event: ping\ndata:\n\n"])
def test_a_blank_event_is_a_sign_of_life(blank: bytes) -> None:
    assert decode(START, blank, SPEECH, blank, END) == decode(START, SPEECH, END)


def test_a_stop_without_a_farewell_is_an_end() -> None:
    assert done(START, SPEECH, stopped("end_turn")).finish == "stop"
    assert done(START, SPEECH, event("message_stop")).finish == "unknown"


def test_half_a_character_does_no_harm_to_whole_ones() -> None:
    stream = START + SPEECH.replace(b"Zo", rb"\ud83d\ude00 \\ud83d \ud83d\n \ude00 \uD83D\uDE00") + END
    chunks = fed(stream, 1)
    assert chunks[1] == ReplyDelta("😀 \\ud83d \ufffd\n \ufffd 😀")
    assert isinstance(chunks[-1], ReplyDone)
    assert chunks[-1].degraded == "utf8"


def test_a_broken_character_is_marked_and_does_no_harm() -> None:
    chunks = decode(START, SPEECH.replace("é".encode(), b"\xff"), END)
    assert ReplySegment(Text("Zo\ufffd.")) in chunks
    assert chunks[-1] == ReplyDone(
        "stop", Usage(input=9, output=5), "m1", "utf8", reason="end_turn", model="claude-x-1"
    )


OVERLOADED = event(
    "error", error={"details": None, "type": "overloaded_error", "message": "Too many at once."}
)


@pytest.mark.parametrize(
    ("stream", "kind", "severity"),
    [
        (OVERLOADED, "overloaded", "transient"),
        (START + SPEECH + OVERLOADED, "overloaded", "transient"),
        (START + event("error", error={"type": "api_error", "message": "Oh."}), "server_error", "transient"),
        (START + OVERLOADED.replace(b"event: error\n", b""), "overloaded", "transient"),
        (b'{"type": "error", "error": {"type": "overloaded_error"}}', "overloaded", "transient"),
        (START + SPEECH, "disconnected", "transient"),
        (b"", "disconnected", "transient"),
        (START + b"event: content_block_delta\ndata: {oops\n\n", "malformed", "transient"),
        (START + delta(0, "text", text=7), "malformed", "transient"),
        (b"<html>sorry</html>", "malformed", "unusable"),
    ],
)
def test_streams_that_come_to_nothing(stream: bytes, kind: str, severity: str) -> None:
    for step in (len(stream) or 1, 1):
        with pytest.raises(Fault) as caught:
            fed(stream, step)
        assert (caught.value.kind, caught.value.severity) == (kind, severity)


# --- over the line ------------------------------------------------------------------------------------


@pytest.fixture
async def serve() -> AsyncGenerator[Serve]:
    async with served("/v1/messages", WIRE_FORMAT, key="sk-ant-secret", traits=NEW) as start:
        yield start


async def heard(client: ProviderClient) -> list[Chunk]:
    return [chunk async for chunk in client.stream(ask(effort="low")) if chunk != KeepAlive()]


async def fault_of(client: ProviderClient) -> Fault:
    with pytest.raises(Fault) as caught:
        await heard(client)
    return caught.value


async def test_a_stream_over_the_line(serve: Serve) -> None:
    seen: list[Any] = []

    async def handler(request: web.Request) -> web.StreamResponse:
        seen.append(
            (request.headers["x-api-key"], request.headers["anthropic-version"], await request.json())
        )
        return await streamed(request, START, SPEECH, END)

    chunks = await heard(await serve(handler))
    assert chunks[0] == ReplyStarted("m1", "r1")
    assert merge_words(chunks[1:]) == merge_words(decode(START, SPEECH, END)[1:])
    key, version, sent = seen[0]
    assert (key, version) == ("sk-ant-secret", "2023-06-01")
    assert sent == body(ask(effort="low"), NEW)


async def test_a_key_that_is_refused(serve: Serve) -> None:
    async def handler(_request: web.Request) -> web.StreamResponse:
        error = {"type": "authentication_error", "message": "Nobody knows sk-ant-secret."}
        return web.json_response({"type": "error", "error": error}, status=401, headers={"request-id": "r2"})

    fault = await fault_of(await serve(handler))
    assert (fault.kind, fault.severity, fault.http_status, fault.request_id) == (
        "bad_key",
        "permanent",
        401,
        "r2",
    )
    assert "sk-ant-secret" not in fault.detail


async def test_haste_is_told_how_long_to_wait(serve: Serve) -> None:
    async def handler(_request: web.Request) -> web.StreamResponse:
        error = {"type": "rate_limit_error", "message": "Slow down."}
        return web.json_response({"type": "error", "error": error}, status=429, headers={"retry-after": "7"})

    fault = await fault_of(await serve(handler))
    assert (fault.kind, fault.severity, fault.retry_after) == ("rate_limited", "transient", 7.0)


async def test_an_error_in_mid_stream_is_no_success(serve: Serve) -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        return await streamed(request, START, SPEECH, OVERLOADED)

    fault = await fault_of(await serve(handler))
    assert (fault.kind, fault.severity, fault.billed) == ("overloaded", "transient", True)
