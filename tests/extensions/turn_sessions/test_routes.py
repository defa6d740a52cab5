"""`/api/debate/stream`: turn by turn, as the clients of its document ask for them."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import AsyncGenerator, Iterable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from msgspec.structs import replace

from moot.core.errors import Fault
from moot.core.sse_reader import SseReader
from moot.core.state import Debate
from moot.core.terms import Request
from moot.providers.endpoints import ENDPOINTS
from moot.providers.keys import Secret
from moot.providers.scripted import Cue, FaultCue, SayCue, ScriptedProvider, StallCue, ThinkCue, WaitCue
from moot.settings import ServerSettings
from moot.store.contract import AccessToken, digest
from moot.store.sqlite.store import SqliteStore
from tests.support.responses_service import SUMMARY, Replica
from tests.web.routes.served import BODY, UNLIMITED, Served, serving

TOPIC = "AI will replace most human jobs by 2040"
MINI, NANO = "gpt-5-mini", "gpt-5-nano"
NAMES = ("reasoning", "content", "complete", "error")

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")


@asynccontextmanager
async def beside(replica: Replica, data: Path, *, keys: bool = True) -> AsyncGenerator[Served]:
    """A server on a data folder, whose OpenAI and xAI are the replica."""
    endpoints = tuple(
        replace(one, base_url=replica.url) if one.name in ("openai", "xai") else one for one in ENDPOINTS
    )
    store = SqliteStore.open(data / "moot.db")
    own = {"openai": Secret("test")} if keys else {}
    async with serving(data, store=store, endpoints=endpoints, keys=own) as house:
        yield house


# --- a client -----------------------------------------------------------------------------------------


def blocks(text: str) -> Iterator[tuple[str, Any]]:
    """As the document's own reader splits a stream, and with nothing between the events."""
    *whole, rest = text.split("\n\n")
    assert rest == ""
    for block in whole:
        name, data = block.split("\n")
        assert name.removeprefix("event: ") in NAMES
        assert data.startswith("data: ")
        yield name[7:], json.loads(data[6:])


def sourced(data: bytes) -> Iterator[tuple[str, Any]]:
    """As a browser's EventSource reads it."""
    return ((event.name, json.loads(event.data)) for event in SseReader().feed(data))


class Heard:
    """A stream that has come to its end."""

    def __init__(self, events: Iterable[tuple[str, Any]]) -> None:
        self.events = list(events)
        self.content = self._joined("content")
        self.reasoning = self._joined("reasoning")
        self.last, self.end = self.events[-1]

    def _joined(self, name: str) -> str:
        return "".join(data["chunk"] for event, data in self.events if event == name)


class Page:
    """What the document's page keeps between two turns."""

    def __init__(self, house: Served, first: str, second: str, topic: str = TOPIC) -> None:
        self.house = house
        self.models = (first, second)
        self.topic = topic
        self.messages: list[Heard] = []
        self.ids: list[str | None] = [None, None]

    @property
    def body(self) -> dict[str, Any]:
        place = len(self.messages) % 2
        return {
            "modelId": self.models[place],
            "topic": self.topic,
            "role": ("AFFIRMATIVE", "NEGATIVE")[place],
            "intensity": 3,
            "opponentMessage": self.messages[-1].content if self.messages else None,
            "previousResponseId": self.ids[place],
            "turnNumber": len(self.messages) + 1,
        }

    async def ask(self, **changes: Any) -> Heard:
        """In one step."""
        return await stream(self.house, {**self.body, **changes})

    async def shake_hands(self, **changes: Any) -> Heard:
        """In two steps: ask for the turn, then listen to the session."""
        begun = await init(self.house, {**self.body, **changes})
        reply = await self.house.http.get(begun["streamUrl"], headers={"Accept": "text/event-stream"})
        assert reply.status_code == 200, reply.text
        return Heard(sourced(reply.content))

    def keep(self, heard: Heard) -> Heard:
        assert heard.last == "complete", heard.end
        self.ids[len(self.messages) % 2] = heard.end["responseId"]
        self.messages.append(heard)
        return heard

    async def turn(self) -> Heard:
        return self.keep(await self.ask())

    @property
    def session(self) -> str:
        return self.messages[-1].end["sessionId"]


async def init(house: Served, body: dict[str, Any]) -> dict[str, Any]:
    reply = await house.http.post("/api/debate/stream/init", json=body)
    assert reply.status_code == 200, reply.text
    begun = reply.json()
    assert begun == {"sessionId": begun["sessionId"], "streamUrl": f"/api/debate/stream/{begun['sessionId']}"}
    return begun


