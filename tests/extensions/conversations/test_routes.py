"""Conversations over HTTP: debates with unified segments, live and after a kill, and what was imported."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import AsyncGenerator, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import msgspec
import pytest
import pytest_asyncio

from moot.core.terms import Request
from moot.extensions.conversations.importing import import_rows, undo_import
from moot.extensions.conversations.tables import CONVERSATIONS
from moot.providers.keys import Secret
from moot.providers.scripted import Cue, SayCue, ScriptedProvider, StallCue, ThinkCue, improvise
from moot.row_io.readers import parse_location
from moot.settings import ServerSettings
from moot.store.contract import AccessToken
from tests.client import serving as process
from tests.support.old_rows import EACH, in_lines, rows
from tests.web.routes.debates_with_people import invited
from tests.web.routes.served import BODY, NO_TLS, Served, serving

pytestmark = pytest.mark.asyncio(loop_scope="module")

Shape = dict[str, Any]
GUARDED = ServerSettings(
    requests_per_minute=None, debates_per_client=None, token=Secret("operators-own-token")
)
OLD = rows(60)
CLIENT = Path(__file__).parent / "segments.mjs"


async def events(house: Served, name: str, query: str = "", **headers: str) -> Shape:
    reply = await house.http.get(f"/api/v1/conversations/{name}/events{query}", headers=headers)
    assert reply.status_code == 200, reply.text
    return reply.json()


async def until(house: Served, name: str, fits: Callable[[list[Shape]], bool]) -> list[Shape]:
    async with asyncio.timeout(60):
        while True:
            told = (await events(house, name))["events"]
            if fits(told):
                return told
            await asyncio.sleep(0.01)


def types(event: Shape) -> list[str]:
    return [segment["type"] for segment in event["segments"]]


def thinking(request: Request) -> list[Cue]:
    """The second speech never comes to its end."""
    if request.schema:
        return list(improvise(request))
    speech: list[Cue] = [ThinkCue("First the risk."), SayCue("Rules that are clear cost less. " * 3)]
    return [*speech, StallCue()] if request.model.name == "b" else speech


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Served]:
    folder = tmp_path_factory.mktemp("house")
    async with serving(folder, provider=ScriptedProvider(thinking)) as served:
        lines = in_lines(folder / "old.jsonl", OLD)
        await import_rows(served.arena.store.tables(CONVERSATIONS), parse_location(str(lines)))
        yield served


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stuck(house: Served) -> str:
    """A debate whose second speech is under way."""
    name = await house.open(maxRounds=2)
    await until(house, name, lambda told: told[-1].get("turn") == 2)
    await house.post(name, "inject", {"text": "Mind the cost."})
    await until(house, name, lambda told: types(told[2])[:2] == ["reasoning", "text"])
    return name


# --- debates --------------------------------------------------------------------------------------------


async def test_a_debate_is_a_conversation(house: Served, stuck: str) -> None:
    page = await events(house, stuck)
    assert [(event["role"], event["kind"]) for event in page["events"]] == [
        ("system", "motion"),
        ("assistant", "speech"),
        ("assistant", "speech"),
        ("user", "remark"),
    ]
    motion, first, second, _ = page["events"]
    assert motion["segments"] == [{"type": "text", "text": BODY["topic"]}]
    assert types(first) == ["reasoning", "text"]
    assert first["name"] == "Pro"
    assert first["response_metadata"]["completion_status"] == "complete"
    usage = first["response_metadata"]["usage"]
    assert usage["total_tokens"] == usage["input_tokens"] + usage["completion_tokens"]
    assert types(second) == ["reasoning", "text", "completion_status"]
    assert second["live"] is True
    assert second["response_metadata"]["completion_status"] == "partial"
    look = (await house.http.get(f"/api/v1/conversations/{stuck}")).json()
    assert (look["kind"], look["title"], look["events"]) == ("debate", BODY["topic"], 4)


async def test_pages_follow_one_another_and_wait_for_the_speech_under_way(house: Served, stuck: str) -> None:
    first = await events(house, stuck, "?limit=1")
    assert (len(first["events"]), first["next"], first["hasMore"]) == (1, f"{stuck}.1", True)
    rest = await events(house, stuck, f"?after={first['next']}")
    assert [event.get("turn") for event in rest["events"]] == [1, 2, None]
    assert (rest["next"], rest["hasMore"]) == (rest["events"][0]["id"], False)
    again = await events(house, stuck, f"?after={rest['next']}")
    assert [event.get("turn") for event in again["events"]] == [2, None]


async def test_segments_are_filtered_by_type(house: Served, stuck: str) -> None:
    page = await events(house, stuck, "?type=reasoning,tool_call")
    assert [types(event) for event in page["events"]] == [["reasoning"], ["reasoning"]]
    assert (await events(house, stuck, "?type=hologram"))["events"] == []


async def test_the_older_shape_has_thoughts_beside_the_segments(house: Served, stuck: str) -> None:
    page = await events(house, stuck, "?shape=legacy")
    motion, first, second, _ = page["events"]
    assert motion["reasoning"] is None
    assert types(first) == ["text"]
    assert types(second) == ["text"]
    assert first["reasoning"]["parts"]["0"]["text"] == first["reasoning"]["combined_text"]
    assert "response_metadata" not in first
    only = await events(house, stuck, "?shape=legacy&type=reasoning")
    assert [(event["turn"], event["segments"]) for event in only["events"]] == [(1, []), (2, [])]


async def test_a_speech_that_was_cut_says_by_what(house: Served) -> None:
    name = await house.open(maxRounds=1)
    await house.until(name, lambda status: any(one["turn"] == 2 for one in status["speaking"]))
    await house.post(name, "skip")
    speech = (await until(house, name, lambda told: "live" not in told[2]))[2]
    assert speech["response_metadata"]["completion_status"] == "interrupted"
    assert speech["segments"][-1]["metadata"] == {"interrupted_by": "skip"}


async def test_who_may_not_read_thoughts_sees_none(house: Served, stuck: str) -> None:
    seat = (await house.get(stuck, "status")).json()["participants"][0]["id"]
    headers = await invited(house, stuck, "participant", seat=seat, name="Zoe")
    told = await events(house, stuck, **headers)
    assert all("reasoning" not in types(event) for event in told["events"])
    as_them = await events(house, stuck, f"?as={seat}")
    assert as_them["events"] == told["events"]
    for path in ("", f"/{OLD[0]['conversation_id']}", f"/{OLD[0]['conversation_id']}/events"):
        reply = await house.http.get(f"/api/v1/conversations{path}", headers=headers)
        assert reply.status_code == (404 if path else 403)


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("?after=deb_x.9", "after"),
        ("?after=a&after=b", "after"),
        ("?limit=0", "limit"),
        ("?limit=1001", "limit"),
        ("?limit=five", "limit"),
        ("?shape=old", "shape"),
        ("?type=", "type"),
        ("?type=Text", "type"),
        ("?type=text,,x", "type"),
        ("?as=part_x", "as"),
        ("?colour=red", "colour"),
    ],
)
async def test_a_query_that_is_wrong_is_told(house: Served, stuck: str, query: str, field: str) -> None:
    for name in (stuck, OLD[0]["conversation_id"]):
        reply = await house.http.get(f"/api/v1/conversations/{name}/events{query}")
        assert reply.status_code == 422, reply.text
        assert list(reply.json()["errors"]) == [field]


async def test_conversations_are_not_written(house: Served, stuck: str) -> None:
    for name in (stuck, OLD[0]["conversation_id"]):
        for method in ("POST", "PUT", "DELETE"):
            reply = await house.http.request(method, f"/api/v1/conversations/{name}/events", json={})
            assert (reply.status_code, reply.headers["allow"]) == (405, "GET, HEAD")


async def test_a_client_of_the_document_shows_the_same_from_either_shape(house: Served, stuck: str) -> None:
    names = (stuck, OLD[0]["conversation_id"])
    client = await asyncio.create_subprocess_exec(
        "node", str(CLIENT), house.url, *names, stdout=asyncio.subprocess.PIPE
    )
    told, _ = await client.communicate()
    assert client.returncode == 0
    debate, imported = msgspec.json.decode(told)
    assert debate["partial"] == 1
    for shown in (debate, imported):
        assert [sorted(event) for event in shown["unified"]] == [sorted(event) for event in shown["legacy"]]
    assert sum(line.startswith("(") for event in debate["unified"] for line in event) == 2
    thoughts = sum(len(row["reasoning"]["parts"]) for row in OLD[:EACH] if row["reasoning"])
    assert sum(line.startswith("(") for event in imported["unified"] for line in event) == thoughts


# --- what was imported ------------------------------------------------------------------------------------


async def test_imported_conversations_are_listed_apart(house: Served, stuck: str) -> None:
    page = (await house.http.get("/api/v1/conversations?limit=2")).json()
    assert (page["total"], page["hasMore"], len(page["conversations"])) == (3, True, 2)
    assert {one["kind"] for one in page["conversations"]} == {"imported"}
    assert page["conversations"][0]["source"].endswith("old.jsonl")
    assert (await house.http.get("/api/v1/conversations?search=OLD.json")).json()["total"] == 3
    assert (await house.http.get("/api/v1/conversations?search=elsewhere")).json()["total"] == 0
    listed = (await house.http.get("/api/v1/debates")).json()
    assert stuck in [one["id"] for one in listed["debates"]]
    assert all(one["id"].startswith("deb_") for one in listed["debates"])


async def test_an_imported_conversation_is_read_in_its_order_page_by_page(house: Served) -> None:
    name = OLD[0]["conversation_id"]
    told: list[Shape] = []
    after = ""
    while page := (await events(house, name, f"?limit=10&after={after}")):
        told += page["events"]
        after = page["next"]
        if not page["hasMore"]:
            break
    assert [event["order_key"] for event in told] == sorted(row["order_key"] for row in OLD[:EACH])
    thoughts = [row["id"] for row in OLD[:EACH] if row["reasoning"]]
    assert [event["id"] for event in told if "reasoning" in types(event)] == thoughts
    found = await events(house, name, "?type=reasoning&limit=1000")
    assert [event["id"] for event in found["events"]] == thoughts


async def test_an_imported_conversation_in_the_older_shape_is_what_it_was(house: Served) -> None:
    page = await events(house, OLD[0]["conversation_id"], "?shape=legacy&limit=1000")
    assert page["events"] == OLD[:EACH]


@pytest.mark.parametrize("name", ["team/7", "/a//b/", "a/events", "who? me & you #1 %2F", "ü;x=1"])
async def test_an_id_may_have_any_character_in_it(house: Served, tmp_path: Path, name: str) -> None:
    given = [{**row, "conversation_id": name} for row in rows(2, seed=9)]
    archive = house.arena.store.tables(CONVERSATIONS)
    outcome = await import_rows(archive, parse_location(str(in_lines(tmp_path / "odd.jsonl", given))))
    page = await events(house, quote(name, safe=""))
    assert (page["conversationId"], len(page["events"])) == (name, 2)
    look = await house.http.get(f"/api/v1/conversations/{quote(name, safe='')}")
    assert look.json()["id"] == name
    await undo_import(archive, outcome.import_.id)


async def test_with_tokens_an_import_is_for_its_owner_and_the_operator(tmp_path: Path) -> None:
    async with serving(tmp_path, GUARDED) as house:
        for name, role in (("ann", "owner"), ("ann", "viewer"), ("bob", "owner")):
            word = f"{name}-{role}-token"
            digest = hashlib.sha256(word.encode()).hexdigest()
            token = AccessToken(f"{name}-{role}", digest, role, name, datetime.now(UTC))
            await house.arena.store.save_token(token)
        await import_rows(
            house.arena.store.tables(CONVERSATIONS),
            parse_location(str(in_lines(tmp_path / "a.jsonl", rows(3)))),
            owner="ann",
        )
        one = f"/api/v1/conversations/{rows(3)[0]['conversation_id']}"

        async def ask(path: str, word: str) -> httpx.Response:
            return await house.http.get(path, headers={"Authorization": f"Bearer {word}"})

        sources = [
            (await ask("/api/v1/conversations", word)).json()["conversations"][0]["source"]
            for word in ("operators-own-token", "ann-owner-token")
        ]
        assert sources == [str(tmp_path / "a.jsonl"), "a.jsonl"]
        assert (await ask("/api/v1/conversations?search=a", "ann-owner-token")).status_code == 403
        assert (await ask("/api/v1/conversations?search=a", "operators-own-token")).json()["total"] == 1
        for word in ("operators-own-token", "ann-owner-token"):
            assert (await ask("/api/v1/conversations", word)).json()["total"] == 1
            assert (await ask(f"{one}/events", word)).status_code == 200
        assert (await ask("/api/v1/conversations", "bob-owner-token")).json()["total"] == 0
        assert (await ask("/api/v1/conversations", "ann-viewer-token")).status_code == 403
        for word in ("bob-owner-token", "ann-viewer-token"):
            assert (await ask(one, word)).status_code == 404
            assert (await ask(f"{one}/events", word)).json()["detail"] == "There is no such conversation"


# --- after a kill -----------------------------------------------------------------------------------------


async def test_what_was_told_of_a_speech_is_there_after_a_kill(tmp_path: Path) -> None:
    told, again = await asyncio.to_thread(_before_and_after_a_kill, tmp_path)
    assert again["id"] == told["id"]
    assert types(again) == ["reasoning", "text", "completion_status"]
    assert again["segments"][0] == told["segments"][0]
    assert again["segments"][1]["text"].startswith(told["segments"][1]["text"])
    assert again["response_metadata"]["completion_status"] == "interrupted"
    assert again["segments"][2]["metadata"] == {"interrupted_by": "crash"}


def _before_and_after_a_kill(folder: Path) -> tuple[Shape, Shape]:
    """The first speech, as it was last seen before the server was killed, and when it is back."""

    def read(name: str) -> list[Shape]:
        return httpx.get(f"{server.url}/api/v1/conversations/{name}/events", verify=NO_TLS).json()["events"]

    with process.served(folder, pace_ms=15) as server:
        name = httpx.post(f"{server.url}/api/v1/debates", json=BODY, verify=NO_TLS).json()["id"]
        while "text" not in types((told := read(name))[-1]) or len(told) < 2:
            time.sleep(0.02)
        server.kill()
        server.start()
        # The next runner finds it and says so; until then it stands there as it was.
        while "live" in (again := read(name)[1]):
            time.sleep(0.02)
        return told[1], again
