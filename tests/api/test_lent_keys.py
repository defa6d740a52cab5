"""Keys of the asker's own: lent for one debate, kept in memory, told to nobody."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from moot.providers.endpoints import ENDPOINTS
from moot.store.sqlite import SqliteStore
from tests.api.served import BODY, Served, serving
from tests.api.test_debates import problem
from tests.replicas.responses import Replica

KEY = "sk-lent-0123456789abcdefghijklmnop"
LENT = {"X-Provider-Key-openai": KEY}


def asking_openai(**config: Any) -> dict[str, Any]:
    shape = deepcopy(BODY)
    for seat in shape["participants"]:
        seat["model"] = {"provider": "openai", "modelId": "gpt-4.1-mini"}
    shape["config"].update(config)
    return shape


@asynccontextmanager
async def house_beside(replica: Replica, data: Path, **more: Any) -> AsyncGenerator[Served]:
    openai = next(endpoint for endpoint in ENDPOINTS if endpoint.name == "openai")
    others = tuple(endpoint for endpoint in ENDPOINTS if endpoint.name != "openai")
    store = SqliteStore.open(data / "moot.db")
    endpoints = (*others, replace(openai, base_url=replica.url))
    async with serving(data, store=store, endpoints=endpoints, **more) as house:
        yield house


async def test_a_debate_is_held_with_the_key_that_came_with_it(tmp_path: Path) -> None:
    async with Replica(key=KEY) as replica, house_beside(replica, tmp_path) as house:
        refused = await house.http.post("/api/v1/debates", json=asking_openai())
        errors = problem(refused, 422, "validation")["errors"]
        assert errors["participants.0.model.provider"] == ["No API key configured for this provider"]
        reply = await house.http.post("/api/v1/debates", json=asking_openai(), headers=LENT)
        assert reply.status_code == 201, reply.text
        debate_id = reply.json()["id"]
        assert (await house.over(debate_id))["status"] == "completed"
        assert len(replica.calls) == 4
        log = (await house.get(debate_id, "events?limit=1000")).text
        call = (await house.get(debate_id, "calls/1")).text
        assert KEY not in log + call + reply.text
    assert not [path for path in tmp_path.iterdir() if path.is_file() and KEY.encode() in path.read_bytes()]


async def test_a_lent_key_does_not_outlive_its_process_and_the_debate_waits_for_it(tmp_path: Path) -> None:
    async with Replica(key=KEY) as replica:
        async with house_beside(replica, tmp_path) as house:
            shape = asking_openai(autoProgress=False)
            reply = await house.http.post("/api/v1/debates", json=shape, headers=LENT)
            debate_id = reply.json()["id"]
            await house.until(debate_id, lambda status: status["status"] == "awaiting_arguments")
        async with house_beside(replica, tmp_path, recover=True) as house:
            await house.post(debate_id, "rounds", {"action": "next_round"})
            status = await house.until(debate_id, lambda status: status["status"] == "paused")
            assert status["status"] == "paused"
            log = (await house.get(debate_id, "events?limit=1000")).json()["events"]
            reasons = [e["event"]["reason"] for e in log if e["event"]["type"] == "debate.paused"]
            assert reasons == ["Key needed for openai."]
            assert (await house.post(debate_id, "resume", headers=LENT)).status_code == 200
            await house.until(debate_id, lambda s: any(part["responses"] for part in s["rounds"]))
            await house.post(debate_id, "rounds", {"action": "skip_to_judge"})


async def test_a_key_for_nobody_is_refused_without_being_repeated(tmp_path: Path) -> None:
    async with Replica(key=KEY) as replica, house_beside(replica, tmp_path) as house:
        for name in ("nobody", "scripted", "local"):
            headers = {f"X-Provider-Key-{name}": KEY}
            reply = await house.http.post("/api/v1/debates", json=BODY, headers=headers)
            problem(reply, 422, "validation")
            assert KEY not in reply.text


async def test_the_estimate_of_a_debate_is_a_range(tmp_path: Path) -> None:
    async with Replica(key=KEY) as replica, house_beside(replica, tmp_path) as house:
        reply = await house.http.post("/api/v1/estimate", json=asking_openai(), headers=LENT)
        assert reply.status_code == 200, reply.text
        figures = reply.json()
        assert 0 < figures["low"] < figures["high"]
        assert figures["unpriced"] == ["scripted/j"] or figures["unpriced"] == []
        assert (await house.http.get("/api/v1/debates")).json()["pagination"]["total"] == 0
