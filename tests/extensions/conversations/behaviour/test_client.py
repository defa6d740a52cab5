"""Conversations of a server, read with the client."""

from __future__ import annotations

import asyncio
from collections.abc import Generator

import pytest

from moot.client import AsyncClient, Client
from moot.extensions.conversations.importing import import_rows
from moot.extensions.conversations.tables import CONVERSATIONS
from moot.row_io.readers import parse_location
from moot.store.sqlite.store import SqliteStore
from tests.client.behaviour.test_view_and_tokens import WORD, client, held
from tests.client.serving import Served, served
from tests.support.old_rows import EACH, in_lines, rows

__all__ = ["client"]

ODD = "team/7"
OLD = [{**row, "conversation_id": ODD} if n < EACH else row for n, row in enumerate(rows(60))]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[Served]:
    folder = tmp_path_factory.mktemp("served")

    async def fill() -> None:
        store = SqliteStore.open(folder / "moot.db")
        await import_rows(
            store.tables(CONVERSATIONS), parse_location(str(in_lines(folder / "old.jsonl", OLD)))
        )
        await store.close()

    asyncio.run(fill())
    with served(folder, MOOT_TOKEN=WORD) as running:
        yield running


def test_imported_conversations_are_listed_and_read(client: Client) -> None:
    page = client.conversations(limit=2)
    assert (page.total, len(page.conversations), page.has_more) == (3, 2, True)
    assert client.conversations(search="elsewhere").total == 0
    found = client.conversation(ODD)
    assert (found.kind, found.events, found.id) == ("imported", EACH, ODD)
    first = client.conversation_events(ODD, limit=10)
    assert (len(first.events), first.has_more) == (10, True)
    rest = client.conversation_events(ODD, after=first.next or "", types=["tool_call", "reasoning"])
    assert {s["type"] for event in rest.events for s in event["segments"]} == {"tool_call", "reasoning"}
    assert list(client.read(ODD, shape="legacy")) == OLD[:EACH]


async def test_a_conversation_is_read_to_its_end_page_after_page(
    server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("moot.client.async_client.MAX_PAGE", 7)
    async with AsyncClient(server.url, token=WORD) as client:
        assert [event["id"] async for event in client.read(ODD)] == [row["id"] for row in OLD[:EACH]]
        thoughts = [event["id"] async for event in client.read(ODD, types=["reasoning"])]
    assert thoughts == [row["id"] for row in OLD[:EACH] if row["reasoning"]]


def test_a_debate_is_a_conversation(client: Client) -> None:
    assert [event["kind"] for event in client.read(held(client).id)] == ["motion", "speech", "speech"]
