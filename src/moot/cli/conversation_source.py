"""Where conversations are: in this machine's store, or on a server. Both can be asked the same things."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeVar

from moot.core.errors import Invalid, UnknownDebate
from moot.views.legacy_rows import Shape

if TYPE_CHECKING:
    from moot.client import AsyncClient
    from moot.client.conversation_shapes import Form
    from moot.store.archive import Shelf
    from moot.store.contract import Store
    from moot.views.legacy_rows import OldRow

BATCH = 200
MOST_LISTED, AT_ONCE = 100, 1000
"""What a server tells at once: conversations, and events of one."""
TOO_MANY = 429
T = TypeVar("T")


class Library(Protocol):
    async def shelf(self, *, search: str, limit: int, offset: int) -> Shelf:
        """Those that were imported, the last ones first."""
        ...

    async def imported(self, name: str) -> bool:
        """And not a debate. Raises Invalid where it is neither."""
        ...

    def events(self, name: str) -> AsyncGenerator[Shape, None]:
        """With unified segments."""
        ...

    def rows(self, names: Sequence[str] = ()) -> AsyncGenerator[list[OldRow], None]:
        """Of these, or of all that were imported, as they were."""
        ...

    def debates(self, names: Sequence[str] = ()) -> AsyncGenerator[list[OldRow], None]:
        """Of these, or of all, in rows of the old shape."""
        ...


@asynccontextmanager
async def library(server: str | None) -> AsyncGenerator[Library]:
    if server:
        from moot.client import AsyncClient

        async with AsyncClient(server) as client:
            yield There(client)
        return
    from moot.cli.commands.legacy import opened_store

    async with opened_store() as store:
        yield Here(store)


def _unknown(name: str) -> Invalid:
    return Invalid(f"There is no conversation {name!r}.")


class Here:
    def __init__(self, store: Store) -> None:
        self._store = store

    async def shelf(self, *, search: str, limit: int, offset: int) -> Shelf:
        return await self._store.archive.shelf(search=search, limit=limit, offset=offset)

    async def imported(self, name: str) -> bool:
        if await self._store.archive.conversation(name) is not None:
            return True
        try:
            await self._store.head(name)
        except UnknownDebate:
            raise _unknown(name) from None
        return False

    async def events(self, name: str) -> AsyncGenerator[Shape, None]:
        from moot.core.visibility import OWNER
        from moot.store.archive_rows import shown, unpacked
        from moot.views.conversation import conversation

        if not await self.imported(name):
            for event in conversation(await self._store.state(name), OWNER):
                yield event
            return
        last = ""
        while events := await self._store.archive.events(name, last, BATCH):
            last = events[-1].id
            for event in events:
                yield unpacked(shown(event))

    def rows(self, names: Sequence[str] = ()) -> AsyncGenerator[list[OldRow], None]:
        from moot.compat import legacy_export

        return legacy_export.imported(self._store.archive, names)

    def debates(self, names: Sequence[str] = ()) -> AsyncGenerator[list[OldRow], None]:
        from moot.compat import legacy_export

        return legacy_export.held(self._store, names)


class There:
    """Where the server counts our requests, we wait as long as it asks for."""

    def __init__(self, client: AsyncClient) -> None:
        self._client = client

    async def shelf(self, *, search: str, limit: int, offset: int) -> Shelf:
        from moot.store.archive import Conversation, Shelf

        limit = min(limit, MOST_LISTED)
        with _told():
            page = await _patiently(
                lambda: self._client.conversations(search=search, limit=limit, offset=offset)
            )
        found = (
            Conversation(one.id, "", "", one.source or "", one.events, one.first_ts, one.last_ts)
            for one in page.conversations
        )
        return Shelf(tuple(found), page.total)

    async def imported(self, name: str) -> bool:
        with _told(name):
            found = await _patiently(lambda: self._client.conversation(name))
        return found.kind == "imported"

    async def events(self, name: str) -> AsyncGenerator[Shape, None]:
        async for page in self._pages(name, "unified"):
            for event in page:
                yield event

    async def rows(self, names: Sequence[str] = ()) -> AsyncGenerator[list[OldRow], None]:
        from moot.views.legacy_rows import read_row

        for name in names or [name async for name in self._shelved()]:
            async for page in self._pages(name, "legacy"):
                yield [read_row(event) for event in page]

    async def debates(self, names: Sequence[str] = ()) -> AsyncGenerator[list[OldRow], None]:
        from moot.compat.legacy_export import row_of_debate

        for name in names or [name async for name in self._held()]:
            async for page in self._pages(name, "legacy"):
                yield [row_of_debate(name, event) for event in page]

    async def _pages(self, name: str, shape: Form) -> AsyncGenerator[Sequence[Shape], None]:
        after: str | None = ""
        while after is not None:
            ask = partial(self._client.conversation_events, name, after=after, limit=AT_ONCE, shape=shape)
            with _told(name):
                page = await _patiently(ask)
            yield page.events
            after = page.next if page.has_more and page.next != after else None

    async def _shelved(self) -> AsyncGenerator[str, None]:
        offset = 0
        while found := (await self.shelf(search="", limit=MOST_LISTED, offset=offset)).conversations:
            for one in found:
                yield one.id
            offset += len(found)

    async def _held(self) -> AsyncGenerator[str, None]:
        offset = 0
        while True:
            with _told():
                page = await _patiently(partial(self._client.list, limit=MOST_LISTED, offset=offset))
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
            if error.status != TOO_MANY or error.retry_after is None:
                raise
            await asyncio.sleep(error.retry_after)


@contextmanager
def _told(name: str = "") -> Generator[None]:
    from moot.cli.remote_shapes import in_our_words

    try:
        with in_our_words():
            yield
    except UnknownDebate:
        raise _unknown(name) from None
