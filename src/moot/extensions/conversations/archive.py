"""Conversations imported from other systems: written in batches, read in pages, undone as a whole.

They are read-only and separate from the debates. A batch is written together with the import's progress, so
an import that was interrupted continues after the last durable batch. Events are kept as the JSON in which
they are sent, and are not decoded to be shown. `MemoryArchive` is in memory; the others are `sql_archive`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal, Protocol, cast

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from moot.core.errors import Invalid

ImportState = Literal["running", "done", "undoing"]
EMPTY_OBJECT, NULL = Raw(b"{}"), Raw(b"null")


class Import(Struct, frozen=True):
    """The import of one source; a later pass over the same source has the same id."""

    id: str
    owner: str
    source: str
    """Its address without the password."""
    started_at: datetime
    updated_at: datetime
    state: ImportState = "running"
    cursor: str = ""
    """The progress of the current pass; empty between two passes."""
    passes: int = 0
    report: Raw = EMPTY_OBJECT
    """The report of the last complete pass, as JSON."""

    @property
    def begun(self) -> bool:
        """A batch of it was written before."""
        return bool(self.cursor or self.passes)


class ArchivedConversation(Struct, frozen=True):
    id: str
    import_id: str
    owner: str
    source: str
    events: int
    first_ts: int
    last_ts: int
    """The times of its first and last event, in milliseconds since 1970."""


class ArchivedEvent(Struct, frozen=True, kw_only=True):
    """An event of a conversation. JSON is not decoded."""

    conversation: str
    id: str
    order_key: str
    role: str
    ts: int
    created_at: str | None = None
    segments: Raw
    metadata: Raw = NULL
    legacy: Raw = NULL
    """What the original row has beside the segments."""


class IncomingEvent(Struct, frozen=True):
    """An event to be written."""

    event: ArchivedEvent
    digest: bytes
    """Of the original row, to recognise a change."""


class SaveResult(Struct, frozen=True):
    new: int = 0
    changed: int = 0
    refused: tuple[str, ...] = ()
    """Conversations of another import, which are not changed."""


class ConversationPage(Struct, frozen=True):
    conversations: tuple[ArchivedConversation, ...]
    total: int


class Archive(Protocol):
    async def save(self, import_: Import, events: Sequence[IncomingEvent]) -> SaveResult:
        """Write the import's progress and those of the events that are new or have changed. No two of them
        may have the same conversation and id. Raises Invalid where the import is being undone or was."""
        ...

    async def imports(self) -> tuple[Import, ...]:
        """Oldest first."""
        ...

    async def undo_import(self, import_id: str, limit: int = 1000) -> int:
        """Delete so many of its events, and the import itself when none are left. Returns how many were
        deleted: repeat until it is 0."""
        ...

    async def segment_counts(self, import_id: str) -> dict[str, int]:
        """How many segments of each type are stored of this import."""
        ...

    async def conversations(
        self, *, owner: str | None = None, search: str = "", limit: int = 20, offset: int = 0
    ) -> ConversationPage:
        """Conversations, last imported first. `search` is part of their source or of what is said in them, in
        any case."""
        ...

    async def conversation(self, conversation_id: str) -> ArchivedConversation | None: ...

    async def events(
        self, conversation_id: str, after: str = "", limit: int = 1000
    ) -> tuple[ArchivedEvent, ...]:
        """Events in order, after the event with this id. Raises Invalid where there is no such event."""
        ...


def segment_type(segment: dict[str, Any]) -> str:
    """The name under which it is counted: up to a NUL; empty where its type is no text."""
    name = segment.get("type")
    return name.partition("\0")[0] if isinstance(name, str) else ""


WORDS = frozenset({"text", "arguments", "output", "result", "content", "name"})
"""The members of a segment that have words of people, models and tools."""


def says(segments: Any, search: str) -> bool:
    """Whether these words, casefolded, stand in the text, the reasoning or a tool call of these segments."""
    match segments:
        case list():
            return any(says(each, search) for each in cast("list[Any]", segments))
        case dict():
            members = cast("dict[str, Any]", segments).items()
            return any(
                search in value.casefold() if isinstance(value, str) else says(value, search)
                for name, value in members
                if name in WORDS or not isinstance(value, str)
            )
        case _:
            return False


def import_undone(import_id: str) -> Invalid:
    return Invalid(f"{import_id} is taken back; `moot import undo {import_id}` finishes that.")


def unknown_event() -> dict[str, list[str]]:
    return {"after": ["Unknown event"]}


class MemoryArchive:
    def __init__(self) -> None:
        self._imports: dict[str, Import] = {}
        self._conversations: dict[str, ArchivedConversation] = {}
        self._events: dict[str, dict[str, IncomingEvent]] = {}

    async def save(self, import_: Import, events: Sequence[IncomingEvent]) -> SaveResult:
        stored = self._imports.get(import_.id)
        if stored.state == "undoing" if stored else import_.begun:
            raise import_undone(import_.id)
        self._imports[import_.id] = import_
        written = SaveResult()
        refused: dict[str, None] = {}
        for incoming in events:
            name = incoming.event.conversation
            known = self._conversations.get(name)
            if known and known.import_id != import_.id:
                refused[name] = None
                continue
            events_by_id = self._events.setdefault(name, {})
            before, events_by_id[incoming.event.id] = events_by_id.get(incoming.event.id), incoming
            if before is None:
                written = replace(written, new=written.new + 1)
            elif before.digest != incoming.digest:
                written = replace(written, changed=written.changed + 1)
            self._conversations[name] = _updated_conversation(
                import_, known, incoming.event, len(events_by_id)
            )
        return replace(written, refused=tuple(refused))

    async def imports(self) -> tuple[Import, ...]:
        return tuple(sorted(self._imports.values(), key=lambda one: (one.started_at, one.id)))

    async def undo_import(self, import_id: str, limit: int = 1000) -> int:
        deleted = 0
        for name in self._conversation_ids(import_id):
            for event in list(self._events[name])[: limit - deleted]:
                del self._events[name][event]
                deleted += 1
            left = len(self._events[name])
            self._conversations[name] = replace(self._conversations[name], events=left)
        if deleted:
            self._imports[import_id] = replace(self._imports[import_id], state="undoing", cursor="")
            return deleted
        for name in self._conversation_ids(import_id):
            del self._events[name], self._conversations[name]
        self._imports.pop(import_id, None)
        return 0

    async def segment_counts(self, import_id: str) -> dict[str, int]:
        counted: Counter[str] = Counter()
        for name in self._conversation_ids(import_id):
            for incoming in self._events[name].values():
                segments = msgspec.json.decode(incoming.event.segments, type=list[dict[str, Any]])
                counted.update(map(segment_type, segments))
        return dict(counted)

    async def conversations(
        self, *, owner: str | None = None, search: str = "", limit: int = 20, offset: int = 0
    ) -> ConversationPage:
        matching = [
            conversation
            for conversation in reversed(self._conversations.values())
            if owner in (None, conversation.owner)
            and (search.casefold() in conversation.source.casefold() or self._says(conversation.id, search))
        ]
        return ConversationPage(tuple(matching[offset : offset + limit]), len(matching))

    def _says(self, conversation_id: str, search: str) -> bool:
        events = self._events.get(conversation_id, {}).values()
        return any(
            says(msgspec.json.decode(incoming.event.segments), search.casefold()) for incoming in events
        )

    async def conversation(self, conversation_id: str) -> ArchivedConversation | None:
        return self._conversations.get(conversation_id)

    async def events(
        self, conversation_id: str, after: str = "", limit: int = 1000
    ) -> tuple[ArchivedEvent, ...]:
        incoming = self._events.get(conversation_id, {})
        if after and after not in incoming:
            raise Invalid(problems=unknown_event())
        ordered = sorted((one.event for one in incoming.values()), key=_sort_key)
        last = _sort_key(incoming[after].event) if after else None
        return tuple(event for event in ordered if last is None or _sort_key(event) > last)[:limit]

    def _conversation_ids(self, import_id: str) -> list[str]:
        return [one.id for one in self._conversations.values() if one.import_id == import_id]


def _sort_key(event: ArchivedEvent) -> tuple[bytes, bytes]:
    """As SQLite orders text: by its bytes."""
    return event.order_key.encode(), event.id.encode()


def _updated_conversation(
    import_: Import, known: ArchivedConversation | None, event: ArchivedEvent, events: int
) -> ArchivedConversation:
    first, last = (known.first_ts, known.last_ts) if known else (event.ts, event.ts)
    return ArchivedConversation(
        id=event.conversation,
        import_id=import_.id,
        owner=import_.owner,
        source=import_.source,
        events=events,
        first_ts=min(first, event.ts),
        last_ts=max(last, event.ts),
    )
