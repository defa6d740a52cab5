"""The description of the older APIs tells the truth, and the ids of their operations stay."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Mapping
from typing import Any, get_args

import httpx
import pytest

from moot.core.sse_reader import SseReader
from moot.extension import Extension
from moot.extensions import arena_api, turn_sessions
from moot.extensions.arena_api.shapes import BoutEvent
from moot.extensions.quick_api.shapes import QuickEvent
from moot.extensions.turn_sessions.shapes import TurnStreamEvent
from tests.client.serving import served
from tests.web.test_openapi import operations, validator

OPERATION_IDS = {
    ("POST", "/api/debate"): "run_quick_debate",
    ("POST", "/api/debate/create"): "create_quick_debate",
    ("GET", "/api/debate/{debateId}/stream"): "stream_quick_debate",
    ("POST", "/api/debates"): "create_arena_debate",
    ("GET", "/api/debates/{debateId}"): "get_arena_debate",
    ("GET", "/api/debates/{debateId}/stream"): "stream_arena_debate",
    ("POST", "/api/debates/{debateId}/turn"): "steer_arena_debate",
    ("POST", "/api/debate/stream/init"): "request_turn",
    ("POST", "/api/debate/stream"): "run_turn",
    ("GET", "/api/debate/stream/{sessionId}"): "stream_turn",
    ("DELETE", "/api/debate/stream/{sessionId}"): "cancel_turn",
    ("GET", "/api/debate/session/{sessionId}"): "get_session",
    ("GET", "/api/debate/sessions"): "list_sessions",
}


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Generator[httpx.Client]:
    with (
        served(tmp_path_factory.mktemp("served")) as server,
        httpx.Client(base_url=server.url, timeout=60) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def described(api: httpx.Client) -> dict[str, Any]:
    return api.get("/openapi.json").raise_for_status().json()


def bodies(extension: Extension) -> Mapping[str, Callable[[str], Any]]:
    assert extension.http is not None
    return extension.http().examples


def test_the_operation_ids_stay(described: dict[str, Any]) -> None:
    """Generated clients call their functions so: a change breaks them."""
    told = {(method, path): operation["operationId"] for method, path, operation in operations(described)}
    assert {route: told[route] for route in OPERATION_IDS} == OPERATION_IDS


def test_real_replies_at_the_other_doors_are_as_described(
    described: dict[str, Any], api: httpx.Client
) -> None:
    opened = api.post("/api/debates", json=bodies(arena_api.EXTENSION)["NewBout"]("scripted/demo"))
    validator(described, "Bout", closed=True).validate(opened.json())
    created = api.post("/api/debate/create", json={"topic": "Cats or dogs?", "maxRounds": 1}).json()
    validator(described, "QuickCreated", closed=True).validate(created)
    validator(described, "ServicesResponse", closed=True).validate(api.get("/api/health").json())
    refused = api.post("/api/debate", json={}).json()
    validator(described, "ErrorResponse", closed=True).validate(refused)
    for union, path in (
        (QuickEvent, created["streamUrl"]),
        (BoutEvent, f"/api/debates/{opened.json()['id']}/stream"),
        (BoutEvent, f"/api/debates/{created['debateId']}/stream"),
    ):
        checks = [validator(described, model.__name__, closed=True) for model in get_args(union)]
        for event in SseReader().feed(api.get(path).content):
            data = json.loads(event.data)
            assert sum(check.is_valid(data) for check in checks) == 1, data
    for debate in (created["debateId"], opened.json()["id"]):
        validator(described, "Bout", closed=True).validate(api.get(f"/api/debates/{debate}").json())


def test_real_replies_to_who_asks_for_turns_are_as_described(
    described: dict[str, Any], api: httpx.Client
) -> None:
    body = bodies(turn_sessions.EXTENSION)["AskedTurn"]("scripted/demo")
    begun = api.post("/api/debate/stream/init", json=body).json()
    validator(described, "SessionBegun", closed=True).validate(begun)
    checks = {
        str(getattr(model, "event", "")): validator(described, model.__name__, closed=True)
        for model in get_args(TurnStreamEvent)
    }
    for event in SseReader().feed(api.get(begun["streamUrl"]).content):
        checks[event.name].validate(json.loads(event.data))
    session = api.get(f"/api/debate/session/{begun['sessionId']}").json()
    validator(described, "DebateSession", closed=True).validate(session)
    validator(described, "SessionsResponse", closed=True).validate(api.get("/api/debate/sessions").json())
    cancelled = api.delete(begun["streamUrl"]).json()
    validator(described, "TurnCancelled", closed=True).validate(cancelled)
    refused = api.post("/api/debate/stream", json={})
    validator(described, "SimpleError", closed=True).validate(refused.json())
