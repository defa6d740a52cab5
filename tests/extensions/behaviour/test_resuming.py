"""The GET streams of the compatibility APIs are cut anywhere and resumed: the parts make the whole."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from moot.core.errors import Fault
from moot.core.sse_reader import SseEvent, SseReader
from moot.core.terms import Request
from moot.providers.scripted import Cue, FaultCue, SayCue, ScriptedProvider, StallCue, ThinkCue
from tests.web.routes.served import Served, serving

CUTS = 60
SIDE = {"model": "scripted/demo"}
BOUT = {"topic": "Sorting a million items", "maxTurns": 2, "debaterA": SIDE, "debaterB": SIDE}
QUICK = {"topic": "Should AI be regulated?", "maxRounds": 1}
TURN = {
    "modelId": "scripted/demo", "topic": "AI will replace most human jobs by 2040", "role": "AFFIRMATIVE",
    "intensity": 3, "opponentMessage": None, "previousResponseId": None, "turnNumber": 1,
}  # fmt: skip


def stumbling() -> ScriptedProvider:
    """The first call breaks off; the second says the same again and goes on."""

    def script(request: Request) -> Iterator[Cue]:
        yield ThinkCue("Let me see. ")
        for word in ("Jobs ", "change, ", "naïvely — ", "and "):
            yield SayCue(word)
        if request.attempt == 1:
            yield FaultCue(Fault("disconnected"))
        yield SayCue("people 🙂 with them.")

    return ScriptedProvider(script)


async def address(house: Served, door: str) -> str:
    """Where an EventSource connects."""
    match door:
        case "bout":
            reply = await house.http.post("/api/debates", json=BOUT)
            return f"/api/debates/{reply.json()['id']}/stream"
        case "quick":
            return (await house.http.post("/api/debate/create", json=QUICK)).json()["streamUrl"]
        case _:
            return (await house.http.post("/api/debate/stream/init", json=TURN)).json()["streamUrl"]


def read(data: bytes) -> list[SseEvent]:
    return SseReader().feed(data)


@pytest.mark.parametrize("door", ["bout", "quick", "turn"])
async def test_a_stream_that_is_cut_anywhere_goes_on_after_its_last_id(tmp_path: Path, door: str) -> None:
    async with serving(tmp_path, provider=stumbling(), model="scripted/demo") as house:
        url = await address(house, door)
        whole = (await house.http.get(url)).content
        told = read(whole)
        assert all(event.id for event in told)
        assert len({event.id for event in told}) == len(told)
        # A client that has seen no event has no id; it begins with what counts by then.
        beginning = whole.index(b"\n\n") + 2
        for cut in Random(door).sample(range(beginning, len(whole)), CUTS):
            first = read(whole[:cut])
            last = first[-1].id
            by_header = cut % 2 == 0
            rest = await house.http.get(
                url,
                headers={"Last-Event-ID": last} if by_header else {},
                params=None if by_header else {"lastEventId": last},
            )
            assert rest.status_code == 200, rest.text
            assert [*first, *read(rest.content)] == told, (cut, last)
        for over in ({"headers": {"Last-Event-ID": told[-1].id}}, {"params": {"lastEventId": told[-1].id}}):
            reply = await house.http.get(url, **over)
            assert (reply.status_code, reply.content) == (204, b"")


async def test_a_turn_is_resumed_after_another_was_asked_for(tmp_path: Path) -> None:
    async with serving(tmp_path, provider=stumbling(), model="scripted/demo") as house:
        url = await address(house, "turn")
        first = read((await house.http.get(url)).content)
        second = {
            **TURN, "role": "NEGATIVE", "opponentMessage": json.loads(first[-1].data)["content"],
            "turnNumber": 2, "sessionId": url.rpartition("/")[2],
        }  # fmt: skip
        begun = await house.http.post("/api/debate/stream/init", json=second)
        assert begun.json()["streamUrl"] == url
        # Who has not seen the end of the first turn still gets it, and whoever has is told to stop.
        late = await house.http.get(url, headers={"Last-Event-ID": first[2].id})
        assert read(late.content) == first[3:]
        assert (await house.http.get(url, headers={"Last-Event-ID": first[-1].id})).status_code == 204
        # A client that has seen nothing gets the turn that was asked for last.
        assert read((await house.http.get(url)).content)[0].id.startswith("2-")


async def test_a_turn_that_was_called_off_is_not_played_again(tmp_path: Path) -> None:
    provider = ScriptedProvider(lambda _: [SayCue("Well, "), StallCue()])
    async with serving(tmp_path, provider=provider, model="scripted/demo") as house:
        url = await address(house, "turn")
        async with house.http.stream("GET", url) as reply:
            pieces = reply.aiter_bytes()
            data = await anext(pieces)
            assert (await house.http.delete(url)).json()["cancelled"]
            data += b"".join([piece async for piece in pieces])
        last = read(data)[-1]
        assert last.name == "error"
        assert (await house.http.get(url, headers={"Last-Event-ID": last.id})).status_code == 204


@pytest.mark.parametrize(
    ("id", "status"),
    [("7", 400), ("1-0", 400), ("1-0-x", 400), ("9-0-2", 400), ("1-5-5", 400), ("1-0-999", 409)],
)
async def test_an_id_that_is_not_one_of_ours_is_refused(tmp_path: Path, id: str, status: int) -> None:
    async with serving(tmp_path, provider=stumbling(), model="scripted/demo") as house:
        url = await address(house, "turn")
        await house.http.get(url)
        for reply in (
            await house.http.get(url, headers={"Last-Event-ID": id}),
            await house.http.get(url, params={"lastEventId": id}),
        ):
            assert reply.status_code == status, reply.text
