"""`/api/debates`: what its document says of setting up, watching, steering and ending a debate of two."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from moot.providers.keys import Secret
from moot.settings import ServerSettings
from tests.extensions.serving import PATIENT, ask, followed_events, kinds, node, scripted
from tests.web.routes.served import UNLIMITED
from tests.web.routes.server_thread import ServerThread


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Generator[ServerThread]:
    data = tmp_path_factory.mktemp("bouts")
    with ServerThread(data, UNLIMITED, provider=scripted(), pace=PATIENT, model="scripted/demo") as running:
        yield running


@pytest.fixture(scope="module")
def api(running: ServerThread) -> Generator[httpx.Client]:
    with httpx.Client(base_url=running.served.url, timeout=60) as client:
        yield client


def bout(a: str = "plain", b: str = "plain", **more: Any) -> dict[str, Any]:
    debaters = {"debaterA": {"model": f"scripted/{a}"}, "debaterB": {"model": f"scripted/{b}"}}
    return {"topic": "Best algorithm for sorting 1M items", **debaters, "maxTurns": 4, **more}


def opened(api: httpx.Client, body: dict[str, Any]) -> str:
    return ask(api, "/api/debates", body, 201).json()["id"]


def followed(api: httpx.Client, debate_id: str) -> list[dict[str, Any]]:
    return followed_events(api.get(f"/api/debates/{debate_id}/stream").content)


@contextmanager
def watching(api: httpx.Client, debate_id: str) -> Generator[Iterator[dict[str, Any]]]:
    with api.stream("GET", f"/api/debates/{debate_id}/stream") as stream:
        lines = stream.iter_lines()
        yield (json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: "))


def until(told: Iterator[dict[str, Any]], kind: str) -> dict[str, Any]:
    return next(event for event in told if event["type"] == kind)


# --- the document's own client --------------------------------------------------------------------------


def test_a_page_made_from_the_document_shows_the_debate_to_its_end(running: ServerThread) -> None:
    shown = node("arena_api/arena.mjs", running.served.url)
    created, after = shown["created"], shown["after"]
    assert shown["status"] == 201
    assert created.keys() >= {
        "id", "topic", "format", "maxTurns", "winningCondition", "debaterA", "debaterB", "turns", "status",
        "currentSpeaker", "createdAt", "updatedAt",
    }  # fmt: skip
    assert (created["format"], created["maxTurns"], created["status"]) == ("turn-based", 4, "running")
    assert created["debaterA"]["objective"] == "Defend merge sort.", "whoever opened it may read it"
    assert shown["kinds"][:3] == ["debate.started", "turn.started", "token"]
    assert shown["log"] == [{"number": n, "said": True} for n in range(1, 5)]
    assert shown["answer"]["action"] == {"type": "inject", "payload": "Mind the cache."}
    assert shown["actions"] == [{"type": "skip"}, {"type": "inject", "payload": "Mind the cache."}]
    assert shown["end"]["winner"] in ("A", "B", "draw")
    assert (after["status"], after["winner"]) == ("completed", shown["end"]["winner"])
    spoken = [(turn["number"], turn["speaker"]) for turn in after["turns"]]
    assert spoken == [(1, "A"), (2, "B"), (3, "A"), (4, "B")]


# --- steering -------------------------------------------------------------------------------------------


def test_actions_take_effect_and_are_told(api: httpx.Client) -> None:
    debate_id = opened(api, bout("mute", "plain"))
    to = f"/api/debates/{debate_id}/turn"
    with watching(api, debate_id) as told:
        assert until(told, "token")["content"]
        paused = ask(api, to, {"type": "pause"}, 202).json()
        assert (paused["status"], paused["action"]) == ("paused", {"type": "pause"})
        assert until(told, "action.processed")["action"] == {"type": "pause"}
        assert api.get(f"/api/debates/{debate_id}").json()["status"] == "paused"
        ask(api, to, {"type": "resume"}, 202)
        assert until(told, "action.processed")["action"] == {"type": "resume"}
        ask(api, to, {"type": "inject", "payload": "Speak up."}, 202)
        ask(api, to, {"type": "skip"}, 202)
        skipped = [next(told) for _ in range(4)]
        assert kinds(skipped) == ["action.processed", "turn.completed", "action.processed", "turn.started"]
        assert skipped[0]["action"] == {"type": "skip"}
        assert skipped[1].items() >= {"speaker": "A", "turnNumber": 1, "fullContent": "Well, "}.items()
        assert skipped[2]["action"] == {"type": "inject", "payload": "Speak up."}, "heard by the next"
        assert skipped[3].items() >= {"speaker": "B", "turnNumber": 2}.items()
        assert api.post(f"/api/v1/debates/{debate_id}/abort").status_code == 200
        end = until(told, "debate.completed")
        assert end["winner"] is None
        assert next(told, None) is None
    assert api.get(f"/api/debates/{debate_id}").json()["status"] == "aborted"


def test_a_skip_means_the_turn_under_way_and_no_other(api: httpx.Client) -> None:
    debate_id = opened(api, bout("mute", "mute"))
    to = f"/api/debates/{debate_id}/turn"
    with watching(api, debate_id) as told:
        until(told, "token")
        ask(api, to, {"type": "skip", "turnNumber": 1}, 202)
        assert until(told, "turn.started")["turnNumber"] == 2
        # Sent again, because the answer was lost.
        ask(api, to, {"type": "skip", "turnNumber": 1}, 202)
        assert until(told, "token")["speaker"] == "B"
        ask(api, to, {"type": "pause"}, 202)
        api.post(f"/api/v1/debates/{debate_id}/pause", json={"now": True})
        silent = ask(api, to, {"type": "skip"}, 409).json()
        assert (silent["detail"], silent["currentStatus"]) == ("Nobody is speaking", "paused")
        ask(api, to, {"type": "resume"}, 202)
        assert until(told, "turn.started")["turnNumber"] == 2, "nothing fell out"
    api.post(f"/api/v1/debates/{debate_id}/abort")


def test_what_cannot_be_done_now_is_a_conflict(api: httpx.Client) -> None:
    debate_id = opened(api, bout("mute"))
    to = f"/api/debates/{debate_id}/turn"
    refused = ask(api, to, {"type": "resume"}, 409)
    assert refused.json()["type"] == "/errors/conflict"
    api.post(f"/api/v1/debates/{debate_id}/abort")
    for action in ({"type": "pause"}, {"type": "skip"}, {"type": "inject", "payload": "Too late."}):
        assert ask(api, to, action, 409).json()["currentStatus"] == "completed"


@pytest.mark.parametrize(
    ("action", "errors"),
    [
        ({"type": "inject"}, {"payload": ["Needed for inject"]}),
        ({"type": "inject", "payload": "  "}, {"payload": ["Needed for inject"]}),
        ({"type": "inject", "payload": 7}, {"payload": ["Must be a string"]}),
        ({"type": "skip", "turnNumber": 0}, {"turnNumber": ["Must be between 1 and 100000"]}),
        ({"type": "pause", "turnNumber": 1}, {"turnNumber": ["Only for skip"]}),
        ({"type": "decide"}, {"payload": ["Must be A, B or draw"]}),
        ({"type": "decide", "payload": "me"}, {"payload": ["Must be A, B or draw"]}),
        ({"type": "stop"}, {"type": ["Must be one of: pause, resume, skip, inject, decide"]}),
        ({"payload": "x"}, {"type": ["Field required"]}),
        ({"type": "pause", "now": True}, {"now": ["Unknown field"]}),
    ],
)
def test_an_action_that_is_none_is_refused(
    api: httpx.Client, action: dict[str, Any], errors: dict[str, Any]
) -> None:
    debate_id = opened(api, bout("mute"))
    assert ask(api, f"/api/debates/{debate_id}/turn", action, 422).json()["errors"] == errors


# --- how it ends ----------------------------------------------------------------------------------------


def test_a_turn_that_fails_is_marked_and_the_debate_goes_on(api: httpx.Client) -> None:
    told = followed(api, opened(api, bout("plain", "hasty", winningCondition="ai-judge")))
    ended = [event for event in told if event["type"] == "turn.completed"]
    assert [event.get("status") for event in ended] == [None, "error", None, "error"]
    assert [bool(event["fullContent"]) for event in ended] == [True, False, True, False]
    assert told[-1]["type"] == "debate.completed"
    assert "error" not in told[-1]


def test_a_key_that_is_not_accepted_stops_the_debate(api: httpx.Client) -> None:
    debate_id = opened(api, bout("broken"))
    told = followed(api, debate_id)
    assert told[-1].items() >= {"type": "debate.completed", "winner": None}.items()
    assert "Check configuration" in told[-1]["reason"]
    kept = api.get(f"/api/debates/{debate_id}").json()
    assert (kept["status"], kept["winner"]) == ("aborted", None)
    assert "Check configuration" in kept["error"]


def test_nobody_judges_where_the_user_decides(api: httpx.Client) -> None:
    debate_id = opened(api, bout(maxTurns=2, winningCondition="user-decides"))
    with watching(api, debate_id) as told:
        for _ in range(2):
            until(told, "turn.completed")
        assert next(told)["choices"] == ["A", "B", "draw"]
        assert api.get(f"/api/debates/{debate_id}").json()["waitingFor"] == "decision"
        late = ask(api, f"/api/debates/{debate_id}/turn", {"type": "inject", "payload": "Well?"}, 409).json()
        assert late["detail"].startswith("Nobody would hear a remark now")
        answer = ask(api, f"/api/debates/{debate_id}/turn", {"type": "decide", "payload": "B"}, 202).json()
        assert answer["action"] == {"type": "decide", "payload": "B"}
        assert next(told)["action"] == {"type": "decide", "payload": "B"}
        assert until(told, "debate.completed")["winner"] == "B"
    assert "waitingFor" not in api.get(f"/api/debates/{debate_id}").json()


@pytest.mark.parametrize("by_id", [False, True])
def test_v1_decides_by_the_letter_or_by_the_id_that_is_shown(api: httpx.Client, by_id: bool) -> None:
    opened_ = ask(api, "/api/debates", bout(maxTurns=1, winningCondition="user-decides"), 201).json()
    to, winner = f"/api/v1/debates/{opened_['id']}/decide", opened_["debaterA"]["id"] if by_id else "A"
    assert ask(api, to, {"winner": "C"}, 422).json()["errors"] == {"winner": ["Unknown participant"]}
    ask(api, to, {"winner": winner})
    assert api.get(f"/api/debates/{opened_['id']}").json()["winner"] == "A"


def test_both_sides_conceding_end_it_at_once_although_a_judge_was_asked_for(api: httpx.Client) -> None:
    judged = {"winningCondition": "ai-judge", "judge": {"model": "scripted/yielding"}}
    debate_id = opened(api, bout("yielding", "yielding", **judged))
    told = followed(api, debate_id)
    assert kinds(told).count("turn.completed") == 1
    assert (told[-1]["type"], told[-1]["winner"]) == ("debate.completed", "B")
    assert "conceded" in told[-1]["reason"]


def test_a_debate_in_circles_is_judged_where_a_judge_was_asked_for(api: httpx.Client) -> None:
    body = bout("circular", "circular", winningCondition="ai-judge", maxTurns=8)
    told = followed(api, opened(api, body))
    assert kinds(told).count("turn.completed") == 3
    assert "in circles" not in told[-1]["reason"]
    own = bout("circular", "circular", winningCondition="self-terminate", maxTurns=8)
    told = followed(api, opened(api, own))
    assert kinds(told).count("turn.completed") == 3
    assert (told[-1]["winner"], told[-1]["reason"]) == ("draw", "The debate went in circles.")


def test_a_stream_is_taken_up_where_it_was_left(api: httpx.Client) -> None:
    debate_id = opened(api, bout(maxTurns=2))
    told = followed(api, debate_id)
    for event in told[:: len(told) // 4]:
        rest = api.get(f"/api/debates/{debate_id}/stream?lastEventId={event['seq']}")
        assert (rest.status_code, followed_events(rest.content)) == (
            (200, told[told.index(event) + 1 :]) if event is not told[-1] else (204, [])
        )
    assert api.get(f"/api/debates/{debate_id}/stream?lastEventId={told[-1]['seq']}").status_code == 204


# --- opening --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "errors"),
    [
        ({"debaterA": {"model": "gpt-0"}}, {"debaterA.model": ["Model not found: gpt-0"]}),
        ({"debaterA": {"model": "gpt-4o"}}, {"debaterA.model": ["No API key configured for this provider"]}),
        ({"debaterB": {"model": ""}}, None),
        ({"debaterB": {}}, {"debaterB.model": ["Field required"]}),
        ({"debaterA": None}, {"debaterA": ["Must be an object"]}),
        ({"maxTurns": 0}, {"maxTurns": ["Must be between 1 and 20"]}),
        ({"maxTurns": 21}, {"maxTurns": ["Must be between 1 and 20"]}),
        ({"format": "oxford"}, {"format": ["Must be one of: turn-based"]}),
        (
            {"winningCondition": "luck"},
            {"winningCondition": ["Must be one of: self-terminate, user-decides, ai-judge"]},
        ),
        ({"topic": " "}, {"topic": ["Must be between 1 and 500 characters"]}),
        ({"status": "running"}, {"status": ["Unknown field"]}),
        (
            {"debaterB": {"model": "scripted/plain", "name": "debater \uff21"}},
            {"debaterB.name": ["Names must be unique"]},
        ),
        (
            {"winningCondition": "user-decides", "judge": {"model": "scripted/plain"}},
            {"judge": ["Nobody judges where the user decides"]},
        ),
    ],
)
def test_a_debate_that_cannot_be_held_is_refused(
    api: httpx.Client, change: dict[str, Any], errors: dict[str, Any] | None
) -> None:
    told = ask(api, "/api/debates", {**bout(), **change}, 422).json()
    assert errors is None or told["errors"] == errors


def test_models_may_be_named_in_every_way_that_people_do(api: httpx.Client) -> None:
    ways: tuple[Any, ...] = ("scripted/demo", "demo", {"provider": "scripted", "modelId": "demo"})
    for way in ways:
        made = ask(api, "/api/debates", bout(maxTurns=1) | {"debaterA": {"model": way}}, 201).json()
        assert made["debaterA"]["model"] == "scripted/demo"
    apart = bout(maxTurns=1) | {"debaterA": {"provider": "scripted", "model": "demo"}}
    assert ask(api, "/api/debates", apart, 201).json()["debaterA"]["model"] == "scripted/demo"
    lent = {"X-Provider-Key-openrouter": "sk-or-canary-0123456789"}
    routed = bout(maxTurns=1) | {"debaterA": {"model": "meta-llama/llama-4-scout"}}
    made = api.post("/api/debates", json=routed, headers=lent)
    assert made.json()["debaterA"]["model"] == "openrouter/meta-llama/llama-4-scout"
    assert "canary" not in api.get(f"/api/v1/debates/{made.json()['id']}/events?limit=1000").text
    api.post(f"/api/v1/debates/{made.json()['id']}/abort")


def test_a_ticket_opens_the_stream_for_a_browser_once(tmp_path: Path) -> None:
    service = ServerSettings(requests_per_minute=None, token=Secret("operators-own-token"))
    token = {"Authorization": "Bearer operators-own-token"}
    with (
        ServerThread(tmp_path, service, provider=scripted(), pace=PATIENT, model="scripted/demo") as running,
        httpx.Client(base_url=running.served.url, timeout=60) as api,
    ):
        debate_id = api.post("/api/debates", json=bout(maxTurns=1), headers=token).json()["id"]
        for path in (f"/api/debates/{debate_id}/stream", f"/api/debate/{debate_id}/stream"):
            ticket = api.post(f"/api/v1/debates/{debate_id}/tickets", headers=token).json()["ticket"]
            assert api.get(path).status_code == 401
            assert followed_events(api.get(f"{path}?ticket={ticket}").content)
            assert api.get(f"{path}?ticket={ticket}").status_code == 401
