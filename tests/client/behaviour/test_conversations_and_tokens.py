"""What a server is asked beside its debates: conversations, the view, what works, tokens."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from itertools import islice

import pytest

from moot.client import ApiError, AsyncClient, Client, DebateConfig, DebaterConfig
from moot.extensions.conversations.importing import import_rows
from moot.extensions.conversations.tables import CONVERSATIONS
from moot.row_io.readers import parse_location
from moot.store.sqlite.store import SqliteStore
from tests.client.serving import Served, served
from tests.support.old_rows import EACH, in_lines, rows

MODEL, WORD, ODD = "scripted/demo", "operators-own-token", "team/7"
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


@pytest.fixture
def client(server: Served) -> Generator[Client]:
    with Client(server.url, token=WORD) as made:
        yield made


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


def test_a_debate_is_a_conversation_and_a_view(client: Client) -> None:
    two = (DebaterConfig("Ada", MODEL, "for"), DebaterConfig("Bob", MODEL, "against"))
    debate = client.create(
        "Cats are better", participants=two, judge=MODEL, config=DebateConfig(max_rounds=1)
    )
    assert list(client.stream(debate.id))[-1].name == "complete"
    assert [event["kind"] for event in client.read(debate.id)] == ["motion", "speech", "speech"]
    assert client.setup(debate.id)["topic"] == "Cats are better"
    shown = client.view(debate.id)
    assert shown["view"]["about"]["motion"] == "Cats are better"
    changes = list(islice(client.view_changes(debate.id), 3))
    assert changes[0]["seq"] == 1
    (last,) = islice(client.view_changes(debate.id, after=shown["seq"] - 1), 1)
    assert last["seq"] == shown["seq"]


def test_what_works_is_told(client: Client) -> None:
    assert {"openai", "scripted"} <= {one["name"] for one in client.providers()["providers"]}
    models = client.installs()
    assert {model.state for model in models} == {"absent"}
    client.stop_install(models[0].name)
    with pytest.raises(ApiError, match="no such model"):
        client.install("nothing-such")


def test_tokens_are_made_used_and_revoked(client: Client, server: Served) -> None:
    made = client.new_token("zoe", "moderator", owner="ann", days=1)
    assert (made.role, made.owner, made.expires_at is not None) == ("moderator", "ann", True)
    with Client(server.url, token=made.token) as zoe:
        assert zoe.list().debates == ()
        with pytest.raises(ApiError, match="operator"):
            zoe.tokens()
        assert [(one.name, one.token) for one in client.tokens()] == [("zoe", "")]
        client.revoke_token("zoe")
        with pytest.raises(ApiError) as refused:
            zoe.list()
    assert refused.value.status == 401
