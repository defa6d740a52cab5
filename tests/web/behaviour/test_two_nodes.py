"""Two servers that share a log and a Redis: what one has given out, the other does not give again."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Collection
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from msgspec.structs import replace
from websockets.asyncio.client import connect

from moot.api import auth
from moot.cluster import redis_client
from moot.providers.keys import Secret
from moot.providers.scripted import SayCue, ScriptedProvider, StallCue
from moot.settings import ClusterSettings, ServerSettings
from moot.store.contract import StoredInvitation
from moot.store.memory import MemoryStore
from moot.web.streaming import sse_streams
from tests.support.redis import Redis, redis  # noqa: F401 - a fixture
from tests.web.routes.served import UNLIMITED, Served, body, serving
from tests.web.routes.test_debate_routes import problem
from tests.web.streaming.test_websocket import answer, talking

Two = tuple[Served, Served]

TOKEN = {"Authorization": "Bearer operator-token-0123456789"}
V1_STREAMS = tuple(f"/api/v1/debates/{{}}/{kind}" for kind in ("stream", "events/stream", "view/stream"))
GUARDED = replace(UNLIMITED, token=Secret(TOKEN["Authorization"].removeprefix("Bearer ")))


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where tests fill the machine, a Redis may take its time and is there all the same."""
    monkeypatch.setattr(redis_client, "TICKS", 300)


@asynccontextmanager
async def nodes(
    data: Path,
    redis: Redis,  # noqa: F811 - the fixture
    service: ServerSettings = UNLIMITED,
    provider: ScriptedProvider | None = None,
) -> AsyncGenerator[Two]:
    store, cluster = MemoryStore(), ClusterSettings(bus=Secret(redis.url))
    provider = provider or ScriptedProvider(lambda _: [SayCue("Well, "), StallCue()])
    async with (
        serving(data, service, store=store, cluster=cluster, provider=provider) as one,
        serving(data, service, store=store, cluster=cluster, provider=provider) as other,
    ):
        yield one, other


def statuses(replies: list[httpx.Response]) -> Counter[int]:
    return Counter(reply.status_code for reply in replies)


async def test_the_limit_is_one_limit_however_many_servers(tmp_path: Path, redis: Redis) -> None:  # noqa: F811
    async with nodes(tmp_path, redis, replace(UNLIMITED, requests_per_minute=100)) as two:

        async def ask(number: int) -> httpx.Response:
            return await two[number % 2].http.get("/api/v1/debates")

        replies = [await ask(number) for number in range(60)]
        replies += await asyncio.gather(*(ask(number) for number in range(300)))
        replies += [await ask(number) for number in range(40)]
    assert statuses(replies) == {200: 100, 429: 300}
    left = [int(reply.headers["x-ratelimit-remaining"]) for reply in replies]
    assert left[:60] == [*range(99, 39, -1)]
    assert sorted(left[60:], reverse=True) == [*range(39, -1, -1), *[0] * 300]
    assert left[360:] == [0] * 40
    ends = {int(reply.headers["x-ratelimit-reset"]) for reply in replies}
    assert max(ends) - min(ends) <= 1


async def test_commands_over_sockets_count_at_all_servers(tmp_path: Path, redis: Redis) -> None:  # noqa: F811
    async with nodes(tmp_path, redis, replace(UNLIMITED, requests_per_minute=20)) as two:
        debate_id = await two[0].open()
        async with talking(two[0], debate_id) as here, talking(two[1], debate_id) as there:
            remark = {"type": "INJECT_CONTEXT", "data": {"additionalContext": "Mind the cost."}}
            frames = [await answer((here, there)[number % 2], remark) for number in range(30)]
    # The opening and the two handshakes are counted as well.
    assert [frame["event"] for frame in frames] == ["ack"] * 17 + ["error"] * 13


async def test_without_redis_each_server_holds_the_limit(tmp_path: Path, redis: Redis) -> None:  # noqa: F811
    async with nodes(tmp_path, redis, replace(UNLIMITED, requests_per_minute=30)) as two:
        replies = [await house.http.get("/api/v1/debates") for _ in range(10) for house in two]
        redis.kill()
        replies += await asyncio.gather(*(h.http.get("/api/v1/debates") for _ in range(50) for h in two))
    told = statuses(replies)
    assert told.keys() == {200, 429}
    assert 30 <= told[200] <= 60


async def test_the_last_place_is_given_once_and_is_free_when_its_debate_is_over(
    tmp_path: Path,
    redis: Redis,  # noqa: F811 - the fixture
) -> None:
    async with nodes(tmp_path, redis, replace(UNLIMITED, debates_per_client=3)) as two:
        tries = [house.http.post("/api/v1/debates", json=body()) for _ in range(8) for house in two]
        replies = await asyncio.gather(*tries)
        assert statuses(replies) == {201: 3, 429: 13}
        opened = next(reply.json()["id"] for reply in replies if reply.status_code == 201)
        assert (await two[1].post(opened, "stop", {})).status_code == 200
        replies = [await house.http.post("/api/v1/debates", json=body()) for house in two]
        assert [reply.status_code for reply in replies] == [201, 429]


