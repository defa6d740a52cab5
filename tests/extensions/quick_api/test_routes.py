"""`POST /api/debate` and what belongs to it, by the samples of its document and by its rules."""

from __future__ import annotations

import json
import socket
import subprocess
from collections.abc import Generator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from msgspec.structs import replace

from moot.providers.endpoints import ENDPOINTS
from moot.settings import ServerSettings
from tests.extensions.serving import PATIENT, ask, events, followed_events, kinds, node, nowhere, scripted
from tests.web.routes.served import UNLIMITED
from tests.web.routes.server_thread import ServerThread

MODEL = "scripted/demo"
MISSED = "/errors/provider-unavailable"
AGENTS = ["Optimist", "Skeptic"]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Generator[ServerThread]:
    with ServerThread(
        tmp_path_factory.mktemp("quick"), UNLIMITED, provider=scripted(), pace=PATIENT, model=MODEL
    ) as running:
        yield running


@pytest.fixture(scope="module")
def api(running: ServerThread) -> Generator[httpx.Client]:
    with httpx.Client(base_url=running.served.url, timeout=60) as client:
        yield client


def debated(api: httpx.Client, topic: str = "Should AI be regulated?", **more: Any) -> list[dict[str, Any]]:
    return events(ask(api, "/api/debate", {"topic": topic, **more}).text)


def portions(running: ServerThread, path: str, body: dict[str, Any], key: str) -> list[bytes]:
    """A stream as it is cut on the line."""
    content = json.dumps(body, separators=(",", ":"))
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    head += f"Idempotency-Key: {key}\r\nContent-Length: {len(content)}\r\n\r\n"
    sent: list[bytes] = []
    server = urlsplit(running.served.url)
    with (
        socket.create_connection((server.hostname or "", server.port or 0)) as line,
        line.makefile("rb") as reply,
    ):
        line.sendall((head + content).encode())
        while reply.readline().strip():
            pass
        while size := int(reply.readline(), 16):
            sent.append(reply.read(size))
            reply.readline()
    return sent


# --- the document's own clients -------------------------------------------------------------------------


def test_curl_shows_what_the_document_expects(running: ServerThread) -> None:
    sent = '{"topic":"Should AI be regulated?","maxRounds":2}'
    command = ["curl", "-sN", "-X", "POST", f"{running.served.url}/api/debate"]
    command += ["-H", "Content-Type: application/json", "-H", "Accept: text/event-stream", "-d", sent]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
    assert shown.startswith('data: {"type":"agent_start","agent":"Optimist","round":0')
    told = events(shown)
    assert kinds(told)[:2] == ["agent_start", "token"]
    assert [event["round"] for event in told if event["type"] == "round_complete"] == [1, 2]


def test_fetch_and_a_reader_follow_the_whole_debate(running: ServerThread) -> None:
    shown = node("quick_api/quick.mjs", "browser", running.served.url)
    speaking = [f"{agent} is speaking..." for agent in (*AGENTS * 3, "Moderator")]
    assert shown["speaking"] == speaking
    assert shown["summary"]
    assert shown["text"].endswith(shown["summary"])


def test_the_hook_collects_one_message_for_each_speech(running: ServerThread) -> None:
    shown = node("quick_api/quick.mjs", "hook", running.served.url)
    assert shown["isLoading"] is False
    *messages, again = shown["messages"]
    assert [message["role"] for message in messages] == [*AGENTS * 3, "Moderator"]
    assert again == messages[-1], "the hook adds the whole of the last one once more"


def test_the_documents_own_test_passes_and_the_debate_goes_on(
    running: ServerThread, api: httpx.Client
) -> None:
    debate_id = node("quick_api/quick.mjs", "automated", running.served.url)["id"]
    told = followed_events(api.get(f"/api/debate/{debate_id}/stream").content)
    assert kinds(told)[-1] == "debate_complete"
    kept = api.get(f"/api/debates/{debate_id}").json()
    assert kept["transcript"] == told[-1]["transcript"]
    assert (kept["status"], kept["summary"]) == ("completed", told[-1]["summary"])