async def stream(house: Served, body: dict[str, Any], **headers: str) -> Heard:
    reply = await house.http.post("/api/debate/stream", json=body, headers=headers)
    assert reply.status_code == 200, reply.text
    assert reply.headers["content-type"] == "text/event-stream"
    return Heard(blocks(reply.text))


async def refused(house: Served, body: dict[str, Any], status: int = 422) -> Any:
    told = []
    for path in ("/api/debate/stream", "/api/debate/stream/init"):
        reply = await house.http.post(path, json=body)
        assert reply.status_code == status, reply.text
        told.append({**reply.json(), "instance": "", "requestId": ""})
    assert told[0] == told[1]
    return told[0].get("errors") or told[0]


async def settled(house: Served, session: str) -> Debate:
    """When nobody speaks any more."""
    async for _ in house.arena.watch(session):
        pass
    return await house.arena.state(session)


async def node(script: str, *arguments: str) -> Any:
    """What a client in JavaScript ends up with."""
    path = Path(__file__).parent / script
    process = await asyncio.create_subprocess_exec("node", path, *arguments, stdout=asyncio.subprocess.PIPE)
    return json.loads((await process.communicate())[0])


# --- ten turns ----------------------------------------------------------------------------------------


@needs_node
async def test_the_hook_of_the_document_holds_ten_turns(tmp_path: Path) -> None:
    async with Replica() as replica, beside(replica, tmp_path) as house:
        messages = await node("turns_hook.mjs", house.url, MINI, NANO, TOPIC)
        listed = (await house.http.get("/api/debate/sessions")).json()
        session = (await house.http.get(f"/api/debate/session/{listed['sessions'][0]['id']}")).json()
    assert [message["error"] for message in messages] == [None] * 10
    # One call for each turn, each on the chain of its own model; and the model thinks hard.
    assert [call.body["model"] for call in replica.calls] == [MINI, NANO] * 5
    assert [call.body["reasoning"]["effort"] for call in replica.calls] == ["high"] * 10
    assert {call.body["max_output_tokens"] for call in replica.calls} == {128_000}
    ids = [call.response_id for call in replica.calls]
    assert [call.previous for call in replica.calls] == [None, None, *ids[:8]]
    assert [message["responseId"] for message in messages] == ids
    assert [message["content"] for message in messages] == [call.text for call in replica.calls]
    assert {message["reasoning"] for message in messages} == {"\n\n".join(SUMMARY)}
    for call, earlier in zip(replica.calls[1:], replica.calls, strict=False):
        assert earlier.text in call.body["input"][-1]["content"]
    for call, message in zip(replica.calls, messages, strict=True):
        usage, cost = message["tokenUsage"], message["cost"]
        assert usage == {**(call.usage or {}), "input_tokens_details": {"cached_tokens": 0}}
        assert cost["total"] == pytest.approx(cost["input"] + cost["output"] + cost["reasoning"])
        assert min(cost["input"], cost["output"], cost["reasoning"]) > 0
    # What a page restores itself from.
    assert listed["total"] == 1
    assert (session["model1Id"], session["model2Id"]) == (MINI, NANO)
    assert (session["topicText"], session["adversarialLevel"], session["currentTurn"]) == (TOPIC, 3, 10)
    assert [entry["turn"] for entry in session["turnHistory"]] == list(range(1, 11))
    assert [entry["modelId"] for entry in session["turnHistory"]] == [MINI, NANO] * 5
    assert [entry["content"] for entry in session["turnHistory"]] == [call.text for call in replica.calls]
    assert session["model1ResponseIds"] == ids[::2]
    assert session["model2ResponseIds"] == ids[1::2]
    assert session["totalCost"] == pytest.approx(sum(message["cost"]["total"] for message in messages))


@needs_node
async def test_an_event_source_holds_the_same_debate_in_two_steps(tmp_path: Path) -> None:
    async with Replica() as replica, beside(replica, tmp_path) as house:
        kept = await node("turns_handshake.mjs", house.url, MINI, NANO, TOPIC, "4")
    assert [(turn["error"], turn["connections"]) for turn in kept] == [(None, 1)] * 4
    assert len({turn["sessionId"] for turn in kept}) == 1
    assert [turn["content"] for turn in kept] == [call.text for call in replica.calls]
    assert [turn["responseId"] for turn in kept] == [call.response_id for call in replica.calls]
    assert [call.previous for call in replica.calls][2:] == [turn["responseId"] for turn in kept[:2]]


