"""Conversations and debates in one shape: those of this machine, or those of a server.

The files and databases from which conversations are imported are read by `row_io/readers.py`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Protocol, TypeVar

from moot.core.errors import Invalid, UnknownDebate
from moot.core.visibility import OWNER
from moot.extensions.conversations import exporting
from moot.extensions.conversations.archive import ArchivedConversation, ConversationPage
from moot.extensions.conversations.archive_rows import decode_segments, unified_shape
from moot.extensions.conversations.debates import conversation
from moot.extensions.conversations.legacy_rows import JsonObject, LegacyRow, read_row
from moot.extensions.conversations.tables import CONVERSATIONS

if TYPE_CHECKING:
    from moot.client import AsyncClient
    from moot.client.shapes import Form
    from moot.engine.arena import Arena

T = TypeVar("T")
EVENTS_PER_PAGE = 200
MAX_EVENTS = 1000
MAX_LISTED = 100
"""At a time: from the store, and from a server."""


class ConversationSource(Protocol):
    async def listed(self, *, search: str, limit: int, offset: int) -> ConversationPage:
        """The imported ones, newest first."""
        ...

    async def is_imported(self, conversation_id: str) -> bool:
        """False for a debate. Raises Invalid for an unknown id."""
        ...

    def events(self, conversation_id: str) -> AsyncGenerator[JsonObject, None]:
        """Its events with unified segments."""
        ...

    def imported_rows(self, ids: Sequence[str] = ()) -> AsyncGenerator[list[LegacyRow], None]:
        """The rows of these conversations, or of all that were imported, as they were."""
        ...

    def debate_rows(self, ids: Sequence[str] = ()) -> AsyncGenerator[list[LegacyRow], None]:
        """These debates, or all, as rows of the old shape."""
        ...


@asynccontextmanager
async def open_conversations(server: str | None) -> AsyncGenerator[ConversationSource]:
    """Open the conversations of `server`, or without one those of this machine."""
    if server:
        from moot.cli.remote import RemoteSource

        async with RemoteSource.open(server) as remote:
            yield RemoteConversations(remote.client)
        return
    from moot.cli.local import LocalSource

    async with LocalSource.open() as local:
        yield LocalConversations(local)


class LocalConversations:
    def __init__(self, arena: Arena) -> None:
        self._arena, self._archive = arena, arena.store.tables(CONVERSATIONS)

    async def listed(self, *, search: str, limit: int, offset: int) -> ConversationPage:
        return await self._archive.conversations(search=search, limit=limit, offset=offset)

    async def is_imported(self, conversation_id: str) -> bool:
        if await self._archive.conversation(conversation_id) is not None:
            return True
        try:
            await self._arena.head(conversation_id)
        except UnknownDebate:
            raise _unknown(conversation_id) from None
        return False

    async def events(self, conversation_id: str) -> AsyncGenerator[JsonObject, None]:
        if not await self.is_imported(conversation_id):
            for event in conversation(await self._arena.state(conversation_id), OWNER):
                yield event
            return
        last = ""
        while events := await self._archive.events(conversation_id, last, EVENTS_PER_PAGE):
            last = events[-1].id
            for event in events:
                yield decode_segments(unified_shape(event))

    def imported_rows(self, ids: Sequence[str] = ()) -> AsyncGenerator[list[LegacyRow], None]:
        return exporting.imported_rows(self._archive, ids)

    def debate_rows(self, ids: Sequence[str] = ()) -> AsyncGenerator[list[LegacyRow], None]:
        return exporting.debate_rows(self._arena.store, ids)


class RemoteConversations:
    def __init__(self, client: AsyncClient) -> None:
        self._client = client

    async def listed(self, *, search: str, limit: int, offset: int) -> ConversationPage:
        limit = min(limit, MAX_LISTED)
        page = await _patiently(lambda: self._client.conversations(search=search, limit=limit, offset=offset))
        conversations = (
            ArchivedConversation(one.id, "", "", one.source or "", one.events, one.first_ts, one.last_ts)
            for one in page.conversations
        )
        return ConversationPage(tuple(conversations), page.total)

    async def is_imported(self, conversation_id: str) -> bool:
        found = await _patiently(lambda: self._client.conversation(conversation_id), conversation_id)
        return found.kind == "imported"

    async def events(self, conversation_id: str) -> AsyncGenerator[JsonObject, None]:
        async for page in self._event_pages(conversation_id, "unified"):
            for event in page:
                yield event

    async def imported_rows(self, ids: Sequence[str] = ()) -> AsyncGenerator[list[LegacyRow], None]:
        for conversation_id in ids or [one async for one in self._imported_ids()]:
            async for page in self._event_pages(conversation_id, "legacy"):
                yield [read_row(event) for event in page]

    async def debate_rows(self, ids: Sequence[str] = ()) -> AsyncGenerator[list[LegacyRow], None]:
        for debate_id in ids or [one async for one in self._debate_ids()]:
            async for page in self._event_pages(debate_id, "legacy"):
                yield [exporting.row_of_debate(debate_id, event) for event in page]

    async def _event_pages(self, id: str, shape: Form) -> AsyncGenerator[Sequence[JsonObject], None]:
        after: str | None = ""
        while after is not None:
            ask = partial(self._client.conversation_events, id, after=after, limit=MAX_EVENTS, shape=shape)
            page = await _patiently(ask, id)
            yield page.events
            after = page.next if page.has_more and page.next != after else None

    async def _imported_ids(self) -> AsyncGenerator[str, None]:
        offset = 0
        while (page := await self.listed(search="", limit=MAX_LISTED, offset=offset)).conversations:
            for one in page.conversations:
                yield one.id
            offset += len(page.conversations)

    async def _debate_ids(self) -> AsyncGenerator[str, None]:
        offset, more = 0, True
        while more:
            page = await _patiently(partial(self._client.list, limit=MAX_LISTED, offset=offset))
            for one in page.debates:
                yield one.id
            offset += len(page.debates)
            more = page.pagination.has_more


async def _patiently(request: Callable[[], Awaitable[T]], conversation_id: str = "") -> T:
    """Send a request again for as long as the server says that there are too many of them.

    Raises Invalid where it does not know the conversation.
    """
    from moot.cli.remote_shapes import local_error
    from moot.client import ApiError

    while True:
        try:
            return await request()
        except ApiError as error:
            if error.status == HTTPStatus.NOT_FOUND:
                raise _unknown(conversation_id) from None
            if error.status != HTTPStatus.TOO_MANY_REQUESTS or error.retry_after is None:
                raise local_error(error) from error
            await asyncio.sleep(error.retry_after)


def _unknown(conversation_id: str) -> Invalid:
    return Invalid(f"There is no conversation {conversation_id!r}.")
