"""People who debate, over HTTP: they write and speak beside models, and see what is theirs to see."""

from __future__ import annotations

import asyncio
import json
from copy import deepcopy
from pathlib import Path
from typing import Any

from httpx_sse import aconnect_sse
from websockets.asyncio.client import connect

from moot.core.terms import Request
from moot.providers.scripted import SayCue, ScriptedProvider, improvise
from tests.web.routes.debates_with_people import (
    PERSON,
    SPEECH,
    between_person_and_model,
    extended,
    invited,
    opened,
    speak,
    their_turn,
)
from tests.web.routes.served import BODY, Served, serving
from tests.web.routes.test_debate_routes import problem

# --- a person speaks ----------------------------------------------------------------------------------


async def test_a_person_debates_with_a_model_to_the_verdict(served: Served) -> None:
    debate = await opened(served, between_person_and_model())
    debate_id, seat = debate["id"], debate["participants"][0]["id"]
    assert debate["participants"][0]["person"] is True
    guest = await invited(served, debate_id, "participant", seat=seat, name="Zoë")
    place = await their_turn(served, debate_id, seat, guest)
    assert (place["person"], place["draft"], place["point"]) == (True, "", None)
    assert 0 < place["secondsLeft"] <= 300
    assert place["endsAt"]
    async with aconnect_sse(served.http, "GET", f"/api/v1/debates/{debate_id}/stream") as watched:
        seen = watched.aiter_sse()
        for text in ("Rules that", "Rules that are clear"):
            reply = await served.http.put(
                f"/api/v1/debates/{debate_id}/seats/{seat}/draft",
                json={"text": text, "live": True},
                headers=guest,
            )
            assert reply.status_code == 200, reply.text
        typed = ""
        async with asyncio.timeout(60):
            async for event in seen:
                typed += event.json().get("chunk", "") if event.event == "participant" else ""
                if typed == "Rules that are clear":
                    break
        said = await served.post(debate_id, f"seats/{seat}/speech", {"text": SPEECH}, headers=guest)
        assert said.status_code == 200
        async with asyncio.timeout(60):
            async for event in seen:
                if event.event == "participant" and event.json()["done"]:
                    break
    await speak(served, debate_id, seat, guest)
    status = await served.over(debate_id)
    assert status["status"] == "completed"
    assert status["verdict"]["winner"]
    told = (await served.get(debate_id, "transcript", headers=guest)).json()
    speeches = [speech for part in told["rounds"] for speech in part["responses"]]
    assert speeches[0]["content"] == SPEECH
    assert speeches[0]["byHand"] is True
    assert {speech["participantId"] for speech in speeches} == {seat, debate["participants"][1]["id"]}
    plain = await served.follow(debate_id)
    assert {name for name, _, _ in plain} <= {
        "status", "participant", "round_complete", "judge", "verdict", "cost_update", "complete",
    }  # fmt: skip


async def test_a_draft_is_for_its_writer_alone(served: Served) -> None:
    debate = await opened(served, between_person_and_model())
    debate_id, (mine, theirs) = debate["id"], [seat["id"] for seat in debate["participants"]]
    writer = await invited(served, debate_id, "participant", seat=mine)
    others = [
        await invited(served, debate_id, "participant", seat=theirs),
        await invited(served, debate_id, "observer"),
        await invited(served, debate_id, "audience"),
        {},
    ]
    await their_turn(served, debate_id, mine, writer)
    path = f"/api/v1/debates/{debate_id}/seats/{mine}/draft"
    assert (await served.http.put(path, json={"text": "canary-draft"}, headers=writer)).status_code == 200
    own = await served.get(debate_id, "events?limit=1000", headers=writer)
    assert "canary-draft" in own.text
    assert (await served.get(debate_id, f"seats/{mine}", headers=writer)).json()["draft"] == "canary-draft"
    for headers in others:
        for what in ("events?limit=1000", "status", "transcript", "polls", "verdicts"):
            assert "canary-draft" not in (await served.get(debate_id, what, headers=headers)).text
    assert (await served.post(debate_id, f"seats/{mine}/speech", headers=writer)).status_code == 200
    assert "canary-draft" in (await served.get(debate_id, "transcript", headers=others[1])).text


async def test_a_person_takes_a_models_seat_and_leaves_it(slow: Served) -> None:
    debate = await opened(slow, {**BODY, "config": {"maxRounds": 2, "autoProgress": False}})
    debate_id, seat = debate["id"], debate["participants"][1]["id"]
    guest = await invited(slow, debate_id, "participant", seat=seat)
    assert (await slow.post(debate_id, f"seats/{seat}/take", headers=guest)).status_code == 200
    refused = await slow.post(debate_id, f"seats/{seat}/take", headers=guest)
    assert "currentStatus" in problem(refused, 409, "conflict")
    status = (await slow.get(debate_id, "status")).json()
    assert status["participants"][1]["person"] is True
    assert status["participants"][1]["standIn"] == "scripted/b"
    await slow.post(debate_id, "rounds", {"action": "next_round"})
    await their_turn(slow, debate_id, seat, guest)
    assert (await slow.post(debate_id, f"seats/{seat}/leave", headers=guest)).status_code == 200
    status = await slow.until(debate_id, lambda status: not status["speaking"] and bool(status["rounds"]))
    assert "person" not in status["participants"][1]
    seen = [data for name, _, data in await extended(slow, debate_id) if name == "seat"]
    assert [one["person"] for one in seen] == [True, False]


