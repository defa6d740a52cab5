"""People in the room of a real server, by the client: invited, seated, heard, judging and voting."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from moot.client import (
    ApiError,
    AsyncClient,
    AudiencePolls,
    Client,
    DebateConfig,
    DebaterConfig,
    JudgeConfig,
    ModelConfig,
)
from tests.client.serving import Served, served

MODEL = "scripted/demo"
MOTION = "Cats are better than dogs"
BOTH_MODELS = (DebaterConfig("Ada", MODEL, "for"), DebaterConfig("Bob", MODEL, "against"))
ADA_IN_PERSON = (DebaterConfig("Ada", "human", "for", stand_in=MODEL), DebaterConfig("Bob", MODEL, "against"))
SHORT = DebateConfig(max_rounds=1)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[Served]:
    with served(tmp_path_factory.mktemp("served")) as running:
        yield running


@pytest.fixture
def client(server: Served) -> Generator[Client]:
    with Client(server.url) as made:
        yield made


def wait(for_what: Callable[[], object]) -> None:
    end = time.monotonic() + 30
    while not for_what():
        assert time.monotonic() < end
        time.sleep(0.02)


def over(client: Client, id: str) -> Callable[[], bool]:
    return lambda: client.status(id).status in ("completed", "error")


def test_an_invited_person_drafts_speaks_and_leaves(server: Served, client: Client):
    debate = client.create(
        MOTION, participants=ADA_IN_PERSON, judge=MODEL, config=DebateConfig(max_rounds=2, person_seconds=60)
    )
    id, ada = debate.id, debate.participants[0].id
    guest = client.invite(id, "participant", seat=ada, name="Zoe", days=1)
    assert (guest.name, guest.seat) == ("Zoe", ada)
    assert guest.link.endswith(f"#token={guest.token}")
    with Client(server.url, token=guest.token) as zoe:
        wait(lambda: zoe.seat(id, ada).turn)
        place = zoe.seat(id, ada)
        assert (place.name, place.person, place.budget) == ("Ada", True, 200)
        assert place.seconds_left is not None
        zoe.draft(id, ada, "Cats keep")
        assert zoe.seat(id, ada).words == 2
        zoe.draft(id, ada, "Cats keep themselves clean.", live=True)
        zoe.say(id, ada)
        wait(lambda: zoe.seat(id, ada).turn == 3)
        zoe.leave(id, ada)
        wait(over(client, id))
        with pytest.raises(ApiError) as refused:
            zoe.pause(id)
        assert refused.value.status == 403
    speeches = [words.content_preview for one in client.status(id).rounds for words in one.responses]
    assert speeches[0] == "Cats keep themselves clean."
    assert [guest.name for guest in client.invitations(id)] == ["Zoe"]
    client.uninvite(id, "Zoe")
    assert client.invitations(id) == ()


def test_a_seat_is_taken_in_a_debate_of_models(client: Client):
    manual = DebateConfig(max_rounds=1, auto_progress=False)
    debate = client.create(MOTION, participants=BOTH_MODELS, judge=MODEL, config=manual)
    bob = debate.participants[1].id
    wait(lambda: client.status(debate.id).status == "awaiting_arguments")
    client.take(debate.id, bob)
    assert client.seat(debate.id, bob).person
    client.ask(debate.id, "Who feeds them?", to=bob)
    client.inject(debate.id, "Mind the time.")
    client.rounds(debate.id)
    wait(lambda: client.seat(debate.id, bob).turn)
    client.extend(debate.id, seconds=60)
    with pytest.raises(ApiError) as refused:
        client.offer_point(debate.id, bob, "And fish?")
    assert refused.value.status == 409
    with pytest.raises(ApiError) as refused:
        client.answer_point(debate.id, bob, True)
    assert refused.value.status == 409
    client.say(debate.id, bob, "Dogs do.")
    wait(over(client, debate.id))


def test_a_panel_with_a_person_and_a_second_look(client: Client):
    debate = client.create(
        MOTION, participants=BOTH_MODELS, judge="human", judges=[JudgeConfig(MODEL, "Second")], config=SHORT
    )
    id, ada = debate.id, debate.participants[0].id
    wait(lambda: client.status(id).status == "judge_evaluating")
    client.cast_ballot(id, ada, "Clearer.", cites=[1], scores={ada: 70}, criteria={"clarity": "Plain."})
    wait(over(client, id))
    told = client.verdicts(id)
    assert "Clearer." in [cast.reasoning for cast in told.verdicts[0].ballots]
    other = JudgeConfig(
        ModelConfig("scripted", "other"), evaluation_criteria=("clarity",), weights={"clarity": 2.0}
    )
    client.rejudge(id, [other], reason="A second look.")
    wait(lambda: len(client.verdicts(id).verdicts) == 2)
    again = client.verdicts(id)
    assert again.verdicts[0] == told.verdicts[0]
    assert (again.verdicts[1].judging, again.being_judged) == (2, False)


def test_a_hall_joins_by_one_link_and_votes_twice(server: Served, client: Client):
    debate = client.create(
        MOTION, participants=BOTH_MODELS, judge=MODEL,
        config=DebateConfig(max_rounds=1, polls=AudiencePolls(), winning_condition="audience"),
    )  # fmt: skip
    id = debate.id
    hall = client.invite(id, "audience", many=True)
    assert hall.many
    tokens: list[str] = []
    with Client(server.url, token=hall.token) as door:
        tokens = [door.join(id).token for _ in range(4)]
    wait(lambda: client.polls(id).polls)
    for round_of_votes in (("against", "against", "undecided", "for"), ("for", "for", "for", "for")):
        for token, choice in zip(tokens, round_of_votes, strict=True):
            with Client(server.url, token=token) as voter:
                voter.vote(id, choice)
        if len(client.polls(id).polls) == 1:
            assert client.polls(id).sealed
        client.close_poll(id)
        wait(lambda: len(client.polls(id).polls) == 2)
    wait(over(client, id))
    tally = client.polls(id)
    assert (tally.sealed, tally.pairs, tally.leader) == (False, 4, "for")
    assert [change.points for change in tally.changes if change.choice == "for"] == [75.0]
    assert client.verdicts(id).verdicts[0].by == "audience"


async def test_who_conducts_and_plays_may_ask_to_see_no_more_than_the_seat(server: Served):
    async with AsyncClient(server.url) as client:
        debate = await client.create(MOTION, participants=BOTH_MODELS, judge=MODEL, config=SHORT)
        ada = debate.participants[0].id
        names = [event.name async for event in client.stream(debate.id, extended=True, seat=ada)]
        assert "reasoning" not in names
        page = await client.events(debate.id, limit=1000, seat=ada)
        assert any(record.kind == "hidden" for record in page.records)
        assert "reasoning" in [event.name async for event in client.stream(debate.id, extended=True)]
        async for record in client.log(debate.id, seat=ada):
            if record.kind == "debate.ended":
                break
        assert MOTION in await client.transcript(debate.id, "markdown", seat=ada)


def test_the_data_folder_of_a_server_knows_no_token(server: Served, client: Client):
    debate = client.create(MOTION, participants=BOTH_MODELS, judge=MODEL, config=SHORT)
    token = client.invite(debate.id, "observer").token
    folder = Path(server.env["MOOT_DATA"])
    assert all(token.encode() not in file.read_bytes() for file in folder.rglob("*") if file.is_file())
