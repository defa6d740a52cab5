"""What the server itself needs: lists that are searched, figures, models to install, providers, tokens."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import httpx

from moot.providers.keys import Secret
from moot.settings import ServerSettings
from moot.web.routes.admin import FIRST_ONE_WARNING
from tests.web.behaviour.test_roles import GUARDED, bearer
from tests.web.routes.replies import API, told
from tests.web.routes.served import BODY, Served, serving
from tests.web.routes.test_debate_routes import problem

# --- lists and figures --------------------------------------------------------------------------------


async def test_debates_are_found_by_words_format_model_and_day(served: Served) -> None:
    debate_id = await served.open()
    await served.over(debate_id)
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    model = BODY["participants"][0]["model"]["modelId"]
    for query, found in (
        ({"search": BODY["topic"][3:12].upper()}, 1),
        ({"search": "no such words"}, 0),
        ({"format": BODY.get("format", "oxford")}, 1),
        ({"format": "karl-popper"}, 0),
        ({"model": f"scripted/{model}", "status": "completed"}, 1),
        ({"model": model, "from": today, "to": today}, 1),
        ({"model": "nobody"}, 0),
        ({"to": "1999-12-31"}, 0),
    ):
        listed = await told(served, "debates", **query)
        assert listed["pagination"]["total"] == len(listed["debates"]) == found, query
    (one,) = (await told(served, "debates"))["debates"]
    assert [seat["name"] for seat in one["participants"]] == [seat["name"] for seat in BODY["participants"]]
    assert one["given"] == len(one["strip"]) > 0
    assert one["headline"]
    assert one["totalCostText"].startswith("$")


async def test_a_list_that_is_asked_for_wrongly_says_so(served: Served) -> None:
    wrong = (
        "from=2026-02-30",
        "to=20260101",
        "from=2026-01-01&from=2026-01-02",
        "model=%00",
        "format=" + "x" * 201,
    )
    for query in wrong:
        for path in ("debates", "statistics"):
            reply = await served.http.get(f"{API}/{path}?{query}")
            assert set(problem(reply, 422, "validation")["errors"]) == {query.partition("=")[0]}


async def test_a_guest_finds_their_debate_if_it_is_among_those_that_are_wanted(served: Served) -> None:
    debate_id = await served.open(autoProgress=False)
    token = (await served.post(debate_id, "invitations", {"role": "observer"})).json()["token"]
    for query, found in (("", 1), ("?search=zebra", 0), (f"?search={BODY['topic'][:6]}", 1)):
        reply = await served.http.get(f"{API}/debates{query}", headers=bearer(token))
        assert reply.json()["pagination"]["total"] == found


async def test_statistics_may_be_of_some_debates_only(served: Served) -> None:
    await served.over(await served.open())
    whole = await told(served, "statistics")
    assert (whole["totals"]["debates"], len(whole["days"]), len(whole["costs"])) == (1, 1, 3)
    assert whole["totals"]["costText"] == "$0.00"
    assert whole["judges"]["debates"] == 1
    assert (await told(served, "statistics", format="karl-popper"))["totals"]["debates"] == 0
    assert (await told(served, "statistics", model="scripted/nobody"))["totals"]["debates"] == 0


# --- providers ----------------------------------------------------------------------------------------


async def test_providers_tell_what_works_and_nothing_of_a_key(tmp_path: Path) -> None:
    key = "sk-canary-5d1f"
    async with serving(tmp_path, environ={"OPENAI_API_KEY": key}, offline=True) as house:
        reply = await house.http.get(f"{API}/providers")
        assert key not in reply.text
        assert "canary" not in reply.text
        shape = reply.json()
        rows = {row["name"]: row for row in shape["providers"]}
        assert rows["openai"]["ready"]
        assert rows["openai"]["why"] == "OPENAI_API_KEY is set"
        assert "gpt-6-luna" in rows["openai"]["models"]
        assert (rows["anthropic"]["ready"], rows["anthropic"]["keyName"]) == (False, "ANTHROPIC_API_KEY")
        assert rows["anthropic"]["missing"] == "Save a key in Settings, or set ANTHROPIC_API_KEY."
        assert rows["local"]["local"]
        assert (shape["token"], shape["operator"]) == (False, True)
        assert "human" not in rows


async def test_where_model_servers_stand_is_told_to_the_operator_alone(tmp_path: Path) -> None:
    async with serving(tmp_path, GUARDED, offline=True) as house:
        mine = bearer("operators-own-token")
        debate_id = (await house.http.post(f"{API}/debates", json=BODY, headers=mine)).json()["id"]
        link = await house.post(debate_id, "invitations", {"role": "moderator"}, headers=mine)
        for headers, told_where in ((mine, True), (bearer(link.json()["token"]), False)):
            reply = await house.http.get(f"{API}/providers", headers=headers)
            assert ("Nothing answers at http" in reply.text) == told_where
            assert reply.json()["operator"] == told_where


# --- tokens -------------------------------------------------------------------------------------------


async def made(house: Served, body: dict, **headers: str) -> httpx.Response:
    return await house.http.post(f"{API}/tokens", json=body, headers=headers)


async def test_the_first_token_shuts_the_door_at_once_and_says_so(served: Served) -> None:
    assert (await told(served, "tokens")) == {"tokens": [], "needed": False}
    reply = await made(served, {"name": "zoe", "owner": ""})
    assert reply.status_code == 201
    token = reply.json()["token"]
    assert reply.json()["warning"] == FIRST_ONE_WARNING.format(owner="nobody in particular")
    problem(await served.http.get(f"{API}/debates"), 401, "unauthorized")
    assert (await served.http.get(f"{API}/debates", headers=bearer(token))).status_code == 200
    problem(await served.http.get(f"{API}/tokens", headers=bearer(token)), 403, "forbidden")


async def test_the_operator_makes_lists_and_revokes_tokens(tmp_path: Path) -> None:
    async with serving(tmp_path, GUARDED) as house:
        mine = bearer("operators-own-token")
        key = {**mine, "Idempotency-Key": "for-zoe"}
        reply = await made(house, {"name": "zoe", "role": "viewer", "days": 7}, **key)
        again = await made(house, {"name": "zoe", "role": "viewer", "days": 7}, **key)
        assert reply.json() == again.json()
        assert reply.json()["warning"] is None
        taken = await made(house, {"name": "zoe"}, **mine)
        assert problem(taken, 422, "validation")["errors"] == {"name": ["There is a token of that name"]}
        listed = (await house.http.get(f"{API}/tokens", headers=mine)).json()
        assert [(one["name"], one["role"], one["owner"]) for one in listed["tokens"]] == [
            ("zoe", "viewer", "zoe")
        ]
        assert reply.json()["token"] not in json.dumps(listed)
        zoe = bearer(reply.json()["token"])
        assert (await house.http.get(f"{API}/debates", headers=zoe)).status_code == 200
        assert (await house.http.delete(f"{API}/tokens/zoe", headers=mine)).status_code == 204
        problem(await house.http.get(f"{API}/debates", headers=zoe), 401, "unauthorized")
        problem(await house.http.delete(f"{API}/tokens/zoe", headers=mine), 404, "not-found")


async def test_a_token_that_is_asked_for_wrongly_is_not_made(served: Served) -> None:
    wrong = {
        "name": ({}, {"name": ""}, {"name": "a/b"}, {"name": "x" * 65}),
        "role": ({"name": "zoe", "role": "king"},),
        "days": ({"name": "zoe", "days": 0},),
        "owner": ({"name": "zoe", "owner": None},),
        "more": ({"name": "zoe", "more": 1},),
    }
    for field, bodies in wrong.items():
        for body in bodies:
            assert set(problem(await made(served, body), 422, "validation")["errors"]) == {field}
    assert await served.arena.store.tokens() == ()


async def test_an_owner_is_not_the_operator(tmp_path: Path) -> None:
    shut = ServerSettings(
        requests_per_minute=None, debates_per_client=None, token=Secret("operators-own-token")
    )
    async with serving(tmp_path, shut, offline=True) as house:
        reply = await made(house, {"name": "ann"}, **bearer("operators-own-token"))
        ann = bearer(reply.json()["token"])
        problem(await made(house, {"name": "bob"}, **ann), 403, "forbidden")
        problem(await house.http.post(f"{API}/installs/smollm2-135m", headers=ann), 403, "forbidden")
        assert not (await house.http.get(f"{API}/installs", headers=ann)).json()["operator"]
