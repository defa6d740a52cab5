"""The WebSocket of a debate: the same events as the stream, and commands in the other direction.

Frames are `{event, id, data}`. A command is `{type, data?, key?}`; with a key it is carried out once, however
often it is sent. An invalid command is answered with an `error` frame, and the socket stays open; it is
closed after repeated malformed messages, or too many. Every message counts towards the rate limit of its
client, as a request does.

A feed holds complete WebSocket frames. To a viewer that keeps up it writes them directly, the same bytes for
all; answers to commands are written to the same connection, so the order of writing is the order on the wire.
"""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import Any, cast

from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from moot.api import strict_json
from moot.api.auth import Identity
from moot.api.command_table import socket_command, socket_commands
from moot.api.frames import Cursor, Dialect, Frame, as_message
from moot.api.page_view.view_frames import ViewFrames
from moot.api.problems import Problem, as_problem
from moot.api.rate_limits import TokenBucket
from moot.api.rights import check
from moot.api.v1 import query_params
from moot.api.v1.stream_frames import V1Frames, acknowledged, deleted, rejected
from moot.core.errors import MootError, UnknownDebate
from moot.core.visibility import Viewer
from moot.store.contract import IdempotencyKey
from moot.web.app_context import AppContext, client_of, counted_of, head_of, identity_of
from moot.web.idempotency import fingerprint, usable_key
from moot.web.server.websocket_protocol import WebSocketConnection, text_frame
from moot.web.streaming.feed_reading import read_bytes
from moot.web.streaming.sse_streams import Watcher

MESSAGE_BURST, MESSAGES_PER_SECOND = 30.0, 10.0
MAX_MALFORMED = 5
CLOSE_WAIT_SECONDS = 0.25
"""Seconds: a command that was sent before the end of the debate arrived is still answered."""
NORMAL, NOT_TEXT, POLICY, RESTART, REVOKED, FAILED = 1000, 1003, 1008, 1012, 4401, 4500
REASONS = {
    NORMAL: "All has been told.",
    RESTART: "The server stops; connect again.",
    REVOKED: "The token was revoked.",
    FAILED: "The debate failed. After a retry or a judging, connect again after the last id.",
}
"""At most 123 bytes each."""
ERROR_CODES = {
    "malformed-request": "MALFORMED",
    "validation": "VALIDATION",
    "conflict": "CONFLICT",
    "forbidden": "FORBIDDEN",
    "not-found": "NOT_FOUND",
    "idempotency-mismatch": "VALIDATION",
    "storage": "STORAGE",
}