async def test_streams_are_counted_at_all_servers(tmp_path: Path, redis: Redis) -> None:  # noqa: F811
    async with nodes(tmp_path, redis, replace(UNLIMITED, streams_per_client=1)) as (one, other):
        debate_id = await one.open()
        path = f"/api/v1/debates/{debate_id}/stream"
        async with one.http.stream("GET", path) as open_one:
            assert open_one.status_code == 200
            pieces = open_one.aiter_bytes()
            await anext(pieces)
            problem(await other.http.get(path), 429, "rate-limit")
        status = 429
        while status == 429:
            async with other.http.stream("GET", path) as reply:
                status = reply.status_code
        assert status == 200


async def test_an_open_stream_keeps_its_place(
    tmp_path: Path,
    redis: Redis,  # noqa: F811 - the fixture
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sse_streams, "TICK_SECONDS", 0.02)
    monkeypatch.setattr(sse_streams, "RENEW_SECONDS", 0.05)
    async with nodes(tmp_path, redis, replace(UNLIMITED, streams_per_client=1)) as (one, _):
        path = f"/api/v1/debates/{await one.open()}/stream"
        async with one.http.stream("GET", path) as reply:
            assert reply.status_code == 200
            room = redis.ask("KEYS", "moot:room:*").split(b"\r\n")[2].decode()
            until = redis.ask("ZRANGE", room, "0", "-1", "WITHSCORES")
            while redis.ask("ZRANGE", room, "0", "-1", "WITHSCORES") == until:  # noqa: ASYNC110 - no event
                await asyncio.sleep(0.01)