async def test_a_session_goes_on_after_the_server_was_started_again(tmp_path: Path) -> None:
    async with Replica() as replica:
        async with beside(replica, tmp_path) as house:
            page = Page(house, MINI, NANO)
            for _ in range(3):
                page.keep(await page.shake_hands())
        async with beside(replica, tmp_path) as house:
            page.house = house
            for _ in range(2):
                page.keep(await page.shake_hands())
            # The one that was heard last can be heard again.
            again = await house.http.get(f"/api/debate/stream/{page.session}")
            assert Heard(sourced(again.content)).events == page.messages[-1].events
    assert len({heard.end["sessionId"] for heard in page.messages}) == 1
    ids = [call.response_id for call in replica.calls]
    assert [call.previous for call in replica.calls] == [None, None, *ids[:3]]


async def test_a_provider_without_ids_is_referred_to_by_ours(tmp_path: Path) -> None:
    async with Replica(names=False) as replica, beside(replica, tmp_path) as house:
        page = Page(house, MINI, NANO)
        for _ in range(4):
            await page.turn()
        assert len({heard.end["sessionId"] for heard in page.messages}) == 1
        assert all(heard.end["responseId"] for heard in page.messages)
        # Nothing to chain to: the history is sent instead.
        assert [call.previous for call in replica.calls] == [None] * 4
        assert [len(call.words) for call in replica.calls] == [1, 1, 3, 3]


async def test_keys_that_are_lent_with_the_first_turn_serve_both_models(tmp_path: Path) -> None:
    async with Replica() as replica, beside(replica, tmp_path, keys=False) as house:
        page = Page(house, MINI, f"xai/{NANO}")
        lent = {"X-Provider-Key-openai": "test", "X-Provider-Key-xai": "test"}
        for _ in range(3):
            page.keep(await stream(house, page.body, **lent))
        assert [call.body["model"] for call in replica.calls] == [MINI, NANO, MINI]


# --- again --------------------------------------------------------------------------------------------


async def test_who_asks_again_joins_the_turn_and_pays_once(tmp_path: Path) -> None:
    provider = ScriptedProvider(pace=0.003)
    async with serving(tmp_path, provider=provider) as house:
        page = Page(house, "scripted/a", "scripted/b")
        opening = page.body
        first, second = await asyncio.gather(page.ask(), page.ask())
        # Asked for once more when it is over, it is just told again.
        assert first.events == second.events == (await page.ask()).events
        page.keep(first)
        one, two = await asyncio.gather(page.ask(), page.shake_hands())
        assert one.events == two.events == (await page.ask()).events
        assert len(provider.calls) == 2
        # That debate has moved on: the same words are another one now.
        other = await stream(house, opening)
        assert other.end["sessionId"] != first.end["sessionId"]


async def test_a_line_that_breaks_in_the_first_turn_costs_nothing_more(tmp_path: Path) -> None:
    provider = ScriptedProvider(pace=0.002)
    async with serving(tmp_path, provider=provider) as house:
        page = Page(house, "scripted/a", "scripted/b")
        async with house.http.stream("POST", "/api/debate/stream", json=page.body) as reply:
            session = reply.headers["x-session-id"]
            async for _ in reply.aiter_bytes():
                break
        await settled(house, session)
        heard = await page.ask()
        assert heard.end["sessionId"] == session
        assert len(provider.calls) == 1


async def test_an_idempotency_key_tells_two_debates_apart(tmp_path: Path) -> None:
    provider = ScriptedProvider()
    async with serving(tmp_path, provider=provider) as house:
        body = Page(house, "scripted/a", "scripted/b").body
        keys = ("one", "one", "two")
        heard = [await stream(house, body, **{"Idempotency-Key": key}) for key in keys]
        sessions = [one.end["sessionId"] for one in heard]
        assert sessions[0] == sessions[1] != sessions[2]
        assert len(provider.calls) == 2


