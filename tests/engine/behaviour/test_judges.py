"""Judges with a favourite place, panels of people and models, and second thoughts: whole debates on the real
engine."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from moot import formats
from moot.core.errors import Invalid, Refused
from moot.core.events import BallotCast, CallStarted, JudgingFailed, JudgingStarted, VerdictReached
from moot.core.state import Debate
from moot.core.terms import HUMAN, Ballot, Model, Money, Request
from moot.engine.arena import Arena
from moot.providers.prices import flat_price
from moot.providers.scripted import Cue, SayCue, ScriptedProvider, StallCue, improvise
from moot.rules.debate_setup import JudgeSetup, SeatSetup
from moot.rules.participation import SubmitBallot
from moot.settings import Settings
from moot.views.outcome import doubts, readings
from tests.engine.conftest import QUICK, OpenArena
from tests.engine.scripted_judges import (
    OWL,
    PATIENCE,
    SPEAKER,
    first_shown,
    gullible,
    is_judge,
    read_first,
    script,
)

PERSON = Model(HUMAN, "ann")


# --- a judge with a favourite place -------------------------------------------------------------------


@pytest.mark.parametrize("judges", [1, 3])
async def test_a_judge_who_prefers_whoever_is_shown_first_names_no_winner(
    open_arena: OpenArena, judges: int
) -> None:
    async with open_arena(ScriptedProvider(script(first_shown))) as arena:
        debate = await judged(arena, *[OWL] * judges)
    assert debate.verdict is not None
    assert (debate.verdict.outcome, debate.verdict.winner) == ("too-close", None)
    assert debate.verdict.flips == judges


async def test_a_judge_who_prefers_whoever_it_reads_first_looks_fair_when_it_reads_by_time(
    open_arena: OpenArena,
) -> None:
    async with open_arena(ScriptedProvider(script(read_first))) as arena:
        debate = await judged(arena, OWL)
    assert debate.verdict is not None
    assert (debate.verdict.winner, debate.verdict.flips) == ("part_1", 0)
    assert {ballot.read_first for ballot in debate.judgings[0].ballots} == {"part_1"}
    assert readings(debate.judgings[0].ballots) == "both labelings"


@pytest.mark.parametrize(
    "options",
    [
        {"turns": 4, "reading": "by-side"},
        {"turns": None, "format": "oxford", "rounds": 1, "blind": True},
        {"turns": None, "format": "oxford", "rounds": 2, "reading": "by-side"},
    ],
    ids=["by side", "simultaneous openings", "a format with sides"],
)
async def test_a_judge_who_prefers_whoever_it_reads_first_flips_where_the_order_is_swapped(
    open_arena: OpenArena, options: dict[str, Any]
) -> None:
    async with open_arena(ScriptedProvider(script(read_first))) as arena:
        debate = await judged(arena, OWL, **options)
    assert debate.verdict is not None
    assert (debate.verdict.outcome, debate.verdict.winner, debate.verdict.flips) == ("too-close", None, 1)
    swapped = "The judge changed its mind when the labels and the order of the sides were swapped."
    assert swapped in doubts(debate, debate.verdict)
    first, second = debate.judgings[0].ballots
    assert (first.read_first, second.read_first) == (first.winner, second.winner) == ("part_1", "part_2")
    assert first.labels == dict(zip(second.labels, reversed(second.labels.values()), strict=True))
    assert readings((first, second)) == "both orders"


async def test_the_label_of_the_side_that_is_read_first_is_left_to_chance(open_arena: OpenArena) -> None:
    """Otherwise a preference for a label could not be told from one for a place."""
    async with open_arena(ScriptedProvider(script(read_first))) as arena:
        debates = [await judged(arena, OWL, reading="by-side") for _ in range(12)]
    cast = [ballot for debate in debates for ballot in debate.judgings[0].ballots]
    assert {ballot.labels[ballot.read_first or ""] for ballot in cast} == {"Birch", "Cedar"}


async def judged(arena: Arena, *judges: Model, turns: int | None = 2, **options: Any) -> Debate:
    setup = await arena.setup(
        "Towns should plant trees.", model=SPEAKER, judges=judges, turns=turns, **options
    )
    debate_id = (await arena.create(setup, start=True)).debate.id
    async with asyncio.timeout(PATIENCE):
        [_ async for _ in arena.watch(debate_id)]
    return await arena.state(debate_id)


# --- people and models on one bench -------------------------------------------------------------------


def by_hand(winner: str | None, judge: str, **changes: Any) -> SubmitBallot:
    return SubmitBallot(replace(Ballot(judge, 0, winner, {}, "I was convinced.", cites=(1,)), **changes))


async def when(arena: Arena, debate_id: str, *kinds: type, after: int = 0, times: int = 1) -> int:
    """Wait until this has been written so many times; the seq of the last."""
    async with asyncio.timeout(PATIENCE):
        async for recorded in arena.follow(debate_id, after):
            times -= isinstance(recorded.event, kinds)
            if not times:
                return recorded.seq
    raise AssertionError("the stream ended")


async def test_a_mixed_panel_waits_for_its_people_after_its_models(open_arena: OpenArena) -> None:
    async with open_arena(ScriptedProvider(script(gullible))) as arena:
        setup = await arena.setup("Plant trees.", model=SPEAKER, judges=[OWL, PERSON, PERSON], turns=2)
        debate_id = (await arena.create(setup, start=True)).debate.id
        await when(arena, debate_id, BallotCast, times=2)
        people = [judge.id for judge in (await arena.state(debate_id)).judges if judge.model.human]
        with pytest.raises(Invalid) as error:
            await arena.ask(debate_id, by_hand("part_2", people[0], cites=(7,)))
        assert list(error.value.problems) == ["cites"]
        for judge in people:
            await arena.ask(debate_id, by_hand("part_2", judge))
        with pytest.raises(Refused):
            await arena.ask(debate_id, by_hand("part_1", people[0]))
        await when(arena, debate_id, VerdictReached)
        debate = await arena.state(debate_id)
    assert debate.verdict is not None
    assert (debate.verdict.winner, debate.verdict.agreement) == ("part_2", 0.5)
    assert debate.verdict.cites == (1,)


async def test_a_person_who_does_not_judge_in_time_is_not_waited_for(open_arena: OpenArena) -> None:
    async with open_arena(ScriptedProvider(script(gullible))) as arena:
        debate = await judged(arena, OWL, PERSON, person_seconds=0.01)
    assert debate.verdict is not None
    assert debate.verdict.winner == "part_1"
    assert debate.judging is not None
    assert len(debate.judging.spoiled) == 1


# --- second thoughts ----------------------------------------------------------------------------------


def against(request: Request, labels: list[str]) -> str:
    found = re.search(r"^(\w+) argued against the motion\.$", request.messages[0].content, re.MULTILINE)
    assert found
    return found[1]


def minded(request: Request) -> Iterable[Cue]:
    """A judge called contrary finds against; the others for whoever has reasons."""
    return script(against if request.model.name == "contrary" else gullible)(request)


CONTRARY = Model("scripted", "contrary")


async def test_a_debate_is_judged_again_and_its_verdict_stays(open_arena: OpenArena) -> None:
    async with open_arena(ScriptedProvider(minded)) as arena:
        first = await judged(arena, OWL)
        outcome = await arena.rejudge(first.id, [CONTRARY], reason="Somebody complained.")
        await when(arena, first.id, VerdictReached, after=first.seq)
        debate = await arena.state(first.id)
        assert (debate.status, debate.ended, debate.verdict) == ("completed", first.ended, first.verdict)
        assert [verdict.winner for verdict in debate.verdicts] == ["part_1", "part_2"]
        assert outcome.debate.judging is not None
        assert [judge.id for judge in outcome.debate.judging.judges] == ["judge_2"]
        await arena.rejudge(first.id, [CONTRARY, OWL])
        await when(arena, first.id, VerdictReached, after=debate.seq)
        thrice = await arena.state(first.id)
    assert [[judge.id for judge in judging.judges] for judging in thrice.judgings] == [
        ["judge_1"], ["judge_2"], ["judge_3", "judge_4"],
    ]  # fmt: skip
    assert thrice.verdicts[2].outcome == "too-close"
    assert len(thrice.judgings[0].ballots) == 2


async def test_other_criteria_make_other_judges_of_the_same_models(open_arena: OpenArena) -> None:
    async with open_arena(ScriptedProvider(minded)) as arena:
        first = await judged(arena, OWL)
        await arena.rejudge(first.id, criteria=("wit",))
        await when(arena, first.id, VerdictReached, after=first.seq)
        debate = await arena.state(first.id)
    assert debate.judging is not None
    (judge,) = debate.judging.judges
    assert (judge.id, judge.criteria, judge.model) == ("judge_2", ("wit",), first.judges[0].model)
    assert debate.judge("judge_1").criteria == first.judges[0].criteria


async def test_people_judge_a_debate_that_is_over(open_arena: OpenArena) -> None:
    async with open_arena(ScriptedProvider(minded)) as arena:
        first = await judged(arena, OWL)
        outcome = await arena.rejudge(first.id, [JudgeSetup(PERSON, "Ann")])
        assert outcome.debate.judging is not None
        (ann,) = outcome.debate.judging.judges
        await arena.ask(first.id, by_hand("part_2", ann.id))
        await when(arena, first.id, VerdictReached, after=first.seq)
        debate = await arena.state(first.id)
    assert [verdict.winner for verdict in debate.verdicts] == ["part_1", "part_2"]
    assert debate.status == "completed"


async def test_judging_again_that_comes_to_nothing_changes_nothing(open_arena: OpenArena) -> None:
    def mute(request: Request) -> Iterable[Cue]:
        return (
            [SayCue("I liked it.")]
            if request.model.name == "contrary" and is_judge(request)
            else minded(request)
        )

    async with open_arena(ScriptedProvider(mute)) as arena:
        first = await judged(arena, OWL)
        await arena.rejudge(first.id, [CONTRARY])
        await when(arena, first.id, JudgingFailed)
        debate = await arena.state(first.id)
        assert (debate.status, debate.verdicts) == ("completed", first.verdicts)
        assert not debate.being_judged
        await arena.rejudge(first.id, [OWL])
        await when(arena, first.id, VerdictReached, after=debate.seq)


async def test_only_a_debate_that_is_over_is_judged_again_and_one_at_a_time(open_arena: OpenArena) -> None:
    async with open_arena(ScriptedProvider(minded)) as arena:
        setup = await arena.setup("Plant trees.", model=SPEAKER, turns=2)
        with pytest.raises(Refused):
            await arena.rejudge((await arena.create(setup)).debate.id)
        first = await judged(arena, OWL)
        await arena.rejudge(first.id, [PERSON])
        with pytest.raises(Refused):
            await arena.rejudge(first.id, [OWL])


# --- what it may cost ---------------------------------------------------------------------------------

DEAR = replace(CONTRARY, price=flat_price(Money(3), Money(15)), max_tokens=1000)


async def test_judging_again_keeps_to_its_own_allowance(open_arena: OpenArena) -> None:
    async with open_arena(ScriptedProvider(minded)) as arena:
        first = await judged(arena, OWL)
        with pytest.raises(Invalid) as error:
            await arena.rejudge(first.id, [DEAR], allowance="0.0001")
        (problem,) = error.value.problems["costLimit"]
        assert problem.startswith("Must be at least 0.")
        assert (await arena.state(first.id)).seq == first.seq
        await arena.rejudge(first.id, [DEAR], allowance="0.50")
        await when(arena, first.id, VerdictReached, after=first.seq)
        paid = await arena.state(first.id)
    assert 0 < paid.cost_so_far - first.cost_so_far <= Money("0.50")
    assert paid.limits == first.limits


async def test_an_allowance_needs_a_price_and_an_amount(open_arena: OpenArena) -> None:
    async with open_arena(ScriptedProvider(minded), mystery=ScriptedProvider(minded)) as arena:
        first = await judged(arena, OWL)
        for judge, allowance in ((Model("mystery", "m"), "1"), (OWL, "0"), (OWL, "NaN")):
            with pytest.raises(Invalid) as error:
                await arena.rejudge(first.id, [judge], allowance=allowance)
            assert list(error.value.problems) == ["costLimit"]
        assert (await arena.state(first.id)).seq == first.seq


# --- when the process goes ----------------------------------------------------------------------------


async def test_judging_again_survives_a_restart(tmp_path: Path) -> None:
    """Parked in the middle of a ballot, by a process that has time to say goodbye."""

    def slow(request: Request) -> Iterable[Cue]:
        return [StallCue()] if request.model.name == "contrary" else minded(request)

    settings = Settings(data=tmp_path, pace=replace(QUICK, first_byte=60, between_bytes=60))
    async with Arena.open(settings, providers={"scripted": ScriptedProvider(slow)}) as arena:
        first = await judged(arena, OWL)
        await arena.rejudge(first.id, [CONTRARY])
        await when(arena, first.id, CallStarted, after=first.seq)
    async with Arena.open(settings, providers={"scripted": ScriptedProvider(minded)}, recover=True) as arena:
        await when(arena, first.id, VerdictReached, after=first.seq)
        debate = await arena.state(first.id)
    assert [verdict.winner for verdict in debate.verdicts] == ["part_1", "part_2"]
    assert debate.status == "completed"


async def test_a_person_may_judge_after_a_restart(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path, pace=QUICK)
    async with Arena.open(settings, providers={"scripted": ScriptedProvider(minded)}) as arena:
        first = await judged(arena, OWL)
        await arena.rejudge(first.id, [PERSON])
        await when(arena, first.id, JudgingStarted, after=first.seq)
    async with Arena.open(settings, providers={"scripted": ScriptedProvider(minded)}, recover=True) as arena:
        await arena.ask(first.id, by_hand("part_2", "judge_2"))
        await when(arena, first.id, VerdictReached, after=first.seq)
        assert len((await arena.state(first.id)).verdicts) == 2


# --- who judges where nobody is named -----------------------------------------------------------------


async def test_speakers_of_one_model_are_judged_by_it(open_arena: OpenArena) -> None:
    async with open_arena() as arena:
        setup = await arena.setup("Plant trees.", model="scripted/demo")
    assert [judge.model.name for judge in setup.judges] == ["demo"]


async def test_speakers_of_two_makers_are_judged_by_a_third_that_is_at_hand(tmp_path: Path) -> None:
    keys = {"OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "k", "MISTRAL_API_KEY": "k"}
    for environ, judge in ((keys, "mistral"), ({**keys, "MISTRAL_API_KEY": ""}, "openai")):
        settings = Settings(data=tmp_path, environ=environ)
        async with Arena.open(settings) as arena:
            models = ["openai/gpt-5-mini", "anthropic/claude-sonnet-5"]
            setup = await arena.setup("Plant trees.", models=models)
        assert [one.model.provider for one in setup.judges] == [judge]


async def test_four_teams_are_ranked_by_a_panel(open_arena: OpenArena) -> None:
    fmt = replace(formats.load("free"), result="ranking")
    async with open_arena(ScriptedProvider(improvise)) as arena:
        seats = tuple(SeatSetup(SPEAKER, side=side) for side in ("for", "against", "for", "against"))
        setup = await arena.setup("Plant trees.", format=fmt, seats=seats, judges=[OWL, OWL, OWL], turns=4)
        debate_id = (await arena.create(setup, start=True)).debate.id
        await when(arena, debate_id, VerdictReached)
        debate = await arena.state(debate_id)
    assert debate.verdict is not None
    assert sorted(debate.verdict.ranking) == ["part_1", "part_2", "part_3", "part_4"]
    assert debate.judging is not None
    assert all(ballot.winner == ballot.ranking[0] for ballot in debate.judging.ballots)
