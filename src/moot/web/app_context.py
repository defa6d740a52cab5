"""What routes and WebSockets share: the arena, the server's services, and the check of ownership.

The owner of a debate is checked here and nowhere else; a debate of another owner is as unknown as one that
does not exist.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

from msgspec import Struct
from starlette.requests import HTTPConnection, Request

from moot.api.auth import Authenticator, Identity, Tickets
from moot.api.frames import Cursor
from moot.api.rate_limits import Counted, RateLimiter, StreamLimiter
from moot.api.rights import Action, Right, check, viewer_as
from moot.api.v1.query_params import no_params
from moot.api.v1.stream_frames import V1Frames
from moot.core.errors import UnknownDebate
from moot.core.state import Debate
from moot.core.visibility import Viewer
from moot.engine.arena import Arena
from moot.engine.ephemeral_store import Presence
from moot.store.contract import DebateHead
from moot.web.debate_slots import DebateSlots
from moot.web.idempotency import IdempotencyKeys
from moot.web.server_info import ServerInfo
from moot.web.single_flight import SingleFlight
from moot.web.streaming.feed_reading import tells_more
from moot.web.streaming.feeds import Feeds
from moot.web.streaming.sse_streams import StreamMonitor


class Service(Protocol):
    """An object of a route that exists as long as the application."""

    def __init__(self, context: AppContext) -> None: ...


S = TypeVar("S", bound=Service)


class AppContext(Struct, frozen=True):
    arena: Arena
    feeds: Feeds
    stream_monitor: StreamMonitor
    presence: Presence
    authenticator: Authenticator
    tickets: Tickets
    limiter: RateLimiter
    streams: StreamLimiter
    slots: DebateSlots
    idempotency: IdempotencyKeys
    server_info: ServerInfo
    heads: SingleFlight[DebateHead]
    states: SingleFlight[Debate]
    """Of debates that many clients join at the same time."""
    services: dict[type, Any] = {}
    """What single routes keep for this application, by type."""

    def service(self, kind: type[S]) -> S:
        """The one object of this type in the application, created from this context at the first call."""
        if kind not in self.services:
            self.services[kind] = kind(self)
        return self.services[kind]

    async def visible_head(self, connection: HTTPConnection, debate_id: str) -> DebateHead:
        """The debate, if the client may see it. Raises UnknownDebate where it may not.

        Routes with a debate in their path need not call it: `head_of` gives what was found for the request.
        """
        # Crowds only read.
        is_read = connection.scope.get("method") in ("GET", "HEAD")
        head = await (self.heads.get(debate_id) if is_read else self.arena.head(debate_id))
        if not identity_of(connection).sees(head.owner, head.id):
            raise UnknownDebate
        connection.scope["state"]["head"] = head
        return head

    async def viewer_of(self, identity: Identity, seat: str | None, debate_id: str) -> Viewer:
        """Who watches: the identity itself, or only the person of a seat."""
        if seat is None:
            return identity.viewer
        return viewer_as(identity, seat, await self.arena.state(debate_id))

    async def has_seen_all(
        self,
        debate_id: str,
        dialect: V1Frames,
        viewer: Viewer,
        cursor: Cursor,
        *,
        version: int | None = None,
    ) -> bool:
        """Whether a viewer of v1 has seen every event, and no more will follow by itself.

        `version` is that of a head which was just read: no state needs to be read if the cached one has it.
        """
        if not cursor.seq:
            return False
        debate = self.arena.store.cached_state(debate_id) if version is not None else None
        if debate is None or debate.seq < (version or 0):
            debate = await self.states.get(debate_id)
        if debate.ended_seq:
            return cursor.complete_seq >= debate.ended_seq
        if not dialect.rests(debate):
            return False
        return not await tells_more(self.arena.store, debate_id, dialect, viewer, cursor)


async def context_of(request: Request) -> AppContext:
    return request.app.state.context


def identity_of(connection: HTTPConnection) -> Identity:
    """Who sent the request or opened the WebSocket, as determined by the guard."""
    return connection.scope["state"]["who"]


def client_of(connection: HTTPConnection) -> str:
    """The client whose debates and idempotency keys these are: a token, or else an address."""
    return connection.scope["state"]["client"]


def counted_of(connection: HTTPConnection) -> Counted:
    """The names under which the requests and streams of the client are counted."""
    return connection.scope["state"]["counted"]


def address_of(connection: HTTPConnection) -> str:
    """The address of the client, as far as the proxies that the operator trusts tell it."""
    return connection.scope["state"]["address"]


def head_of(connection: HTTPConnection) -> DebateHead:
    """The debate in the path of the request, as it was found and checked before the route was called."""
    return connection.scope["state"]["head"]


def query_string(request: Request) -> bytes:
    return request.scope["query_string"]


class RightsCheck:
    """Raises UnknownDebate where the client may not see the debate, Problem where it lacks the right or sends
    parameters to a route that has none."""

    def __init__(self, action: Action | Right, *, has_query: bool = True) -> None:
        self.action: Action | Right = action
        self._has_query = has_query

    async def __call__(self, request: Request) -> None:
        if self.action == "public":
            return
        if (debate_id := request.path_params.get("debateId")) is not None:
            await (await context_of(request)).visible_head(request, debate_id)
        check(identity_of(request), self.action, seat=request.path_params.get("seat"))
        if not self._has_query and (query := query_string(request)):
            no_params(query)
