"""Google's dialect: what is sent, what is read whole and byte by byte, and how it goes wrong."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from aiohttp import web

from moot.core.errors import Fault
from moot.core.terms import Reasoning, ReasoningPart, Segment, Text, ToolCall, ToolResult, UnknownItem, Usage
from moot.providers.client import ProviderClient
from moot.providers.contract import Chunk, KeepAlive, ReplyDelta, ReplyDone, ReplySegment, ReplyStarted
from moot.providers.wire_formats.google_decoder import GoogleDecoder, usage
from moot.providers.wire_formats.google_request import WIRE_FORMAT
from tests.providers.served import Handler, Serve, served, streamed
from tests.providers.wire_formats.google_calls import NEW, ask, body

# --- what is read -------------------------------------------------------------------------------------


def chunk(*parts: dict[str, Any], finish: str | None = None, **told: Any) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"parts": list(parts), "role": "model"}, "index": 0}
    if finish:
        candidate["finishReason"] = finish
    return {"candidates": [candidate], "responseId": "g1", "modelVersion": "gemini-x-1", **told}


def figures(prompt: int, **counts: int) -> dict[str, Any]:
    return {"usageMetadata": {"promptTokenCount": prompt, **counts}}


def sse(*chunks: dict[str, Any]) -> bytes:
    return b"".join(
        b"data: " + json.dumps(told, ensure_ascii=False).encode() + b"\r\n\r\n" for told in chunks
    )


def array(*chunks: dict[str, Any]) -> bytes:
    return b"[" + b",\r\n".join(json.dumps(told, indent=1).encode() for told in chunks) + b"]\r\n"


STOP = chunk({"text": ""}, finish="STOP")


def fed(stream: bytes, step: int) -> list[Chunk]:
    decoder = GoogleDecoder()
    chunks = [chunk for at in range(0, len(stream), step) for chunk in decoder.feed(stream[at : at + step])]
    return [chunk for chunk in [*chunks, *decoder.end()] if chunk != KeepAlive()]


def decode(*chunks: dict[str, Any]) -> list[Chunk]:
    """However the stream is framed and cut, it reads the same."""
    stream = sse(*chunks)
    read = fed(stream, len(stream))
    assert fed(stream, 1) == read
    assert fed(array(*chunks), 1) == read
    return read


def segments(*chunks: dict[str, Any]) -> list[Segment]:
    return [chunk.segment for chunk in decode(*chunks) if isinstance(chunk, ReplySegment)]


def done(*chunks: dict[str, Any]) -> ReplyDone:
    last = decode(*chunks)[-1]
    assert isinstance(last, ReplyDone)
    return last


def test_a_plain_reply() -> None:
    assert decode(
        chunk({"text": "Zo"}, **figures(9)),
        chunk({"text": "é."}, **figures(9, candidatesTokenCount=3)),
        chunk({"text": ""}, finish="STOP", **figures(9, candidatesTokenCount=4)),
    ) == [
        ReplyStarted("g1"),
        ReplyDelta("Zo"),
        ReplyDelta("é."),
        ReplySegment(Text("Zoé.")),
        ReplyDone("stop", Usage(input=9, output=4), "g1", reason="STOP", model="gemini-x-1"),
    ]


def test_thoughts_and_words_are_segments_in_order() -> None:
    assert decode(
        chunk({"text": "Hm", "thought": True}),
        chunk({"text": "m.", "thought": True}),
        chunk({"text": "So"}),
        chunk({"text": "?", "thought": True}),
        chunk({"text": "."}, finish="STOP"),
    )[1:-1] == [
        ReplyDelta("Hm", "reasoning", 0),
        ReplyDelta("m.", "reasoning", 0),
        ReplySegment(Reasoning((ReasoningPart("Hmm."),), 0)),
        ReplyDelta("So", "text", 1),
        ReplySegment(Text("So", 1)),
        ReplyDelta("?", "reasoning", 2),
        ReplySegment(Reasoning((ReasoningPart("?"),), 2)),
        ReplyDelta(".", "text", 3),
        ReplySegment(Text(".", 3)),
    ]


def test_a_signature_of_thoughts_stays_with_them() -> None:
    thought = chunk({"text": "Hm.", "thought": True}, {"thought": True, "thoughtSignature": "s1"})
    assert segments(thought, chunk({"text": "So."}), STOP) == [
        Reasoning((ReasoningPart("Hm."),), 0, opaque="s1"),
        Text("So.", 1),
    ]


def test_a_signature_on_words_follows_them_and_does_not_split_them() -> None:
    assert segments(
        chunk({"text": "Hm.", "thought": True}),
        chunk({"text": "So ", "thoughtSignature": "s1"}),
        chunk({"text": "it is."}),
        chunk({"text": "", "thoughtSignature": "s2"}, finish="STOP"),
    ) == [
        Reasoning((ReasoningPart("Hm."),), 0),
        Text("So it is.", 1),
        Reasoning((), 2, opaque="s1"),
        Reasoning((), 3, opaque="s2"),
    ]


def test_a_signature_on_an_empty_part_is_kept_even_where_nothing_was_said() -> None:
    assert segments(chunk({"text": "", "thoughtSignature": "s1"}, finish="STOP")) == [
        Reasoning((), opaque="s1")
    ]


def test_calls_of_our_functions_end_in_a_stop_that_waits_for_them() -> None:
    chunks = decode(
        chunk({"functionCall": {"name": "roll", "args": {"dice": 2}, "id": "c1"}, "thoughtSignature": "s1"}),
        chunk({"functionCall": {"name": "wait"}}),
        STOP,
    )
    assert chunks[1:-1] == [
        ReplySegment(ToolCall("c1", "roll", '{"dice":2}', 0, kind="functionCall", opaque="s1")),
        ReplySegment(ToolCall("", "wait", "", 1, kind="functionCall")),
    ]
    assert chunks[-1] == ReplyDone("tool", None, "g1", reason="STOP", model="gemini-x-1")


def test_tools_that_run_at_the_service_leave_their_results() -> None:
    assert segments(
        chunk(
            {
                "executableCode": {"language": "PYTHON", "code": "print(1)", "id": "c1"},
                "thoughtSignature": "s1",
            },
            {"text": ""},
        ),
        chunk({"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1\n", "id": "c1"}}),
        chunk({"codeExecutionResult": {"outcome": "OUTCOME_FAILED", "output": "no"}}),
        chunk({"toolCall": {"toolType": "SEARCH", "args": {"q": "a"}, "id": "c2"}}),
        chunk(
            {
                "toolResponse": {"toolType": "SEARCH", "response": {"r": 1}, "id": "c2"},
                "thoughtSignature": "s2",
            }
        ),
        chunk({"text": "One."}, finish="STOP"),
    ) == [
        ToolCall("c1", "PYTHON", "print(1)", 0, kind="executableCode", opaque="s1"),
        ToolResult("c1", "1\n", index=1),
        ToolResult("", "no", "OUTCOME_FAILED", 2),
        ToolCall("c2", "SEARCH", '{"q":"a"}', 3, kind="toolCall"),
        ToolResult("c2", '{"r":1}', index=4),
        Reasoning((), 5, opaque="s2"),
        Text("One.", 6),
    ]


def test_sources_stay_with_the_words_that_they_support() -> None:
    last = chunk({"text": ""}, finish="STOP")
    last["candidates"][0]["groundingMetadata"] = {"webSearchQueries": ["a"]}
    last["candidates"][0]["citationMetadata"] = {}
    note = {"groundingMetadata": {"webSearchQueries": ["a"]}}
    assert segments(chunk({"text": "So."}), last, last) == [Text("So.", annotations=(note,))]
    assert segments(chunk({"functionCall": {"name": "f"}}), last)[-1] == Text("", 1, annotations=(note,))


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("STOP", "stop"),
        ("MAX_TOKENS", "length"),
        ("SAFETY", "filter"),
        ("RECITATION", "filter"),
        ("PROHIBITED_CONTENT", "filter"),
        ("SPII", "filter"),
        ("OTHER", "unknown"),
        ("MALFORMED_FUNCTION_CALL", "unknown"),
    ],
)
def test_why_it_stopped(reason: str, finish: str) -> None:
    ended = done(chunk({"text": "So."}, finish=reason))
    assert (ended.finish, ended.reason) == (finish, reason)


def test_a_candidate_may_stop_without_any_content() -> None:
    assert decode({"candidates": [{"finishReason": "SAFETY", "index": 0}], "responseId": "g1"}) == [
        ReplyStarted("g1"),
        ReplyDone("filter", None, "g1", reason="SAFETY"),
    ]


def test_a_question_that_is_blocked_has_no_answer() -> None:
    blocked = {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "responseId": "g1", **figures(7)}
    assert decode(blocked) == [
        ReplyStarted("g1"),
        ReplyDone("filter", Usage(input=7), "g1", reason="PROHIBITED_CONTENT"),
    ]


def test_figures_may_follow_the_reason_to_stop_and_hold_thoughts_and_tools() -> None:
    late = figures(
        40,
        candidatesTokenCount=5,
        thoughtsTokenCount=20,
        toolUsePromptTokenCount=60,
        cachedContentTokenCount=30,
    )
    ended = done(chunk({"text": "So."}, finish="STOP", **figures(9)), {"responseId": "g1", **late})
    assert ended.usage == Usage(input=100, output=25, reasoning=20, cached=30)


def test_the_count_of_words_may_be_missing_beside_that_of_thoughts() -> None:
    assert usage({"promptTokenCount": 87, "thoughtsTokenCount": 78}) == Usage(
        input=87, output=78, reasoning=78
    )


FULL = {"promptTokenCount": 5, "candidatesTokenCount": 7, "thoughtsTokenCount": 3}


@pytest.mark.parametrize(
    "late",
    [
        None,
        {},
        [],
        {"promptTokenCount": 5, "totalTokenCount": 15},
        {"promptTokenCount": 0, "candidatesTokenCount": 0, "thoughtsTokenCount": 0},
    ],
)
def test_figures_that_were_told_are_not_forgotten_for_lesser_ones(late: Any) -> None:
    ended = done(chunk({"text": "So."}, usageMetadata=FULL), chunk(finish="STOP", usageMetadata=late))
    assert ended.usage == Usage(input=5, output=10, reasoning=3)


def test_figures_without_a_count_of_words_count_where_they_add_up_to_more() -> None:
    late = {"promptTokenCount": 80, "thoughtsTokenCount": 20}
    ended = done(chunk({"text": "So."}, usageMetadata=FULL), chunk(finish="STOP", usageMetadata=late))
    assert ended.usage == Usage(input=80, output=20, reasoning=20)


def test_the_figures_so_far_are_known_when_a_reply_breaks_off() -> None:
    decoder = GoogleDecoder()
    decoder.feed(sse(chunk({"text": "So."}, usageMetadata=FULL)))
    assert decoder.usage == Usage(input=5, output=10, reasoning=3)


def test_figures_that_cannot_be_true_are_marked() -> None:
    assert usage({"promptTokenCount": -1, "candidatesTokenCount": "many"}) == Usage(suspect=True)


@pytest.mark.parametrize("blank", [b"data:\n\n", b"data: \r\n\r\n", b"data:   \n\n"])
def test_a_blank_event_is_a_sign_of_life(blank: bytes) -> None:
    stream = sse(chunk({"text": "So."})) + blank + sse(STOP)
    assert fed(stream, 1)[1] == ReplyDelta("So.")


def test_a_reason_that_is_not_specified_is_none() -> None:
    vague = chunk({"text": "So"}, finish="FINISH_REASON_UNSPECIFIED")
    assert done(vague, STOP).reason == "STOP"
    with pytest.raises(Fault) as caught:
        decode(vague)
    assert caught.value.kind == "disconnected"


PRETTY = [
    (
        {
            "code": 429,
            "message": "Too much.",
            "status": "RESOURCE_EXHAUSTED",
            "details": [{"@type": "RetryInfo", "retryDelay": "48s"}],
        },
        ("rate_limited", "transient", 48.0),
    ),
    (
        {"code": 400, "message": "API key not valid.", "status": "INVALID_ARGUMENT"},
        ("bad_key", "permanent", None),
    ),
]


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("farewell", [b"", b"\n", b"\n\n"])
@pytest.mark.parametrize(("error", "heard_as"), PRETTY)
def test_an_error_in_many_lines_among_events_is_read_whole(
    error: dict[str, Any], heard_as: tuple[str, str, float | None], farewell: bytes, line_end: bytes
) -> None:
    told = json.dumps({"error": error}, indent=2).encode() + farewell
    stream = sse(chunk({"text": "So"})) + told.replace(b"\n", line_end)
    for step in (1, len(stream)):
        with pytest.raises(Fault) as caught:
            fed(stream, step)
        fault = caught.value
        assert (fault.kind, fault.severity, fault.retry_after) == heard_as


def test_only_the_first_candidate_counts() -> None:
    two = chunk({"text": "So."}, finish="STOP")
    two["candidates"].append({"content": {"parts": [{"text": "Not so."}]}, "index": 1})
    assert segments(two) == [Text("So.")]


def test_what_we_do_not_know_is_counted_and_loses_nothing_else() -> None:
    strange = [
        chunk(
            {"hologram": {"text": "x"}, "thoughtSignature": "s1"}, {"text": "Z", "perfume": 1}, novelty=[1]
        ),
        chunk({"functionCall": {"partialArgs": []}}, {"text": 7}, {"text": "oé"}),
        STOP,
    ]
    item = {"hologram": {"text": "x"}, "thoughtSignature": "s1"}
    assert segments(*strange) == [
        UnknownItem("hologram", item),
        Reasoning((), 1, opaque="s1"),
        Text("Zoé", 2),
    ]
    assert done(*strange).unread == 2


def test_a_broken_character_is_marked_and_does_no_harm() -> None:
    stream = sse(chunk({"text": "Zoé."}), STOP).replace("é".encode(), b"\xff")
    assert ReplySegment(Text("Zo\ufffd.")) in fed(stream, 1)
    assert fed(stream, 1)[-1] == ReplyDone("stop", None, "g1", "utf8", reason="STOP", model="gemini-x-1")


BUSY = {"error": {"code": 503, "message": "Too many ask at once.", "status": "UNAVAILABLE"}}


@pytest.mark.parametrize(
    ("stream", "kind", "severity"),
    [
        (sse(chunk({"text": "So"}), BUSY), "overloaded", "transient"),
        (array(chunk({"text": "So"}), BUSY), "overloaded", "transient"),
        (array(BUSY), "overloaded", "transient"),
        (json.dumps(BUSY, indent=2).encode(), "overloaded", "transient"),
        (sse(chunk({"text": "So"})) + json.dumps(BUSY).encode(), "overloaded", "transient"),
        (sse(chunk({"text": "So"})), "disconnected", "transient"),
        (array(chunk({"text": "So"}))[:-40], "malformed", "transient"),
        (b"", "disconnected", "transient"),
        (b"data: {oops\r\n\r\n", "malformed", "transient"),
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
    async with served("/v1beta/models/{model}", WIRE_FORMAT, key="AIza-very-secret-key", traits=NEW) as start:
        yield start


def refusing(status: int, error: dict[str, Any]) -> Handler:
    """The body is JSON whatever its label says."""

    async def handler(_request: web.Request) -> web.StreamResponse:
        said = json.dumps({"error": {"code": status, **error}}).encode()
        return web.Response(body=said, status=status, content_type="text/event-stream")

    return handler


async def heard(client: ProviderClient) -> list[Chunk]:
    return [chunk async for chunk in client.stream(ask(effort="low")) if chunk != KeepAlive()]


async def fault_of(client: ProviderClient) -> Fault:
    with pytest.raises(Fault) as caught:
        await heard(client)
    return caught.value


async def test_a_stream_over_the_line(serve: Serve) -> None:
    seen: list[Any] = []

    async def handler(request: web.Request) -> web.StreamResponse:
        seen.append((request.path_qs, request.headers["x-goog-api-key"], await request.json()))
        return await streamed(request, sse(chunk({"text": "So."})), sse(STOP), sse(figures(9)))

    assert await heard(await serve(handler)) == [
        ReplyStarted("g1", "r1"),
        ReplyDelta("So."),
        ReplySegment(Text("So.")),
        ReplyDone("stop", Usage(input=9), "g1", reason="STOP", model="gemini-x-1"),
    ]
    address, key, sent = seen[0]
    assert address == "/v1beta/models/gemini-x:streamGenerateContent?alt=sse"
    assert key == "AIza-very-secret-key"
    assert sent == body(ask(effort="low"), NEW)


async def test_a_key_that_is_refused(serve: Serve) -> None:
    reason = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}
    words = "Nobody knows AIza-very-secret-key."
    refusal = refusing(400, {"message": words, "status": "INVALID_ARGUMENT", "details": [reason]})
    fault = await fault_of(await serve(refusal))
    assert (fault.kind, fault.severity, fault.http_status) == ("bad_key", "permanent", 400)
    assert "secret" not in fault.detail


async def test_haste_is_told_in_the_body_how_long_to_wait(serve: Serve) -> None:
    wait = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "48s"}
    words = "Too much, too fast: mind your plan and its billing."
    refusal = refusing(429, {"message": words, "status": "RESOURCE_EXHAUSTED", "details": [wait]})
    fault = await fault_of(await serve(refusal))
    assert (fault.kind, fault.severity, fault.retry_after) == ("rate_limited", "transient", 48.0)


async def test_an_error_in_mid_stream_is_no_success(serve: Serve) -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        return await streamed(request, sse(chunk({"text": "So"})), sse(BUSY))

    fault = await fault_of(await serve(handler))
    assert (fault.kind, fault.severity, fault.billed) == ("overloaded", "transient", True)
