"""The view of a debate over the wire: whole, in changes, and as each may see it; steps, and setups."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from httpx_sse import aconnect_sse

from moot.core.state import Debate
from moot.store.memory import MemoryStore
from tests.web.routes.debates_with_people import PERSON, between_person_and_model, invited, opened
from tests.web.routes.served import BODY, Served, serving
from tests.web.routes.test_debate_routes import problem
from tests.web.streaming.test_websocket import answer, talking


def folded(view: Any, frames: list[Any]) -> Any:
    for frame in frames:
        for verb, path, value in frame["ops"]:
            view = _changed(view, path, value, add=verb == "add")
    return view


def _changed(node: Any, path: list[str], value: Any, *, add: bool) -> Any:
    if not path:
        return (node or "") + value if add else value
    known = node or {}
    return {**known, path[0]: _changed(known.get(path[0]), path[1:], value, add=add)}


async def test_the_view_is_what_its_changes_add_up_to_by_every_way(served: Served) -> None:
    debate_id = await served.open(maxRounds=1)
    await served.over(debate_id)
    whole = (await served.get(debate_id, "view")).json()
    frames: list[Any] = []
    after, more = 0, True
    while more:
        page = (await served.get(debate_id, f"view/frames?after={after}&limit=40")).json()
        frames += page["frames"]
        after, more = page["next"], page["hasMore"]
    assert after == whole["seq"]
    assert folded({}, frames) == whole["view"]
    url = f"/api/v1/debates/{debate_id}/view/stream?after=5"
    async with asyncio.timeout(60), aconnect_sse(served.http, "GET", url) as source:
        streamed: list[Any] = []
        async for event in source.aiter_sse():
            streamed.append(event.json())
            if streamed[-1] == frames[-1]:
                break
    assert streamed == [frame for frame in frames if frame["seq"] > 5]
    async with asyncio.timeout(60), talking(served, debate_id, "?view=true&after=5") as socket:
        heard = [json.loads(await socket.recv())["data"] for _ in streamed]
    assert heard == streamed


class Remembering(MemoryStore):
    """Knows which earlier states it was asked for: each of them it has to fold from the start."""

    def __init__(self) -> None:
        super().__init__()
        self.folded: list[int] = []

    async def state(self, debate_id: str, upto: int | None = None) -> Debate:
        self.folded += [upto] if upto else []
        return await super().state(debate_id, upto)


async def test_whoever_turns_the_pages_of_a_debate_has_it_folded_once(tmp_path: Path) -> None:
    store = Remembering()
    async with serving(tmp_path, store=store) as served:
        debate_id = await served.open(maxRounds=1)
        await served.over(debate_id)
        store.folded.clear()
        pages = [(await served.get(debate_id, "view/frames?limit=10")).json()]
        while pages[-1]["hasMore"]:
            pages.append(
                (await served.get(debate_id, f"view/frames?limit=10&after={pages[-1]['next']}")).json()
            )
        assert len(pages) > 2
        assert store.folded == []
        assert (await served.get(debate_id, "view/frames?limit=10&after=10")).json() == pages[1]
        await served.get(debate_id, "view/frames?limit=10&after=7")
        assert store.folded == [7]


async def test_everybody_looks_in_as_themselves(served: Served) -> None:
    shape = between_person_and_model()
    shape["judge"]["model"] = PERSON
    shape["participants"][0]["objective"] = "canary-objective"
    debate = await opened(served, shape)
    debate_id, seat = debate["id"], debate["participants"][0]["id"]
    judge = debate["judges"][0]["id"]
    guests = {
        "participant": await invited(served, debate_id, "participant", seat=seat),
        "judge": await invited(served, debate_id, "judge", judge=judge),
        "observer": await invited(served, debate_id, "observer"),
    }
    for role, guest in guests.items():
        reply = await served.get(debate_id, "view", headers=guest)
        me = reply.json()["me"]
        assert (me["role"], me["may"]["steer"]) == (role, False)
        assert me["may"]["seats"] == ([seat] if role == "participant" else [])
        assert me["may"]["judges"] == ([judge] if role == "judge" else [])
        assert bool(reply.json()["view"]["place"]) == (role == "participant")
        assert ("canary-objective" in reply.text) == (role == "participant")
        problem(await served.get(debate_id, "setup", headers=guest), 403, "forbidden")
    mine = (await served.get(debate_id, f"view?as={seat}")).json()
    assert mine["view"]["place"]["seat"] == seat
    problem(await served.get(debate_id, "view?as=part_9"), 422, "validation")


async def test_a_debate_goes_on_step_by_step(served: Served) -> None:
    debate_id = await served.open(maxRounds=2)
    await served.post(debate_id, "pause", {"now": True})
    for _ in range(2):
        before = (await served.get(debate_id, "view")).json()["view"]
        assert "step" in before["now"]["open"]
        assert (await served.post(debate_id, "resume", {"step": "turn"})).status_code == 200
        after = await _resting(served, debate_id)
        assert _given(after) == _given(before) + 1
    problem(await served.post(debate_id, "resume", {"step": "word"}), 422, "validation")
    after = (await served.get(debate_id, "view")).json()["seq"]
    async with talking(served, debate_id, f"?view=true&after={after}", max_queue=None) as socket:
        told = await answer(socket, {"type": "RESUME", "data": {"step": "round"}, "key": "1"})
    assert told["event"] == "ack"
    await served.over(debate_id)


async def _resting(served: Served, debate_id: str) -> Any:
    async with asyncio.timeout(60):
        while True:
            view = (await served.get(debate_id, "view")).json()["view"]
            if (
                view["now"]["state"] == "paused"
                and not view["now"]["pausing"]
                and not view["now"]["speaking"]
            ):
                return view
            await asyncio.sleep(0.01)


def _given(view: Any) -> int:
    return sum(turn["state"] == "completed" for turn in view["turns"].values())


async def test_a_setup_opens_the_same_debate_again(served: Served) -> None:
    shape = between_person_and_model(autoProgress=False)
    shape["participants"][1].update(objective="Win.", persona="A farmer", systemPrompt="Be brief.")
    debate_id = (await opened(served, shape))["id"]
    setup = (await served.get(debate_id, "setup")).json()
    again = await opened(served, setup)
    assert (await served.get(again["id"], "setup")).json() == setup
    assert setup["participants"][1]["objective"] == "Win."
    assert setup["topic"] == BODY["topic"]


async def test_a_replay_that_is_handed_on_tells_nothing_of_whose_it_was(served: Served) -> None:
    shape = between_person_and_model()
    shape["participants"][0]["objective"] = "canary-objective"
    debate = await opened(served, shape)
    debate_id, seat = debate["id"], debate["participants"][0]["id"]
    guest = await invited(served, debate_id, "participant", seat=seat)
    await served.post(debate_id, "inject", {"text": "canary-whisper", "to": seat})
    await served.post(debate_id, "abort")
    mine = (await served.get(debate_id, "view", headers=guest)).text
    file = (await served.get(debate_id, "transcript?format=replay", headers=guest)).text
    for secret in ("canary-objective", "canary-whisper"):
        assert secret in mine
        assert secret not in file
