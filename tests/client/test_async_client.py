"""The client and a real server."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Generator
from itertools import pairwise
from pathlib import Path

import pytest

from moot.client import (
    ApiError,
    AsyncClient,
    Client,
    Complete,
    CostUpdate,
    DebateConfig,
    DebaterConfig,
    Event,
    RoundComplete,
    State,
    Verdict,
    Words,
)
from moot.client.streams import cursor_position
from moot.core.events import Recorded
from moot.core.evolve import fold
from tests.client.serving import Served, served

MODEL = "scripted/demo"
TWO = (DebaterConfig("Ada", MODEL, "for"), DebaterConfig("Bob", MODEL, "against"))
MOTION = "Cats are better than dogs"
SHORT = DebateConfig(max_rounds=1)
MANUAL = DebateConfig(max_rounds=2, auto_progress=False)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[Served]:
    with served(tmp_path_factory.mktemp("served")) as running:
        yield running


@pytest.fixture
def client(server: Served) -> Generator[Client]:
    with Client(server.url) as made:
        yield made


def open_one(client: Client, config: DebateConfig = SHORT) -> str:
    return client.create(MOTION, participants=TWO, judge=MODEL, config=config).id


def until(client: Client, debate_id: str, *states: str) -> None:
    end = time.monotonic() + 20
    while client.status(debate_id).status not in states:
        assert time.monotonic() < end, client.status(debate_id)
        time.sleep(0.02)


def speaking(client: Client, debate_id: str, after: int) -> int:
    """The next speech in which something is said."""
    said = (event.data for event in client.stream(debate_id) if isinstance(event.data, Words))
    return next(words.speech for words in said if words.speech and words.speech > after and words.chunk)


def speeches(events: list[Event]) -> list[str]:
    """What a viewer has on the page in the end: of each speech the last attempt."""
    said: dict[tuple[int, int | None, str], tuple[int, str]] = {}
    for words in (event.data for event in events if isinstance(event.data, Words)):
        key = (words.round_number, words.speech, words.participant_id)
        attempt, text = said.get(key, (0, ""))
        fresh = words.replace or words.attempt > attempt
        said[key] = (words.attempt, words.chunk if fresh else text + words.chunk)
    return [text for _, text in said.values()]


# --- watching -----------------------------------------------------------------------------------------


def test_a_debate_from_its_opening_to_its_end(client: Client):
    created = client.create(MOTION, participants=TWO, judge=MODEL, config=DebateConfig(max_rounds=2))
    assert created.status == "initializing"
    assert [seat.name for seat in created.participants] == ["Ada", "Bob"]
    events = list(client.stream(created.id))
    assert {event.name for event in events} >= {
        "status", "participant", "round_complete", "judge", "verdict", "cost_update", "complete",
    }  # fmt: skip
    assert all(cursor_position(a.id) < cursor_position(b.id) for a, b in pairwise(events))
    assert isinstance(events[0].data, State)
    assert events[0].data.state == "initializing"
    assert isinstance(events[-1].data, Complete)
    assert isinstance(events[-1].data.verdict, Verdict)
    rounds = [event.data for event in events if isinstance(event.data, RoundComplete)]
    assert speeches(events) == [response.content for one in rounds for response in one.responses]
    assert any(isinstance(event.data, CostUpdate) for event in events)


async def test_whoever_waits_and_whoever_does_not_see_the_same(server: Served):
    async with AsyncClient(server.url) as client:
        created = await client.create(MOTION, participants=TWO, judge=MODEL, config=SHORT)
        live = [event async for event in client.stream(created.id)]
        again = [event async for event in client.stream(created.id)]
        rest = [event async for event in client.stream(created.id, after=live[4].id)]
        over = [event async for event in client.stream(created.id, after=live[-1].id)]
    assert live == again
    assert live[5:] == rest
    assert over == []


def test_an_extended_stream_tells_more(client: Client):
    debate_id = open_one(client)
    until(client, debate_id, "completed")
    plain = [event.name for event in client.stream(debate_id)]
    more = [event.name for event in client.stream(debate_id, extended=True)]
    assert "reasoning" not in plain
    assert {"reasoning", "turn"} <= set(more)
    # The plain one follows the words of a single ballot, this one those of all.
    assert [name for name in more if name in plain and name != "judge"] == [
        name for name in plain if name != "judge"
    ]


def test_the_native_log_is_dense_and_makes_the_debate(client: Client):
    debate_id = open_one(client)
    until(client, debate_id, "completed")
    records = client.events(debate_id, limit=1000).records
    assert [record.seq for record in records] == list(range(1, len(records) + 1))
    log = client.log(debate_id)
    assert [next(log) for _ in records] == list(records)
    log.close()
    paged = [client.events(debate_id, after=after, limit=7).records for after in range(0, len(records), 7)]
    assert [record for page in paged for record in page] == list(records)
    debate = fold(Recorded(debate_id, one.seq, one.at, 0, one.event) for one in records if one.event)
    assert debate is not None
    assert (debate.status, debate.motion) == ("completed", MOTION)


@pytest.mark.parametrize("kindly", [True, False])
def test_a_viewer_sees_nothing_of_a_restart(tmp_path: Path, kindly: bool):
    with served(tmp_path, pace_ms=10) as server, Client(server.url) as client:
        debate_id = open_one(client, DebateConfig(max_rounds=2))
        live, seen = [], threading.Event()

        def follow() -> None:
            with Client(server.url) as watching:
                for event in watching.stream(debate_id):
                    live.append(event)
                    if event.name == "participant":
                        seen.set()

        viewer = threading.Thread(target=follow)
        viewer.start()
        assert seen.wait(60)
        if kindly:
            assert server.stop() == 0
        else:
            server.kill()
        server.start()
        viewer.join(60)
        assert not viewer.is_alive()
        assert live == list(client.stream(debate_id))
        assert live[-1].name == "complete"


def test_leaving_a_stream_early_closes_it(client: Client):
    debate_id = open_one(client)
    for event in client.stream(debate_id):
        assert event.name == "status"
        break
    until(client, debate_id, "completed")


# --- looking ------------------------------------------------------------------------------------------


def test_what_there_is_to_look_at(client: Client):
    debate_id = open_one(client)
    until(client, debate_id, "completed")
    status = client.status(debate_id)
    assert (status.topic, status.max_rounds, status.current_round) == (MOTION, 1, 1)
    assert status.verdict is not None
    assert len(status.rounds[0].responses) == 2
    listed = client.list(limit=1)
    assert listed.debates[0].id == debate_id
    assert listed.pagination.total >= 1
    assert client.list(status="error").debates == ()
    assert client.list(search=MOTION.upper()).debates[0].id == debate_id
    assert client.list(search="nobody's motion").debates == ()
    assert client.transcript(debate_id)["debate"]["topic"] == MOTION
    assert client.transcript(debate_id, "markdown").startswith(f"# Debate: {MOTION}")
    assert "<html" in client.transcript(debate_id, "html")
    assert client.document(debate_id, "markdown").decode() == client.transcript(debate_id, "markdown")
    assert json.loads(client.document(debate_id, "json")) == client.transcript(debate_id)
    assert client.call(debate_id, 1)


def test_what_the_server_has(client: Client):
    models = client.models()
    assert models.default == MODEL
    assert any(model.provider == "anthropic" and not model.available for model in models.models)
    assert {"oxford", "panel"} <= {fmt["name"] for fmt in client.formats()["formats"]}
    assert client.health()
    assert client.statistics()
    assert client.estimate(MOTION, participants=TWO, judge=MODEL, config=SHORT)


# --- steering -----------------------------------------------------------------------------------------


def test_rounds_that_wait_to_be_asked_for(client: Client):
    debate_id = open_one(client, MANUAL)
    until(client, debate_id, "awaiting_arguments")
    accepted = client.rounds(debate_id)
    assert accepted.debate_id == debate_id
    assert accepted.current_round == 1
    end = time.monotonic() + 20
    while not client.status(debate_id).rounds or client.status(debate_id).status != "awaiting_arguments":
        assert time.monotonic() < end
        time.sleep(0.02)
    assert client.rounds(debate_id, "skip_to_judge").status == "judge_evaluating"
    assert list(client.stream(debate_id))[-1].name == "complete"


def test_pausing_resuming_remarking_and_stopping(tmp_path: Path):
    with served(tmp_path, pace_ms=20) as server, Client(server.url) as client:
        debate_id = open_one(client, DebateConfig(max_rounds=3))
        until(client, debate_id, "debating")
        paused = client.pause(debate_id, now=True)
        assert (paused.status, paused.paused_at is not None) == ("paused", True)
        assert client.inject(debate_id, "Mind the cost.", to=client.status(debate_id).participants[0].id)
        assert client.resume(debate_id).resumed_at is not None
        following = speaking(client, debate_id, after=0)
        assert client.skip(debate_id, speech=following)
        assert client.skip(debate_id, speech=following), "sent again, it does nothing"
        speaking(client, debate_id, after=following)
        with pytest.raises(ApiError) as refused:
            client.resume(debate_id)
        assert (refused.value.status, refused.value.problem.current_status) == (409, "debating")
        assert refused.value.request_id.startswith("req_")
        assert client.abort(debate_id, "Enough.")
        until(client, debate_id, "completed")
        assert client.status(debate_id).stopped
        kinds = [record.kind for record in client.events(debate_id, limit=1000).records]
        assert {"debate.paused", "remark.injected", "debate.resumed", "turn.interrupted"} <= set(kinds)


def test_a_person_decides(client: Client):
    debate_id = open_one(client, DebateConfig(max_rounds=1, winning_condition="user-decides"))
    until(client, debate_id, "awaiting_arguments")
    end = time.monotonic() + 20
    while len(client.status(debate_id).rounds) < 1:
        assert time.monotonic() < end
        time.sleep(0.02)
    winner = client.status(debate_id).participants[1].id
    client.decide(debate_id, winner, "She was right.")
    until(client, debate_id, "completed")
    verdict = client.status(debate_id).verdict
    assert verdict is not None
    assert verdict.winner == winner


def test_judge_stop_and_retry_are_refused_in_time(client: Client):
    debate_id = open_one(client)
    until(client, debate_id, "completed")
    for ask in (client.stop, client.retry):
        with pytest.raises(ApiError) as refused:
            ask(debate_id)
        assert refused.value.problem.kind == "conflict"


def test_a_deleted_debate_is_gone(client: Client):
    debate_id = open_one(client)
    until(client, debate_id, "completed")
    client.delete(debate_id)
    for look in (
        client.status,
        client.delete,
        lambda id: next(client.stream(id)),
        lambda id: next(client.log(id)),
    ):
        with pytest.raises(ApiError) as refused:
            look(debate_id)
        assert refused.value.problem.kind == "not-found"


def test_the_same_key_opens_one_debate(client: Client):
    opened = {
        client.create(MOTION, participants=TWO, judge=MODEL, config=SHORT, key="once").id for _ in range(3)
    }
    assert len(opened) == 1
    with pytest.raises(ApiError) as refused:
        client.create(MOTION + "!", participants=TWO, judge=MODEL, config=SHORT, key="once")
    assert refused.value.problem.kind == "idempotency-mismatch"


def test_all_that_is_wrong_with_a_request_is_told(client: Client):
    wrong = (DebaterConfig("Ada", "nobody/x", "for"), DebaterConfig("ada", MODEL, "against"))
    with pytest.raises(ApiError) as refused:
        client.create("Short", participants=wrong, judge=MODEL, config=DebateConfig(max_rounds=11))
    assert set(refused.value.errors) == {
        "topic",
        "participants",
        "participants.0.model.provider",
        "maxRounds",
    }


def test_a_token_lets_in(tmp_path: Path):
    with served(tmp_path, MOOT_TOKEN="correct-horse-battery") as server:
        with Client(server.url, token="") as client:
            assert client.health()
            for look in (client.models, lambda: next(client.stream("deb_x"))):
                with pytest.raises(ApiError) as refused:
                    look()
                assert refused.value.problem.kind == "unauthorized"
        with Client(server.url, token="correct-horse-battery") as client:
            debate_id = open_one(client)
            assert list(client.stream(debate_id))[-1].name == "complete"
            assert len(client.ticket(debate_id)) > 20