async def test_a_cancelled_turn_is_given_again_on_the_same_chain(tmp_path: Path) -> None:
    stalling = False

    def script(request: Request) -> Iterator[Cue]:
        yield SayCue(f"Point {len(provider.calls)}.")
        if stalling:
            yield StallCue()

    provider = ScriptedProvider(script)
    async with serving(tmp_path, provider=provider) as house:
        page = Page(house, "scripted/a", "scripted/b")
        await page.turn()
        await page.turn()
        stalling = True
        session = (await init(house, page.body))["sessionId"]
        async with house.http.stream("GET", f"/api/debate/stream/{session}") as reply:
            pieces = reply.aiter_bytes()
            assert next(sourced(await anext(pieces)))[0] == "content"
            cancelled = await house.http.delete(f"/api/debate/stream/{session}")
            assert cancelled.json() == {"sessionId": session, "cancelled": True}
            rest = b"".join([piece async for piece in pieces])
        assert rest.startswith(b"event: ")
        assert list(sourced(rest))[-1][0] == "error"
        told = (await house.http.get(f"/api/debate/session/{session}")).json()
        assert [entry["turn"] for entry in told["turnHistory"]] == [1, 2]
        # Models are called as the client calls them.
        assert (told["model1Id"], told["model2Id"]) == ("scripted/a", "scripted/b")
        nothing = await house.http.delete(f"/api/debate/stream/{session}")
        assert nothing.json()["cancelled"] is False
        stalling = False
        heard = page.keep(await page.ask())
        assert heard.end["turnNumber"] == 3
        cut, again = provider.calls[-2:]
        assert cut.previous_response_id == again.previous_response_id == page.messages[0].end["responseId"]


async def test_a_session_that_was_called_off_is_not_joined_again(tmp_path: Path) -> None:
    def script(request: Request) -> Iterator[Cue]:
        yield SayCue("Well, ")
        yield StallCue() if len(provider.calls) == 1 else SayCue("yes.")

    provider = ScriptedProvider(script)
    async with serving(tmp_path, provider=provider) as house:
        page = Page(house, "scripted/a", "scripted/b")
        async with house.http.stream("POST", "/api/debate/stream", json=page.body) as reply:
            session = reply.headers["x-session-id"]
            pieces = reply.aiter_text()
            await anext(pieces)
            await house.http.post(f"/api/v1/debates/{session}/stop")
            rest = "".join([piece async for piece in pieces])
        assert list(blocks(rest))[-1] == ("error", {"message": "The turn was called off."})
        assert (await page.turn()).end["sessionId"] != session


@pytest.mark.parametrize("leaves", [True, False])
async def test_a_turn_that_nobody_listens_to_is_cut(tmp_path: Path, leaves: bool) -> None:
    provider = ScriptedProvider(lambda _: [SayCue("Well, "), StallCue()])
    impatient = replace(UNLIMITED, variables={"MOOT_TURN_GRACE_S": 0.2})
    async with serving(tmp_path, impatient, provider=provider) as house:
        page = Page(house, "scripted/a", "scripted/b")
        session = (await init(house, page.body))["sessionId"]
        if leaves:
            async with house.http.stream("GET", f"/api/debate/stream/{session}") as reply:
                await anext(reply.aiter_bytes())
        debate = await settled(house, session)
        assert debate.status == "paused"
        assert {(turn.state, turn.by) for turn in debate.turns} <= {("interrupted", "pause")}


async def test_a_turn_that_is_listened_to_at_another_server_goes_on(tmp_path: Path) -> None:
    impatient = replace(UNLIMITED, variables={"MOOT_TURN_GRACE_S": 0.1})

    def server() -> AbstractAsyncContextManager[Served]:
        store = SqliteStore.open(tmp_path / "moot.db")
        return serving(tmp_path, impatient, store=store, provider=ScriptedProvider(pace=0.01))

    async with server() as one, server() as other:
        body = Page(one, "scripted/a", "scripted/b").body
        async with one.http.stream("POST", "/api/debate/stream", json=body) as asked:
            session = asked.headers["x-session-id"]
            async with other.http.stream("GET", f"/api/debate/stream/{session}") as joined:
                pieces = joined.aiter_bytes()
                first = await anext(pieces)
                await asked.aclose()
                heard = Heard(sourced(first + b"".join([piece async for piece in pieces])))
    assert heard.last == "complete", heard.end
    assert list((tmp_path / "runners").iterdir()) == []