async def test_a_clock_is_told_when_it_begins_stands_still_and_grows(served: Served) -> None:
    debate = await opened(served, between_person_and_model())
    debate_id, seat = debate["id"], debate["participants"][0]["id"]
    await their_turn(served, debate_id, seat, {})
    assert (await served.post(debate_id, "extend", {"seconds": 60})).status_code == 200
    assert (await served.post(debate_id, "pause")).status_code == 200
    place = (await served.get(debate_id, f"seats/{seat}")).json()
    assert (place["endsAt"], place["secondsLeft"]) == (None, None)
    assert (await served.post(debate_id, "resume")).status_code == 200
    assert (await served.get(debate_id, f"seats/{seat}")).json()["secondsLeft"] > 300
    clocks = [data["endsAt"] for name, _, data in await extended(served, debate_id) if name == "clock"]
    assert [end is None for end in clocks] == [False, False, True, False]
    assert clocks[0] < clocks[1] <= clocks[3]


async def test_what_cannot_be_said_is_told_at_once_and_nothing_is_done(served: Served) -> None:
    debate = await opened(served, between_person_and_model())
    debate_id, (mine, theirs) = debate["id"], [seat["id"] for seat in debate["participants"]]
    await their_turn(served, debate_id, mine, {})
    for what, body, wrong in (
        (f"seats/{mine}/speech", {"text": "a\0b"}, {"text"}),
        (f"seats/{mine}/speech", {"text": "a" * 20_001, "more": 1}, {"text", "more"}),
        (f"seats/{mine}/points", {"text": "a" * 501}, {"text"}),
        (f"seats/{mine}/answer", {"accept": "yes"}, {"accept"}),
        ("questions", {"text": "", "to": "me"}, {"text", "to"}),
        ("votes", {"choice": "maybe", "poll": "never"}, {"choice", "poll"}),
        ("ballots", {"winner": "nobody", "cites": ["1"], "scores": {"x": {}}},
         {"winner", "reasoning", "cites.0", "scores.x.score"}),
        ("extend", {}, {"seconds"}),
        ("extend", {"seconds": 0, "rounds": 11}, {"seconds", "rounds"}),
        ("invitations", {"role": "king"}, {"role"}),
        ("invitations", {"role": "participant", "many": True}, {"seat", "many"}),
        ("invitations", {"role": "participant", "seat": "part_nobody"}, {"seat"}),
        ("invitations", {"role": "judge", "judge": "judge_nobody"}, {"judge"}),
        ("invitations", {"role": "judge", "judge": debate["judge"]["id"]}, {"judge"}),
        ("invitations", {"role": "audience", "name": "../etc", "days": 0}, {"name", "days"}),
        ("rejudge", {"judges": [{"name": "", "model": PERSON}]}, {"judges.0.name"}),
    ):  # fmt: skip
        errors = problem(await served.post(debate_id, what, body), 422, "validation")["errors"]
        assert set(errors) == wrong, what
    problem(await served.post(debate_id, f"seats/{theirs}/speech", {"text": "Hm."}), 409, "conflict")
    problem(await served.post(debate_id, "votes", {"choice": "for"}), 409, "conflict")
    problem(await served.post(debate_id, "polls/close"), 409, "conflict")
    problem(await served.post(debate_id, "rejudge"), 409, "conflict")
    problem(await served.get(debate_id, "seats/part_nobody"), 404, "not-found")
    problem(await served.post(debate_id, "seats/part_nobody/take"), 404, "not-found")


async def test_a_speech_that_is_sent_twice_under_one_key_is_given_once(served: Served) -> None:
    debate = await opened(served, between_person_and_model())
    debate_id, seat = debate["id"], debate["participants"][0]["id"]
    await their_turn(served, debate_id, seat, {})
    key = {"Idempotency-Key": "my-opening"}
    sent = [
        await served.post(debate_id, f"seats/{seat}/speech", {"text": SPEECH}, headers=key) for _ in range(2)
    ]
    assert [reply.status_code for reply in sent] == [200, 200]
    assert [reply.headers.get("idempotent-replayed") for reply in sent] == [None, "true"]
    other = await served.post(debate_id, f"seats/{seat}/speech", {"text": "More."}, headers=key)
    problem(other, 422, "idempotency-mismatch")


async def test_key_shaped_words_are_blacked_out_of_what_people_say(served: Served) -> None:
    debate = await opened(served, between_person_and_model())
    debate_id, seat = debate["id"], debate["participants"][0]["id"]
    await their_turn(served, debate_id, seat, {})
    secret = "sk-ant-api03-abcdefghijklmnop1234567890"
    await served.post(debate_id, "questions", {"text": f"Is {secret} yours?"})
    await served.post(debate_id, f"seats/{seat}/speech", {"text": f"My key is {secret}."})
    assert secret not in (await served.get(debate_id, "events?limit=1000")).text


