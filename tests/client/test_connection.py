"""One request of the client: what is sent, when it is retried, and how a refusal is reported."""

from __future__ import annotations

import json

import pytest

from moot.client import ApiError, AsyncClient, Client, DebateConfig, DebaterConfig, Unreachable, Unreadable
from moot.client.connection import server_address
from moot.core.errors import Invalid
from tests.client.canned_server import HANG_UP, answer, problem, serve_answers

TWO = (
    DebaterConfig("A", "openai/gpt-5", "for"),
    DebaterConfig("B", "openrouter/x/y:free", "against", persona="A sailor."),
)
CREATED = json.dumps(
    {
        "id": "deb_1",
        "status": "initializing",
        "topic": "Cats or dogs",
        "participants": [],
        "judge": {"id": "judge_1", "name": "Judge", "model": "m"},
        "judges": [{"id": "judge_1", "name": "Judge", "model": "m"}],
        "config": {
            "maxRounds": 3,
            "timeoutPerRound": 120,
            "autoJudge": True,
            "autoProgress": True,
            "winningCondition": "ai-judge",
            "intensity": 3,
            "showReasoning": True,
            "personSeconds": 300,
            "prep": False,
            "blind": False,
        },
        "createdAt": "2024-12-03T05:30:00Z",
        "streamUrl": "/api/v1/debates/deb_1/stream",
        "format": "oxford",
        "warnings": [],
    }
).encode()
IN_FLIGHT = problem("409 Conflict", b'{"type":"/errors/idempotency-in-flight","status":409}', Retry_After="0")


async def test_a_debate_is_asked_for_in_the_words_of_the_contract():
    async with serve_answers(answer("201 Created", CREATED)) as server, AsyncClient(server.url) as client:
        created = await client.create(
            "Cats or dogs?",
            participants=TWO,
            judge="openai/gpt-5",
            config=DebateConfig(max_rounds=2, cost_limit=1.5),
        )
    assert (created.id, created.judge and created.judge.name) == ("deb_1", "Judge")
    assert json.loads(server.requests[0].body) == {
        "topic": "Cats or dogs?",
        "format": "oxford",
        "participants": [
            {"name": "A", "model": {"provider": "openai", "modelId": "gpt-5"}, "position": "for"},
            {
                "name": "B",
                "model": {"provider": "openrouter", "modelId": "x/y:free"},
                "position": "against",
                "persona": "A sailor.",
            },
        ],
        "judge": {"name": "Judge", "model": {"provider": "openai", "modelId": "gpt-5"}},
        "config": {"maxRounds": 2, "costLimit": 1.5},
    }


async def test_a_post_whose_answer_was_lost_is_repeated_under_the_same_key():
    cut = answer("201 Created", CREATED)[:-20]
    for broken in (HANG_UP, cut):
        answers = (broken, IN_FLIGHT, answer("201 Created", CREATED))
        async with serve_answers(*answers) as server, AsyncClient(server.url) as client:
            assert (await client.create("Cats", participants=TWO, judge="a/b")).id == "deb_1"
        assert len(server.requests) == 3
        assert len({request.headers["idempotency-key"] for request in server.requests}) == 1
        assert len({request.body for request in server.requests}) == 1


async def test_it_is_repeated_once_only():
    async with serve_answers(HANG_UP, HANG_UP, HANG_UP) as server, AsyncClient(server.url) as client:
        with pytest.raises(Unreachable, match="broke off"):
            await client.pause("deb_1")
    assert len(server.requests) == 2


async def test_each_post_has_a_key_of_its_own():
    async with serve_answers(*[answer("200 OK", b"{}")] * 2) as server, AsyncClient(server.url) as client:
        await client.pause("deb_1")
        await client.resume("deb_1")
    assert len({request.headers["idempotency-key"] for request in server.requests}) == 2


async def test_a_delete_that_had_come_through_counts():
    gone = problem("404 Not Found", b'{"type":"/errors/not-found","status":404}')
    async with serve_answers(HANG_UP, gone, gone) as server, AsyncClient(server.url) as client:
        await client.delete("deb_1")
        with pytest.raises(ApiError):
            await client.delete("deb_1")