async def test_a_failed_turn_is_tried_again_with_the_same_previous_id(tmp_path: Path) -> None:
    broken: list[Fault] = []

    def script(request: Request) -> Iterator[Cue]:
        yield ThinkCue("Hm.")
        if broken:
            yield FaultCue(broken[0])
        yield SayCue(f"Point {len(provider.calls)}.")

    provider = ScriptedProvider(script)
    async with serving(tmp_path, provider=provider) as house:
        page = Page(house, "scripted/a", "scripted/b")
        await page.turn()
        await page.turn()
        for fault in (Fault("bad_key", "permanent"), Fault("overloaded")):
            broken.append(fault)
            failed = await page.ask()
            assert failed.last == "error"
            assert set(failed.end) == {"message"}
            broken.clear()
            calls = len(provider.calls)
            await page.turn()
            assert len(provider.calls) == calls + 1
            chained = page.messages[-3].end["responseId"]
            assert provider.calls[-1].previous_response_id == chained
        assert len({heard.end["sessionId"] for heard in page.messages}) == 1


async def test_an_attempt_that_says_something_else_is_told_to_who_asks_again(tmp_path: Path) -> None:
    def script(request: Request) -> Iterator[Cue]:
        if len(provider.calls) == 1:
            yield ThinkCue("Let me see.")
            yield SayCue("Half a ")
            yield FaultCue(Fault("overloaded"))
        yield ThinkCue("Now then.")
        yield SayCue(f"Point {len(provider.calls)}.")

    provider = ScriptedProvider(script)
    async with serving(tmp_path, provider=provider) as house:
        page = Page(house, "scripted/a", "scripted/b")
        broken = await page.ask()
        assert broken.content.strip() == "Half a"
        assert (broken.last, broken.end["retrying"]) == ("error", True)
        heard = await page.turn()
        assert (heard.content, heard.reasoning) == ("Point 2.", "Now then.")
        assert heard.content == heard.end["content"]
        # It was paid for once more, as a retry is, and not again for the asking.
        assert len(provider.calls) == 2
        assert (await page.turn()).end["sessionId"] == heard.end["sessionId"]
        # The other model has heard what counts.
        assert "Half a" not in str(provider.calls[-1].messages)


async def test_an_attempt_that_says_the_same_goes_on_where_the_first_broke_off(tmp_path: Path) -> None:
    def script(request: Request) -> Iterator[Cue]:
        yield SayCue("Jobs change, and ")
        if len(provider.calls) < 3:
            yield FaultCue(Fault("disconnected"))
        yield SayCue("people with them.")

    provider = ScriptedProvider(script)
    async with serving(tmp_path, provider=provider) as house:
        heard = await Page(house, "scripted/a", "scripted/b").turn()
        assert len(provider.calls) == 3
        assert heard.content == heard.end["content"] == "Jobs change, and people with them."


async def test_a_turn_that_was_begun_again_goes_on_while_its_listener_is_away(tmp_path: Path) -> None:
    def script(request: Request) -> Iterator[Cue]:
        if len(provider.calls) == 1:
            yield SayCue("Half a ")
            yield FaultCue(Fault("overloaded"))
        yield SayCue("Point two.")
        yield WaitCue(0.5)
        yield SayCue("And three.")

    provider = ScriptedProvider(script)
    hasty = replace(UNLIMITED, variables={"MOOT_TURN_GRACE_S": 0.05})
    async with serving(tmp_path, hasty, provider=provider) as house:
        page = Page(house, "scripted/a", "scripted/b")
        assert (await page.ask()).end["retrying"] is True
        (session,) = (await house.http.get("/api/debate/sessions")).json()["sessions"]
        debate = await settled(house, session["id"])
        assert [turn.state for turn in debate.turns] == ["completed"]
        assert (await page.turn()).content == "Point two.And three."
        assert len(provider.calls) == 2


@needs_node
async def test_the_hook_of_the_document_reads_whole_turns_though_replies_break_off(
    tmp_path: Path,
) -> None:
    broken: set[str] = set()

    def script(request: Request) -> Iterator[Cue]:
        turn = str(len(request.messages)) + request.model.name + str(request.previous_response_id)
        yield ThinkCue("Let me ")
        yield SayCue("I say ")
        if turn not in broken:
            broken.add(turn)
            yield FaultCue(Fault("disconnected"))
        yield SayCue(f"this in call {len(provider.calls)}." if len(provider.calls) % 3 else "so.")

    provider = ScriptedProvider(script)
    async with serving(tmp_path, provider=provider) as house:
        messages = await node("turns_hook.mjs", house.url, "scripted/a", "scripted/b", TOPIC)
        listed = (await house.http.get("/api/debate/sessions")).json()
        session = (await house.http.get(f"/api/debate/session/{listed['sessions'][0]['id']}")).json()
    assert len(broken) > 3
    assert len(messages) == 10
    assert [message["content"] for message in messages] == [one["content"] for one in session["turnHistory"]]
    assert listed["total"] == 1


