"""What `AsyncHouse` can be asked, for programs that simply wait: conversations, models, tokens."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

from moot.client.conversation_shapes import (
    Conversation,
    ConversationEvents,
    Conversations,
    Form,
    Install,
    Token,
    TokenRole,
)
from moot.client.people_requests import Anything
from moot.client.run_sync import SyncRunner


class AdminRequests(SyncRunner):
    # --- conversations --------------------------------------------------------------------------------

    def conversations(self, *, search: str = "", limit: int = 20, offset: int = 0) -> Conversations:
        """Those that were imported, the last ones first; with `search`, whose source has this in it."""
        return self._run(self._asks.conversations(search=search, limit=limit, offset=offset))

    def conversation(self, id: str) -> Conversation:
        """An imported one, or a debate."""
        return self._run(self._asks.conversation(id))

    def conversation_events(
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
        return self._run(
            self._asks.conversation_events(id, after=after, limit=limit, types=types, shape=shape, seat=seat)
        )

    def read(
        self, id: str, *, types: Sequence[str] = (), shape: Form = "unified", seat: str = ""
    ) -> Generator[dict[str, Any], None, None]:
        """All of its events, page after page, as far as they are there now."""
        return self._each(self._asks.read(id, types=types, shape=shape, seat=seat))

    # --- what works -----------------------------------------------------------------------------------

    def providers(self) -> Anything:
        """Which models' services can be used, and what the others lack."""
        return self._run(self._asks.providers())

    def installs(self) -> tuple[Install, ...]:
        """The models that can run on the server's own machine."""
        return self._run(self._asks.installs())

    def install(self, model: str) -> Install:
        """Begin to install one; it goes on by itself, and `installs` tells how far it has come."""
        return self._run(self._asks.install(model))

    def stop_install(self, model: str) -> None:
        """What was fetched is kept."""
        self._run(self._asks.stop_install(model))

    # --- tokens ---------------------------------------------------------------------------------------

    def tokens(self) -> tuple[Token, ...]:
        """Those there are, without the tokens themselves."""
        return self._run(self._asks.tokens())

    def new_token(
        self,
        name: str,
        role: TokenRole = "owner",
        *,
        owner: str | None = None,
        days: float | None = None,
    ) -> Token:
        """For the debates of `owner`, or of its own name. With the first one, everybody needs a token."""
        return self._run(self._asks.new_token(name, role, owner=owner, days=days))

    def revoke_token(self, name: str) -> None:
        """That token counts no longer."""
        self._run(self._asks.revoke_token(name))
