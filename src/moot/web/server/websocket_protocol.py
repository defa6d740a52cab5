"""A WebSocket's connection: its handshake refused like any other request, and its frames counted.

uvicorn's own protocol closes at once after the last frame; where bytes of the client are still unread that
is a reset, and the client never learns why. So here the line stays open for a moment longer. Frames that come
before the handshake is answered, which no client should send, are kept until it is.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn._types import ASGISendEvent
from uvicorn.config import Config
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from uvicorn.server import ServerState
from websockets.frames import CloseCode, Frame
from websockets.http11 import Request

from moot.api.problems import Problem
from moot.web.responses import raw_reply
from moot.web.server.stall_guard import StallGuard

LINGER_SECONDS = 1.0
MAX_MESSAGE_BYTES = 64 * 1024
MAX_FRAMES = 1024
"""Of one message. Empty frames have no size, but each costs its handling."""
MAX_UNREAD_BYTES = 1024 * 1024
"""Pongs that a client may leave unread."""


def close_gently(loop: asyncio.AbstractEventLoop, transport: asyncio.Transport) -> asyncio.TimerHandle | None:
    """Nothing more is sent, and the client has a moment to read what was; then the timer closes the line."""
    if transport.is_closing():
        return None
    transport.write_eof()
    return loop.call_later(LINGER_SECONDS, transport.close)


class WebSocketConnection(StallGuard, WebSocketsSansIOProtocol):
    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, {**app_state, "connection": self}, _loop)
        self._deaf = False
        """Nothing that still comes is looked at; it is read, since to close with bytes unread is a reset."""
        self._early = b""
        """What came before the handshake was answered; no more is read meanwhile."""

    def data_received(self, data: bytes) -> None:
        if self._deaf:
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
            # Whoever closed it, and whatever the app has still to say: there is nobody to hear it.
            raise ClientDisconnected
        await super().send(message)
        if message["type"] == "websocket.accept":
            self._hear_early()
        if message["type"] == "websocket.http.response.body":
            # uvicorn forgets that a refusal ends the handshake, and complains that nobody did.
            self.handshake_complete = self.handshake_complete or self.close_sent

    def _hear_early(self) -> None:
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
        """The close frame has been prepared by the parser."""
        sent = self.conn.close_sent
        code = sent.code if sent else CloseCode.ABNORMAL_CLOSURE
        self.queue.put_nowait({"type": "websocket.disconnect", "code": code, "reason": ""})
        self.transport.write(b"".join(self.conn.data_to_send()))
        self.close_sent = self._deaf = True
        # Set, so that uvicorn does not close the line as soon as the app has returned.
        self.close_timer = close_gently(self.loop, self.transport)

    def _fail(self, code: CloseCode) -> None:
        self.conn.fail(code)
        self.handle_parser_exception()

    def _refuse(self, problem: Problem, target: str) -> None:
        self.handshake_complete = self.close_sent = self._deaf = True
        self.transport.write(raw_reply(problem, target.partition("?")[0]))
        close_gently(self.loop, self.transport)


def websocket_protocol_class(stalled_seconds: float) -> type[WebSocketConnection]:
    return type("WebSocketConnection", (WebSocketConnection,), {"stalled_seconds": stalled_seconds})