async def test_several_thoughts_have_a_break_between_them(tmp_path: Path) -> None:
    cues = [ThinkCue("weighing it."), SayCue("Yes. "), ThinkCue("Second thought."), SayCue("So it is.")]
    async with serving(tmp_path, provider=ScriptedProvider(lambda _: cues)) as house:
        page = Page(house, "scripted/a", "scripted/b")
        heard = await page.turn()
        told = (await house.http.get(f"/api/debate/session/{page.session}")).json()
        assert heard.reasoning == told["turnHistory"][0]["reasoning"] == "weighing it.\n\nSecond thought."
        assert heard.content == told["turnHistory"][0]["content"] == "Yes. So it is."


async def test_nothing_that_is_done_elsewhere_keeps_a_turn_from_being_given(tmp_path: Path) -> None:
    provider = ScriptedProvider()
    async with serving(tmp_path, provider=provider) as house:
        page = Page(house, "scripted/a", "scripted/b")
        await page.turn()
        view = (await house.get(page.session, "view")).json()["view"]
        _, second = view["about"]["seats"]
        # Nobody is seated there, and no browser offers to be.
        assert (second.get("person"), second["model"]) == (None, "")
        assert not {"resume", "step"} & set(view["now"]["open"])
        assert [deed for deed in view["now"]["open"] if second["id"] in deed] == []
        for what in ("resume", f"seats/{second['id']}/take", f"seats/{second['id']}/speech"):
            body = {"text": "No."} if what.endswith("speech") else None
            assert (await house.post(page.session, what, body)).status_code == 409
        async with asyncio.timeout(60):
            await page.turn()
            await page.turn()
        assert len(provider.calls) == 3


# --- rules --------------------------------------------------------------------------------------------


async def test_each_turn_is_its_own_models_and_on_its_own_chain(tmp_path: Path) -> None:
    async with serving(tmp_path, provider=ScriptedProvider()) as house:
        page = Page(house, "scripted/a", "scripted/b")
        await page.turn()
        await page.turn()
        right = page.body
        other = {**right, "previousResponseId": page.ids[1]}
        problem = ["Must be the last response of this turn's own model"]
        assert await refused(house, other) == {"previousResponseId": problem}
        assert await refused(house, {**right, "modelId": "scripted/b"}) == {
            "modelId": ["Must be scripted/a, as before"]
        }
        assert await refused(house, {**right, "role": "NEGATIVE"}) == {
            "role": ["Must be AFFIRMATIVE in this turn"]
        }
        late = {**right, "turnNumber": 5, "sessionId": page.session}
        assert await refused(house, late) == {"turnNumber": ["The next turn is 3"]}
        # Without an id it is a little more work for us, and no failure.
        heard = page.keep(await page.ask(previousResponseId=None))
        assert heard.end["sessionId"] == page.messages[0].end["sessionId"]
        foreign = {**page.body, "sessionId": page.session, "previousResponseId": "resp_of_somebody_else"}
        assert await refused(house, foreign) == {"previousResponseId": problem}


async def test_a_client_that_brings_its_own_history_is_taken_at_its_word(tmp_path: Path) -> None:
    provider = ScriptedProvider()
    async with serving(tmp_path, provider=provider) as house:
        page = Page(house, "scripted/a", "scripted/b")
        page.ids = ["resp_kept_elsewhere", None]
        begun = {**page.body, "turnNumber": 3, "opponentMessage": "What about the\tplumbers?"}
        heard = await stream(house, begun)
        assert heard.end["turnNumber"] == 3
        assert "What about the\tplumbers?" in provider.calls[0].messages[-1].content
        # What we do not know we do not pass on: it might be another's.
        assert provider.calls[0].previous_response_id is None
        again = await stream(house, begun)
        assert again.events == heard.events
        following = {
            **page.body,
            "modelId": "scripted/b",
            "role": "NEGATIVE",
            "turnNumber": 4,
            "opponentMessage": heard.content,
            "previousResponseId": None,
        }
        assert (await stream(house, following)).end["sessionId"] == heard.end["sessionId"]
        told = (await house.http.get(f"/api/debate/session/{heard.end['sessionId']}")).json()
        assert [entry["turn"] for entry in told["turnHistory"]] == [2, 3, 4]