async def test_the_token_goes_with_every_request_and_keys_with_what_changes_something(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setenv("MOOT_TOKEN", "from-the-environment")
    async with serve_answers(*[answer("200 OK", b"{}")] * 3) as server:
        monkeypatch.setenv("MOOT_SERVER", server.url)
        async with AsyncClient(keys={"openai": "sk-mine"}) as client:
            await client.health()
            await client.resume("deb_1")
        async with AsyncClient(token="given") as client:
            await client.health()
    tokens = [request.headers["authorization"] for request in server.requests]
    assert tokens == ["Bearer from-the-environment", "Bearer from-the-environment", "Bearer given"]
    assert [request.headers.get("x-provider-key-openai") for request in server.requests] == [
        None,
        "sk-mine",
        None,
    ]


async def test_a_refusal_says_all_that_the_server_said():
    body = {
        "type": "/errors/validation",
        "title": "Validation Failed",
        "status": 422,
        "detail": "Invalid debate configuration",
        "instance": "/api/v1/debates",
        "requestId": "req_1",
        "errors": {"maxRounds": ["Must be between 1 and 10"]},
        "more": 1,
    }
    refusal = problem("422 Unprocessable", json.dumps(body).encode())
    async with serve_answers(refusal) as server, AsyncClient(server.url) as client:
        with pytest.raises(ApiError) as raised:
            await client.create("Cats", participants=TWO, judge="a/b")
    error = raised.value
    assert (error.type, error.title, error.status) == ("/errors/validation", "Validation Failed", 422)
    assert (error.detail, error.request_id) == ("Invalid debate configuration", "req_1")
    assert error.errors == {"maxRounds": ["Must be between 1 and 10"]}
    assert str(error) == "Invalid debate configuration (maxRounds: Must be between 1 and 10)"


async def test_what_stands_in_between_may_answer_too():
    page = answer("502 Bad Gateway", b"<h1>nginx</h1>", "text/html")
    elsewhere = answer("301 Moved Permanently", b"", "text/html", Location="https://moot.example/")
    nonsense = answer("200 OK", b"<h1>Welcome</h1>", "text/html")
    async with (
        serve_answers(page, elsewhere, nonsense) as server,
        AsyncClient(server.url, token="secret") as client,
    ):
        with pytest.raises(ApiError, match="502 Bad Gateway"):
            await client.models()
        with pytest.raises(ApiError, match=r"sends us to https://moot\.example/"):
            await client.models()
        with pytest.raises(Unreadable, match="newer Moot"):
            await client.models()


async def test_an_id_may_hold_anything():
    async with serve_answers(answer("200 OK", b"{}")) as server, AsyncClient(server.url) as client:
        await client.resume("../x?y#z/ü")
    assert server.requests[0].target == "/api/v1/debates/..%2Fx%3Fy%23z%2F%C3%BC/resume"


def test_addresses_as_people_write_them():
    assert server_address("localhost:9000") == "http://localhost:9000"
    assert server_address(" https://moot.example/ ") == "https://moot.example"
    assert server_address("http://[::1]:8000/api/v1/") == "http://[::1]:8000"
    for wrong in ("", "ftp://x", "http://", "http://x:99999", "http://[::1", "http://me:secret@x"):
        with pytest.raises(Invalid, match="not the address of a server"):
            server_address(wrong)


def test_a_model_needs_its_provider():
    with Client("127.0.0.1:9") as client, pytest.raises(Invalid, match="provider/model"):
        client.create("Cats", participants=TWO, judge="gpt-5")


def test_a_server_that_is_not_there_says_what_to_do():
    with Client("127.0.0.1:9") as client, pytest.raises(Unreachable) as raised:
        client.models()
    assert "moot serve" in raised.value.fix


async def test_waiting_inside_a_running_loop_is_refused():
    client = Client("127.0.0.1:9")
    with pytest.raises(RuntimeError, match="running event loop"):
        client.models()
