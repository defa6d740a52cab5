"""Who is invited to a debate, as what, and what that lets them do."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from httpx_sse import aconnect_sse
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from moot.api.rate_limits import CROWD
from moot.settings import ServerSettings
from moot.web.routes.debate_routes import MAX_ESTIMATES
from moot.web.streaming import sse_streams
from tests.web.behaviour.test_roles import GUARDED, bearer
from tests.web.routes.debates_with_people import PERSON, between_person_and_model, invited, opened
from tests.web.routes.served import BODY, Served, serving
from tests.web.routes.test_debate_routes import problem


async def test_an_invitation_is_listed_without_its_token_and_withdrawn(served: Served) -> None:
    debate_id = await served.open(autoProgress=False)
    guest = await invited(served, debate_id, "observer", name="Zoë & Co.", days=2)
    listed = (await served.get(debate_id, "invitations")).json()["invitations"]
    assert [one["name"] for one in listed] == ["Zoë & Co."]
    assert listed[0]["expiresAt"]
    assert "token" not in json.dumps(listed)
    for role in ([], {}, 1, None):
        wrong = await served.post(debate_id, "invitations", {"role": role, "many": True})
        assert set(problem(wrong, 422, "validation")["errors"]) == {"role"}
    taken = await served.post(debate_id, "invitations", {"role": "observer", "name": "Zoë & Co."})
    assert set(problem(taken, 422, "validation")["errors"]) == {"name"}
    assert (await served.get(debate_id, "status", headers=guest)).status_code == 200
    path = f"/api/v1/debates/{debate_id}/invitations/Zo%C3%AB%20%26%20Co."
    assert (await served.http.delete(path)).status_code == 204
    problem(await served.http.delete(path), 404, "not-found")


async def test_whoever_shows_an_invitation_is_what_it_says_even_where_the_door_is_open(
    served: Served,
) -> None:
    debate_id, other = await served.open(autoProgress=False), await served.open(autoProgress=False)
    guest = await invited(served, debate_id, "observer")
    problem(await served.post(debate_id, "pause", headers=guest), 403, "forbidden")
    problem(await served.get(other, "status", headers=guest), 404, "not-found")
    listed = (await served.http.get("/api/v1/debates", headers=guest)).json()
    assert [one["id"] for one in listed["debates"]] == [debate_id]
    assert (await served.http.get("/api/v1/debates")).json()["pagination"]["total"] == 2
    assert (await served.http.get("/api/v1/statistics", headers=guest)).json()["totals"]["debates"] == 0
    created = await served.http.post("/api/v1/debates", json=BODY, headers=guest)
    problem(created, 403, "forbidden")
    problem(await served.http.get("/metrics", headers=guest), 403, "forbidden")
    assert (await served.post(debate_id, "pause")).status_code == 200


async def test_an_invited_moderator_conducts_one_debate_and_opens_none(served: Served) -> None:
    debate_id, other = await served.open(autoProgress=False), await served.open(autoProgress=False)
    chair = await invited(served, debate_id, "moderator")
    assert (await served.post(debate_id, "pause", headers=chair)).status_code == 200
    guest = await served.post(debate_id, "invitations", {"role": "observer"}, headers=chair)
    assert guest.status_code == 201
    problem(await served.post(other, "pause", headers=chair), 404, "not-found")
    problem(await served.http.post("/api/v1/debates", json=BODY, headers=chair), 403, "forbidden")


async def test_an_invitation_that_is_sent_for_twice_under_one_key_is_one(served: Served) -> None:
    debate_id = await served.open(autoProgress=False)
    key = {"Idempotency-Key": "for-zoe"}
    first, again = [
        await served.post(debate_id, "invitations", {"role": "observer"}, headers=key) for _ in range(2)
    ]
    assert first.json() == again.json()
    assert again.headers["idempotent-replayed"] == "true"
    other = await served.post(debate_id, "invitations", {"role": "audience"}, headers=key)
    problem(other, 422, "idempotency-mismatch")
    assert len((await served.get(debate_id, "invitations")).json()["invitations"]) == 1


async def test_a_ticket_of_a_guest_is_that_of_a_guest(served: Served) -> None:
    shape = between_person_and_model()
    shape["participants"][1]["objective"] = "canary-objective"
    debate_id = (await opened(served, shape))["id"]
    guest = await invited(served, debate_id, "observer")
    ticket = (await served.post(debate_id, "tickets", headers=guest)).json()["ticket"]
    url = f"/api/v1/debates/{debate_id}/events/stream?ticket={ticket}"
    async with aconnect_sse(served.http, "GET", url) as watched:
        first = await anext(watched.aiter_sse())
    assert first.json()["event"]["type"] == "debate.opened"
    assert "canary-objective" not in first.data
    problem(await served.http.get(url), 401, "unauthorized")


async def test_a_withdrawn_invitation_closes_what_it_opened(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sse_streams, "TICK_SECONDS", 0.02)
    monkeypatch.setattr(sse_streams, "REVIEW_SECONDS", 0.05)
    debate_id = await served.open(autoProgress=False)
    guest = await invited(served, debate_id, "observer", name="zoe")
    url = f"{served.url.replace('http', 'ws', 1)}/api/v1/debates/{debate_id}/ws"
    stream = served.http.stream("GET", f"/api/v1/debates/{debate_id}/stream", headers=guest)
    async with connect(url, additional_headers=guest) as socket, stream as streamed:
        assert (await served.http.delete(f"/api/v1/debates/{debate_id}/invitations/zoe")).status_code == 204
        async with asyncio.timeout(60):
            await socket.wait_closed()
            assert socket.close_code == 4401
            async for _ in streamed.aiter_bytes():
                pass


async def test_without_tokens_an_invitation_that_counts_no_longer_opens_nothing(served: Served) -> None:
    debate_id, gone = await served.open(autoProgress=False), await served.open(autoProgress=False)
    revoked = await invited(served, debate_id, "observer", name="zoe")
    orphan = await invited(served, gone, "moderator")
    ticket = (await served.post(debate_id, "tickets", headers=revoked)).json()["ticket"]
    path = f"/api/v1/debates/{debate_id}"
    assert (await served.http.delete(f"{path}/invitations/zoe")).status_code == 204
    assert (await served.http.delete(f"/api/v1/debates/{gone}")).status_code == 204
    garbled = bearer(revoked["Authorization"].removeprefix("Bearer ") + "%20")
    socket_url = f"{served.url.replace('http', 'ws', 1)}{path}/ws"
    for guest in (revoked, orphan, garbled):
        problem(await served.get(debate_id, "status", headers=guest), 401, "unauthorized")
        problem(await served.get(debate_id, "stream", headers=guest), 401, "unauthorized")
        problem(await served.http.get(f"/api/debates/{debate_id}/stream", headers=guest), 401, "unauthorized")
        problem(await served.post(debate_id, "pause", headers=guest), 401, "unauthorized")
        problem(await served.http.delete(path, headers=guest), 401, "unauthorized")
        problem(await served.http.post("/api/v1/debates", json=BODY, headers=guest), 401, "unauthorized")
        with pytest.raises(InvalidStatus, match="401"):
            await connect(socket_url, additional_headers=guest)
    for query in (f"ticket={ticket}", "ticket=", f"ticket={ticket}&ticket={ticket}"):
        problem(await served.get(debate_id, f"stream?{query}"), 401, "unauthorized")
        with pytest.raises(InvalidStatus, match="401"):
            await connect(f"{socket_url}?{query}")
    assert (await served.get(debate_id, "status")).status_code == 200


async def test_with_a_link_for_many_go_those_who_joined_by_it(served: Served) -> None:
    debate_id = await served.open(autoProgress=False)
    links = [
        await invited(served, debate_id, "audience", name=name, many=True) for name in ("hall", "stairs")
    ]
    zoe, eve, kim = [
        await joined(served, debate_id, link, name=name)
        for name, link in (("zoe", links[0]), ("eve", links[0]), ("kim", links[1]))
    ]
    url = f"{served.url.replace('http', 'ws', 1)}/api/v1/debates/{debate_id}/ws"
    async with connect(url, additional_headers=zoe) as hers, connect(url, additional_headers=kim) as theirs:
        path = f"/api/v1/debates/{debate_id}/invitations"
        assert (await served.http.delete(f"{path}/hall")).status_code == 204
        async with asyncio.timeout(60):
            await hers.wait_closed()
        assert hers.close_code == 4401
        problem(await served.get(debate_id, "status", headers=eve), 401, "unauthorized")
        listed = (await served.get(debate_id, "invitations")).json()["invitations"]
        assert [one["name"] for one in listed] == ["kim", "stairs"]
        await served.post(debate_id, "abort")
        async with asyncio.timeout(60):
            await theirs.wait_closed()
        assert theirs.close_code == 1000
    again = await invited(served, debate_id, "audience", name="hall", many=True)
    assert (await served.post(debate_id, "join", {"name": "zoe"}, headers=again)).status_code == 201
    assert eve != zoe


async def test_who_joined_by_a_link_that_was_withdrawn_is_not_let_in(tmp_path: Path) -> None:
    async with full_house(tmp_path) as (house, debate_id, _, tokens):
        operator = bearer("operators-own-token")
        listed = (await house.get(debate_id, "invitations", headers=operator)).json()["invitations"]
        [link] = [one["name"] for one in listed if one["many"]]
        joined = await house.post(debate_id, "join", {}, headers=tokens["link"])
        zoe = bearer(joined.json()["token"])
        ticket = (await house.post(debate_id, "tickets", headers=zoe)).json()["ticket"]
        assert (await house.get(debate_id, "status", headers=zoe)).status_code == 200
        path = f"/api/v1/debates/{debate_id}/invitations/{link}"
        assert (await house.http.delete(path, headers=operator)).status_code == 204
        problem(await house.get(debate_id, "status", headers=zoe), 401, "unauthorized")
        problem(await house.get(debate_id, f"stream?ticket={ticket}"), 401, "unauthorized")
        problem(await house.post(debate_id, "join", {}, headers=tokens["link"]), 401, "unauthorized")
        assert (await house.get(debate_id, "status", headers=tokens["audience"])).status_code == 200


# --- who may do what ----------------------------------------------------------------------------------


@asynccontextmanager
async def full_house(tmp_path: Path) -> AsyncGenerator[tuple[Served, str, str, dict[str, dict[str, str]]]]:
    """A debate behind a shut door, and somebody in each role: `other` sits in the other seat."""
    async with serving(tmp_path, GUARDED, model="scripted/demo") as house:
        operator = bearer("operators-own-token")
        shape = between_person_and_model(autoProgress=False)
        shape["judge"]["model"] = PERSON
        debate = await opened(house, shape, **operator)
        mine, theirs = (seat["id"] for seat in debate["participants"])
        places: dict[str, dict[str, Any]] = {
            "observer": {"role": "observer"},
            "audience": {"role": "audience"},
            "link": {"role": "audience", "many": True},
            "judge": {"role": "judge", "judge": debate["judge"]["id"]},
            "participant": {"role": "participant", "seat": mine},
            "other": {"role": "participant", "seat": theirs},
            "moderator": {"role": "moderator"},
        }
        tokens: dict[str, dict[str, str]] = {}
        for name, place in places.items():
            reply = await house.post(debate["id"], "invitations", place, headers=operator)
            tokens[name] = bearer(reply.json()["token"])
        yield house, debate["id"], mine, tokens


async def test_a_judge_casts_no_ballot_but_their_own(tmp_path: Path) -> None:
    async with full_house(tmp_path) as (house, debate_id, _, tokens):
        ballot = {"judge": "judge_1", "winner": "tie", "reasoning": "Even."}
        reply = await house.post(debate_id, "ballots", ballot, headers=tokens["judge"])
        problem(reply, 403, "forbidden")


# --- a link for many ----------------------------------------------------------------------------------


async def joined(
    house: Served, debate_id: str, link: dict[str, str], *, name: str | None = None, **headers: str
) -> dict[str, str]:
    """The headers of somebody who joined with a browser of their own."""
    house.http.cookies.clear()
    reply = await house.post(debate_id, "join", {"name": name} if name else {}, headers={**link, **headers})
    assert reply.status_code == 201, reply.text
    return bearer(reply.json()["token"])


async def hall(house: Served, **config: Any) -> tuple[str, dict[str, str]]:
    """A debate with an audience, and the headers of those who come by its link."""
    debate_id = await house.open(autoProgress=False, **config)
    return debate_id, await invited(house, debate_id, "audience", many=True)


async def test_a_browser_that_joins_again_is_the_same_person_and_has_one_vote(served: Served) -> None:
    debate_id, link = await hall(served, polls={"before": True})
    stairs = await invited(served, debate_id, "audience", many=True)
    first = await served.post(debate_id, "join", {"name": "zoe"}, headers=link)
    cookie = first.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert f"Path=/api/v1/debates/{debate_id}/join" in cookie
    again = await served.post(debate_id, "join", {"name": "not zoe"}, headers=stairs)
    assert again.json() == first.json()
    zoe = bearer(first.json()["token"])
    assert (await served.post(debate_id, "votes", {"choice": "for"}, headers=zoe)).status_code == 201
    problem(await served.post(debate_id, "votes", {"choice": "for"}, headers=zoe), 409, "conflict")
    served.http.cookies.clear()
    other = (await served.post(debate_id, "join", {}, headers=link)).json()
    assert other["token"] != first.json()["token"]
    # What the cookie says gives access to nothing.
    served.http.cookies.clear()
    with_cookie = {**link, "Cookie": f"moot_joined={first.json()['token']}"}
    problem(await served.post(debate_id, "votes", {"choice": "for"}, headers=with_cookie), 403, "forbidden")


async def test_a_cookie_of_somebody_who_was_sent_away_lets_nobody_in(served: Served) -> None:
    debate_id, link = await hall(served)
    first = (await served.post(debate_id, "join", {"name": "zoe"}, headers=link)).json()
    path = f"/api/v1/debates/{debate_id}/invitations/zoe"
    assert (await served.http.delete(path)).status_code == 204
    again = (await served.post(debate_id, "join", {"name": "zoe"}, headers=link)).json()
    assert again["token"] != first["token"]


async def test_joins_are_limited_by_the_address_that_joins(tmp_path: Path) -> None:
    service = ServerSettings(requests_per_minute=None, joins_per_address=3, proxies=("127.0.0.1",))
    async with serving(tmp_path, service) as house:
        debate_id, link = await hall(house)

        async def try_to_join(address: str, key: str) -> httpx.Response:
            house.http.cookies.clear()
            headers = {**link, "X-Forwarded-For": address, "Idempotency-Key": key}
            return await house.post(debate_id, "join", {}, headers=headers)

        replies = [await try_to_join("10.0.0.1", key) for key in ("a", "a", "b", "c", "d")]
        assert [reply.status_code for reply in replies] == [201, 201, 201, 201, 429]
        assert "from your network" in problem(replies[-1], 429, "rate-limit")["detail"]
        assert (await try_to_join("10.0.0.2", "e")).status_code == 201
        link = await invited(house, debate_id, "audience", many=True)
        assert (await try_to_join("10.0.0.1", "f")).status_code == 201


async def test_requests_by_a_link_for_many_count_to_the_address(tmp_path: Path) -> None:
    async with serving(tmp_path, ServerSettings(requests_per_minute=8)) as house:
        debate_id, link = await hall(house)
        other = await invited(house, debate_id, "audience", many=True)
        statuses = [
            (await house.get(debate_id, "status", headers=one)).status_code for one in (link, other) * 4
        ]
        assert statuses == [200] * 5 + [429] * 3
        problem(await house.post(debate_id, "join", {}, headers=link), 429, "rate-limit")


async def test_those_who_joined_by_one_link_share_a_limit(tmp_path: Path) -> None:
    most = 6
    service = ServerSettings(requests_per_minute=most, streams_per_client=1, proxies=("127.0.0.1",))
    async with serving(tmp_path, service) as house:
        debate_id, link = await hall(house)
        crowd: list[dict[str, str]] = []
        for number in range(CROWD + 1):
            # They join from elsewhere, and come from one address now.
            elsewhere = {"X-Forwarded-For": f"10.0.1.{number}"}
            crowd.append({**await joined(house, debate_id, link, **elsewhere), "X-Forwarded-For": "10.0.0.1"})
        url = f"{house.url.replace('http', 'ws', 1)}/api/v1/debates/{debate_id}/ws"
        async with AsyncExitStack() as stack:
            for one in crowd[:-1]:
                await stack.enter_async_context(connect(url, additional_headers=one))
            with pytest.raises(InvalidStatus, match="429"):
                await connect(url, additional_headers=crowd[-1])
        replies = [
            await house.get(debate_id, "status", headers=one) for one in crowd for _ in range(most - 1)
        ]
        statuses = [reply.status_code for reply in replies]
        assert statuses == [200] * (CROWD * most - len(crowd)) + [429] * (len(crowd) * most - CROWD * most)


async def test_guests_estimate_no_costs_and_only_so_many_estimates_wait(served: Served) -> None:
    debate_id, link = await hall(served)
    guests = [await invited(served, debate_id, role) for role in ("observer", "audience", "moderator")]
    for guest in (link, *guests):
        reply = await served.http.post("/api/v1/estimate", json=BODY, headers=guest)
        assert problem(reply, 403, "forbidden")["detail"] == "An invitation is for one debate"
    many = [served.http.post("/api/v1/estimate", json=BODY) for _ in range(MAX_ESTIMATES * 3)]
    statuses = {reply.status_code for reply in await asyncio.gather(*many)}
    assert statuses == {200, 429}
    assert (await served.http.post("/api/v1/estimate", json=BODY)).status_code == 200
