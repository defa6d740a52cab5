"""What the client does in every wire format: connections, request ids, and keeping the key to itself."""

from __future__ import annotations

import asyncio
import logging
import socket
import struct
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from msgspec.structs import replace

from moot.core.errors import Fault
from moot.core.terms import ChatMessage, Model, PartStart, Request, Text, Usage
from moot.providers import transport
from moot.providers.client import ProviderClient, merge_words
from moot.providers.contract import Chunk, KeepAlive, ReplyDelta, ReplySegment, ReplyStarted, Traits
from moot.providers.throttle import MAX_FAILURES, Throttle
from moot.providers.wire_formats import anthropic_request, openai_chat_request
from moot.providers.wire_formats.contract import Decoder

REQUEST = Request(Model("p", "m"), "Argue.", (ChatMessage("user", "Go."),), 50)


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nX-Request-Id: req-7\r\n"


CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"


CHAT = b'data: {"id":"c","choices":[{"delta":{"content":"Yes."},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'


MESSAGES = b"".join(
    b"event: %b\ndata: %b\n\n" % (name, data)
    for name, data in (
        (b"message_start", b'{"type":"message_start","message":{"id":"m1"}}'),
        (b"content_block_start", b'{"type":"content_block_start","index":0,"content_block":{"type":"text"}}'),
        (
            b"content_block_delta",
            b'{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Yes."}}',
        ),
        (b"content_block_stop", b'{"type":"content_block_stop","index":0}'),
        (b"message_delta", b'{"type":"message_delta","delta":{"stop_reason":"end_turn"}}'),
        (b"message_stop", b'{"type":"message_stop"}'),
    )
)


