"""What a client may send before there is a request, and WebSocket frames; byte for byte."""

from __future__ import annotations

import asyncio
import base64
import random
import struct
from itertools import accumulate, pairwise

import pytest

from moot.web.server import listener
from moot.web.server.http_protocol import MAX_HELD_BYTES, ReplyWriter
from moot.web.server.websocket_protocol import SLICE_BYTES, frame_slices, text_frame
from tests.support.until import until
from tests.web.apps import Echo, Endless, large, talk
from tests.web.conftest import Serving
from tests.web.raw_client import Line, exchange, request

HOST = b"Host: 127.0.0.1\r\n"

UNREADABLE = {
    "both a length and chunks": b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 4\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /second HTTP/1.1\r\n" + HOST + b"\r\n",
    "chunks and then a length": b"POST / HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n"
    b"Content-Length: 4\r\n\r\n0\r\n\r\nGET /second HTTP/1.1\r\n" + HOST + b"\r\n",
    "two lengths": b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
    "a length with a sign": b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: +3\r\n\r\nabc",
    "an unknown transfer coding": b"POST / HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: gzip, chunked\r\n\r\n",
    "a transfer coding without chunks": b"POST / HTTP/1.1\r\n"
    + HOST
    + b"Transfer-Encoding: identity\r\n\r\n",
    "a bad chunk": b"POST / HTTP/1.1\r\n" + HOST + b"Content-Type: application/json\r\n"
    b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
    "a folded header": b"GET / HTTP/1.1\r\n" + HOST + b"X-A: a\r\n b\r\n\r\n",
    "a lone CR in a header": b"GET / HTTP/1.1\r\n" + HOST + b"X-A: a\rX-B: b\r\n\r\n",
    "a lone LF in a header": b"GET / HTTP/1.1\r\n" + HOST + b"X-A: a\nX-B: b\r\n\r\n",
    "a NUL in a header": b"GET / HTTP/1.1\r\n" + HOST + b"X-A: a\0b\r\n\r\n",
    "a name with a space": b"GET / HTTP/1.1\r\n" + HOST + b"X A: a\r\n\r\n",
    "a space before the colon": b"GET / HTTP/1.1\r\n" + HOST + b"X-A : a\r\n\r\n",
    "no host": b"GET / HTTP/1.1\r\n\r\n",
    "two hosts": b"GET / HTTP/1.1\r\n" + HOST + HOST + b"\r\n",
    "HTTP/9.9": b"GET / HTTP/9.9\r\n" + HOST + b"\r\n",
    "HTTP/2.0 in words": b"GET / HTTP/2.0\r\n" + HOST + b"\r\n",
    "HTTP/0.9 in words": b"GET / HTTP/0.9\r\n\r\n",
    "the preface of HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "an unknown method": b"FROB / HTTP/1.1\r\n" + HOST + b"\r\n",
    "a tunnel": b"CONNECT evil.example:443 HTTP/1.1\r\n" + HOST + b"\r\n",
    "a TLS greeting": bytes.fromhex("16030100a5010000a10303") + bytes(160),
    "a control character in the path": b"GET /a\x01 HTTP/1.1\r\n" + HOST + b"\r\n",
}


async def test_what_cannot_be_read_is_a_malformed_request_and_the_end(behind_guard: Serving) -> None:
    echo = Echo()
    served = await behind_guard(echo)
    for name, sent in UNREADABLE.items():
        line = await Line.to(served.port)
        await line.send(sent)
        reply = await line.reply()
        assert (reply.status, reply.kind) == (400, "malformed-request"), name
        assert reply.headers["connection"] == "close", name
        assert await line.rest() == b"", name
    assert echo.seen == []
    assert (await exchange(served.port, request("/still/here"))).status == 200


async def test_random_bytes_do_no_harm(behind_guard: Serving) -> None:
    served = await behind_guard(Echo())
    dice = random.Random(4)
    for size in (1, 10, 1000, 1_000_000):
        line = await Line.to(served.port)
        await line.send(dice.randbytes(size) + b"\r\n\r\n")
        assert (await line.rest())[:12] in (b"", b"HTTP/1.1 400", b"HTTP/1.1 431")
    assert (await exchange(served.port, request("/still/here"))).status == 200


