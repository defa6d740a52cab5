"""People judge the debates of an experiment over the API: blind, in a queue, and no vote is lost."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

import msgspec

from moot.client import AsyncClient
from moot.extensions.experiments.measuring.definition import ExperimentDefinition
from moot.extensions.experiments.measuring.judging_queue import shown_first
from moot.extensions.experiments.measuring.leg_results import read_result
from moot.extensions.experiments.measuring.people_votes import PersonVote
from moot.extensions.experiments.measuring.questions import Question
from moot.extensions.experiments.measuring.report_beliefs import people_sentence
from moot.extensions.experiments.people_judging import cast_vote
from moot.extensions.experiments.runner import ExperimentRunner
from moot.extensions.experiments.tables import EXPERIMENTS
from tests.extensions.experiments.test_routes import LEAGUE
from tests.web.routes.served import Served

TRUTH = ExperimentDefinition(
    name="truth",
    models=("scripted/heron",),
    judges=("scripted/owl",),
    format="",
    pairing="self",
    questions=(Question("lantern", "What colour was the lantern?", ("Red", "Blue"), 1, "p"),),
    passages={"p": "The keeper carried a blue lantern to the boat that nobody saw again."},
    protocols=("debate", "naive"),
)
SMALL = msgspec.structs.replace(LEAGUE, motions=LEAGUE.motions[:1])


async def votes_of(served: Served, name: str) -> dict[str, tuple[PersonVote, ...]]:
    legs = await served.arena.store.tables(EXPERIMENTS).legs(name)
    return {leg.debate: read_result(leg.result or "").votes for leg in legs}


async def test_a_voter_judges_each_debate_once_without_knowing_who_debated(served: Served) -> None:
    await ExperimentRunner(served.arena, SMALL).run()
    async with AsyncClient(served.url) as client:
        queue = await client.judging_queue("league", "Ann")
        assert (queue.judged, queue.total) == (0, 6)
        seen: list[str] = []
        while (shown := queue.debate) is not None:
            told = msgspec.json.encode(shown).decode()
            assert not [
                word for word in (*LEAGUE.models, *LEAGUE.judges, "scripted", "part_") if word in told
            ]
            assert [side.name for side in shown.sides] == ["A", "B"]
            assert {side.argues for side in shown.sides} == {"for", "against"}
            assert {speech.side for speech in shown.speeches} == {"A", "B"}
            assert all(speech.text for speech in shown.speeches)
            seen.append(shown.debate)
            queue = await client.cast_experiment_vote("league", shown.debate, "Ann", "A", reason="Clearer.")
            assert queue.judged == len(seen)
    assert len(set(seen)) == 6
    kept = await votes_of(served, "league")
    assert set(kept) == set(seen)
    for debate, [vote] in kept.items():
        assert vote.winner == vote.shown_first == shown_first("Ann", debate)
        assert (vote.voter, vote.reason, vote.blind) == ("Ann", "Clearer.", True)
        assert vote.at is not None


def test_either_side_is_shown_first_to_a_voter() -> None:
    assert {shown_first("Ann", f"deb_{number}") for number in range(64)} == {"pro", "con"}


async def test_the_debate_with_the_fewest_votes_comes_first_and_voters_have_orders_of_their_own(
    served: Served,
) -> None:
    await ExperimentRunner(served.arena, SMALL).run()
    firsts: set[str] = set()
    async with AsyncClient(served.url) as client:
        for number in range(6):
            voter = f"voter {number}"
            shown = (await client.judging_queue("league", voter)).debate
            assert shown is not None
            firsts.add(shown.debate)
            await client.cast_experiment_vote("league", shown.debate, voter, "tie")
    assert len(firsts) == 6
    other = {
        voter: (await served.http.get(f"/api/v1/experiments/league/queue?voter={voter}")).json()
        for voter in "abcdefgh"
    }
    assert len({each["debate"]["debate"] for each in other.values()}) > 1


async def test_a_later_vote_replaces_an_earlier_one_and_none_is_lost_to_another(served: Served) -> None:
    await ExperimentRunner(served.arena, SMALL).run()
    [leg, *_] = await served.arena.store.tables(EXPERIMENTS).legs("league")
    store, at = served.arena.store, datetime.now(UTC)
    for winner in ("A", "tie"):
        await cast_vote(store, "league", leg.debate, "Ann", winner, at=at)
    await asyncio.gather(
        *(cast_vote(store, "league", leg.debate, f"voter {number}", "B", at=at) for number in range(12))
    )
    votes = (await votes_of(served, "league"))[leg.debate]
    assert sorted(vote.voter for vote in votes) == sorted(
        ["Ann", *(f"voter {number}" for number in range(12))]
    )
    assert next(vote.winner for vote in votes if vote.voter == "Ann") == "tie"


async def test_of_a_question_the_probability_is_kept_and_the_passage_stays_hidden(served: Served) -> None:
    await ExperimentRunner(served.arena, TRUTH).run()
    async with AsyncClient(served.url) as client:
        queue = await client.judging_queue("truth", "Ann")
        shown = queue.debate
        assert queue.total == 2, "a naive judge heard nobody, so there is nothing to judge"
        assert shown is not None
        assert shown.is_question
        assert {side.argues for side in shown.sides} == {"Red", "Blue"}
        assert "nobody saw again" not in msgspec.json.encode(shown).decode()
        for wrong in ({"winner": "tie", "probability": 0.6}, {"winner": "A"}):
            body = {"voter": "Ann", "debate": shown.debate, **wrong}
            assert (await served.http.post("/api/v1/experiments/truth/votes", json=body)).status_code == 422
        blue = next(side.name for side in shown.sides if side.argues == "Blue")
        assert blue in ("A", "B")
        await client.cast_experiment_vote("truth", shown.debate, "Ann", blue, probability=0.8)
    [vote] = (await votes_of(served, "truth"))[shown.debate]
    debate = await served.arena.state(shown.debate)
    assert debate.setup.question is not None
    assert vote.chance == 0.8
    assert vote.winner == ("pro" if debate.setup.question.choices[0] == "Blue" else "con")


async def test_people_agree_with_judges_and_with_each_other_in_the_report(served: Served) -> None:
    await ExperimentRunner(served.arena, SMALL).run()
    async with AsyncClient(served.url) as client:
        for voter in ("Ann", "Bob"):
            while (shown := (await client.judging_queue("league", voter)).debate) is not None:
                first = shown_first(voter, shown.debate)
                await client.cast_experiment_vote(
                    "league", shown.debate, voter, "A" if first == "pro" else "B"
                )
        found = await client.experiment("league")
    assert found.people is not None
    assert "2 people voted on 6 debates" in found.people.sentence
    report = await ExperimentRunner(served.arena, SMALL).report("1")
    assert report.people is not None
    assert report.people.among is not None
    assert report.people.among.raw.value == 1
    assert "Two people name the same result in 100 %" in people_sentence(report.people)


async def test_what_is_wrong_with_a_vote_is_told(served: Served) -> None:
    await ExperimentRunner(served.arena, SMALL).run()
    [leg, *_] = await served.arena.store.tables(EXPERIMENTS).legs("league")
    good: dict[str, Any] = {"voter": "Ann", "debate": leg.debate, "winner": "A"}
    path = "/api/v1/experiments/league/votes"
    rows: tuple[tuple[dict[str, Any], int, str], ...] = (
        ({**good, "voter": ""}, 422, "voter"),
        ({**good, "winner": "pro"}, 422, "winner"),
        ({**good, "probability": 0.3}, 422, "probability"),
        ({**good, "debate": "deb_x"}, 422, "debate"),
        ({**good, "debate": "deb_01HZ9X8K7M3QR5TNVWXYZ12345"}, 404, ""),
    )
    for body, status, member in rows:
        reply = await served.http.post(path, json=body)
        assert reply.status_code == status, body
        assert not member or member in reply.json()["errors"], reply.text
    assert (await served.http.get("/api/v1/experiments/league/queue")).status_code == 422
    assert (await served.http.get("/api/v1/experiments/none/queue?voter=Ann")).status_code == 404
    assert not (await votes_of(served, "league"))[leg.debate]