async def test_what_is_revoked_at_one_server_ends_every_stream_at_all_of_them(
    tmp_path: Path,
    redis: Redis,  # noqa: F811 - the fixture
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    await check_revoked(tmp_path, redis, monkeypatch, *V1_STREAMS)


async def check_revoked(
    folder: Path,
    redis: Redis,  # noqa: F811 - the fixture
    monkeypatch: pytest.MonkeyPatch,
    *streams: str,
) -> None:
    """The streams at these paths end at both servers when the token that reads them is revoked at one."""
    looks = 0
    looking = MemoryStore.invited

    async def counted(store: MemoryStore, digests: Collection[str]) -> tuple[StoredInvitation, ...]:
        nonlocal looks
        looks += 1
        return await looking(store, digests)

    monkeypatch.setattr(MemoryStore, "invited", counted)
    async with nodes(folder, redis, GUARDED) as (one, other):
        reply = await one.http.post("/api/v1/debates", json=body(), headers=TOKEN)
        debate_id = reply.json()["id"]
        path = f"/api/v1/debates/{debate_id}"
        shape = {"name": "zoe", "role": "viewer", "owner": ""}
        tokens = [
            (await one.http.post(where, json=shape, headers=TOKEN)).json()["token"]
            for where, shape in (
                (f"{path}/invitations", {"role": "observer", "name": "zoe"}),
                ("/api/v1/tokens", shape),
            )
        ]
        async with AsyncExitStack() as stack:
            ending: list[asyncio.Task[Any]] = []
            for house in (one, other):
                for token in tokens:
                    headers = {"Authorization": f"Bearer {token}"}
                    for stream in streams:
                        told = await stack.enter_async_context(
                            house.http.stream("GET", stream.format(debate_id), headers=headers)
                        )
                        assert told.status_code == 200, (stream, told.status_code)
                        ending.append(asyncio.create_task(told.aread()))
                    url = f"{house.url.replace('http', 'ws', 1)}{path}/ws"
                    socket = await stack.enter_async_context(connect(url, additional_headers=headers))
                    ending.append(asyncio.create_task(socket.wait_closed()))
            assert not any(task.done() for task in ending)
            assert (await one.http.delete(f"{path}/invitations/zoe", headers=TOKEN)).status_code == 204
            assert (await one.http.delete("/api/v1/tokens/zoe", headers=TOKEN)).status_code == 204
            before = looks
            async with asyncio.timeout(60):
                await asyncio.gather(*ending)
        # Each server has looked once or twice, for all of them at once, and looks twice a second.
        assert looks - before <= 6
        assert max(sse_streams.REVIEW_SECONDS, auth.CACHE_SECONDS) <= 0.5


async def test_a_ticket_of_one_server_opens_a_stream_of_another(tmp_path: Path, redis: Redis) -> None:  # noqa: F811
    async with nodes(tmp_path, redis, GUARDED) as (one, other):
        reply = await one.http.post("/api/v1/debates", json=body(), headers=TOKEN)
        issued = await one.post(reply.json()["id"], "tickets", headers=TOKEN)
        seen: list[int] = []
        for _ in range(2):
            async with other.http.stream("GET", issued.json()["streamUrl"]) as stream:
                seen.append(stream.status_code)
    assert seen == [200, 401]


async def test_a_request_that_is_repeated_elsewhere_is_carried_out_once(
    tmp_path: Path,
    redis: Redis,  # noqa: F811 - the fixture
) -> None:
    key = {"Idempotency-Key": "one and the same"}
    async with nodes(tmp_path, redis) as two:
        asked = [h.http.post("/api/v1/debates", json=body(), headers=key) for _ in range(4) for h in two]
        replies = await asyncio.gather(*asked)
        assert statuses(replies).keys() <= {201, 409}
        for reply in replies:
            if reply.status_code == 409:
                problem(reply, 409, "idempotency-in-flight")
        again = await two[1].http.post("/api/v1/debates", json=body(), headers=key)
        assert again.headers["idempotent-replayed"] == "true"
        assert len({reply.json()["id"] for reply in [*replies, again] if reply.status_code == 201}) == 1
        assert (await two[0].http.get("/api/v1/debates")).json()["pagination"]["total"] == 1


async def test_a_secret_is_told_again_at_another_server_and_lies_nowhere(
    tmp_path: Path,
    redis: Redis,  # noqa: F811 - the fixture
) -> None:
    asking = {**TOKEN, "Idempotency-Key": "an invitation"}
    async with nodes(tmp_path, redis, GUARDED) as (one, other):
        debate_id = (await one.http.post("/api/v1/debates", json=body(), headers=TOKEN)).json()["id"]
        told = await one.post(debate_id, "invitations", {"role": "observer"}, headers=asking)
        assert told.status_code == 201
        for node in (one, other):
            replay = await node.post(debate_id, "invitations", {"role": "observer"}, headers=asking)
            assert replay.headers["idempotent-replayed"] == "true"
            assert replay.json() == told.json()
        problem(
            await other.post(debate_id, "invitations", {"role": "judge"}, headers=asking),
            422,
            "idempotency-mismatch",
        )
        found = await other.http.get(f"/api/v1/debates/{debate_id}/invitations", headers=TOKEN)
        assert len(found.json()["invitations"]) == 1
        assert told.json()["token"].encode() not in everything(redis)


async def test_a_secret_that_nothing_could_seal_is_told_again_only_where_it_was_made(
    tmp_path: Path,
    redis: Redis,  # noqa: F811 - the fixture
) -> None:
    asking = {"Authorization": "Bearer of-nothing", "Idempotency-Key": "1"}
    async with nodes(tmp_path, redis) as (one, other):
        debate_id = await one.open()
        told = await one.post(debate_id, "invitations", {"role": "observer"}, headers=asking)
        again = await one.post(debate_id, "invitations", {"role": "observer"}, headers=asking)
        assert again.json() == told.json()
        elsewhere = await other.post(debate_id, "invitations", {"role": "observer"}, headers=asking)
        problem(elsewhere, 409, "conflict")
        assert len((await other.get(debate_id, "invitations")).json()["invitations"]) == 1


def everything(redis: Redis) -> bytes:  # noqa: F811 - the fixture
    keys = redis.ask("KEYS", "*").decode().split("\r\n")[2:-1:2]
    return b"\n".join(key.encode() + redis.ask("DUMP", key) for key in keys)


@pytest.mark.parametrize("path", ["/api/v1/debates", "/api/v1/estimate"])
async def test_where_others_run_the_debates_no_key_can_be_lent(tmp_path: Path, path: str) -> None:
    await check_no_key_can_be_lent(tmp_path, path, body())


async def check_no_key_can_be_lent(folder: Path, path: str, shape: dict[str, Any]) -> None:
    cluster = ClusterSettings(store=Secret("postgresql://nobody@localhost/none"))
    async with serving(folder, cluster=cluster) as house:
        key = {"X-Provider-Key-openai": "sk-lent-0123456789abcdefghijklmnop"}
        errors = problem(await house.http.post(path, json=shape, headers=key), 422, "validation")["errors"]
        assert errors == {
            "X-Provider-Key": ["Keys cannot be lent on this server: its debates run on other machines"]
        }


async def test_where_no_key_can_be_lent_none_is_asked_for(tmp_path: Path) -> None:
    elsewhere = ClusterSettings(store=Secret("postgresql://nobody@localhost/none"))
    for cluster, offered in ((ClusterSettings(), True), (elsewhere, False)):
        async with serving(tmp_path, cluster=cluster) as house:
            reply = await house.http.get("/openapi.json")
            assert reply.status_code == 200
            assert ("X-Provider-Key-" in reply.text) is offered