class CloseSocket(Exception):
    """The socket is to be closed with this code."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class UnknownCommand(Problem):
    """There is no such command."""


async def serve_socket(context: AppContext, socket: WebSocket, debate_id: str) -> None:
    identity = identity_of(socket)
    head = await context.visible_head(socket, debate_id)
    check(identity, "watch")
    query = query_params.parse_socket(socket.scope["query_string"])
    if query.cursor.seq > head.version:
        raise Problem("cursor-ahead")
    viewer = await context.viewer_of(identity, query.seat, debate_id)
    async with context.streams.slot(counted_of(socket)):
        await socket.accept()
        session = SocketSession(context, socket, debate_id, identity, viewer)
        await session.run(ViewFrames(viewer) if query.view else V1Frames(query.extended), query.cursor)


class SocketSession:
    """One open socket."""

    def __init__(
        self, context: AppContext, socket: WebSocket, debate_id: str, identity: Identity, viewer: Viewer
    ) -> None:
        self._context = context
        self._socket = socket
        self._connection = cast("WebSocketConnection", socket.scope["state"]["connection"])
        self._debate_id = debate_id
        self._identity = identity
        self._viewer = viewer
        self._client = client_of(socket)
        self._counted = counted_of(socket)
        self._bucket = TokenBucket(MESSAGE_BURST, MESSAGES_PER_SECOND)
        self._warned = False
        self._malformed = 0
        self._watching = Watcher(identity)

    async def run(self, dialect: Dialect, cursor: Cursor) -> None:
        code = REVOKED
        with self._context.stream_monitor.watch(self._watching):
            async with self._watching.until_dismissed():
                code = await self._send_and_receive(dialect, cursor)
        if self._socket.application_state != WebSocketState.DISCONNECTED:
            await _quietly(self._socket.close(code, REASONS.get(code)))

    async def _send_and_receive(self, dialect: Dialect, cursor: Cursor) -> int:
        sending = asyncio.create_task(
            self._send_events(dialect, cursor), name=f"socket sender of {self._debate_id}"
        )
        receiving = asyncio.create_task(self._receive(), name=f"socket receiver of {self._debate_id}")
        try:
            done, _ = await asyncio.wait((sending, receiving), return_when=asyncio.FIRST_COMPLETED)
            if receiving not in done and sending.result() in (NORMAL, FAILED):
                await asyncio.wait((receiving,), timeout=CLOSE_WAIT_SECONDS)
        finally:
            for task in (sending, receiving):
                task.cancel()
            await asyncio.gather(sending, receiving, return_exceptions=True)
        return done.pop().result()

    # --- sending --------------------------------------------------------------------------------------

    async def _send_events(self, dialect: Dialect, cursor: Cursor) -> int:
        version = head_of(self._socket).version
        reading = self._context.feeds.open_feed(
            self._debate_id, dialect, self._viewer, _encoded, "socket", version
        )
        if isinstance(dialect, V1Frames) and await self._context.has_seen_all(
            self._debate_id, dialect, self._viewer, cursor
        ):
            return await self._close_code()
        async with reading as feed:
            async with aclosing(read_bytes(feed, cursor, self._connection.try_write)) as pieces:
                async for piece in pieces:
                    # A heartbeat is empty: here the pings of the server take its place.
                    if piece:
                        await self._connection.write_frames(piece)
            if feed.end == "deleted":
                await self._send(deleted())
                return NORMAL
            return RESTART if feed.end == "closed" else await self._close_code()

    async def _close_code(self) -> int:
        """The close code after the last event: a failed debate may still be continued."""
        try:
            ended = (await self._context.arena.state(self._debate_id)).ended_seq
        except UnknownDebate:
            return NORMAL
        return NORMAL if ended else FAILED

    async def _send(self, frame: Frame) -> None:
        await self._connection.write_frames(_encoded(frame))

    # --- receiving --------------------------------------------------------------------------------------

    async def _receive(self) -> int:
        try:
            while True:
                message = await self._socket.receive()
                if message["type"] == "websocket.disconnect":
                    return NORMAL
                if message.get("text") is None:
                    return NOT_TEXT
                await self._on_message(message["text"])
        except WebSocketDisconnect:
            return NORMAL
        except CloseSocket as leave:
            return leave.code

    async def _on_message(self, text: str) -> None:
        if not self._bucket.take():
            return await self._too_many()
        status = await self._context.limiter.hit(self._counted.client, self._counted.crowd)
        if status is not None and not status.allowed:
            members = {"retryAfter": status.retry_after}
            return await self._reject("RATE_LIMIT", Problem("rate-limit").detail, members)
        try:
            answer = await self._carry_out(text)
        except MootError as error:
            await self._refuse(error)
            return None
        self._malformed = 0
        await self._send(answer)
        return None

    async def _too_many(self) -> None:
        if self._warned:
            raise CloseSocket(POLICY)
        self._warned = True
        await self._reject("RATE_LIMIT", "Too many messages; slow down", {})

    async def _refuse(self, error: MootError) -> None:
        problem = as_problem(error)
        code = (
            "UNKNOWN_TYPE" if isinstance(error, UnknownCommand) else ERROR_CODES.get(problem.kind, "FAILED")
        )
        members: dict[str, Any] = {}
        if problem.current_status:
            members["currentStatus"] = problem.current_status
        if problem.errors:
            members["errors"] = problem.errors
        await self._reject(code, problem.detail, members)
        self._malformed = self._malformed + 1 if code == "MALFORMED" else 0
        if self._malformed >= MAX_MALFORMED:
            raise CloseSocket(POLICY)

    async def _reject(self, code: str, message: str, members: dict[str, Any]) -> None:
        await self._send(rejected(code, message, members))

    async def _carry_out(self, text: str) -> Frame:
        shape = strict_json.loads(text.encode("utf-8", "surrogatepass"))
        kind, data, key = _parts(shape)
        if kind not in socket_commands():
            raise UnknownCommand("validation", "There is no such command")
        debate = await self._context.arena.state(self._debate_id)
        command = socket_command(kind, data, self._identity, debate)
        once = self._once(kind, key, text)
        outcome = await self._context.arena.ask(self._debate_id, command, once=once)
        return acknowledged(kind, outcome.debate, replayed=outcome.replayed)

    def _once(self, kind: str, key: str | None, text: str) -> IdempotencyKey | None:
        if key is None:
            return None
        return IdempotencyKey(
            self._client, usable_key(key), fingerprint("WS", f"{self._debate_id}/{kind}", text.encode())
        )


def _encoded(frame: Frame, id: str | None = None) -> bytes:
    return text_frame(as_message(frame, id))


def _parts(shape: Any) -> tuple[str, dict[str, Any], str | None]:
    """Type, data and key of a message. Raises Problem where it is no command."""
    if not isinstance(shape, dict) or "type" not in shape:
        raise Problem("malformed-request", "A message is an object with a type")
    message = cast("dict[str, Any]", shape)
    kind, data, key = message["type"], message.get("data", {}), message.get("key")
    errors: dict[str, list[str]] = {
        name: ["Unknown field"] for name in message if name not in COMMAND_MEMBERS
    }
    if not isinstance(kind, str):
        errors["type"] = ["Must be a string"]
    if not isinstance(data, dict):
        errors["data"] = ["Must be an object"]
    if "key" in message and not isinstance(key, str):
        errors["key"] = ["Must be a string"]
    if errors:
        raise Problem("validation", errors=errors)
    return str(kind), cast("dict[str, Any]", data), key


COMMAND_MEMBERS = ("type", "data", "key")


async def _quietly(closing: Any) -> None:
    try:
        await closing
    except (RuntimeError, WebSocketDisconnect):
        return
