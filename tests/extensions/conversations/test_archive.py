"""What the archive of imported conversations does, in every store."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from msgspec import Raw
from msgspec.structs import replace

from moot.core.errors import Invalid
from moot.extensions.conversations.archive import Archive, ArchivedEvent, Import, IncomingEvent, SaveResult
from moot.extensions.conversations.tables import CONVERSATIONS
from moot.store.contract import Store

AT = datetime(2026, 3, 1, tzinfo=UTC)
IMPORT = Import("imp_1", "ann", "/old/Events.jsonl", AT, AT)
OTHER = Import("imp_2", "bob", "postgresql://me@db/app#events", AT, AT)


@pytest.fixture
def archive(store: Store) -> Archive:
    return store.tables(CONVERSATIONS)


def event(
    ident: str, key: str = "", conversation: str = "c1", text: str = "Hi", **more: Any
) -> IncomingEvent:
    segments = [{"type": "text", "text": text}, {"type": "tool_call"}, {"kind": "odd"}]
    kept = ArchivedEvent(
        conversation=conversation,
        id=ident,
        order_key=key or ident,
        role="user",
        ts=more.pop("ts", 5),
        segments=Raw(msgspec.json.encode(segments)),
        **more,
    )
    return IncomingEvent(kept, f"{key}{text}".encode())


async def ids(archive: Archive, name: str = "c1", after: str = "", limit: int = 1000) -> list[str]:
    return [one.id for one in await archive.events(name, after, limit)]


async def test_events_come_back_as_they_were_in_the_order_of_their_keys(archive: Archive) -> None:
    rich = event(
        "é\u2028",
        "a1",
        ts=-(2**63),
        created_at="2025-01-01",
        metadata=Raw(b'{"usage":{"total_tokens":1}}'),
        legacy=Raw(b'{"at":0}'),
    )
    plain = event("2", "Z")
    assert await archive.save(IMPORT, [rich, plain, event("3", "a1V")]) == SaveResult(new=3)
    kept = await archive.events("c1")
    assert [one.id for one in kept] == ["2", "é\u2028", "3"], "upper case before lower, as bytes go"
    assert kept[:2] == (plain.event, rich.event)


async def test_pages_go_on_behind_an_event(archive: Archive) -> None:
    await archive.save(IMPORT, [event(str(n), "same" if n < 3 else "z") for n in range(5)])
    assert await ids(archive, limit=2) == ["0", "1"]
    assert await ids(archive, after="1") == ["2", "3", "4"]
    assert await ids(archive, after="4") == []
    assert await ids(archive, "nothing") == []
    for name in ("c1", "nothing"):
        with pytest.raises(Invalid) as refused:
            await archive.events(name, "9")
        assert refused.value.problems == {"after": ["Unknown event"]}


async def test_only_what_is_new_or_has_changed_is_written(archive: Archive) -> None:
    await archive.save(IMPORT, [event("1"), event("2")])
    again: Sequence[IncomingEvent] = [event("1"), event("2", "0", text="Ho", ts=9), event("3", ts=1)]
    assert await archive.save(IMPORT, again) == SaveResult(new=1, changed=1)
    assert await ids(archive) == ["2", "1", "3"], "one has moved"
    assert await archive.save(IMPORT, again) == SaveResult()
    found = await archive.conversation("c1")
    assert found is not None
    assert (found.events, found.first_ts, found.last_ts) == (3, 1, 9)
    assert (found.import_id, found.owner, found.source) == ("imp_1", "ann", IMPORT.source)


async def test_a_batch_and_how_far_the_import_has_come_are_one(archive: Archive) -> None:
    await archive.save(OTHER, [])
    await archive.save(IMPORT, [event("1")])
    later = replace(IMPORT, cursor="1", passes=2, state="done", report=Raw(b'{"rows":1}'))
    await archive.save(later, [])
    assert await archive.imports() == (later, OTHER)
    assert await archive.segment_counts("imp_1") == {"text": 1, "tool_call": 1, "": 1}
    assert await archive.segment_counts("imp_2") == {}


async def test_a_conversation_of_another_import_is_left_alone(archive: Archive) -> None:
    await archive.save(IMPORT, [event("1")])
    theirs = await archive.save(OTHER, [event("1", text="Mine!"), event("2"), event("3", conversation="c2")])
    assert theirs == SaveResult(new=1, refused=("c1",))
    assert await ids(archive) == ["1"]
    assert (await archive.events("c1"))[0] == event("1").event


async def test_taking_back_removes_exactly_what_was_brought(archive: Archive) -> None:
    await archive.save(IMPORT, [event(str(n), conversation=f"c{n % 2}") for n in range(5)])
    await archive.save(OTHER, [event("1", conversation="other")])
    assert await archive.undo_import("imp_1", 3) == 3
    assert [one.state for one in await archive.imports()] == ["undoing", "running"]
    assert sum(one.events for one in (await archive.conversations(owner="ann")).conversations) == 2
    assert [await archive.undo_import("imp_1", 3) for _ in range(2)] == [2, 0]
    assert await archive.imports() == (OTHER,)
    assert [one.id for one in (await archive.conversations()).conversations] == ["other"]
    assert await ids(archive, "c1") == []
    assert await archive.undo_import("imp_1") == 0
    assert await archive.save(IMPORT, [event("1")]) == SaveResult(new=1), "it may come once more"


async def test_what_is_taken_back_is_not_written_any_more(archive: Archive) -> None:
    await archive.save(IMPORT, [event("a"), event("b")])
    under_way = replace(IMPORT, cursor="b")
    await archive.undo_import(IMPORT.id, limit=1)
    for import_ in (IMPORT, under_way):
        with pytest.raises(Invalid, match="is taken back"):
            await archive.save(import_, [event("c")])
    assert [await archive.undo_import(IMPORT.id) for _ in range(2)] == [1, 0]
    with pytest.raises(Invalid, match="is taken back"):
        await archive.save(under_way, [event("c")])
    assert await archive.imports() == ()


async def test_segments_are_tallied_by_their_type(archive: Archive) -> None:
    types = ("text", 5, None, "", "a\0b", ["x"])
    odd = Raw(msgspec.json.encode([{}, *({"type": name} for name in types)]))
    one = event("a")
    await archive.save(IMPORT, [replace(one, event=replace(one.event, segments=odd)), event("b")])
    assert await archive.segment_counts(IMPORT.id) == {"text": 2, "tool_call": 1, "": 6, "a": 1}


async def test_the_shelf_is_in_pages_by_owner_and_source(archive: Archive) -> None:
    await archive.save(IMPORT, [event("1", conversation=f"c{n}") for n in range(3)])
    await archive.save(OTHER, [event("1", conversation="d")])
    shelf = await archive.conversations(limit=2)
    assert ([one.id for one in shelf.conversations], shelf.total) == (["d", "c2"], 4)
    rest = await archive.conversations(limit=2, offset=2)
    assert [one.id for one in rest.conversations] == ["c1", "c0"]
    assert (await archive.conversations(owner="bob")).total == 1
    assert (await archive.conversations(search="EVENTS.JSON")).total == 3
    assert (await archive.conversations(owner="bob", search="jsonl")).total == 0
    assert await archive.conversation("c9") is None


async def test_conversations_are_found_by_what_is_said_in_them(archive: Archive) -> None:
    thought = Raw(msgspec.json.encode([{"type": "reasoning", "parts": [{"text": 'A "Größe" \n of it'}]}]))
    one = event("1", conversation="c1", text="Zoos are fine")
    other = event("1", conversation="c2")
    await archive.save(IMPORT, [one, replace(other, event=replace(other.event, segments=thought))])
    await archive.save(OTHER, [event("1", conversation="d", text="no zoo here")])

    async def found(search: str, owner: str | None = None) -> list[str]:
        page = await archive.conversations(search=search, owner=owner)
        assert page.total == len(page.conversations)
        return [conversation.id for conversation in page.conversations]

    assert await found("ZOO") == ["d", "c1"]
    assert await found("zoo", owner="bob") == ["d"]
    assert await found('"GRÖSSE" \n') == ["c2"]
    assert await found("reasoning") == await found("parts") == []
