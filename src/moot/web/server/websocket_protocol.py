"""WebSocket connections: a handshake is refused with a problem like any request, and frames are limited.

uvicorn closes at once after the last frame. While bytes of the client are unread that resets the connection,
and the client never learns the reason; so here it stays open for a moment. Frames that come before the
handshake is answered, which no client should send, are kept until it is.

An app may also write encoded text frames itself, the same bytes to many connections, without waking a task
for each. Compression is never agreed to, so these bytes suit every connection.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

from uvicorn._types import ASGISendEvent
from uvicorn.config import Config
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from uvicorn.server import ServerState
from websockets.frames import CloseCode, Frame, Opcode
from websockets.http11 import Request
from websockets.protocol import State

from moot.api.problems import Problem
from moot.web.responses import raw_reply
from moot.web.server.stall_guard import StallGuard, close_gently

MAX_MESSAGE_BYTES = 64 * 1024
MAX_FRAMES = 1024
"""Per message. Empty frames have no size, but each costs time."""
MAX_UNREAD_BYTES = 1024 * 1024
"""Bytes of pongs that a client may leave unread."""
SLICE_BYTES = 64 * 1024
"""Bytes of frames that are written at once: what waits to be sent is copied for each connection."""


def text_frame(payload: bytes) -> bytes:
    return Frame(Opcode.TEXT, payload).serialize(mask=False)


def frame_slices(frames: bytes) -> Iterator[bytes]:
    """The frames in slices of at most 64 KiB, none of them cut; a longer frame is a slice of its own."""
    start = end = 0
    while len(frames) - start > SLICE_BYTES and end < len(frames):
        following = _frame_end(frames, end)
        if following - start > SLICE_BYTES and end > start:
            yield frames[start:end]
            start = end
        end = following
    yield frames[start:]


def _frame_end(frames: bytes, start: int) -> int:
    length = frames[start + 1]
    if length < 126:
        return start + 2 + length
    header = 4 if length == 126 else 10
    return start + header + int.from_bytes(frames[start + 2 : start + header])


class WebSocketConnection(StallGuard, WebSocketsSansIOProtocol):
    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, {**app_state, "connection": self}, _loop)
        self._ignoring = False
        """Further bytes are read and ignored: closing with unread bytes would reset the connection."""
        self._early = b""
        """Bytes that came before the handshake was answered; reading is paused meanwhile."""

    def data_received(self, data: bytes) -> None:
        if self._ignoring:
            return
        if self.handshake_initiated and not self.handshake_complete:
            self._early += data
            self.transport.pause_reading()
            return
        super().data_received(data)
        if self.conn.handshake_exc is not None and not self.close_sent:
            self._refuse(Problem("malformed-request"), "")

    def handle_connect(self, event: Request) -> None:
        if event.headers.get_all("Sec-WebSocket-Version") != ["13"]:
            newer = Problem("upgrade-required", headers={"Sec-WebSocket-Version": "13"})
            self._refuse(newer, event.path)
        elif self.conn.accept(event).status_code != 101:
            self._refuse(Problem("malformed-request"), event.path)
        else:
            super().handle_connect(event)

    async def send(self, message: ASGISendEvent) -> None:
        if self.transport.is_closing() or self.close_sent:
            # The connection is closed, whichever side has closed it.
            raise ClientDisconnected
        await super().send(message)
        if message["type"] == "websocket.accept":
            self._receive_early()
        if message["type"] == "websocket.http.response.body":
            # uvicorn does not know that a refusal ends the handshake, and would log an error.
            self.handshake_complete = self.handshake_complete or self.close_sent

    def try_write(self, frames: bytes) -> bool:
        """Write complete frames; False if the client is behind with reading, or has left."""
        if not self.writable.is_set() or not self._open:
            return False
        self.transport.write(frames)
        return True

    async def write_frames(self, frames: bytes) -> None:
        """Write complete frames, as fast as the client reads. Raises ClientDisconnected.

        Other tasks may write between two slices, but never within a frame.
        """
        for piece in frame_slices(frames):
            while not self.try_write(piece):
                if not self._open:
                    raise ClientDisconnected
                await self.writable.wait()

    @property
    def _open(self) -> bool:
        return self.conn.state is State.OPEN and not self.transport.is_closing()

    def shutdown(self) -> None:
        """A client that has just closed its side is sent no close frame of ours: uvicorn would try."""
        if self.transport.is_closing():
            self.stop_keepalive()
        else:
            super().shutdown()

    def _receive_early(self) -> None:
        early, self._early = self._early, b""
        if early:
            self.transport.resume_reading()
            self.data_received(early)

    def handle_cont(self, event: Frame) -> None:
        if self.close_sent:
            return
        if len(self.frames) >= MAX_FRAMES:
            self._fail(CloseCode.MESSAGE_TOO_BIG)
            return
        super().handle_cont(event)

    def send_receive_event_to_app(self) -> None:
        if self.close_sent:
            return
        try:
            if self.curr_msg_data_type == "text":
                b"".join(self.frames).decode()
        except UnicodeDecodeError:
            self._fail(CloseCode.INVALID_DATA)
            return
        super().send_receive_event_to_app()

    def handle_ping(self) -> None:
        if self.close_sent:
            return
        if self.transport.get_write_buffer_size() > MAX_UNREAD_BYTES:
            self.abort()
            return
        super().handle_ping()

    def handle_parser_exception(self) -> None:
        """Send the close frame that the parser has prepared."""
        sent = self.conn.close_sent
        code = sent.code if sent else CloseCode.ABNORMAL_CLOSURE
        self.queue.put_nowait({"type": "websocket.disconnect", "code": code, "reason": ""})
        self.transport.write(b"".join(self.conn.data_to_send()))
        self.close_sent = self._ignoring = True
        # Set, so that uvicorn does not close the connection as soon as the app returns.
        self.close_timer = close_gently(self.loop, self.transport)

    def _fail(self, code: CloseCode) -> None:
        self.conn.fail(code)
        self.handle_parser_exception()

    def _refuse(self, problem: Problem, target: str) -> None:
        self.handshake_complete = self.close_sent = self._ignoring = True
        self.transport.write(raw_reply(problem, target.partition("?")[0]))
        close_gently(self.loop, self.transport)


def websocket_protocol_class(stalled_seconds: float) -> type[WebSocketConnection]:
    return type("WebSocketConnection", (WebSocketConnection,), {"stalled_seconds": stalled_seconds})