async def test_a_request_without_a_version_never_becomes_one(behind_guard: Serving) -> None:
    served = await behind_guard(Echo(), header_seconds=0.2)
    line = await Line.to(served.port)
    await line.send(b"GET /\r\n")
    assert (await line.reply()).kind in ("malformed-request", "request-timeout")
    assert await line.rest() == b""


@pytest.mark.parametrize(
    ("target", "host", "status"),
    [
        ("http://127.0.0.1/api/x", "127.0.0.1", 200),
        ("http://evil.example/api/x", "127.0.0.1", 421),
        ("http://127.0.0.1@evil.example/api/x", "127.0.0.1", 421),
        ("http://127.0.0.1/api/x", "evil.example", 421),
        ("http://evil.example/api/x", "evil.example", 421),
        ("ftp://127.0.0.1/api/x", "127.0.0.1", 421),
    ],
)
async def test_an_absolute_uri_must_name_the_same_host(
    behind_guard: Serving, target: str, host: str, status: int
) -> None:
    served = await behind_guard(Echo())
    assert (await exchange(served.port, request(target, Host=host))).status == status


# --- sizes ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "headers",
    [
        b"X-A: " + b"a" * 17 * 1024 + b"\r\n",
        b"X-A: a\r\n" * 200,
        b"".join(b"X-%d: %s\r\n" % (n, b"a" * 200) for n in range(90)),
        b"X-" + b"a" * 17 * 1024 + b": a\r\n",
    ],
)
async def test_headers_have_a_limit_in_size_and_number(behind_guard: Serving, headers: bytes) -> None:
    echo = Echo()
    served = await behind_guard(echo)
    reply = await exchange(served.port, b"GET / HTTP/1.1\r\n" + HOST + headers + b"\r\n")
    assert (reply.status, reply.kind) == (431, "headers-too-large")
    assert not echo.seen


async def test_a_header_without_end_is_cut_off(behind_guard: Serving) -> None:
    served = await behind_guard(Echo())
    line = await Line.to(served.port)
    await line.send(b"GET / HTTP/1.1\r\n" + HOST + b"X-A: ")
    for _ in range(20):
        await line.send(b"a" * 4096)
        await asyncio.sleep(0)
    assert (await line.reply()).kind == "headers-too-large"
    await line.close()


async def test_trailers_without_end_are_cut_off(behind_guard: Serving) -> None:
    echo = Echo()
    served = await behind_guard(echo)
    line = await Line.to(served.port)
    await line.send(request("/api/x", "POST", Transfer_Encoding="chunked", Content_Type="application/json"))
    await line.send(b"0\r\nX-A: ")
    for _ in range(80):
        await line.send(b"a" * 16384)
    assert (await line.rest())[:12] in (b"HTTP/1.1 400", b"HTTP/1.1 431", b"")
    assert not echo.seen


async def test_many_ordinary_headers_pass(behind_guard: Serving) -> None:
    served = await behind_guard(Echo())
    headers = b"".join(b"X-%d: %s\r\n" % (n, b"a" * 100) for n in range(99))
    assert (await exchange(served.port, b"GET / HTTP/1.1\r\n" + HOST + headers + b"\r\n")).status == 200


async def test_a_uri_has_a_limit(behind_guard: Serving) -> None:
    served = await behind_guard(Echo())
    for target in ("/?q=" + "a" * 8000, "/" + "a" * 16_000):
        assert (await exchange(served.port, request(target))).status == 200
    for target in ("/?q=" + "a" * 9 * 1024, "/" + "a" * 17 * 1024):
        reply = await exchange(served.port, request(target))
        assert (reply.status, reply.kind) == (414, "uri-too-long")


async def test_a_large_body_before_a_pipelined_request_is_not_counted_as_its_head(
    behind_guard: Serving,
) -> None:
    served = await behind_guard(Echo())
    line = await Line.to(served.port)
    body = b'"' + b"a" * 100_000 + b'"'
    await line.send(request("/api/x", "POST", body) + b"GET /api/y HTTP/1.1\r\n" + HOST)
    assert (await line.reply()).status == 200
    await line.send(b"X-A: a\r\n\r\n")
    assert b"/api/y" in (await line.reply()).body
    await line.close()