async def test_what_the_client_sends_is_what_is_quoted(tmp_path: Path) -> None:
    provider = ScriptedProvider(lambda _: [SayCue(f"Point {len(provider.calls)}. It is long.")])
    async with serving(tmp_path, provider=provider) as house:
        page = Page(house, "scripted/a", "scripted/b")
        await page.turn()
        # A client that shortens what it has heard, in the second turn and later.
        second = page.keep(await page.ask(opponentMessage="Point 1."))
        assert second.end["sessionId"] == page.messages[0].end["sessionId"]
        third = page.keep(await page.ask(opponentMessage="Point 2, as I remember it."))
        assert third.end["sessionId"] == second.end["sessionId"]
        await page.turn()
        fourth = page.keep(await page.ask(previousResponseId=None))
        told = [str(call.messages) for call in provider.calls]
        assert "Point 1." in told[1]
        assert "Point 1. It is long." not in told[1]
        assert "Point 2, as I remember it." in told[2]
        assert "Point 2. It is long." not in told[2]
        assert "Point 3. It is long." in told[3]
        # Where the history is sent, it has the words that were quoted.
        assert "Point 2, as I remember it." in told[4]
        assert "Point 2. It is long." not in told[4]
        assert fourth.end["sessionId"] == second.end["sessionId"]
        kept = (await house.http.get(f"/api/debate/session/{page.session}")).json()["turnHistory"]
        assert [entry["content"] for entry in kept] == [f"Point {n}. It is long." for n in range(1, 6)]
        debate = await house.arena.state(page.session)
        assert [turn.quoted for turn in debate.turns] == [
            "",
            "Point 1.",
            "Point 2, as I remember it.",
            "",
            "",
        ]
        # The page names the session and leaves the quotation to it.
        by_id = await stream(house, {**page.body, "opponentMessage": None, "sessionId": page.session})
        assert by_id.end["turnNumber"] == 6
        assert "Point 5. It is long." in str(provider.calls[-1].messages)


async def test_a_turn_that_is_retried_quotes_the_same_words(tmp_path: Path) -> None:
    broken: list[Fault] = []

    def script(request: Request) -> Iterator[Cue]:
        if broken:
            yield FaultCue(broken[0])
        yield SayCue(f"Point {len(provider.calls)}.")

    provider = ScriptedProvider(script)
    async with serving(tmp_path, provider=provider) as house:
        page = Page(house, "scripted/a", "scripted/b")
        await page.turn()
        broken.append(Fault("bad_key", "permanent"))
        assert (await page.ask(opponentMessage="In short: no.")).last == "error"
        broken.clear()
        assert (await house.post(page.session, "retry")).status_code in (200, 202)
        await settled(house, page.session)
        assert "In short: no." in str(provider.calls[-1].messages)


async def test_sessions_that_say_the_same_are_told_apart(tmp_path: Path) -> None:
    """By what each waits for, not by its words."""
    provider = ScriptedProvider(lambda _: [SayCue("The same as ever.")])
    async with serving(tmp_path, provider=provider) as house:
        first = Page(house, "scripted/a", "scripted/b")
        first.keep(await stream(house, first.body, **{"Idempotency-Key": "first"}))
        await first.turn()
        second = Page(house, "scripted/a", "scripted/b")
        second.keep(await stream(house, second.body, **{"Idempotency-Key": "second"}))
        assert second.session != first.session
        for page in (second, first, second, first):
            session = page.session
            assert (await page.turn()).end["sessionId"] == session
        # Another topic is another session, whatever was said.
        other = Page(house, "scripted/a", "scripted/b", "Another topic")
        elsewhere = await stream(house, {**other.body,
            "turnNumber": 2, "role": "NEGATIVE", "opponentMessage": "The same as ever."
        })  # fmt: skip
        assert elsewhere.end["sessionId"] not in (first.session, second.session)


async def test_a_client_is_not_put_into_the_session_of_another(tmp_path: Path) -> None:
    trusting = replace(UNLIMITED, proxies=("127.0.0.1",))
    async with serving(tmp_path, trusting, provider=ScriptedProvider()) as house:
        page = Page(house, "scripted/a", "scripted/b")
        page.keep(await stream(house, page.body, **{"X-Forwarded-For": "203.0.113.7"}))
        brought = await stream(house, page.body, **{"X-Forwarded-For": "203.0.113.8"})
        assert brought.end["sessionId"] != page.session
        own = await stream(house, page.body, **{"X-Forwarded-For": "203.0.113.7"})
        assert own.end["sessionId"] == page.session


