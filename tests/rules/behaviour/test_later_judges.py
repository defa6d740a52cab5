"""Who judges later, who judges by hand, and what that may cost."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from moot.core.errors import Refused
from moot.core.events import (
    BudgetExhausted,
    CallStarted,
    DebateFailed,
    DebateStarted,
    JudgingFailed,
    SegmentCompleted,
    TurnCompleted,
    TurnStarted,
)
from moot.core.state import Debate
from moot.core.terms import FREE, HUMAN, DebateLimits, Judge, Model, ModelPrice, Money, PriceTier, Seat, Text
from moot.judging.judge_request import BYTES_PER_TOKEN, human_speech_tokens, judge_request
from moot.rules import runner_decisions
from moot.rules.commands import JudgeAgain
from moot.testing.event_factories import opened, seats, state, table
from tests.judging.judged_debates import LATER, ended
from tests.rules.simulate import Reply, Sent, Simulation, ballot, speak

PRICED = Model(
    "scripted",
    "owl",
    max_tokens=200,
    price=ModelPrice((PriceTier(0, Money(1)),), (PriceTier(0, Money(5)),), source="list"),
)


def test_who_steps_aside_is_not_asked() -> None:
    simulation = ended()
    simulation.ask(JudgeAgain((LATER, replace(LATER, id="kin", recused="the same model"))))
    assert simulation.debate.judging is not None
    assert simulation.debate.judging.judges == (LATER,)


# --- crashes ------------------------------------------------------------------------------------------


def test_judging_again_goes_on_after_a_crash() -> None:
    simulation = ended()
    simulation.ask(JudgeAgain((LATER,)))
    simulation.run_until(lambda d: bool(d.calls))
    simulation.crash()
    debate = simulation.run().debate
    assert [len(judging.ballots) for judging in debate.judgings] == [2, 2]
    assert (debate.status, len(debate.verdicts)) == ("completed", 2)


def test_judging_again_that_crashes_time_and_again_fails_and_leaves_the_verdict() -> None:
    simulation = ended()
    before = simulation.debate
    simulation.ask(JudgeAgain((LATER,)))
    for _ in range(6):
        simulation.run_until(lambda d: bool(d.calls) or not d.being_judged)
        simulation.crash()
        simulation.step()
    debate = simulation.run().debate
    assert isinstance(simulation.events[-1], JudgingFailed)
    assert (debate.status, debate.verdicts) == ("completed", before.verdicts)
    assert not debate.being_judged


# --- money --------------------------------------------------------------------------------------------


def with_a_person(cost: str, **changes: Any) -> Debate:
    person = Seat("a", "Ann", "for", Model(HUMAN, "ann", price=FREE))
    both = (person, seats("for", "against")[1])
    judge = Judge("judge", "Judge", PRICED)
    limits = DebateLimits(1, turns=2, cost_limit=Money(cost))
    return state(opened(seats=both, judges=(judge,), limits=limits, **changes), DebateStarted())


def test_nobody_speaks_whom_no_judge_could_be_paid_to_read() -> None:
    written = runner_decisions.advance(with_a_person("0.001"))
    assert isinstance(written[-2], BudgetExhausted)
    assert written[-1] == DebateFailed("budget", runner_decisions.TOO_LITTLE_MONEY)
    assert not any(isinstance(event, TurnStarted) for event in written)


def test_with_money_enough_a_person_has_the_floor() -> None:
    written = runner_decisions.advance(with_a_person("1"))
    assert [type(event) for event in written[-2:]] == [TurnStarted, CallStarted]


@pytest.mark.parametrize("letter", ["x", "木", "x ", "𝔐"])
def test_what_a_judge_reads_of_a_person_is_bounded(letter: str) -> None:
    events = runner_decisions.advance(with_a_person("1"))
    opening = opened(seats=with_a_person("1").seats)
    long = letter * (20_000 // len(letter))
    said = (SegmentCompleted(1, Text(long)), TurnCompleted(1, 9, clipped=0))
    debate = state(opening, DebateStarted(), *events, *said)
    before = state(opening, DebateStarted(), *events)
    judge = Judge("judge", "Judge", PRICED)
    added = len(judge_request(debate, judge, 0).messages[0].content.encode()) - len(
        judge_request(before, judge, 0).messages[0].content.encode()
    )
    assert added <= human_speech_tokens(debate, 0) * BYTES_PER_TOKEN + 200


def test_an_allowance_is_all_that_judging_again_may_cost() -> None:
    def dear(sent: Sent) -> Reply:
        return Reply(ballot(sent, "a"), reported="worst") if sent.purpose.judge else speak(sent)

    simulation = Simulation(table("free", limits=DebateLimits(1, turns=2)), dear).start().run()
    for allowance, verdicts in ((Money("0.0001"), 1), (Money(1), 2)):
        before = simulation.debate
        simulation.ask(JudgeAgain((Judge("dear", "Dear", PRICED),), allowance=allowance))
        simulation.run()
        assert simulation.debate.counted - before.counted <= allowance
        assert len(simulation.debate.verdicts) == verdicts
        assert simulation.debate.limits == before.limits


def test_without_an_allowance_judging_again_takes_what_the_limit_has_left() -> None:
    limits = DebateLimits(1, turns=2, cost_limit=Money("0.0001"))
    simulation = Simulation(table("free", limits=limits), speak).start().run()
    simulation.ask(JudgeAgain((Judge("dear", "Dear", PRICED),)))
    assert isinstance(simulation.run().events[-1], JudgingFailed)


def test_a_debate_is_judged_again_only_so_often() -> None:
    simulation = ended()
    for _ in range(19):
        simulation.ask(JudgeAgain())
        simulation.run()
    assert isinstance(simulation.ask(JudgeAgain()), Refused)
    assert len(simulation.debate.judgings) == 20