# --- time -----------------------------------------------------------------------------------------------


async def test_a_head_that_trickles_in_is_cut_off(behind_guard: Serving) -> None:
    served = await behind_guard(Echo(), header_seconds=0.3)
    line = await Line.to(served.port)
    replying = asyncio.create_task(line.reply())
    for byte in b"GET / HTTP/1.1\r\nX-Slow: aaaaaaaaaaaaaaaaaaaaaaaaaaaaa":
        await line.send(bytes([byte]))
        await asyncio.sleep(0.02)
        if replying.done():
            break
    assert (await replying).kind == "request-timeout"
    assert await line.rest() == b""


async def test_empty_lines_do_not_keep_a_connection(behind_guard: Serving) -> None:
    served = await behind_guard(Echo(), header_seconds=0.3)
    line = await Line.to(served.port)
    await line.send(request("/"))
    await line.reply()
    await line.send(b"\r\n")
    assert (await line.reply()).kind == "request-timeout"
    assert await line.rest() == b""


async def test_a_connection_that_says_nothing_is_closed_quietly(behind_guard: Serving) -> None:
    served = await behind_guard(Echo(), header_seconds=0.2)
    line = await Line.to(served.port)
    assert await line.rest() == b""


async def test_a_connection_that_was_used_may_rest_for_longer(behind_guard: Serving) -> None:
    served = await behind_guard(Echo(), header_seconds=0.2)
    line = await Line.to(served.port)
    for _ in range(2):
        await line.send(request("/"))
        assert (await line.reply()).status == 200
        await asyncio.sleep(0.4)
    await line.close()


async def test_nobody_waits_for_those_who_are_slow(behind_guard: Serving) -> None:
    served = await behind_guard(Echo(), header_seconds=3.0)
    slow = [await Line.to(served.port) for _ in range(100)]
    for line in slow:
        await line.send(b"GET / HTTP/1.1\r\n")
    assert (await exchange(served.port, request("/"))).status == 200
    replies = await asyncio.gather(*(line.reply() for line in slow))
    assert {reply.status for reply in replies} == {408}
    for line in slow:
        assert await line.rest() == b""
    await until(lambda: not served.server.server_state.connections)


async def test_a_client_that_reads_nothing_of_a_large_reply_is_disconnected(behind_guard: Serving) -> None:
    served = await behind_guard(large, stalled_seconds=0.2)
    line = await Line.to(served.port)
    line.writer.transport.pause_reading()  # type: ignore[attr-defined]  # a stream's transport can
    await line.send(request("/"))
    await until(lambda: served.server.server_state.connections)
    await until(lambda: not served.server.server_state.connections)
    # Only now: a client that resumes earlier may get the whole reply on a busy machine.
    line.writer.transport.resume_reading()  # type: ignore[attr-defined]  # as above
    assert len(await line.rest()) < 20_000_000


async def test_whoever_asks_for_much_and_reads_gets_it(behind_guard: Serving) -> None:
    served = await behind_guard(large, stalled_seconds=10.0)
    assert len((await exchange(served.port, request("/"))).body) == 20_000_000


async def test_whoever_still_reads_the_last_reply_is_not_idle(
    behind_guard: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listener, "KEEP_ALIVE_SECONDS", 0)
    served = await behind_guard(large)
    assert len((await exchange(served.port, request("/"))).body) == 20_000_000


# --- several requests -----------------------------------------------------------------------------------


async def test_nonsense_behind_a_stream_does_not_break_into_it(behind_guard: Serving) -> None:
    endless = Endless()
    served = await behind_guard(endless)
    line = await Line.to(served.port)
    await line.send(request("/stream"))
    await line.reader.readuntil(b": hello\n\n\r\n")
    await line.send(b"\x16\x03nonsense\r\n\r\n")
    await asyncio.sleep(0.05)
    await endless.end()
    assert await line.rest() == b"7\r\n: bye\n\n\r\n0\r\n\r\n"


async def test_another_upgrade_is_answered_as_if_it_had_not_been_proposed(behind_guard: Serving) -> None:
    served = await behind_guard(Echo())
    line = await Line.to(served.port)
    await line.send(request("/x", Connection="Upgrade, HTTP2-Settings", Upgrade="h2c", HTTP2_Settings="AA"))
    reply = await line.reply()
    assert (reply.status, reply.headers["connection"]) == (200, "close")
    assert await line.rest() == b""