Answer = Callable[[asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def serving(answer: Answer) -> AsyncGenerator[tuple[str, list[int]]]:
    """A service on bare sockets; the list counts the requests of each connection."""
    requests: list[int] = []
    lines: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        place = len(requests)
        requests.append(0)
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                size = head.lower().partition(b"content-length:")[2].split()[0]
                await reader.readexactly(int(size))
                requests[place] += 1
                await answer(writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()
            await asyncio.gather(writer.wait_closed(), return_exceptions=True)

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        lines.add(asyncio.create_task(serve(reader, writer)))

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", requests
        await asyncio.gather(*lines)


async def heard(client: ProviderClient, times: int = 1) -> list[Chunk]:
    try:
        return [chunk for _ in range(times) for chunk in [c async for c in client.stream(REQUEST)]]
    finally:
        await client.close()


@pytest.mark.parametrize(
    ("wire_format", "stream"),
    [(openai_chat_request.wire_format(), CHAT), (anthropic_request.WIRE_FORMAT, MESSAGES)],
    ids=["chat", "messages"],
)
async def test_a_connection_is_used_again_although_the_end_of_a_reply_comes_late(
    wire_format: openai_chat_request.WireFormat, stream: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    # How long it is waited for is another matter: a busy machine may take its time.
    monkeypatch.setattr(transport, "DRAIN_SECONDS", 10.0)

    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(CHUNKED + b"%x\r\n%b\r\n" % (len(stream), stream))
        await asyncio.sleep(0.005)
        writer.write(b"0\r\n\r\n")

    async with serving(answer) as (url, requests):
        await heard(ProviderClient(wire_format, url), times=3)
    assert requests == [3]


async def test_a_service_that_never_ends_its_reply_does_not_hold_us_up() -> None:
    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(CHUNKED + b"%x\r\n%b\r\n" % (len(CHAT), CHAT))

    async with serving(answer) as (url, _):
        async with asyncio.timeout(60):
            assert (
                len(await heard(ProviderClient(openai_chat_request.wire_format(), url, read_timeout=60))) == 3
            )


async def test_the_services_own_name_for_a_call_is_kept() -> None:
    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD + b"Content-Length: %d\r\n\r\n" % len(CHAT) + CHAT)

    async with serving(answer) as (url, _):
        first, *_rest = await heard(ProviderClient(openai_chat_request.wire_format(), url))
    assert first == ReplyStarted("c", "req-7")


async def test_a_refusal_keeps_the_services_own_name_for_it() -> None:
    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 500 No\r\nrequest-id: req-8\r\nContent-Length: 0\r\n\r\n")

    async with serving(answer) as (url, _):
        with pytest.raises(Fault) as caught:
            await heard(ProviderClient(openai_chat_request.wire_format(), url))
    assert caught.value.request_id == "req-8"


@pytest.mark.parametrize("size", [20, 400, 480, 600])
async def test_no_part_of_a_key_is_told_however_a_reply_breaks(
    size: int, caplog: pytest.LogCaptureFixture
) -> None:
    key = ("sk-" + "k3y" * size)[:size]

    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nX-Long: " + b"x" * 20_000 + b"\r\n\r\n")

    caplog.set_level(logging.DEBUG, logger="moot")
    async with serving(answer) as (url, _):
        with pytest.raises(Fault) as caught:
            await heard(ProviderClient(openai_chat_request.wire_format(), url, key=key))
    assert caught.value.kind == "malformed"
    for told in (str(caught.value), repr(caught.value), caught.value.detail, caplog.text):
        assert "k3yk3y" not in told


@pytest.mark.parametrize("before", [0, 470, 490, 5000])
async def test_a_key_that_the_service_repeats_is_cleared_away_before_anything_is_cut(
    before: int, caplog: pytest.LogCaptureFixture
) -> None:
    key = "canary-k3yk3yk3yk3yk3y"

    async def answer(writer: asyncio.StreamWriter) -> None:
        body = b"x" * before + b" is not a key: " + key.encode()
        writer.write(b"HTTP/1.1 400 No\r\nContent-Length: %d\r\n\r\n" % len(body) + body)

    caplog.set_level(logging.DEBUG, logger="moot")
    async with serving(answer) as (url, _):
        with pytest.raises(Fault) as caught:
            await heard(ProviderClient(openai_chat_request.wire_format(), url, key=key))
    assert "k3y" not in caught.value.detail + caplog.text
    assert len(caught.value.detail) <= 500


# --- what it counts -----------------------------------------------------------------------------------


def replying(body: bytes) -> Answer:
    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body)

    return answer


FAILING = (
    b'data: {"id":"c","choices":[{"delta":{"content":"Yes"}}]}\n\n'
    b'data: {"error":{"code":400,"message":"tool_use_failed"},"choices":[],'
    b'"usage":{"prompt_tokens":400,"completion_tokens":1800}}\n\n'
)


async def collect(client: ProviderClient, chunks: list[Chunk]) -> None:
    async for chunk in client.stream(REQUEST):
        chunks.append(chunk)  # noqa: PERF401 - what came before a fault counts


async def test_a_failure_in_mid_answer_is_billed_whatever_its_code_and_its_figures_are_kept() -> None:
    chunks: list[Chunk] = []
    async with serving(replying(FAILING)) as (url, _):
        client = ProviderClient(openai_chat_request.wire_format(), url)
        with pytest.raises(Fault) as caught:
            await collect(client, chunks)
        await client.close()
    assert (caught.value.http_status, caught.value.billed) == (400, True)
    assert chunks[-1] == KeepAlive(Usage(input=400, output=1800), final=True)


async def test_a_reply_without_end_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("moot.providers.client.MAX_REPLY_BYTES", 100_000)
    comments = b": still here\n\n" * 20_000
    async with serving(replying(comments + CHAT)) as (url, _):
        with pytest.raises(Fault) as caught:
            await heard(ProviderClient(openai_chat_request.wire_format(), url))
    assert (caught.value.kind, caught.value.severity) == ("malformed", "unusable")


@pytest.mark.parametrize("body", [b"data: {}\n\n", b'data: {"error":{"type":"overloaded_error"}}\n\n'])
async def test_a_service_that_answers_and_always_breaks_off_is_left_alone_too(body: bytes) -> None:
    async with serving(replying(body)) as (url, requests):
        client = ProviderClient(openai_chat_request.wire_format(), url)
        for _ in range(MAX_FAILURES + 5):
            with pytest.raises(Fault):
                _ = [chunk async for chunk in client.stream(REQUEST)]
        await client.close()
    assert sum(requests) == MAX_FAILURES


async def test_a_service_that_hangs_is_left_alone_too() -> None:
    client = ProviderClient(openai_chat_request.wire_format(), "http://127.0.0.1:1")
    for _ in range(MAX_FAILURES):
        client.report_timeout(REQUEST.model)
    with pytest.raises(Fault) as caught:
        await heard(client)
    assert (caught.value.kind, caught.value.detail) == ("timeout", "left alone for a while")


async def test_calls_that_are_cut_say_nothing_about_a_service() -> None:
    async def answer(_writer: asyncio.StreamWriter) -> None:
        pass

    async with serving(answer) as (url, requests):
        client = ProviderClient(openai_chat_request.wire_format(), url)
        for _ in range(MAX_FAILURES + 1):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.005):
                    await collect(client, [])
        await client.close()
    assert sum(requests) <= MAX_FAILURES + 1


async def test_a_refusal_in_a_stream_before_any_word_is_not_billed() -> None:
    body = b'data: {"error":{"code":429,"message":"slow down"}}\n\n'
    async with serving(replying(body)) as (url, _):
        with pytest.raises(Fault) as caught:
            await heard(ProviderClient(openai_chat_request.wire_format(), url))
    assert (caught.value.kind, caught.value.billed) == ("rate_limited", False)


async def test_a_connection_that_breaks_before_any_byte_costs_nothing() -> None:
    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.transport.abort()

    async with serving(answer) as (url, _):
        with pytest.raises(Fault) as caught:
            await heard(ProviderClient(openai_chat_request.wire_format(), url))
    assert (caught.value.kind, caught.value.billed) == ("disconnected", False)


@pytest.mark.parametrize("reset", [False, True], ids=["closed", "reset"])
@pytest.mark.parametrize(
    "head", [b"HTTP/1.1 429 No\r\nRetry-After: 7\r\n", b"HTTP/1.1 503 No\r\nRetry-After: 7\r\nX"]
)
async def test_a_refusal_that_breaks_a_kept_connection_is_not_asked_again_at_once(
    head: bytes, reset: bool
) -> None:
    answered: list[int] = []

    async def answer(writer: asyncio.StreamWriter) -> None:
        answered.append(1)
        if len(answered) != 2:
            writer.write(CHUNKED + b"%x\r\n%b\r\n0\r\n\r\n" % (len(CHAT), CHAT))
            return
        writer.write(head)
        await writer.drain()
        if reset:
            # Without waiting for what was not read: this resets the connection.
            linger = struct.pack("ii", 1, 0)
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        await asyncio.sleep(0.02)
        writer.transport.abort()

    async with serving(answer) as (url, _):
        client = ProviderClient(openai_chat_request.wire_format(), url)
        await collect(client, [])
        with pytest.raises(Fault) as caught:
            await collect(client, [])
        await client.close()
    assert (caught.value.retry_after, caught.value.billed, len(answered)) == (7.0, False, 2)


async def test_a_tool_call_that_breaks_off_is_billed() -> None:
    call = b'data: {"id":"c","choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"f"}}]}}]}\n\n'
    error = b'data: {"error":{"code":500,"message":"sorry"}}\n\n'
    async with serving(replying(call + error)) as (url, _):
        with pytest.raises(Fault) as caught:
            await heard(ProviderClient(openai_chat_request.wire_format(), url))
    assert caught.value.billed


async def test_who_may_not_show_its_thoughts_is_asked_without_them_from_then_on() -> None:
    asked: list[bool] = []

    def body(request: Request, _traits: Traits) -> dict[str, Any]:
        asked.append(request.thoughts)
        return {}

    refusal = b'{"error":{"param":"reasoning.summary","message":"not verified"}}'

    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 No\r\nContent-Length: %d\r\n\r\n" % len(refusal) + refusal)

    async with serving(answer) as (url, _):
        client = ProviderClient(replace(openai_chat_request.wire_format(), body=body), url)
        for _ in range(2):
            with pytest.raises(Fault):
                await collect(client, [])
        await client.close()
    assert asked == [True, False]


async def test_a_reader_that_stumbles_does_not_take_the_debate_down() -> None:
    def stumble(request: Request, traits: Traits) -> Decoder:
        decoder = openai_chat_request.wire_format().decoder(request, traits)
        decoder.feed = lambda packet: [][1]  # type: ignore[method-assign] - a fault of our own
        return decoder

    wire_format = replace(openai_chat_request.wire_format(), decoder=stumble)
    async with serving(replying(CHAT)) as (url, _):
        with pytest.raises(Fault) as caught:
            await heard(ProviderClient(wire_format, url))
    assert (caught.value.kind, caught.value.severity) == ("malformed", "unusable")


# --- closing --------------------------------------------------------------------------------------------


async def test_a_call_that_waited_until_the_client_was_closed_opens_no_connection() -> None:
    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(CHUNKED + b"%x\r\n%b\r\n0\r\n\r\n" % (len(CHAT), CHAT))

    async with serving(answer) as (url, requests):
        client = ProviderClient(openai_chat_request.wire_format(), url)
        await heard(client)
        with pytest.raises(Fault) as raised:
            await heard(client)
        assert (raised.value.kind, raised.value.severity, raised.value.billed) == (
            "disconnected", "transient", False,
        )  # fmt: skip
    assert requests == [1]


async def test_connections_are_closed_even_if_the_shared_throttle_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def fail() -> None:
        raise ConnectionResetError

    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(CHUNKED + b"%x\r\n%b\r\n0\r\n\r\n" % (len(CHAT), CHAT))

    throttle = Throttle()
    monkeypatch.setattr(throttle, "close", fail)
    session = transport.open_session()
    monkeypatch.setattr(transport, "open_session", lambda **_: session)
    async with serving(answer) as (url, _):
        client = ProviderClient(openai_chat_request.wire_format(), url, throttle=throttle)
        assert [chunk async for chunk in client.stream(REQUEST)]
        with pytest.raises(ConnectionResetError):
            await client.close()
        is_closed = session.closed
        await session.close()
    assert is_closed


def test_consecutive_words_of_a_segment_are_one_chunk() -> None:
    assert merge_words([ReplyDelta("a"), ReplyDelta(" b"), ReplyDelta(" c")]) == [ReplyDelta("a b c")]


def test_another_kind_segment_part_or_chunk_begins_a_new_one() -> None:
    part = PartStart(item_id="i", summary_index=1)
    chunks = [
        ReplyDelta("think", "reasoning"),
        ReplyDelta("say"),
        ReplyDelta("more", segment=1),
        ReplyDelta("part", segment=1, part=part),
        KeepAlive(),
        ReplyDelta("on", segment=1),
        ReplySegment(Text("on", 1)),
    ]
    assert merge_words(chunks) == chunks
    assert merge_words([chunks[3], chunks[5]]) == [ReplyDelta("parton", segment=1, part=part)]
