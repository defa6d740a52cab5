"""What a store promises of conversations from elsewhere: kept in batches, read in pages, taken back whole.

They are read-only, and apart from the debates. A batch is written together with how far its import has come,
so an import that dies goes on behind the last batch that is durable. Events are kept as they are sent out:
nobody takes them apart to show them.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal, Protocol

from msgspec import Raw, Struct

from moot.core.errors import Invalid

ImportState = Literal["running", "done", "undoing"]
EMPTY_OBJECT, NULL = Raw(b"{}"), Raw(b"null")


class Import(Struct, frozen=True):
    """One source, brought over; more of it may come later under the same id."""

    id: str
    owner: str
    source: str
    """Where it is, without a password."""
    started_at: datetime
    updated_at: datetime
    state: ImportState = "running"
    cursor: str = ""
    """How far the pass under way has come; empty between two passes."""
    passes: int = 0
    report: Raw = EMPTY_OBJECT
    """What the last whole pass found, as JSON."""

    @property
    def begun(self) -> bool:
        """Something was written of it before."""
        return bool(self.cursor or self.passes)


class ArchivedConversation(Struct, frozen=True):
    id: str
    import_id: str
    owner: str
    source: str
    events: int
    first_ts: int
    last_ts: int
    """The first and the last of its moments, in milliseconds since 1970."""


class ArchivedEvent(Struct, frozen=True, kw_only=True):
    """An event of a conversation. What is JSON stays JSON."""

    conversation: str
    id: str
    order_key: str
    role: str
    ts: int
    created_at: str | None = None
    segments: Raw
    metadata: Raw = NULL
    legacy: Raw = NULL
    """What the segments cannot say of the row that they came from."""


class IncomingEvent(Struct, frozen=True):
    """An event on its way in."""

    event: ArchivedEvent
    digest: bytes
    """Of the row that it came from: by it a changed one is known."""


class SaveResult(Struct, frozen=True):
    new: int = 0
    changed: int = 0
    refused: tuple[str, ...] = ()
    """Conversations that another import has brought: they are left as they are."""


class ConversationPage(Struct, frozen=True):
    conversations: tuple[ArchivedConversation, ...]
    total: int


class Archive(Protocol):
    async def save(self, import_: Import, events: Sequence[IncomingEvent]) -> SaveResult:
        """Write the import as it stands now, and of its events those that are new or have changed. No two of
        them may have the same conversation and id. Raises Invalid where it is being taken back, or
        was since it has begun."""
        ...

    async def imports(self) -> tuple[Import, ...]:
        """Oldest first."""
        ...

    async def undo_import(self, import_id: str, limit: int = 1000) -> int:
        """Remove so many of its events, and when none are left the import itself. How many went: 0 is the
        end. Whoever is stopped in between goes on with the same call."""
        ...

    async def segment_counts(self, import_id: str) -> dict[str, int]:
        """How many segments of each type it has brought, counted in what is stored."""
        ...

    async def conversations(
        self, *, owner: str | None = None, search: str = "", limit: int = 20, offset: int = 0
    ) -> ConversationPage:
        """Conversations, those that came last first. `search` is part of their source, in any case."""
        ...

    async def conversation(self, conversation_id: str) -> ArchivedConversation | None: ...

    async def events(
        self, conversation_id: str, after: str = "", limit: int = 1000
    ) -> tuple[ArchivedEvent, ...]:
        """In their order, from behind the event with this id. Raises Invalid where there is none."""
        ...


def segment_type(segment: dict[str, Any]) -> str:
    """How a tally names it: empty where its type is no text. SQLite reads none further than to a NUL."""
    name = segment.get("type")
    return name.partition("\0")[0] if isinstance(name, str) else ""


def import_undone(import_id: str) -> Invalid:
    return Invalid(f"{import_id} is taken back; `moot import undo {import_id}` finishes that.")


def unknown_event() -> dict[str, list[str]]:
    return {"after": ["Unknown event"]}
