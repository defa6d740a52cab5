"""What a server is asked beside its debates: for conversations to read, for what works, and for its keeping.

A part of `AsyncClient`. To install models and to make tokens is for the operator.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Any

from moot.client.connection import ServerConnection, api_path
from moot.client.conversation_shapes import (
    Conversation,
    ConversationEvents,
    Conversations,
    Form,
    Install,
    Installs,
    Token,
    TokenRole,
    Tokens,
)
from moot.client.people_requests import Anything, json_body, without_defaults

AT_ONCE = 1000


class AsyncAdminRequests:
    _connection: ServerConnection

    # --- conversations --------------------------------------------------------------------------------

    async def conversations(self, *, search: str = "", limit: int = 20, offset: int = 0) -> Conversations:
        """Those that were imported, the last ones first; with `search`, whose source has this in it."""
        asked = {"limit": limit, "offset": offset, **without_defaults(search=search)}
        return await self._connection.get(api_path("conversations"), Conversations, **asked)

    async def conversation(self, id: str) -> Conversation:
        """An imported one, or a debate."""
        return await self._connection.get(api_path("conversations", id), Conversation)

    async def conversation_events(
        self,
        id: str,
        *,
        after: str = "",
        limit: int = 100,
        types: Sequence[str] = (),
        shape: Form = "unified",
        seat: str = "",
    ) -> ConversationEvents:
        """A page of it: events with their segments, of these `types` only, behind the event `after`.

        The shape `legacy` has one `reasoning` beside the segments.
        """
        asked = without_defaults(after=after, type=",".join(types), shape=shape, **{"as": seat})
        path = api_path("conversations", id, "events")
        return await self._connection.get(path, ConversationEvents, limit=limit, **asked)

    async def read(
        self, id: str, *, types: Sequence[str] = (), shape: Form = "unified", seat: str = ""
    ) -> AsyncGenerator[dict[str, Any], None]:
        """All of its events, page after page, as far as they are there now."""
        after = ""
        while True:
            page = await self.conversation_events(
                id, after=after, limit=AT_ONCE, types=types, shape=shape, seat=seat
            )
            for event in page.events:
                yield event
            if not page.has_more or page.next in (None, after):
                return
            after = page.next

    # --- what works -----------------------------------------------------------------------------------

    async def providers(self) -> Anything:
        """Which models' services can be used, and what the others lack."""
        return await self._connection.get(api_path("providers"), Anything)

    async def installs(self) -> tuple[Install, ...]:
        """The models that can run on the server's own machine."""
        return (await self._connection.get(api_path("installs"), Installs)).models

    async def install(self, model: str) -> Install:
        """Begin to install one; it goes on by itself, and `installs` tells how far it has come."""
        return await self._connection.post(api_path("installs", model), Install)

    async def stop_install(self, model: str) -> None:
        """What was fetched is kept."""
        await self._connection.delete(api_path("installs", model))

    # --- tokens ---------------------------------------------------------------------------------------

    async def tokens(self) -> tuple[Token, ...]:
        """Those there are, without the tokens themselves."""
        return (await self._connection.get(api_path("tokens"), Tokens)).tokens

    async def new_token(
        self,
        name: str,
        role: TokenRole = "owner",
        *,
        owner: str | None = None,
        days: float | None = None,
    ) -> Token:
        """For the debates of `owner`, or of its own name. With the first one, everybody needs a token."""
        asked = without_defaults(role=role, days=days) | ({} if owner is None else {"owner": owner})
        return await self._connection.post(api_path("tokens"), Token, json_body(asked, name=name))

    async def revoke_token(self, name: str) -> None:
        """That token counts no longer."""
        await self._connection.delete(api_path("tokens", name))