# --- its rules ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rounds", [1, 2, 5])
def test_every_round_is_held_and_the_moderator_sums_up(api: httpx.Client, rounds: int) -> None:
    told = debated(api, maxRounds=rounds)
    begun = [(event["agent"], event["round"]) for event in told if event["type"] == "agent_start"]
    assert begun == [(agent, n) for n in range(rounds) for agent in AGENTS] + [("Moderator", rounds - 1)]
    done = [event for event in told if event["type"] == "round_complete"]
    assert [(event["round"], event["totalRounds"]) for event in done] == [
        (n, rounds) for n in range(1, rounds + 1)
    ]
    turnings = [kind for kind in kinds(told) if kind not in ("token", "agent_end")]
    assert turnings == ["agent_start", "agent_start", "round_complete"] * rounds + [
        "agent_start",
        "debate_complete",
    ], "a round is complete when both have spoken, and then the moderator sums up"
    last = told[-1]
    ended = [event for event in told if event["type"] == "agent_end"]
    assert [message["content"] for message in last["transcript"]] == [event["fullMessage"] for event in ended]
    assert last["summary"] == ended[-1]["fullMessage"]
    assert last["totalTokens"] >= sum(event["tokenCount"] for event in ended) > 0
    assert [event["seq"] for event in told] == sorted(event["seq"] for event in told)


def test_what_is_taken_back_is_begun_anew(api: httpx.Client) -> None:
    told = debated(api, "On a stumble", maxRounds=1)
    first = kinds(told)[: kinds(told).index("agent_end")]
    assert first.count("agent_start") == 2
    shown = ""
    for event in told:
        if event["type"] == "agent_start":
            shown = ""
        elif event["type"] == "token":
            shown += event["content"]
        elif event["type"] == "agent_end":
            assert shown == event["fullMessage"]
    assert all("take that back" not in message["content"] for message in told[-1]["transcript"])


@pytest.mark.parametrize(
    ("topic", "code", "retryable"),
    [("On the haste of all", "RATE_LIMIT", True), ("On the wrong key", "LLM_ERROR", False)],
)
def test_a_debate_that_fails_ends_with_an_error(
    api: httpx.Client, topic: str, code: str, retryable: bool
) -> None:
    told = debated(api, topic, maxRounds=1)
    assert kinds(told)[0] == "agent_start"
    assert told[-1].items() >= {"type": "error", "code": code, "retryable": retryable}.items()
    assert "debate_complete" not in kinds(told)


