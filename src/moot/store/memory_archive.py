"""The archive that keeps nothing: the twin of the one in the file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from moot.core.errors import Invalid
from moot.store.archive import (
    ArchivedConversation,
    ArchivedEvent,
    ConversationPage,
    Import,
    IncomingEvent,
    SaveResult,
    import_undone,
    segment_type,
    unknown_event,
)


class MemoryArchive:
    def __init__(self) -> None:
        self._imports: dict[str, Import] = {}
        self._conversations: dict[str, ArchivedConversation] = {}
        self._events: dict[str, dict[str, IncomingEvent]] = {}

    async def save(self, import_: Import, events: Sequence[IncomingEvent]) -> SaveResult:
        there = self._imports.get(import_.id)
        if there.state == "undoing" if there else import_.begun:
            raise import_undone(import_.id)
        self._imports[import_.id] = import_
        written = SaveResult()
        refused: dict[str, None] = {}
        for brought in events:
            name = brought.event.conversation
            known = self._conversations.get(name)
            if known and known.import_id != import_.id:
                refused[name] = None
                continue
            kept = self._events.setdefault(name, {})
            before, kept[brought.event.id] = kept.get(brought.event.id), brought
            if before is None:
                written = replace(written, new=written.new + 1)
            elif before.digest != brought.digest:
                written = replace(written, changed=written.changed + 1)
            self._conversations[name] = _updated_conversation(import_, known, brought.event, len(kept))
        return replace(written, refused=tuple(refused))

    async def imports(self) -> tuple[Import, ...]:
        return tuple(sorted(self._imports.values(), key=lambda one: (one.started_at, one.id)))

    async def undo_import(self, import_id: str, limit: int = 1000) -> int:
        gone = 0
        for name in self._conversation_ids(import_id):
            for event in list(self._events[name])[: limit - gone]:
                del self._events[name][event]
                gone += 1
            left = len(self._events[name])
            self._conversations[name] = replace(self._conversations[name], events=left)
        if gone:
            self._imports[import_id] = replace(self._imports[import_id], state="undoing", cursor="")
            return gone
        for name in self._conversation_ids(import_id):
            del self._events[name], self._conversations[name]
        self._imports.pop(import_id, None)
        return 0

    async def segment_counts(self, import_id: str) -> dict[str, int]:
        counted: Counter[str] = Counter()
        for name in self._conversation_ids(import_id):
            for brought in self._events[name].values():
                segments = msgspec.json.decode(brought.event.segments, type=list[dict[str, Any]])
                counted.update(map(segment_type, segments))
        return dict(counted)

    async def conversations(
        self, *, owner: str | None = None, search: str = "", limit: int = 20, offset: int = 0
    ) -> ConversationPage:
        found = [
            conversation
            for conversation in reversed(self._conversations.values())
            if owner in (None, conversation.owner) and search.casefold() in conversation.source.casefold()
        ]
        return ConversationPage(tuple(found[offset : offset + limit]), len(found))

    async def conversation(self, conversation_id: str) -> ArchivedConversation | None:
        return self._conversations.get(conversation_id)

    async def events(
        self, conversation_id: str, after: str = "", limit: int = 1000
    ) -> tuple[ArchivedEvent, ...]:
        brought = self._events.get(conversation_id, {})
        if after and after not in brought:
            raise Invalid(problems=unknown_event())
        kept = sorted((one.event for one in brought.values()), key=_sort_key)
        last = _sort_key(brought[after].event) if after else None
        return tuple(event for event in kept if last is None or _sort_key(event) > last)[:limit]

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
