"""What routes and sockets work with: the arena, what a server has besides, and whose debate it is.

Whose it is, is looked at here and nowhere else: one of another owner is as unknown as one that never was.
"""

from __future__ import annotations

from msgspec import Struct
from starlette.requests import Request

from moot.api.auth import Identity, Keeper, Tickets
from moot.api.frames import Cursor
from moot.api.rate_limits import Limiter, Streams
from moot.api.rights import seen_as
from moot.api.v1.stream_frames import V1
from moot.core.errors import UnknownDebate
from moot.core.visibility import Viewer
from moot.engine.arena import Arena
from moot.engine.presence import Attendance
from moot.store.contract import Head
from moot.web.debate_slots import Slots
from moot.web.idempotency import Repeats
from moot.web.server_info import Catalogue
from moot.web.streaming.feeds import Feeds
from moot.web.streaming.sse_streams import Clock


class Rooms(Struct, frozen=True):
    arena: Arena
    feeds: Feeds
    clock: Clock
    attendance: Attendance
    keeper: Keeper
    tickets: Tickets
    limiter: Limiter
    streams: Streams
    slots: Slots
    repeats: Repeats
    catalogue: Catalogue

    async def mine(self, request: Request, debate_id: str) -> Head:
        """The debate, if it is the asker's to see."""
        return await self.seen_by(who(request), debate_id)

    async def seen_by(self, identity: Identity, debate_id: str) -> Head:
        head = await self.arena.head(debate_id)
        if not identity.sees(head.owner, head.id):
            raise UnknownDebate
        return head

    async def viewer_of(self, identity: Identity, seat: str | None, debate_id: str) -> Viewer:
        """As whom they watch: as themselves, or as no more than the person of a seat."""
        if seat is None:
            return identity.viewer
        return seen_as(identity, seat, await self.arena.state(debate_id))

    async def has_seen_all(self, debate_id: str, dialect: V1, viewer: Viewer, cursor: Cursor) -> bool:
        """Whether a viewer of v1 has seen all that there is, and nothing follows by itself."""
        if not cursor.seq:
            return False
        debate = await self.arena.state(debate_id)
        if debate.ended_seq:
            return cursor.whole >= debate.ended_seq
        if not dialect.rests(debate):
            return False
        return not await self.feeds.tells_more(debate_id, dialect, viewer, cursor)


def who(request: Request) -> Identity:
    return request.scope["state"]["who"]


def query_of(request: Request) -> bytes:
    return request.scope["query_string"]
