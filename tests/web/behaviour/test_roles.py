"""Who may see and do what: tokens and their roles, tickets, owners, secrets."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from copy import deepcopy
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
import pytest_asyncio
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from moot.api import auth
from moot.core.terms import Request
from moot.providers.keys import Secret
from moot.providers.scripted import SayCue, ScriptedProvider, ThinkCue, improvise
from moot.settings import ServerSettings
from moot.store.contract import AccessToken
from moot.web.streaming import sse_streams
from tests.support.for_each import for_each
from tests.web import route_table
from tests.web.routes.served import BODY, Served, body, serving
from tests.web.routes.test_debate_routes import SENT, problem

GUARDED = ServerSettings(
    requests_per_minute=None, debates_per_client=None, token=Secret("operators-own-token")
)
ROLES = ("owner", "moderator", "viewer")
Route = tuple[str, str, str]
ROUTES: tuple[Route, ...] = tuple((method, path, name) for method, path, name, _ in route_table.ROUTES)
TOPIC = {"topic": "Cats or dogs?"}
TURN = {**TOPIC, "modelId": "scripted/demo", "role": "AFFIRMATIVE", "intensity": 3, "turnNumber": 1}
AT_DOORS = {
    "run_quick_debate": {**TOPIC, "maxRounds": 1},
    "create_quick_debate": {**TOPIC, "maxRounds": 1},
    "create_arena_debate": {
        **TOPIC,
        "debaterA": {"model": "scripted/demo"},
        "debaterB": {"model": "scripted/demo"},
        "maxTurns": 1,
    },
    "steer_arena_debate": {"type": "skip"},
    "request_turn": TURN,
    "run_turn": TURN,
}
"""What is sent there, by the name of the route."""
HARMLESS = ("create_debate", "estimate_cost", "create_ticket")
THOUGHT, OBJECTIVE, PROMPT = "canary-thought", "canary-objective", "canary-prompt"


def bearer(word: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {word}"}


def thinking(request: Request) -> list[SayCue | ThinkCue]:
    if request.schema:
        return list(improvise(request))
    return [ThinkCue(f"{THOUGHT} I must win."), SayCue("Rules that are clear cost less. " * 30)]


def secretive() -> dict:
    shape = deepcopy(BODY)
    shape["participants"][0].update(objective=OBJECTIVE, systemPrompt=PROMPT)
    return shape


@pytest.fixture
async def guarded(tmp_path: Path) -> AsyncGenerator[Served]:
    async with guarding(tmp_path) as house:
        yield house


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Served]:
    """For tests that differ only in the route: each has a debate of its own there."""
    async with guarding(tmp_path_factory.mktemp("guarded")) as house:
        yield house


@asynccontextmanager
async def guarding(data: Path) -> AsyncGenerator[Served]:
    async with serving(data, GUARDED, provider=ScriptedProvider(pace=0.005), model="scripted/demo") as house:
        for owner in ("ann", "bob"):
            for role in ROLES:
                word = f"{owner}-{role}-token"
                digest = hashlib.sha256(word.encode()).hexdigest()
                await house.arena.store.save_token(
                    AccessToken(f"{owner}-{role}", digest, role, owner, datetime.now(UTC), None)
                )
        yield house


async def opened_by(house: Served, word: str, shape: dict | None = None) -> str:
    reply = await house.http.post("/api/v1/debates", json=shape or BODY, headers=bearer(word))
    assert reply.status_code == 201, reply.text
    return reply.json()["id"]


def filled(path: str, debate_id: str, seat: str = "part_1") -> str:
    places = {
        "debateId": debate_id,
        "sessionId": debate_id,
        "conversationId": debate_id,
        "call": "1",
        "seat": seat,
        "name": "nobody",
        "model": "none",
        "provider": "none",
        "token": "nobody",
        "path": "app.js",
    }
    return path.format_map(places)


async def asked(
    house: Served, route: Route, debate_id: str, headers: dict, seat: str = "part_1"
) -> httpx.Response:
    method, path, name = route
    if "stream" in name and method == "GET":
        method = "HEAD"
    below = path.removeprefix("/api/v1/").removeprefix("debates/{debateId}/")
    known = {**SENT, **AT_DOORS, "debates": BODY, "estimate": BODY}
    sent = known.get(name, known.get(below)) if method in ("POST", "PUT") else None
    asks = {"voter": "ann"} if name == "get_judging_queue" else None
    return await house.http.request(
        method, filled(path, debate_id, seat), json=sent, headers=headers, params=asks
    )


@pytest.mark.asyncio(loop_scope="module")
@for_each("route", ROUTES, ids=lambda route: route[2])
async def test_no_route_opens_without_the_right_token(shared: Served, route: Route) -> None:
    debate_id = await opened_by(shared, "ann-owner-token")
    for headers in ({}, bearer("wrong"), {"Authorization": "bearer"}, {"X-Api-Key": "operators-own-token"}):
        assert (await asked(shared, route, debate_id, headers)).status_code == 401, headers
    assert (await asked(shared, route, debate_id, bearer("operators-own-token"))).status_code < 422


@pytest.mark.asyncio(loop_scope="module")
@for_each("route", [route for route in ROUTES if "{debateId}" in route[1]], ids=lambda route: route[2])
async def test_the_debate_of_another_owner_does_not_exist(shared: Served, route: Route) -> None:
    debate_id = await opened_by(shared, "ann-owner-token")
    for role in ROLES:
        assert (await asked(shared, route, debate_id, bearer(f"bob-{role}-token"))).status_code == 404
    assert (await shared.arena.head(debate_id)).owner == "ann"


async def test_lists_and_statistics_are_the_owners_own(guarded: Served) -> None:
    await opened_by(guarded, "ann-owner-token")
    for word, count in (("ann-viewer-token", 1), ("bob-viewer-token", 0), ("operators-own-token", 1)):
        reply = await guarded.http.get("/api/v1/debates", headers=bearer(word))
        assert reply.json()["pagination"]["total"] == count
        reply = await guarded.http.get("/api/v1/statistics", headers=bearer(word))
        assert reply.json()["totals"]["debates"] == count


@pytest.mark.asyncio(loop_scope="module")
@for_each(
    "name",
    [
        name
        for method, path, name in ROUTES
        # No debate that was opened elsewhere is a session.
        if method != "GET" and name not in HARMLESS and "{sessionId}" not in path
    ],
)
async def test_a_viewer_changes_nothing(shared: Served, name: str) -> None:
    debate_id = await opened_by(shared, "ann-owner-token")
    route = next(route for route in ROUTES if route[2] == name)
    reply = await asked(shared, route, debate_id, bearer("ann-viewer-token"))
    problem(reply, 403, "forbidden")
    reply = await shared.http.post("/api/v1/debates", json=BODY, headers=bearer("ann-viewer-token"))
    problem(reply, 403, "forbidden")


async def test_a_viewer_may_watch_a_socket_but_not_command(guarded: Served) -> None:
    debate_id = await opened_by(guarded, "ann-owner-token")
    url = f"{guarded.url.replace('http', 'ws', 1)}/api/v1/debates/{debate_id}/ws"
    with pytest.raises(InvalidStatus) as refused:
        async with connect(url):
            pass
    assert refused.value.response.status_code == 401
    async with connect(url, additional_headers=bearer("ann-viewer-token")) as socket:
        await socket.send('{"type":"INJECT_CONTEXT","data":{"additionalContext":"Hear me."}}')
        async with asyncio.timeout(60):
            while '"FORBIDDEN"' not in await socket.recv():
                pass
    assert not (await guarded.arena.state(debate_id)).remarks


async def test_secrets_reach_owners_and_moderators_only(tmp_path: Path) -> None:
    async with serving(tmp_path, GUARDED, provider=ScriptedProvider(thinking)) as house:
        for role in ROLES:
            digest = hashlib.sha256(role.encode()).hexdigest()
            await house.arena.store.save_token(
                AccessToken(role, digest, role, "ann", datetime.now(UTC), None)
            )
        debate_id = await opened_by(house, "owner", secretive())
        for role in ROLES:
            headers = bearer(role)
            await_over = await house.http.get(f"/api/v1/debates/{debate_id}/stream", headers=headers)
            assert THOUGHT not in await_over.text
            extended = await house.http.get(
                f"/api/v1/debates/{debate_id}/stream?extended=true", headers=headers
            )
            assert THOUGHT in extended.text
            shown = extended.text + await_over.text
            for what in ("status", "transcript", "transcript?format=markdown", "transcript?format=html"):
                shown += (await house.get(debate_id, what, headers=headers)).text
            assert OBJECTIVE not in shown
            assert PROMPT not in shown
            log = (await house.get(debate_id, "events?limit=1000", headers=headers)).text
            call = await house.get(debate_id, "calls/1", headers=headers)
            if role == "viewer":
                assert OBJECTIVE not in log
                assert PROMPT not in log
                problem(call, 403, "forbidden")
            else:
                assert OBJECTIVE in log
                assert OBJECTIVE in call.text


async def test_a_remark_for_one_seat_reaches_nobody_else(guarded: Served) -> None:
    debate_id = await opened_by(guarded, "ann-owner-token")
    status = await guarded.get(debate_id, "status", headers=bearer("ann-owner-token"))
    seat = status.json()["participants"][0]
    remark = {"text": "canary-whisper", "to": seat["id"]}
    reply = await guarded.post(debate_id, "inject", remark, headers=bearer("ann-moderator-token"))
    assert reply.status_code == 202
    for role, may in (("owner", True), ("moderator", True), ("viewer", False)):
        headers = bearer(f"ann-{role}-token")
        for what in ("events?limit=1000", *(f"transcript?format={f}" for f in ("json", "markdown", "html"))):
            assert ("canary-whisper" in (await guarded.get(debate_id, what, headers=headers)).text) is may


async def test_figures_of_all_owners_are_the_operators(guarded: Served) -> None:
    problem(await guarded.http.get("/metrics", headers=bearer("ann-owner-token")), 403, "forbidden")
    reply = await guarded.http.get("/metrics", headers=bearer("operators-own-token"))
    assert b"moot_debates" in reply.content


async def test_thoughts_that_are_not_to_be_shown_are_not_shown(tmp_path: Path) -> None:
    async with serving(tmp_path, GUARDED, provider=ScriptedProvider(thinking)) as house:
        digest = hashlib.sha256(b"viewer").hexdigest()
        await house.arena.store.save_token(AccessToken("v", digest, "viewer", "", datetime.now(UTC), None))
        debate_id = await opened_by(house, "operators-own-token", body(showReasoning=False))
        seen = await house.http.get(
            f"/api/v1/debates/{debate_id}/stream?extended=true", headers=bearer("viewer")
        )
        log = await house.get(debate_id, "events?limit=1000", headers=bearer("viewer"))
        assert THOUGHT not in seen.text
        assert THOUGHT not in log.text
        seqs = [event["seq"] for event in log.json()["events"]]
        assert seqs == list(range(1, len(seqs) + 1))
        assert any(event["event"]["type"] == "hidden" for event in log.json()["events"])


async def test_a_ticket_opens_one_stream_once(guarded: Served) -> None:
    debate_id = await opened_by(guarded, "ann-owner-token")
    other = await opened_by(guarded, "ann-owner-token")
    reply = await guarded.post(debate_id, "tickets", headers=bearer("ann-viewer-token"))
    assert reply.status_code == 201
    ticket = reply.json()["ticket"]
    wrong = await guarded.post(debate_id, "tickets", headers=bearer("ann-viewer-token"))
    problem(await guarded.get(other, f"stream?ticket={wrong.json()['ticket']}"), 401, "unauthorized")
    problem(await guarded.get(debate_id, f"status?ticket={ticket}"), 401, "unauthorized")
    seen = await guarded.follow(debate_id, f"?ticket={ticket}")
    assert seen[-1][0] == "complete"
    problem(await guarded.get(debate_id, f"stream?ticket={ticket}"), 401, "unauthorized")


async def test_a_revoked_token_closes_what_it_opened(
    guarded: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sse_streams, "TICK_SECONDS", 0.02)
    monkeypatch.setattr(sse_streams, "REVIEW_SECONDS", 0.05)
    monkeypatch.setattr(auth, "CACHE_SECONDS", 0.02)
    debate_id = await opened_by(guarded, "ann-owner-token", body(autoProgress=False))
    url = f"{guarded.url.replace('http', 'ws', 1)}/api/v1/debates/{debate_id}/ws"
    headers = bearer("ann-viewer-token")
    stream = guarded.http.stream("GET", f"/api/v1/debates/{debate_id}/stream", headers=headers)
    async with connect(url, additional_headers=headers) as socket, stream as streamed:
        await guarded.arena.store.delete_token("ann-viewer")
        async with asyncio.timeout(60):
            await socket.wait_closed()
        assert socket.close_code == 4401
        async with asyncio.timeout(60):
            async for _ in streamed.aiter_bytes():
                pass