# --- WebSockets -----------------------------------------------------------------------------------------


def handshake(target: str = "/ws", **headers: str | None) -> bytes:
    given: dict[str, str | None] = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Key": base64.b64encode(bytes(16)).decode(),
        "Sec-WebSocket-Version": "13",
    }
    return request(target, **{**given, **{name.replace("_", "-"): value for name, value in headers.items()}})


def frame(payload: bytes = b"", opcode: int = 1, *, fin: bool = True, masked: bool = True) -> bytes:
    head = bytes([(0x80 if fin else 0) | opcode])
    mark = 0x80 if masked else 0
    match len(payload):
        case small if small < 126:
            head += bytes([mark | small])
        case middling if middling < 65536:
            head += bytes([mark | 126]) + struct.pack("!H", middling)
        case large:
            head += bytes([mark | 127]) + struct.pack("!Q", large)
    return head + (bytes(4) if masked else b"") + payload


async def connected(port: int) -> Line:
    line = await Line.to(port)
    await line.send(handshake())
    reply = await line.reply()
    assert reply.status == 101
    assert reply.headers["x-request-id"].startswith("req_")
    return line


async def close_code(line: Line) -> int:
    received = await line.rest()
    at = received.rindex(b"\x88")
    return struct.unpack("!H", received[at + 2 : at + 4])[0]


async def test_a_websocket_passes_the_border(behind_guard: Serving) -> None:
    served = await behind_guard(talk)
    line = await connected(served.port)
    await line.send(frame(b"hello"))
    assert await line.reader.readexactly(7) == b"\x81\x05hello"
    await line.send(frame(b"\x03\xe8", 8))
    assert await close_code(line) == 1000


@pytest.mark.parametrize(
    ("headers", "status", "kind"),
    [
        ({"Sec_WebSocket_Version": "12"}, 426, "upgrade-required"),
        ({"Sec_WebSocket_Version": None}, 426, "upgrade-required"),
        ({"Sec_WebSocket_Key": "short"}, 400, "malformed-request"),
        ({"Sec_WebSocket_Key": None}, 400, "malformed-request"),
        ({"X_Long": "a" * 9000}, 400, "malformed-request"),
        ({"Origin": "http://evil.example"}, 403, "forbidden-origin"),
        ({"Origin": "null"}, 403, "forbidden-origin"),
        ({"Host": "evil.example"}, 421, "misdirected-request"),
    ],
)
async def test_a_handshake_is_refused_before_it_is_one(
    behind_guard: Serving,
    caplog: pytest.LogCaptureFixture,
    headers: dict[str, str | None],
    status: int,
    kind: str,
) -> None:
    served = await behind_guard(talk)
    line = await Line.to(served.port)
    await line.send(handshake(**headers))
    reply = await line.reply()
    assert (reply.status, reply.kind) == (status, kind)
    assert await line.rest() == b""
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


async def test_a_handshake_with_the_wrong_method_is_no_handshake(behind_guard: Serving) -> None:
    served = await behind_guard(talk)
    reply = await exchange(served.port, handshake().replace(b"GET", b"POST", 1))
    assert reply.kind == "malformed-request"


BAD_FRAMES = {
    "too large a message": (frame(b"a" * (64 * 1024 + 1)), 1009),
    "too large in pieces": (frame(b"a" * 40_000, fin=False) + frame(b"a" * 40_000, 0), 1009),
    "very many empty pieces": (frame(b"a", fin=False) + frame(b"", 0, fin=False) * 100_000, 1009),
    "no UTF-8": (frame(b"\xff\xfe"), 1007),
    "no UTF-8 in pieces": (frame(b"\xc3", fin=False) + frame(b"\x28", 0), 1007),
    "not masked": (frame(b"hello", masked=False), 1002),
    "a reserved opcode": (frame(b"hello", 3), 1002),
    "a piece of nothing": (frame(b"hello", 0), 1002),
    "a compressed frame": (b"\xc1" + frame(b"hello")[1:], 1002),
}


