"""A client written from the contract alone: its example request, its events, its texts."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from moot.api.v1.fields import CREATE_DEBATE
from moot.providers.endpoints import ENDPOINTS
from tests.faults.fault_acts import says
from tests.faults.fault_server import KEY, FaultServer, Script
from tests.web.routes.served import Served, serving

NINE = {
    "status", "participant", "round_complete", "judge", "verdict", "cost_update", "cost_warning", "error",
    "complete",
}  # fmt: skip
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")


def ballot(winner: str) -> str:
    marks = {
        name: {"score": 85 if name == winner else 78, "strengths": ["clear"], "weaknesses": ["long"]}
        for name in ("Birch", "Cedar")
    }
    criteria = dict.fromkeys(("argument", "evidence", "rebuttal", "clarity"), "Close.")
    reasoning = f"{winner} answered more of what was said."
    said = {"reasoning": reasoning, "rests_on": ["S1"], "speakers": marks, "criteria": criteria}
    return json.dumps({**said, "winner": winner})


async def test_the_example_of_the_contract_is_held_between_two_services(tmp_path: Path) -> None:
    # A judge of this age takes no schema: it is told in words what to answer.
    ballots = {11: says(text=ballot("Birch")), 12: says(text=ballot("Cedar"))}
    async with FaultServer(Script(ballots)) as services:
        bases = {"anthropic": services.url.removesuffix("/v1"), "openai": services.url}
        endpoints = tuple(
            replace(endpoint, base_url=bases.get(endpoint.name, endpoint.base_url)) for endpoint in ENDPOINTS
        )
        environ = {"ANTHROPIC_API_KEY": KEY, "OPENAI_API_KEY": KEY}
        async with serving(tmp_path, endpoints=endpoints, environ=environ) as house:
            await check(house, services)


async def test_the_example_of_the_contract_is_held_under_the_smallest_limit_that_is_told(
    tmp_path: Path,
) -> None:
    async with FaultServer(Script({})) as services:
        bases = {"anthropic": services.url.removesuffix("/v1"), "openai": services.url}
        endpoints = tuple(
            replace(endpoint, base_url=bases.get(endpoint.name, endpoint.base_url)) for endpoint in ENDPOINTS
        )
        environ = {"ANTHROPIC_API_KEY": KEY, "OPENAI_API_KEY": KEY}
        async with serving(tmp_path, endpoints=endpoints, environ=environ) as house:
            shape = {**CREATE_DEBATE, "config": {"maxRounds": 2, "costLimit": 5.0}}
            least = (await house.http.post("/api/v1/estimate", json=shape)).json()["smallestLimit"]
            assert 0.15 < least < 1.5
            for limit in (0.15, round(least - 0.01, 2)):
                shape["config"]["costLimit"] = limit
                reply = await house.http.post("/api/v1/debates", json=shape)
                assert (reply.status_code, list(reply.json()["errors"])) == (422, ["costLimit"])
            shape["config"]["costLimit"] = least
            reply = await house.http.post("/api/v1/debates", json=shape)
            assert reply.status_code == 201
            status = await house.over(reply.json()["id"])
            assert len(status["rounds"][0]["responses"]) == 2
            assert 0 < status["costs"]["totalCost"] <= least


async def check(house: Served, services: FaultServer) -> None:
    reply = await house.http.post("/api/v1/debates", json=CREATE_DEBATE)
    assert reply.status_code == 201, reply.text
    opened = reply.json()
    assert opened["config"].items() >= CREATE_DEBATE["config"].items()
    assert [seat["model"] for seat in opened["participants"]] == [
        "anthropic/claude-3-5-sonnet-20241022",
        "openai/gpt-4-turbo-preview",
    ]
    assert [seat["color"] for seat in opened["participants"]] == ["#FF6B6B", "#4ECDC4"]
    assert opened["judge"]["model"] == "anthropic/claude-3-opus-20240229"
    assert MOMENT.fullmatch(opened["createdAt"])
    seen = await house.follow(opened["id"])
    assert {name for name, _, _ in seen} <= NINE
    assert seen[-1][0] == "complete"
    final = seen[-1][2]
    assert final["totalRounds"] == 5
    assert 0 < final["finalCost"] < 5.0
    assert final["verdict"]["winner"] == opened["participants"][0]["id"]
    assert final["verdict"]["scores"][opened["participants"][1]["id"]]["score"] == 78
    models = {call.body["model"]: call.body for call in services.requests}
    assert models["claude-3-5-sonnet-20241022"]["temperature"] == 0.7
    # Under its cost limit a speech is given what its words need.
    assert 150 < models["claude-3-5-sonnet-20241022"]["max_tokens"] < 4096
    assert models["gpt-4-turbo-preview"]["temperature"] == 0.8
    assert_all_tell_the_same(seen, (await house.get(opened["id"], "status")).json())
    await check_transcripts(house, opened["id"], seen)


def assert_all_tell_the_same(seen: list[tuple[str, str, Any]], status: dict[str, Any]) -> None:
    spoken: dict[tuple[str, int], str] = {}
    for name, _, data in seen:
        if name == "participant":
            key = (data["participantId"], data["roundNumber"])
            kept = "" if data.get("replace") else spoken.get(key, "")
            spoken[key] = kept + data["chunk"]
    rounds = [data for name, _, data in seen if name == "round_complete"]
    told = {
        (said["participantId"], part["roundNumber"]): said["content"]
        for part in rounds
        for said in part["responses"]
    }
    assert told == spoken
    previews = {
        (said["participantId"], part["roundNumber"]): said["contentPreview"]
        for part in status["rounds"]
        for said in part["responses"]
    }
    assert previews == {key: text[:200] for key, text in told.items()}
    updates = [data for name, _, data in seen if name == "cost_update"]
    assert updates[-1]["totalCost"] == status["costs"]["totalCost"] == seen[-1][2]["finalCost"]


async def check_transcripts(house: Served, debate_id: str, seen: list[tuple[str, str, Any]]) -> None:
    whole = (await house.get(debate_id, "transcript")).json()
    assert set(whole) >= {"debate", "participants", "judge", "rounds", "verdict", "costs"}
    assert len(whole["rounds"]) == 5
    markdown = await house.get(debate_id, "transcript?format=markdown")
    assert markdown.headers["content-type"] == "text/markdown; charset=utf-8"
    for part in ("# Debate: Should AI", "**Format:** ", "## Participants", "## Round 1", "## Costs"):
        assert part in markdown.text
    page = await house.get(debate_id, "transcript?format=html")
    assert page.headers["content-security-policy"].startswith("sandbox")
    assert page.headers["content-disposition"] == f'attachment; filename="{debate_id}.html"'


async def test_a_transcript_cannot_be_forged_from_inside(served: Served) -> None:
    evil = "<script>alert(1)</script> ]]> ``` # Judge's Verdict [x](javascript:alert(1))"
    shape = {**json.loads(json.dumps(CREATE_DEBATE)), "topic": evil}
    for seat, name in zip(shape["participants"], ("<b>Pro</b>", "## Winner"), strict=True):
        seat.update(name=name, model={"provider": "scripted", "modelId": "m"})
    shape["judge"]["model"] = {"provider": "scripted", "modelId": "m"}
    del shape["config"]
    reply = await served.http.post("/api/v1/debates", json=shape)
    assert reply.status_code == 201, reply.text
    debate_id = reply.json()["id"]
    await served.over(debate_id)
    page = (await served.get(debate_id, "transcript?format=html")).text
    assert "<script" not in page
    assert "<b>Pro" not in page
    markdown = (await served.get(debate_id, "transcript?format=markdown")).text
    headings = [line for line in markdown.splitlines() if line.startswith("## ")]
    assert headings.count("## Judge's Verdict") == 1
    assert not any("Winner" in heading for heading in headings)
