"""A debate over HTTP, from the request that opens it to the one that deletes it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from copy import deepcopy
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from moot.client import AsyncClient
from moot.core.errors import Fault
from moot.core.events import CallDelta
from moot.core.terms import Model, Request
from moot.providers.endpoints import ENDPOINTS
from moot.providers.keys import Secret
from moot.providers.prices import flat_price
from moot.providers.scripted import Cue, FaultCue, ScriptedProvider, improvise
from moot.providers.throttle import MAX_FAILURES
from moot.settings import ServerSettings
from tests.web.routes.event_source import EventSource
from tests.web.routes.served import BODY, UNLIMITED, Served, body, serving


def problem(reply: httpx.Response, status: int, kind: str) -> dict:
    assert reply.status_code == status, reply.text
    assert reply.headers["content-type"] == "application/problem+json"
    shape = reply.json()
    assert shape["type"] == f"/errors/{kind}"
    assert shape["status"] == status
    assert shape["requestId"] == reply.headers["x-request-id"]
    return shape


async def test_a_debate_is_opened_and_runs_to_its_verdict(served: Served) -> None:
    reply = await served.http.post("/api/v1/debates", json=BODY)
    assert reply.status_code == 201
    opened = reply.json()
    assert reply.headers["location"] == f"/api/v1/debates/{opened['id']}"
    assert (await served.http.get(reply.headers["location"])).json()["id"] == opened["id"]
    assert opened["status"] == "initializing"
    assert opened["streamUrl"] == f"/api/v1/debates/{opened['id']}/stream"
    assert [seat["id"][:5] for seat in opened["participants"]] == ["part_", "part_"]
    assert len(opened["participants"][0]["id"]) == len("part_") + 26
    status = await served.over(opened["id"])
    assert status["status"] == "completed"
    assert [part["roundNumber"] for part in status["rounds"]] == [1, 2]
    assert status["verdict"]


async def test_the_stream_tells_the_whole_debate_and_ends(served: Served) -> None:
    debate_id = await served.open()
    seen = await served.follow(debate_id)
    assert seen[0][0] == "status"
    assert seen[0][2]["state"] == "initializing"
    assert seen[-1][0] == "complete"
    ids = [tuple(map(int, (id + ".9999").split(".")[:2])) for _, id, _ in seen]
    assert ids == sorted(set(ids))


async def test_a_finished_debate_is_replayed_and_a_viewer_who_saw_the_end_is_told_to_stop(
    served: Served,
) -> None:
    debate_id = await served.open()
    first = await served.follow(debate_id)
    assert await served.follow(debate_id) == first
    reply = await served.get(debate_id, "stream", headers={"Last-Event-ID": first[-1][1]})
    assert (reply.status_code, reply.content) == (204, b"")


class Failing:
    """Speakers and judges whose key is refused for as long as `broken` says so."""

    def __init__(self, *broken: str) -> None:
        self.broken = set(broken)

    def __call__(self, request: Request) -> Iterable[Cue]:
        if request.model.name in self.broken:
            return [FaultCue(Fault("bad_key", "permanent"))]
        return improvise(request)


@pytest.mark.parametrize("query", ["", "?extended=true"])
async def test_the_stream_of_a_failed_debate_ends_and_goes_on_after_a_retry(
    tmp_path: Path, query: str
) -> None:
    script = Failing("b")
    async with serving(tmp_path, provider=ScriptedProvider(script)) as house:
        debate_id = await house.open()
        watching = EventSource(house, debate_id, query=query)
        await watching.run()
        # The server ended it, and when the browser came back there was nothing new.
        assert watching.statuses == [200, 204]
        assert [name for name, _ in watching.events[-2:]] == ["status", "error"]
        assert watching.events[-2][1]["state"] == "error"
        again = EventSource(house, debate_id, watching.last, query)
        await again.run()
        assert (again.statuses, again.events) == ([204], [])
        script.broken.clear()
        assert (await house.post(debate_id, "retry")).status_code == 202
        going_on = EventSource(house, debate_id, watching.last, query)
        await going_on.run()
        assert going_on.statuses == [200]
        assert going_on.events[-1][0] == "complete"
        assert going_on.events[-1][1]["verdict"]
        # Who comes later hears all of it at once.
        whole = EventSource(house, debate_id, query=query)
        await whole.run()
        assert whole.statuses == [200]
        assert whole.events == watching.events + going_on.events


async def test_the_stream_goes_on_when_judges_that_failed_are_asked_again(tmp_path: Path) -> None:
    script = Failing("j")
    async with serving(tmp_path, provider=ScriptedProvider(script)) as house:
        debate_id = await house.open()
        watching = EventSource(house, debate_id)
        await watching.run()
        assert watching.statuses == [200, 204]
        assert watching.events[-1][1]["reason"] == "judge_failed"
        script.broken.clear()
        assert (await house.post(debate_id, "judge")).status_code == 202
        await watching.run()
        assert watching.statuses == [200, 204, 200]
        assert watching.events[-1][0] == "complete"


async def test_what_happens_in_a_failed_debate_is_told_once_and_the_stream_ends_again(
    tmp_path: Path,
) -> None:
    async with serving(tmp_path, provider=ScriptedProvider(Failing("b"))) as house:
        debate_id = await house.open()
        plain, extended = (EventSource(house, debate_id, query=query) for query in ("", "?extended=true"))
        await plain.run()
        await extended.run()
        seat = (await house.arena.state(debate_id)).seats[1].id
        assert (await house.post(debate_id, f"seats/{seat}/take")).status_code == 200
        await plain.run()
        await extended.run()
        assert plain.statuses == [200, 204, 204]
        assert extended.statuses == [200, 204, 200, 204]
        assert extended.events[-1][0] == "seat"


async def test_our_own_client_stops_where_a_debate_failed_and_goes_on_from_there(tmp_path: Path) -> None:
    script = Failing("b")
    async with (
        serving(tmp_path, provider=ScriptedProvider(script)) as house,
        AsyncClient(house.url) as client,
    ):
        debate_id = await house.open()
        failed = [event async for event in client.stream(debate_id)]
        assert [event.name for event in failed[-2:]] == ["status", "error"]
        script.broken.clear()
        await client.retry(debate_id)
        going_on = [event async for event in client.stream(debate_id, after=failed[-1].id)]
        assert going_on[-1].name == "complete"


async def test_a_stream_resumes_after_every_single_event(served: Served) -> None:
    debate_id = await served.open()
    whole = await served.follow(debate_id)
    for place in range(0, len(whole) - 1, 7):
        rest = await served.follow(debate_id, **{"Last-Event-ID": whole[place][1]})
        assert rest == whole[place + 1 :]
        assert await served.follow(debate_id, f"?lastEventId={whole[place][1]}") == rest


async def test_the_header_outweighs_the_query(served: Served) -> None:
    debate_id = await served.open()
    whole = await served.follow(debate_id)
    rest = await served.follow(debate_id, "?lastEventId=1", **{"Last-Event-ID": whole[4][1]})
    assert rest == whole[5:]


@pytest.mark.parametrize("last", ["abc", "-1", "1e3", "0x10", "9" * 10_000, str(2**64), "1.0", "٣"])
async def test_a_last_event_id_that_is_none_is_malformed(served: Served, last: str) -> None:
    debate_id = await served.open()
    reply = await served.get(debate_id, "stream", headers={"Last-Event-ID": last.encode()})
    problem(reply, 400, "malformed-request")


async def test_a_cursor_ahead_of_the_log_is_a_conflict(served: Served) -> None:
    debate_id = await served.open()
    await served.over(debate_id)
    problem(await served.get(debate_id, "stream?lastEventId=99999"), 409, "cursor-ahead")


@pytest.mark.parametrize("accept", ["application/json", "text/html;q=0.9"])
async def test_a_stream_is_not_to_be_had_as_anything_else(served: Served, accept: str) -> None:
    debate_id = await served.open()
    problem(await served.get(debate_id, "stream", headers={"Accept": accept}), 406, "not-acceptable")


async def test_a_head_request_leaves_no_viewer_behind(slow: Served) -> None:
    debate_id = await slow.open()
    reply = await slow.http.head(f"/api/v1/debates/{debate_id}/stream")
    assert reply.status_code == 200
    assert reply.headers["content-type"] == "text/event-stream"
    problem(await slow.post(debate_id, "stream"), 405, "method-not-allowed")


WHERE = (
    "status", "stream", "transcript", "events", "events/stream", "calls/1", "rounds", "judge", "pause",
    "resume", "stop", "abort", "skip", "retry", "inject", "decide", "tickets", "ws",
)  # fmt: skip
READ = ("status", "stream", "transcript", "events", "events/stream", "calls/1")
SENT = {
    "rounds": {"action": "next_round"},
    "inject": {"text": "Go on."},
    "decide": {"winner": "tie"},
    "extend": {"seconds": 30},
    "invitations": {"role": "observer"},
    "seats/{seat}/draft": {"text": "Well"},
    "seats/{seat}/speech": {"text": "Well then."},
    "seats/{seat}/points": {"text": "Who pays?"},
    "seats/{seat}/answer": {"accept": True},
    "questions": {"text": "Why?"},
    "votes": {"choice": "undecided"},
    "tokens": {"name": "zoe"},
    "ballots": {"winner": "tie", "reasoning": "Even.", "cites": [1]},
}
"""By the address below that of the debate or of v1, where it needs a body."""


@pytest.mark.parametrize(
    "debate_id", ["deb_unknown", "deb_", "'; DROP TABLE debates", "é" * 30, "x" * 10_000]
)
async def test_an_unknown_debate_is_not_found_on_every_route(served: Served, debate_id: str) -> None:
    bodies = set()
    for what in WHERE[:-1]:
        if what in READ:
            reply = await served.get(debate_id, what)
        else:
            reply = await served.post(debate_id, what, SENT.get(what))
        shape = problem(reply, 404, "not-found")
        bodies.add(msgspec.json.encode({**shape, "instance": "", "requestId": ""}))
    reply = await served.http.delete(f"/api/v1/debates/{debate_id}")
    problem(reply, 404, "not-found")
    assert len(bodies) == 1


# --- steering -----------------------------------------------------------------------------------------


async def test_a_pause_can_be_repeated_and_a_resume_cannot(slow: Served) -> None:
    debate_id = await slow.open()
    first = await slow.post(debate_id, "pause")
    assert first.status_code == 200
    assert first.json()["status"] == "paused"
    again = await slow.post(debate_id, "pause", {})
    assert again.json()["pausedAt"] == first.json()["pausedAt"]
    resumed = await slow.post(debate_id, "resume")
    assert resumed.status_code == 200
    assert resumed.json()["status"] != "paused"
    assert problem(await slow.post(debate_id, "resume"), 409, "conflict")["currentStatus"]


async def test_the_body_of_a_pause_is_read_all_the_same(slow: Served) -> None:
    debate_id = await slow.open()
    problem(await slow.post(debate_id, "pause", {"x": 1}), 422, "validation")
    reply = await slow.http.post(
        f"/api/v1/debates/{debate_id}/pause", content=b"{", headers={"Content-Type": "application/json"}
    )
    problem(reply, 400, "malformed-request")


async def test_a_finished_debate_takes_no_orders(served: Served) -> None:
    debate_id = await served.open()
    await served.over(debate_id)
    for what in ("rounds", "pause", "resume", "stop", "judge", "abort", "skip", "retry", "inject", "decide"):
        shape = problem(await served.post(debate_id, what, SENT.get(what)), 409, "conflict")
        assert shape["currentStatus"] == "completed"


async def test_a_skip_is_refused_where_nobody_speaks_and_drops_nothing(served: Served) -> None:
    debate_id = await served.open(autoProgress=False, autoJudge=False)
    await served.until(debate_id, lambda status: status["status"] == "awaiting_arguments")
    shape = problem(await served.post(debate_id, "skip"), 409, "conflict")
    assert (shape["detail"], shape["currentStatus"]) == ("Nobody is speaking", "awaiting_arguments")
    assert (await served.post(debate_id, "rounds", {"action": "next_round"})).status_code == 202
    await served.until(debate_id, lambda s: sum(len(part["responses"]) for part in s["rounds"]) == 2)
    assert (await served.arena.state(debate_id)).skipped == ()


async def test_a_skip_that_is_sent_again_does_not_silence_the_opponent(slow: Served) -> None:
    debate_id = await slow.open()
    [speaker] = (await slow.until(debate_id, lambda status: bool(status["speaking"])))["speaking"]
    assert (await slow.post(debate_id, "skip", {"turn": speaker["turn"]})).status_code == 200
    await slow.until(debate_id, lambda status: [one["turn"] for one in status["speaking"]] == [2])
    assert (await slow.post(debate_id, "skip", {"turn": speaker["turn"]})).status_code == 200
    assert [turn.state for turn in (await slow.arena.state(debate_id)).turns] == ["interrupted"]
    problem(await slow.post(debate_id, "skip", {"turn": 3}), 409, "conflict")
    coming = await slow.post(debate_id, "skip", {"speech": 3})
    assert coming.status_code == 200
    assert (await slow.arena.state(debate_id)).skipped == (2,)
    both = problem(await slow.post(debate_id, "skip", {"turn": 2, "speech": 2}), 422, "validation")
    assert both["errors"] == {"speech": ["Give turn or speech, not both"]}
    for wrong in ({"turn": 0}, {"turn": "1"}, {"turn": None}, {"slot": 1}):
        problem(await slow.post(debate_id, "skip", wrong), 422, "validation")


async def test_a_round_is_asked_for_once_and_not_while_one_is_held(slow: Served) -> None:
    debate_id = await slow.open(autoProgress=False)
    await slow.until(debate_id, lambda status: status["status"] == "awaiting_arguments")
    both = await asyncio.gather(*(slow.post(debate_id, "rounds", {"action": "next_round"}) for _ in range(2)))
    assert sorted(reply.status_code for reply in both) == [202, 409]
    accepted = next(reply.json() for reply in both if reply.status_code == 202)
    assert (accepted["debateId"], accepted["currentRound"]) == (debate_id, 1)
    refused = problem(await slow.post(debate_id, "rounds", {"action": "next_round"}), 409, "conflict")
    assert refused["detail"] == "A round is in progress"


async def test_a_manual_debate_goes_round_by_round_to_its_judge(served: Served) -> None:
    debate_id = await served.open(autoProgress=False, autoJudge=False)
    for number in (1, 2):
        await served.until(debate_id, lambda status: status["status"] == "awaiting_arguments")
        reply = await served.post(debate_id, "rounds", {"action": "next_round"})
        assert (reply.status_code, reply.json()["currentRound"]) == (202, number)
        await served.until(
            debate_id, lambda status, n=number: sum(len(r["responses"]) for r in status["rounds"]) == 2 * n
        )
    await served.until(debate_id, lambda status: status["status"] == "awaiting_arguments")
    problem(await served.post(debate_id, "rounds", {"action": "next_round"}), 409, "conflict")
    reply = await served.post(debate_id, "rounds", {"action": "skip_to_judge"})
    assert (reply.status_code, reply.json()["status"]) == (202, "judge_evaluating")
    assert (await served.over(debate_id))["verdict"]


async def test_there_is_nothing_to_judge_before_the_first_speech(slow: Served) -> None:
    debate_id = await slow.open()
    shape = problem(await slow.post(debate_id, "judge"), 409, "conflict")
    assert shape["detail"] == "Nothing to judge"


async def test_a_judge_is_called_once(slow: Served) -> None:
    debate_id = await slow.open()
    await slow.until(debate_id, lambda status: any(part["responses"] for part in status["rounds"]))
    await slow.until(debate_id, lambda s: any(r["tokensUsed"] for p in s["rounds"] for r in p["responses"]))
    first = await slow.post(debate_id, "judge")
    assert (first.status_code, first.json()["status"]) == (202, "judge_evaluating")
    shape = problem(await slow.post(debate_id, "judge"), 409, "conflict")
    assert shape["currentStatus"] == "judge_evaluating"
    seen = await slow.follow(debate_id)
    assert sum(name == "verdict" for name, _, _ in seen) == 1


async def test_a_stop_judges_what_was_said_and_can_be_repeated(slow: Served) -> None:
    debate_id = await slow.open()
    await slow.until(debate_id, lambda s: any(r["tokensUsed"] for p in s["rounds"] for r in p["responses"]))
    first = await slow.post(debate_id, "stop")
    assert first.json()["status"] == "judge_evaluating"
    again = await slow.post(debate_id, "stop")
    assert again.json()["stoppedAt"] == first.json()["stoppedAt"]
    problem(await slow.post(debate_id, "pause"), 409, "conflict")
    assert (await slow.over(debate_id))["stopped"] is True


async def test_an_aborted_debate_is_completed_and_stopped_and_has_no_verdict(slow: Served) -> None:
    debate_id = await slow.open()
    assert (await slow.post(debate_id, "abort")).status_code == 200
    status = await slow.over(debate_id)
    assert (status["status"], status["stopped"], "verdict" in status) == ("completed", True, False)
    seen = await slow.follow(debate_id)
    assert (seen[-1][0], seen[-1][2]["verdict"], seen[-1][2]["stopped"]) == ("complete", None, True)
    assert all(name != "verdict" for name, _, _ in seen)


async def test_orders_in_any_mixture_lead_to_a_legal_end(slow: Served) -> None:
    for _ in range(20):
        debate_id = await slow.open()
        replies = await asyncio.gather(*(slow.post(debate_id, what) for what in ("pause", "resume", "stop")))
        assert all(reply.status_code in (200, 409) for reply in replies)
        assert (await slow.over(debate_id))["status"] == "completed"


async def test_a_person_decides(served: Served) -> None:
    debate_id = await served.open(winningCondition="user-decides")
    seat = (await served.get(debate_id, "status")).json()["participants"][0]["id"]
    await served.until(debate_id, lambda s: s["status"] == "awaiting_arguments" and s["currentRound"] == 2)
    problem(await served.post(debate_id, "decide", {"winner": "part_0"}), 422, "validation")
    reply = await served.post(debate_id, "decide", {"winner": seat, "reason": "Better examples."})
    assert reply.status_code == 200, reply.text
    assert (await served.over(debate_id))["verdict"]["winner"] == seat


async def test_a_remark_is_heard_by_the_next_speech_and_kept_once(slow: Served) -> None:
    debate_id = await slow.open()
    reply = await slow.post(debate_id, "inject", {"text": "What about small firms?"})
    assert (reply.status_code, reply.json()["status"]) == (202, "queued")
    events = (await slow.get(debate_id, "events?limit=1000")).json()["events"]
    assert sum(event["event"]["type"] == "remark.injected" for event in events) == 1


async def test_keys_in_a_remark_are_blotted_out(slow: Served) -> None:
    debate_id = await slow.open()
    await slow.post(debate_id, "inject", {"text": "My key is sk-abcdefghijklmnopqrstuvwxyz123456."})
    events = (await slow.get(debate_id, "events?limit=1000")).text
    assert "abcdefghijklmnopqrstuvwxyz" not in events


# --- deleting -----------------------------------------------------------------------------------------


async def test_a_deleted_debate_is_gone_and_its_viewers_are_told(slow: Served) -> None:
    debate_id = await slow.open()
    watching = asyncio.create_task(slow.follow(debate_id))
    await slow.until(debate_id, lambda status: status["status"] == "debating")
    await asyncio.sleep(0.05)
    assert (await slow.http.delete(f"/api/v1/debates/{debate_id}")).status_code == 204
    seen = await watching
    assert (seen[-1][0], seen[-1][2]["retryable"]) == ("error", False)
    problem(await slow.get(debate_id, "stream"), 404, "not-found")
    problem(await slow.http.delete(f"/api/v1/debates/{debate_id}"), 404, "not-found")
    problem(await slow.http.delete("/api/v1/debates"), 405, "method-not-allowed")


# --- repeating ----------------------------------------------------------------------------------------


async def test_the_same_request_under_the_same_key_is_carried_out_once(served: Served) -> None:
    key = {"Idempotency-Key": "once"}
    first = await served.http.post("/api/v1/debates", json=BODY, headers=key)
    again = await served.http.post("/api/v1/debates", json=BODY, headers=key)
    assert (again.status_code, again.json()) == (201, first.json())
    assert again.headers["idempotent-replayed"] == "true"
    other = await served.http.post("/api/v1/debates", json=body(maxRounds=1), headers=key)
    problem(other, 422, "idempotency-mismatch")
    assert (await served.http.get("/api/v1/debates")).json()["pagination"]["total"] == 1


async def test_a_hundred_identical_requests_at_once_open_one_debate(served: Served) -> None:
    key = {"Idempotency-Key": "crowd"}
    replies = await asyncio.gather(
        *(served.http.post("/api/v1/debates", json=BODY, headers=key) for _ in range(100))
    )
    assert {reply.status_code for reply in replies} <= {201, 409}
    assert len({reply.json()["id"] for reply in replies if reply.status_code == 201}) == 1
    for reply in replies:
        if reply.status_code == 409:
            problem(reply, 409, "idempotency-in-flight")
            assert reply.headers["retry-after"] == "1"
    assert (await served.http.get("/api/v1/debates")).json()["pagination"]["total"] == 1


@pytest.mark.parametrize("key", [b"", b"x" * 256, "é".encode()])
async def test_a_key_that_is_none_is_malformed(served: Served, key: bytes) -> None:
    reply = await served.http.post("/api/v1/debates", json=BODY, headers={"Idempotency-Key": key})
    problem(reply, 400, "malformed-request")


async def test_commands_are_repeatable_too(slow: Served) -> None:
    debate_id = await slow.open()
    key = {"Idempotency-Key": "remark"}
    replies = [await slow.post(debate_id, "inject", {"text": "Hear, hear."}, headers=key) for _ in range(3)]
    assert [reply.status_code for reply in replies] == [202] * 3
    assert len((await slow.arena.state(debate_id)).remarks) == 1


# --- lists --------------------------------------------------------------------------------------------


async def test_a_misspelt_parameter_is_refused_everywhere(slow: Served) -> None:
    debate_id = await slow.open()
    for what in ("status", "events", "transcript", "calls/1"):
        problem(await slow.get(debate_id, f"{what}?limitt=1"), 422, "validation")
    for what in ("pause", "stop", "tickets"):
        problem(await slow.post(debate_id, f"{what}?noww=true"), 422, "validation")


async def test_a_list_is_paged_and_filtered(served: Served) -> None:
    ids = [await served.open(maxRounds=1) for _ in range(3)]
    for debate_id in ids:
        await served.over(debate_id)
    page = (await served.http.get("/api/v1/debates?limit=2")).json()
    assert [debate["id"] for debate in page["debates"]] == [ids[2], ids[1]]
    assert page["pagination"] == {"total": 3, "limit": 2, "offset": 0, "hasMore": True}
    assert (await served.http.get("/api/v1/debates?status=error")).json()["debates"] == []
    past = (await served.http.get("/api/v1/debates?offset=50")).json()
    assert (past["debates"], past["pagination"]["hasMore"], past["pagination"]["total"]) == ([], False, 3)
    problem(await served.http.get("/api/v1/debates?status=bogus"), 422, "validation")


# --- limits -------------------------------------------------------------------------------------------


async def test_an_eleventh_debate_waits_until_a_place_is_free(tmp_path: Path) -> None:
    service = ServerSettings(requests_per_minute=None, debates_per_client=10)
    async with serving(tmp_path, service, provider=ScriptedProvider(pace=0.05)) as house:
        replies = await asyncio.gather(*(house.http.post("/api/v1/debates", json=BODY) for _ in range(14)))
        opened = [reply.json()["id"] for reply in replies if reply.status_code == 201]
        assert len(opened) == 10
        refused = next(reply for reply in replies if reply.status_code != 201)
        problem(refused, 429, "too-many-debates")
        assert refused.headers["retry-after"]
        await house.post(opened[0], "abort")
        await house.open()


async def test_places_are_counted_however_many_ask_at_once(tmp_path: Path) -> None:
    service = ServerSettings(requests_per_minute=None, debates_per_client=4)
    async with serving(tmp_path, service, provider=ScriptedProvider(pace=0.05)) as house:
        for _ in range(3):
            await asyncio.gather(*(house.http.post("/api/v1/debates", json=BODY) for _ in range(6)))
            running = (await house.http.get("/api/v1/debates")).json()["debates"]
            under_way = [debate["id"] for debate in running if debate["status"] != "completed"]
            assert len(under_way) == 4
            for debate_id in under_way[:2]:
                await house.post(debate_id, "abort")


async def test_a_repeated_request_needs_no_further_place(tmp_path: Path) -> None:
    service = ServerSettings(requests_per_minute=None, debates_per_client=1)
    async with serving(tmp_path, service, provider=ScriptedProvider(pace=0.05)) as house:
        key = {"Idempotency-Key": "k"}
        first = await house.http.post("/api/v1/debates", json=BODY, headers=key)
        again = await house.http.post("/api/v1/debates", json=BODY, headers=key)
        assert (first.status_code, again.status_code) == (201, 201)
        assert first.json()["id"] == again.json()["id"]


async def test_streams_are_counted_while_they_are_open(tmp_path: Path) -> None:
    service = ServerSettings(requests_per_minute=None, streams_per_client=2)
    async with serving(tmp_path, service, provider=ScriptedProvider(pace=0.05)) as house:
        debate_id = await house.open()
        url = f"/api/v1/debates/{debate_id}/stream"
        async with house.http.stream("GET", url), house.http.stream("GET", url):
            problem(await house.get(debate_id, "stream"), 429, "rate-limit")
        async with asyncio.timeout(60):
            while True:
                if (await house.http.head(url)).status_code == 200:
                    break
                await asyncio.sleep(0.01)


async def test_a_full_disk_quota_refuses_new_debates_only(tmp_path: Path) -> None:
    service = ServerSettings(requests_per_minute=None, quota_bytes=1)
    async with serving(tmp_path, UNLIMITED) as house:
        debate_id = await house.open()
        settings = msgspec.structs.replace(house.arena.settings, service=service)
        house.arena.settings = settings
        shape = problem(await house.http.post("/api/v1/debates", json=BODY), 503, "storage")
        assert "MOOT_DISK_QUOTA_MB" in shape["detail"]
        assert (await house.over(debate_id))["status"] == "completed"


async def test_a_debate_all_of_whose_services_are_known_to_be_down_is_refused_for_a_moment(
    tmp_path: Path,
) -> None:
    gone = tuple(msgspec.structs.replace(each, base_url="http://127.0.0.1:1/v1") for each in ENDPOINTS)
    keys = {"groq": Secret("gsk_canary0123456789"), "mistral": Secret("canary0123456789")}
    model = {"provider": "groq", "modelId": "openai/gpt-oss-120b"}
    wanted: dict[str, Any] = deepcopy(BODY)
    for one in (*wanted["participants"], wanted["judge"]):
        one["model"] = model
    mixed: dict[str, Any] = deepcopy(wanted)
    mixed["judge"]["model"] = {"provider": "mistral", "modelId": "mistral-large-latest"}
    async with serving(tmp_path, UNLIMITED, keys=keys, endpoints=gone) as house:
        for _ in range(MAX_FAILURES):
            house.arena.providers.get("groq").report_timeout(Model("groq", "openai/gpt-oss-120b"))
        refused = await house.http.post("/api/v1/debates", json=wanted)
        shape = problem(refused, 503, "provider-unavailable")
        assert "groq cannot be reached right now" in shape["detail"]
        assert 1 <= int(refused.headers["retry-after"]) <= 5
        assert (await house.http.post("/api/v1/debates", json=mixed)).status_code == 201
        lent = {"X-Provider-Key-groq": "gsk_another0123456789"}
        assert (await house.http.post("/api/v1/debates", json=wanted, headers=lent)).status_code == 201


async def test_a_cost_limit_that_cannot_hold_the_first_round_is_refused_with_the_smallest_that_can(
    tmp_path: Path,
) -> None:
    prices = {"scripted/*": flat_price(Decimal(3), Decimal(15))}
    async with serving(tmp_path, prices=prices) as house:
        figures = (await house.http.post("/api/v1/estimate", json=BODY)).json()
        least = figures["smallestLimit"]
        assert least > 0.11
        for path in ("/api/v1/debates", "/api/v1/estimate"):
            reply = await house.http.post(path, json=body(costLimit=round(least - 0.01, 2)))
            (told,) = problem(reply, 422, "validation")["errors"]["costLimit"]
            assert told.startswith(f"Must be at least {least:.2f} for this setup: ")
        assert (await house.http.get("/api/v1/debates")).json()["pagination"]["total"] == 0
        debate_id = await house.open(costLimit=least)
        status = await house.over(debate_id)
        assert (status["status"], status["costs"]["totalCost"] <= least) == ("completed", True)
        assert status["verdict"]
        assert all(part["responses"] for part in status["rounds"])
        refused = await house.post(debate_id, "rejudge", {"costLimit": 0.01})
        (told,) = problem(refused, 422, "validation")["errors"]["costLimit"]
        assert told.startswith("Must be at least 0.")


async def test_what_an_aborted_call_cost_is_told_with_the_end(tmp_path: Path) -> None:
    prices = {"scripted/*": flat_price(Decimal(3), Decimal(15))}
    async with serving(tmp_path, provider=ScriptedProvider(pace=0.02), prices=prices) as house:
        debate_id = await house.open()
        async for recorded in house.arena.watch(debate_id):
            if isinstance(recorded.event, CallDelta):
                break
        assert (await house.post(debate_id, "abort", {})).status_code in (200, 202)
        (*_, (event, _, complete)) = await house.follow(debate_id)
        status = (await house.get(debate_id, "status")).json()
        assert event == "complete"
        assert complete["finalCost"] == status["costs"]["totalCost"] > 0