@pytest.mark.parametrize(("sent", "code"), BAD_FRAMES.values(), ids=BAD_FRAMES)
async def test_bad_frames_end_a_socket_with_the_right_code(
    behind_guard: Serving, caplog: pytest.LogCaptureFixture, sent: bytes, code: int
) -> None:
    served = await behind_guard(talk)
    line = await connected(served.port)
    await line.send(sent)
    assert await close_code(line) == code
    assert not [record for record in caplog.records if record.exc_info]


async def test_a_message_may_be_just_as_large_as_the_limit(behind_guard: Serving) -> None:
    served = await behind_guard(talk)
    line = await connected(served.port)
    await line.send(frame(b"a" * 30_000, fin=False) + frame(b"a" * (64 * 1024 - 30_000), 0))
    assert (await line.reader.readexactly(10))[:2] == b"\x81\x7f"
    await line.close()


async def test_compression_is_not_agreed_to(behind_guard: Serving) -> None:
    served = await behind_guard(talk)
    line = await Line.to(served.port)
    await line.send(handshake(Sec_WebSocket_Extensions="permessage-deflate"))
    assert "sec-websocket-extensions" not in (await line.reply()).headers
    await line.close()


def test_slices_of_frames_cut_no_frame() -> None:
    dice = random.Random(1)
    for _ in range(50):
        sizes = dice.choices((0, 5, 125, 126, 4000, 65_535, 65_536, 100_000), k=dice.randint(1, 60))
        frames = [text_frame(bytes(size)) for size in sizes]
        assert frames == [frame(bytes(size), masked=False) for size in sizes]
        ends = {*accumulate(map(len, frames))}
        slices = list(frame_slices(b"".join(frames)))
        assert b"".join(slices) == b"".join(frames)
        assert {*accumulate(map(len, slices))} <= ends
        assert all(len(piece) <= SLICE_BYTES or piece in frames for piece in slices)
        # No two neighbours would fit together.
        assert all(len(one) + len(other) > SLICE_BYTES for one, other in pairwise(slices))


class Written(asyncio.Transport):
    """A transport that remembers each write."""

    def __init__(self) -> None:
        super().__init__()
        self.writes: list[bytes] = []
        self.closed = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        assert not self.closed
        self.writes.append(bytes(data))

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        self.closed = True


async def test_what_is_written_in_one_pass_of_the_loop_is_one_write() -> None:
    transport = Written()
    writer = ReplyWriter(asyncio.get_running_loop(), transport)
    writer.write(b"head ")
    writer.write(b"body ")
    assert transport.writes == []
    await asyncio.sleep(0)
    assert transport.writes == [b"head body "]
    writer.write(b"more ")
    writer.flush()
    writer.write(b"end")
    await asyncio.sleep(0)
    assert transport.writes == [b"head body ", b"more ", b"end"]


async def test_large_parts_are_written_at_once_and_in_their_order() -> None:
    transport, part = Written(), bytes(MAX_HELD_BYTES)
    writer = ReplyWriter(asyncio.get_running_loop(), transport)
    writer.write(b"head")
    writer.write(part)
    assert transport.writes == [b"head", part]
    for _ in range(3):
        writer.write(part[1:])
    # What a stream has ready can be long: no more than one part of it waits here.
    assert len(transport.writes) == 4
    await asyncio.sleep(0)
    assert transport.writes == [b"head", part, part[1:], part[1:], part[1:]]


async def test_closing_writes_what_is_held_and_a_closed_connection_gets_no_more() -> None:
    transport = Written()
    writer = ReplyWriter(asyncio.get_running_loop(), transport)
    writer.write(b"the end")
    writer.close()
    assert (transport.writes, transport.closed) == ([b"the end"], True)
    writer.write(b"too late")
    await asyncio.sleep(0)
    assert transport.writes == [b"the end"]


async def test_replies_to_requests_in_one_packet_come_in_their_order(behind_guard: Serving) -> None:
    served = await behind_guard(Echo())
    line = await Line.to(served.port)
    paths = [f"/{number}" for number in range(5)]
    await line.send(b"".join(request(path) for path in paths))
    for path in paths:
        assert f'"path": "{path}"'.encode() in (await line.reply()).body
    await line.close()