def test_the_two_steps_of_an_event_source(api: httpx.Client) -> None:
    reply = ask(api, "/api/debate/create", {"topic": "Should AI be regulated?", "maxRounds": 1}, 201)
    debate_id = reply.json()["debateId"]
    assert reply.headers["location"] == f"/api/debates/{debate_id}"
    stream = api.get(f"/api/debate/{debate_id}/stream")
    told = followed_events(stream.content)
    assert stream.headers["content-type"] == "text/event-stream"
    assert (kinds(told)[0], kinds(told)[-1]) == ("agent_start", "debate_complete")
    middle = told[len(told) // 2]["seq"]
    rest = followed_events(api.get(f"/api/debate/{debate_id}/stream?lastEventId={middle}").content)
    assert rest == [event for event in told if event["seq"] > middle]
    last = {"Last-Event-ID": str(told[-1]["seq"])}
    assert api.get(f"/api/debate/{debate_id}/stream", headers=last).status_code == 204
    ahead = api.get(f"/api/debate/{debate_id}/stream?lastEventId=99999")
    assert ahead.json()["type"] == "/errors/cursor-ahead"


def test_a_debate_that_is_told_all_at_once_comes_in_portions_of_whole_events(
    running: ServerThread, api: httpx.Client
) -> None:
    body = {"topic": "On a torrent"}
    ask(api, "/api/debate", body, Idempotency_Key="torrent")
    sent = portions(running, "/api/debate", body, "torrent")
    assert len(b"".join(sent)) > 64 * 1024
    assert len(sent) > 3
    assert all(portion.endswith(b"\n\n") for portion in sent)


def test_a_deleted_debate_is_told(running: ServerThread, api: httpx.Client) -> None:
    with api.stream("POST", "/api/debate", json={"topic": "On a silence"}) as stream:
        lines = stream.iter_lines()
        assert "agent_start" in next(lines)
        assert api.delete(f"/api/v1/debates/{stream.headers['x-debate-id']}").status_code == 204
        assert any('"The debate was deleted."' in line for line in lines)


def test_the_same_request_under_a_key_opens_one_debate(api: httpx.Client) -> None:
    body = {"topic": "Should AI be regulated?", "maxRounds": 1}
    first = ask(api, "/api/debate", body, Idempotency_Key="once")
    again = ask(api, "/api/debate", body, Idempotency_Key="once")
    assert again.headers["x-debate-id"] == first.headers["x-debate-id"]
    assert again.headers["idempotent-replayed"] == "true"
    assert again.text == first.text


# --- what an operator may set ---------------------------------------------------------------------------


def test_an_hour_has_so_many_debates_and_the_same_topic_is_one(tmp_path: Path) -> None:
    service = ServerSettings(
        requests_per_minute=None,
        debates_per_client=None,
        streams_per_client=1,
        variables={"MOOT_QUICK_PER_HOUR": 2, "MOOT_QUICK_CACHE_S": 60},
    )
    with (
        ServerThread(tmp_path, service, provider=scripted(), pace=PATIENT, model=MODEL) as running,
        httpx.Client(base_url=running.served.url, timeout=60) as api,
    ):
        once: dict[str, str] = {"Idempotency-Key": "once"}
        ids = [
            api.post("/api/debate", json={"topic": topic, "maxRounds": 1}, headers=key).headers["x-debate-id"]
            for topic, key in (("One", {}), ("One", {}), ("Two", once), ("Two", once), ("One", {}))
        ]
        assert ids[0] == ids[1] == ids[4] != ids[2] == ids[3]
        other = ask(api, "/api/debate/create", {"topic": "One", "maxRounds": 2}, 429)
        assert other.json()["type"] == "/errors/rate-limit"
        assert 1 <= int(other.headers["retry-after"]) <= 3600
        assert running.run(running.served.arena.list(limit=1)).total == 2


def test_a_debate_that_somebody_paused_or_stopped_is_not_given_to_others(tmp_path: Path) -> None:
    service = ServerSettings(
        requests_per_minute=None, debates_per_client=None, variables={"MOOT_QUICK_CACHE_S": 60}
    )
    with (
        ServerThread(tmp_path, service, provider=scripted(), pace=PATIENT, model=MODEL) as running,
        httpx.Client(base_url=running.served.url, timeout=60) as api,
    ):
        ids: list[str] = []
        for deed in ("pause", "stop"):
            ids.append(ask(api, "/api/debate/create", {"topic": "On a silence"}, 201).json()["debateId"])
            ask(api, f"/api/v1/debates/{ids[-1]}/{deed}", {})
        ids.append(ask(api, "/api/debate/create", {"topic": "On a silence"}, 201).json()["debateId"])
        assert len(set(ids)) == 3


def test_nobody_opens_a_debate_who_has_no_place_to_watch_it_from(tmp_path: Path) -> None:
    service = ServerSettings(requests_per_minute=None, debates_per_client=None, streams_per_client=1)
    with (
        ServerThread(tmp_path, service, provider=scripted(), pace=PATIENT, model=MODEL) as running,
        httpx.Client(base_url=running.served.url, timeout=60) as api,
        api.stream("POST", "/api/debate", json={"topic": "On a silence"}),
    ):
        ask(api, "/api/debate", {"topic": "Another"}, 429)
        assert running.run(running.served.arena.list(limit=1)).total == 1


def test_a_lent_key_serves_the_usual_model_and_without_one_it_is_missed(tmp_path: Path) -> None:
    moved = tuple(replace(each, base_url=nowhere()) if each.name == "groq" else each for each in ENDPOINTS)
    with (
        ServerThread(tmp_path, UNLIMITED, endpoints=moved, model="groq/openai/gpt-oss-120b") as running,
        httpx.Client(base_url=running.served.url, timeout=60) as api,
    ):
        refused = ask(api, "/api/debate", {"topic": "Cats or dogs?"}, 503)
        missed = refused.json()
        assert (missed["type"], missed["code"], missed["retryable"]) == (MISSED, "LLM_ERROR", False)
        assert missed["message"] == missed["detail"]
        assert "There is no key for Groq" in missed["message"]
        assert "retry-after" not in refused.headers
        key = "gsk_canary0123456789"
        told = ask(api, "/api/debate", {"topic": "Cats or dogs?"}, X_Provider_Key_groq=key)
        assert kinds(events(told.text))[0] == "agent_start"
        log = api.get(f"/api/v1/debates/{told.headers['x-debate-id']}/events?limit=1000").text
        assert key not in told.text + log


def test_a_model_that_the_server_cannot_have_is_told_in_whole_sentences(tmp_path: Path) -> None:
    with (
        ServerThread(tmp_path, UNLIMITED, pace=PATIENT, model="nosuch/model") as running,
        httpx.Client(base_url=running.served.url, timeout=60) as api,
    ):
        for path in ("/api/debate", "/api/debate/create"):
            told = ask(api, path, {"topic": "Cats or dogs?"}, 503).json()
            assert (told["code"], told["retryable"]) == ("LLM_ERROR", False)
            assert told["message"].endswith("There is no provider called 'nosuch'")


def test_every_refusal_has_a_message_a_code_and_whether_to_try_again(tmp_path: Path) -> None:
    service = ServerSettings(requests_per_minute=3, debates_per_client=None)
    with (
        ServerThread(tmp_path, service, provider=scripted(), pace=PATIENT, model=MODEL) as running,
        httpx.Client(base_url=running.served.url, timeout=60) as api,
    ):
        bodies = ({"topic": ""}, {"topic": "Cats or dogs?", "maxRounds": 6}, {}, {})
        told = [api.post("/api/debate", json=body).json() for body in bodies]
    assert [(one["status"], one["code"], one["retryable"]) for one in told] == [
        (422, "INVALID_TOPIC", False),
        (422, "INVALID_REQUEST", False),
        (422, "INVALID_TOPIC", False),
        (429, "RATE_LIMIT", True),
    ]
    assert all(one["message"] == one["detail"] for one in told)


def test_the_moderator_sums_up_also_where_the_exchange_ends_early(api: httpx.Client) -> None:
    circling = debated(api, "On going in circles", maxRounds=5)
    stopped_id = ask(api, "/api/debate/create", {"topic": "On a silence of the Skeptic"}, 201).json()[
        "debateId"
    ]
    stream = f"/api/debate/{stopped_id}/stream"
    with api.stream("GET", stream) as live:
        for line in live.iter_lines():
            if '"agent":"Skeptic"' in line:
                break
    ask(api, f"/api/v1/debates/{stopped_id}/stop", {})
    for told, reason in ((circling, "stalemate"), (followed_events(api.get(stream).content), "stopped")):
        assert told[-1].items() >= {"type": "debate_complete", "reason": reason}.items()
        assert told[-1]["summary"] == told[-1]["transcript"][-1]["content"]
        assert (told[-2]["type"], told[-2]["agent"]) == ("agent_end", "Moderator")
        rounds = [event["round"] for event in told if event["type"] == "round_complete"]
        assert rounds == [*range(1, len(rounds) + 1)]


def test_a_missing_model_is_told_without_where_the_server_keeps_its_files(tmp_path: Path) -> None:
    with (
        ServerThread(tmp_path, UNLIMITED, pace=PATIENT, model="local/smollm2-135m", offline=True) as running,
        httpx.Client(base_url=running.served.url, timeout=60) as client,
    ):
        told = client.post("/api/debate", json={"topic": "Should AI be regulated?"}).text
    assert "is not installed" in told
    assert str(tmp_path) not in told
    assert "models folder" in told