# --- over a socket ------------------------------------------------------------------------------------


async def test_a_person_takes_part_over_a_socket(served: Served) -> None:
    debate = await opened(served, between_person_and_model(maxRounds=2))
    debate_id, (mine, theirs) = debate["id"], [seat["id"] for seat in debate["participants"]]
    guest = await invited(served, debate_id, "participant", seat=mine)
    await their_turn(served, debate_id, mine, guest)
    url = f"{served.url.replace('http', 'ws', 1)}/api/v1/debates/{debate_id}/ws?extended=true"
    async with connect(url, additional_headers=guest) as socket:
        await socket.send(json.dumps({"type": "DRAFT", "data": {"seat": mine, "text": "Well", "live": True}}))
        assert (await answer(socket))["type"] == "DRAFT"
        for kind, data, code in (
            ("SAY", {"seat": theirs, "text": "I am you."}, "FORBIDDEN"),
            ("PAUSE", {}, "FORBIDDEN"),
            ("VOTE", {"choice": "for"}, "FORBIDDEN"),
            ("QUESTION", {"text": "Why?"}, "FORBIDDEN"),
            ("SAY", {"text": "Well then."}, "VALIDATION"),
            ("POINT", {"seat": mine, "text": "Who pays?"}, "CONFLICT"),
            ("ANSWER", {"seat": mine, "accept": True}, "CONFLICT"),
            ("TAKE", {"seat": mine}, "CONFLICT"),
        ):
            await socket.send(json.dumps({"type": kind, "data": data}))
            assert (await answer(socket))["code"] == code, kind
        await socket.send(json.dumps({"type": "SAY", "data": {"seat": mine, "text": "Well then."}}))
        assert (await answer(socket))["type"] == "SAY"
    async with connect(url) as socket:
        await socket.send(json.dumps({"type": "QUESTION", "data": {"text": "Why?", "to": mine}}))
        assert (await answer(socket))["type"] == "QUESTION"
        await their_turn(served, debate_id, mine, guest)
        await socket.send(json.dumps({"type": "EXTEND", "data": {"seconds": 30}}))
        assert (await answer(socket))["type"] == "EXTEND"


async def answer(socket: Any) -> dict[str, Any]:
    async with asyncio.timeout(60):
        while True:
            frame = json.loads(await socket.recv())
            if frame["event"] == "ack" or (frame["event"] == "error" and "code" in frame["data"]):
                return frame["data"]


# --- as whom one watches ------------------------------------------------------------------------------


async def test_who_plays_and_conducts_may_see_no_more_than_a_player(served: Served) -> None:
    shape = between_person_and_model()
    shape["participants"][1]["objective"] = "canary-objective"
    debate = await opened(served, shape)
    debate_id, (mine, _) = debate["id"], [seat["id"] for seat in debate["participants"]]
    log = "events?limit=1000"
    assert "canary-objective" in (await served.get(debate_id, log)).text
    assert "canary-objective" not in (await served.get(debate_id, f"{log}&as={mine}")).text
    problem(await served.get(debate_id, f"{log}&as=part_nobody"), 422, "validation")
    problem(await served.get(debate_id, "stream?as=someone"), 422, "validation")
    observer = await invited(served, debate_id, "observer")
    problem(await served.get(debate_id, f"{log}&as={mine}", headers=observer), 403, "forbidden")
    for what in ("stream", "events/stream", "transcript"):
        reply = await served.http.head(f"/api/v1/debates/{debate_id}/{what}?as={mine}")
        assert reply.status_code == 200, what


# --- what is said aside -------------------------------------------------------------------------------


def with_notes(request: Request) -> list[Any]:
    """Speakers who make notes; of judges and speeches it does what every script does."""
    if request.schema and "notes" in request.schema["properties"]:
        return [SayCue('{"notes": "canary-note"}')]
    return list(improvise(request))


async def test_notes_are_read_by_nobody_else(tmp_path: Path) -> None:
    async with serving(tmp_path, provider=ScriptedProvider(with_notes)) as house:
        shape = {**deepcopy(BODY), "format": "lincoln-douglas", "config": {"prep": True}}
        debate = await opened(house, shape)
        debate_id, mine = debate["id"], debate["participants"][0]["id"]
        guests = {
            role: await invited(house, debate_id, role, **place)
            for role, place in (("observer", {}), ("audience", {}), ("participant", {"seat": mine}))
        }
        await house.over(debate_id)
        told = {
            role: (await house.get(debate_id, "events?limit=1000", headers=headers)).json()["events"]
            for role, headers in {**guests, "owner": {}}.items()
        }
        notes = {role: json.dumps(log).count("canary-note") for role, log in told.items()}
        assert notes["owner"]
        assert (notes["observer"], notes["audience"]) == (0, 0)
        assert 0 < notes["participant"] < notes["owner"]
        for role, headers in guests.items():
            for what in ("transcript", "transcript?format=html", "status", "stream?extended=true"):
                reply = await house.get(debate_id, what, headers=headers)
                assert "canary-note" not in reply.text, (role, what)