async def test_a_model_that_nobody_knows_is_told_as_the_document_has_it(tmp_path: Path) -> None:
    async with serving(tmp_path, provider=ScriptedProvider()) as house:
        body = Page(house, "no-such-model", "scripted/b").body
        assert (await stream(house, body)).events == [
            ("error", {"message": "Model not found: no-such-model"})
        ]
        reply = await house.http.post("/api/debate/stream/init", json=body)
        assert (reply.status_code, reply.json()) == (400, {"error": "Model not found: no-such-model"})
        assert (await house.http.get("/api/debate/sessions")).json() == {"sessions": [], "total": 0}


async def test_a_session_of_another_owner_is_as_unknown_as_none(tmp_path: Path) -> None:
    guarded = ServerSettings(
        requests_per_minute=None, debates_per_client=None, token=Secret("the-operators-own")
    )
    async with serving(tmp_path, guarded, provider=ScriptedProvider()) as house:
        page = Page(house, "scripted/a", "scripted/b")
        for name in ("ann", "bob"):
            token = AccessToken(name, digest(f"token-of-{name}"), "owner", name, datetime.now(UTC))
            await house.arena.store.save_token(token)
        ann = {"Authorization": "Bearer token-of-ann"}
        bob = {"Authorization": "Bearer token-of-bob"}
        heard = page.keep(await stream(house, page.body, **ann))
        looks = await house.http.get(f"/api/debate/session/{page.session}", headers=bob)
        assert looks.status_code == 404
        # A browser cannot send a token with an EventSource; it comes with a ticket.
        issued = await house.http.post(f"/api/v1/debates/{page.session}/tickets", headers=ann)
        address = f"/api/debate/stream/{page.session}"
        assert (await house.http.get(address)).status_code == 401
        ticketed = await house.http.get(address, params={"ticket": issued.json()["ticket"]})
        assert Heard(sourced(ticketed.content)).events == heard.events
        theirs = await stream(house, page.body, **bob)
        assert theirs.end["sessionId"] != heard.end["sessionId"]


async def test_a_session_keeps_its_place_only_while_somebody_speaks(tmp_path: Path) -> None:
    crowded = replace(UNLIMITED, debates_per_client=1)
    async with serving(tmp_path, crowded, provider=ScriptedProvider()) as house:
        for topic in ("One thing", "Another thing"):
            await Page(house, "scripted/a", "scripted/b", topic).turn()
    async with serving(
        tmp_path, crowded, provider=ScriptedProvider(lambda _: [SayCue("Well, "), StallCue()])
    ) as house:
        await init(house, Page(house, "scripted/a", "scripted/b").body)
        reply: httpx.Response = await house.http.post(
            "/api/debate/stream/init", json=Page(house, "scripted/a", "scripted/b", "Another thing").body
        )
        assert reply.status_code == 429


async def test_sessions_and_debates_share_the_places_of_their_client(tmp_path: Path) -> None:
    crowded = replace(UNLIMITED, debates_per_client=2)
    async with serving(
        tmp_path, crowded, provider=ScriptedProvider(lambda _: [SayCue("Well, "), StallCue()])
    ) as house:
        first = await house.open()
        session = await init(house, Page(house, "scripted/a", "scripted/b").body)
        asked = {"json": Page(house, "scripted/a", "scripted/b", "Another thing").body}
        for path, more in (("/api/debate/stream/init", asked), ("/api/v1/debates", {"json": BODY})):
            reply: httpx.Response = await house.http.post(path, **more)
            assert (reply.status_code, reply.json()["type"]) == (429, "/errors/too-many-debates")
        # Between two turns a session takes no place.
        assert (await house.http.delete(f"/api/debate/stream/{session['sessionId']}")).json()["cancelled"]
        second = await house.http.post("/api/v1/debates", json=BODY)
        assert second.status_code == 201
        for debate_id in (first, second.json()["id"]):
            assert (await house.post(debate_id, "abort")).status_code == 200
        assert (await house.http.post("/api/debate/stream/init", **asked)).status_code == 200


async def test_a_session_can_be_held_again_as_a_debate_that_goes_by_itself(tmp_path: Path) -> None:
    async with serving(tmp_path, provider=ScriptedProvider()) as house:
        page = Page(house, "scripted/a", "scripted/b")
        await page.turn()
        body = (await house.get(page.session, "setup")).json()
        body["participants"][1]["model"] = body["participants"][0]["model"]
        opened = await house.http.post("/api/v1/debates", json=body)
        assert opened.status_code == 201, opened.text
        assert (await house.get(page.session, "status")).json()["status"] == "paused"
