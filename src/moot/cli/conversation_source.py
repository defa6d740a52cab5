"""Where conversations are: in this machine's store, or on a server. Both can be asked the same things."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeVar

from moot.core.errors import Invalid, UnknownDebate
from moot.views.legacy_rows import JsonObject

if TYPE_CHECKING:
    from moot.client import AsyncClient
    from moot.client.conversation_shapes import Form
    from moot.store.archive import ConversationPage
    from moot.store.contract import Store
    from moot.views.legacy_rows import LegacyRow

BATCH = 200
MAX_LISTED, MAX_EVENTS = 100, 1000
"""What a server tells at once: conversations, and events of one."""
TOO_MANY_REQUESTS = 429
T = TypeVar("T")


class ConversationSource(Protocol):
    async def imported_page(self, *, search: str, limit: int, offset: int) -> ConversationPage:
        """Those that were imported, the last ones first."""
        ...

    async def is_imported(self, name: str) -> bool:
        """And not a debate. Raises Invalid where it is neither."""
        ...

    def events(self, name: str) -> AsyncGenerator[JsonObject, None]:
        """With unified segments."""
        ...

    def rows(self, names: Sequence[str] = ()) -> AsyncGenerator[list[LegacyRow], None]:
        """Of these, or of all that were imported, as they were."""
        ...

    def debates(self, names: Sequence[str] = ()) -> AsyncGenerator[list[LegacyRow], None]:
        """Of these, or of all, in rows of the old shape."""
        ...


@asynccontextmanager
async def open_conversations(server: str | None) -> AsyncGenerator[ConversationSource]:
    if server:
        from moot.client import AsyncClient

        async with AsyncClient(server) as client:
            yield RemoteConversations(client)
        return
    from moot.cli.commands.legacy import open_archive_store

    async with open_archive_store() as store:
        yield LocalConversations(store)


def _unknown(name: str) -> Invalid:
    return Invalid(f"There is no conversation {name!r}.")


class LocalConversations:
    def __init__(self, store: Store) -> None:
        self._store = store

    async def imported_page(self, *, search: str, limit: int, offset: int) -> ConversationPage:
        return await self._store.archive.conversations(search=search, limit=limit, offset=offset)

    async def is_imported(self, name: str) -> bool:
        if await self._store.archive.conversation(name) is not None:
            return True
        try:
            await self._store.head(name)
        except UnknownDebate:
            raise _unknown(name) from None
        return False

    async def events(self, name: str) -> AsyncGenerator[JsonObject, None]:
        from moot.core.visibility import OWNER
        from moot.store.archive_rows import decode_segments, unified_shape
        from moot.views.conversation import conversation

        if not await self.is_imported(name):
            for event in conversation(await self._store.state(name), OWNER):
                yield event
            return
        last = ""
        while events := await self._store.archive.events(name, last, BATCH):
            last = events[-1].id
            for event in events:
                yield decode_segments(unified_shape(event))

    def rows(self, names: Sequence[str] = ()) -> AsyncGenerator[list[LegacyRow], None]:
        from moot.compat import legacy_export

        return legacy_export.imported_rows(self._store.archive, names)

    def debates(self, names: Sequence[str] = ()) -> AsyncGenerator[list[LegacyRow], None]:
        from moot.compat import legacy_export

        return legacy_export.debate_rows(self._store, names)


class RemoteConversations:
    """Where the server counts our requests, we wait as long as it asks for."""

    def __init__(self, client: AsyncClient) -> None:
        self._client = client

    async def imported_page(self, *, search: str, limit: int, offset: int) -> ConversationPage:
        from moot.store.archive import ArchivedConversation, ConversationPage

        limit = min(limit, MAX_LISTED)
        with _translate_errors():
            page = await _patiently(
                lambda: self._client.conversations(search=search, limit=limit, offset=offset)
            )
        conversations = (
            ArchivedConversation(one.id, "", "", one.source or "", one.events, one.first_ts, one.last_ts)
            for one in page.conversations
        )
        return ConversationPage(tuple(conversations), page.total)

    async def is_imported(self, name: str) -> bool:
        with _translate_errors(name):
            found = await _patiently(lambda: self._client.conversation(name))
        return found.kind == "imported"

    async def events(self, name: str) -> AsyncGenerator[JsonObject, None]:
        async for page in self._pages(name, "unified"):
            for event in page:
                yield event

    async def rows(self, names: Sequence[str] = ()) -> AsyncGenerator[list[LegacyRow], None]:
        from moot.views.legacy_rows import read_row

        for name in names or [name async for name in self._imported_ids()]:
            async for page in self._pages(name, "legacy"):
                yield [read_row(event) for event in page]

    async def debates(self, names: Sequence[str] = ()) -> AsyncGenerator[list[LegacyRow], None]:
        from moot.compat.legacy_export import row_of_debate

        for name in names or [name async for name in self._debate_ids()]:
            async for page in self._pages(name, "legacy"):
                yield [row_of_debate(name, event) for event in page]

    async def _pages(self, name: str, shape: Form) -> AsyncGenerator[Sequence[JsonObject], None]:
        after: str | None = ""
        while after is not None:
            ask = partial(self._client.conversation_events, name, after=after, limit=MAX_EVENTS, shape=shape)
            with _translate_errors(name):
                page = await _patiently(ask)
            yield page.events
            after = page.next if page.has_more and page.next != after else None

    async def _imported_ids(self) -> AsyncGenerator[str, None]:
        offset = 0
        while found := (await self.imported_page(search="", limit=MAX_LISTED, offset=offset)).conversations:
            for one in found:
                yield one.id
            offset += len(found)

    async def _debate_ids(self) -> AsyncGenerator[str, None]:
        offset = 0
        while True:
            with _translate_errors():
                page = await _patiently(partial(self._client.list, limit=MAX_LISTED, offset=offset))
            for one in page.debates:
                yield one.id
            offset += len(page.debates)
            if not page.pagination.has_more:
                return


async def _patiently(ask: Callable[[], Awaitable[T]]) -> T:
    from moot.client import ApiError

    while True:
        try:
            return await ask()
        except ApiError as error:
            if error.status != TOO_MANY_REQUESTS or error.retry_after is None:
                raise
            await asyncio.sleep(error.retry_after)


@contextmanager
def _translate_errors(name: str = "") -> Generator[None]:
    from moot.cli.remote_shapes import translate_api_errors

    try:
        with translate_api_errors():
            yield
    except UnknownDebate:
        raise _unknown(name) from None
