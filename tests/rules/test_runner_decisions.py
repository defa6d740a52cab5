"""What a runner may do, decided on the head of the log."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from moot import formats
from moot.core.errors import FAULT_MESSAGES
from moot.core.events import (
    BallotCast,
    BallotSpoiled,
    BudgetExhausted,
    BudgetShortened,
    BudgetWarned,
    CallCompleted,
    CallFailed,
    CallStarted,
    ConcessionMade,
    DebateEnded,
    DebateFailed,
    DebateReady,
    JudgingStarted,
    RoundCompleted,
    RoundStarted,
    SegmentCompleted,
    StalemateFound,
    TurnCompleted,
    TurnFailed,
    TurnInterrupted,
    TurnStarted,
    VerdictReached,
)
from moot.core.state import Debate
from moot.core.terms import FREE, DebateLimits, DebateSetup, DebateVerdict, Judge, Money, Text, Usage
from moot.judging.judged_speeches import speeches as evidence
from moot.prompts.speech_prompts import turn_request
from moot.providers.prices import flat_price
from moot.rules import runner_decisions
from moot.rules.budget import CallPurpose
from moot.rules.commands import (
    Abort,
    DecideWinner,
    JudgeNow,
    PauseDebate,
    ResumeDebate,
    Retry,
    SkipTurn,
    Stop,
)
from moot.rules.plan import Idle, plan
from moot.rules.runner_decisions import (
    advance,
    begin_call,
    fail_call,
    finish_call,
    interrupt_for_shutdown,
    recover,
    still_wanted,
)
from moot.testing.event_factories import opened, seats, table
from tests.rules.priced_debates import PERSON, PRICED, calling, live
from tests.rules.random_debates import blind
from tests.rules.simulate import MUCH_LATER, Reply, Script, Sent, Simulation, ballot, in_turn, speak, speeches
from tests.support.for_each import for_each


def done(call: int, **changes: Any) -> CallCompleted:
    return replace(CallCompleted(call, "stop", Usage(5, 5), Money(0), 100), **changes)


def failed(call: int, **changes: Any) -> CallFailed:
    fault = CallFailed(call, "overloaded", "transient", "Busy.", Usage(5, 5, estimated=True), Money(0))
    return replace(fault, **changes)


# --- advance ------------------------------------------------------------------------------------------


def test_the_first_step_makes_ready_and_starts_the_first_turn() -> None:
    assert advance(Simulation(table(), speak).start().debate) == (
        DebateReady(),
        RoundStarted(1),
        TurnStarted(1, 0, 1, "opening", "opening", "a"),
    )


def test_a_turn_follows_a_turn_in_the_same_round() -> None:
    debate = live().run_until(lambda d: len(d.turns) == 1).debate
    assert advance(debate) == (TurnStarted(2, 1, 1, "opening", "opening", "b"),)


def test_a_round_is_completed_before_the_next_begins() -> None:
    debate = live(2).run_until(lambda d: len(d.turns) == 2).debate
    assert advance(debate) == (
        RoundCompleted(1),
        RoundStarted(2),
        TurnStarted(3, 2, 2, "rebuttal", "rebuttal", "a"),
    )


def test_after_the_last_round_the_judging_begins() -> None:
    debate = live(10).run_until(lambda d: len(d.turns) == 10).debate
    assert advance(debate) == (RoundCompleted(5), JudgingStarted(1, "rounds"))


def test_without_a_judge_the_debate_just_ends() -> None:
    debate = Simulation(table(judges=()), speak).start().run()
    assert debate.events[-1] == DebateEnded("rounds")
    assert debate.debate.verdict is None


@pytest.mark.parametrize("command", [PauseDebate(), Abort()])
def test_there_is_no_step_in_a_debate_that_rests(command: PauseDebate | Abort) -> None:
    debate = live(3)
    debate.ask(command)
    debate.run()
    assert advance(debate.debate) == ()


def test_there_is_no_step_while_somebody_speaks() -> None:
    assert advance(live().debate) == ()


def test_a_round_that_ends_during_a_pause_is_completed() -> None:
    debate = live(2)
    debate.ask(PauseDebate())
    debate.run_until(lambda d: len(d.turns) == 2)
    assert advance(debate.debate) == (RoundCompleted(1),)


def test_all_speakers_of_a_group_start_together() -> None:
    opening = opened(format=blind(), seats=seats("for", "against"), limits=DebateLimits(2))
    starts = [e for e in advance(Simulation(opening, speak).start().debate) if isinstance(e, TurnStarted)]
    assert [(start.turn, start.seat) for start in starts] == [(1, "a"), (2, "b")]


@pytest.mark.parametrize("format", ["free", "oxford"])
def test_where_a_judge_was_asked_for_it_decides_a_debate_in_circles(format: str) -> None:
    script = speeches(*["Once more with feeling."] * 3)
    debate = Simulation(table(format), script).start().run()
    assert [type(event) for event in debate.events if isinstance(event, StalemateFound | JudgingStarted)] == [
        StalemateFound,
        JudgingStarted,
    ]
    assert (debate.debate.ended, debate.debate.status) == ("stalemate", "completed")
    verdict = debate.debate.verdict
    assert verdict
    assert (verdict.outcome, verdict.winner, verdict.by) == ("win", "a", "judges")
    assert len([turn for turn in debate.debate.turns if turn.has_words]) == 3


def test_a_debate_in_circles_waits_for_a_judging_that_somebody_must_ask_for() -> None:
    setup = DebateSetup(auto_judge=False)
    debate = Simulation(table("free", setup=setup), speeches(*["Once more with feeling."] * 3)).start().run()
    assert plan(debate.debate) == Idle("judge")
    debate.ask(JudgeNow())
    assert debate.run().debate.verdict


def test_who_decides_by_hand_decides_a_debate_in_circles_too() -> None:
    setup = DebateSetup(winning="user-decides")
    debate = Simulation(table("free", setup=setup), speeches(*["Once more with feeling."] * 3)).start().run()
    assert plan(debate.debate) == Idle("decision")
    debate.ask(DecideWinner("b"))
    verdict = debate.run().debate.verdict
    assert verdict
    assert (verdict.winner, verdict.by) == ("b", "hand")


@pytest.mark.parametrize("changes", [{"setup": DebateSetup(winning="self-terminate")}, {"judges": ()}])
def test_a_stalemate_ends_as_a_draw_where_nobody_decides(changes: dict[str, Any]) -> None:
    script = speeches(*["Once more with feeling."] * 3)
    debate = Simulation(table("free", **changes), script).start().run()
    assert [type(event) for event in debate.events[-3:]] == [StalemateFound, VerdictReached, DebateEnded]
    assert (debate.debate.ended, debate.debate.status) == ("stalemate", "completed")
    verdict = debate.debate.verdict
    assert verdict
    assert (verdict.outcome, verdict.winner, verdict.by) == ("draw", None, "stalemate")


def test_a_concession_gives_the_other_side_the_win() -> None:
    opening = table("free", setup=DebateSetup(winning="self-terminate"))
    debate = Simulation(opening, speeches("I say so.", "You are right.\n[I concede]")).start().run()
    assert debate.events[-3] == ConcessionMade(2, "b", "[I concede]", "[I concede]")
    assert debate.debate.verdict == DebateVerdict("win", "a", "concession", reasoning="Seat 2 conceded.")
    assert debate.debate.ended == "concession"


def test_a_team_mates_concession_is_the_teams() -> None:
    opening = table("free", "for", "against", "for", setup=DebateSetup(winning="self-terminate"))
    debate = Simulation(opening, speeches("One.", "Two.", "Fine.\n[I concede]")).start().run()
    assert debate.debate.verdict
    assert debate.debate.verdict.winner == "b"


# --- begin --------------------------------------------------------------------------------------------


def test_a_call_is_numbered_and_says_what_it_is_for() -> None:
    debate = live().debate
    request = turn_request(debate, debate.live[0])
    (started,) = begin_call(debate, CallPurpose(turn=1), request, "digest", 1)
    assert isinstance(started, CallStarted)
    assert (started.call, started.turn, started.attempt, started.request) == (1, 1, 1, "digest")
    assert (started.max_tokens, started.reserved) == (request.max_tokens, Money(0))


def test_a_call_for_a_turn_that_was_cut_is_not_made() -> None:
    debate = live()
    request = turn_request(debate.debate, debate.debate.live[0])
    debate.ask(SkipTurn())
    assert begin_call(debate.debate, CallPurpose(turn=1), request, "digest", 1) == ()


@pytest.mark.parametrize(
    ("purpose", "wanted"),
    [
        (CallPurpose(turn=1), True),
        (CallPurpose(turn=2), False),
        (CallPurpose(judge="judge"), False),
        (CallPurpose(), False),
    ],
)
def test_what_is_wanted_while_a_turn_is_live(purpose: CallPurpose, wanted: bool) -> None:
    assert still_wanted(live().debate, purpose) is wanted


def test_a_ballot_is_wanted_until_it_is_cast() -> None:
    debate = live().run_until(lambda d: d.judging is not None and bool(d.judging.ballots)).debate
    assert not still_wanted(debate, CallPurpose(judge="judge", order=0))
    assert still_wanted(debate, CallPurpose(judge="judge", order=1))


# --- finish and fail ----------------------------------------------------------------------------------


def test_a_call_ends_with_its_turn() -> None:
    segment = SegmentCompleted(1, Text("Yes."))
    assert finish_call(calling().debate, done(1), [segment], TurnCompleted(1, 1)) == (
        segment,
        done(1),
        TurnCompleted(1, 1),
    )


def test_a_turn_that_was_cut_is_not_completed_but_its_call_is_paid() -> None:
    debate = calling()
    debate.ask(SkipTurn())
    segment = SegmentCompleted(1, Text("Yes."))
    assert finish_call(debate.debate, done(1), [segment], TurnCompleted(1, 1)) == (done(1),)
    assert fail_call(debate.debate, failed(1), TurnFailed(1, "overloaded", "Busy.")) == (failed(1),)


def test_a_call_is_settled_once() -> None:
    debate = calling().run_until(lambda d: not d.calls).debate
    assert finish_call(debate, done(1), [], TurnCompleted(1, 1)) == ()
    assert fail_call(debate, failed(1), None) == ()


def test_a_failed_attempt_leaves_the_turn_live() -> None:
    assert fail_call(calling().debate, failed(1), None) == (failed(1),)


def test_a_turn_fails_and_the_next_speaker_goes_on() -> None:
    busy = Reply(fault="overloaded")
    debate = Simulation(table(), in_turn([busy] * 4)).start().run_until(lambda d: d.is_live(2))
    assert [turn.state for turn in debate.debate.turns] == ["failed"]
    assert len(debate.sent) == 4
    assert debate.debate.live[0].seat == "b"


def test_a_permanent_fault_stops_the_debate() -> None:
    debate = Simulation(table(), in_turn([Reply(fault="bad_key", severity="permanent")])).start().run()
    assert debate.events[-1] == DebateFailed("permanent_fault", FAULT_MESSAGES["bad_key"])
    assert len(debate.sent) == 1


def test_a_judges_permanent_fault_spoils_its_ballot() -> None:
    opening = table("free", limits=DebateLimits(1, turns=2))
    no_key = Reply(fault="bad_key", severity="permanent")
    debate = Simulation(opening, in_turn([Reply("One."), Reply("Two."), no_key, no_key])).start().run()
    assert sum(isinstance(event, BallotSpoiled) for event in debate.events) == 2
    assert (debate.debate.status, debate.debate.failure) == ("error", "judge_failed")


def test_when_every_speaker_of_a_round_fails_the_debate_stops() -> None:
    silent = Reply(fault="empty", severity="unusable")
    debate = Simulation(table(), in_turn([silent] * 4)).start().run()
    assert debate.events[-2:] == [
        RoundCompleted(1),
        DebateFailed("all_failed", "Every speaker of the round failed."),
    ]


def test_what_was_in_error_can_go_on() -> None:
    silent = Reply(fault="empty", severity="unusable")
    debate = Simulation(table(), in_turn([silent] * 4)).start().run()
    debate.ask(Retry())
    assert debate.run().debate.status == "completed"
    assert [turn.state for turn in debate.debate.turns[:3]] == ["failed", "failed", "completed"]


# --- crashes ------------------------------------------------------------------------------------------


def crash_while_speaking(debate: Simulation) -> None:
    debate.run_until(lambda d: bool(d.calls and d.live and d.live[0].text))
    debate.crash()
    debate.step()


def test_after_a_crash_the_turn_is_interrupted_and_its_call_is_lost() -> None:
    debate = calling()
    call, turn = recover(debate.debate, MUCH_LATER)
    assert isinstance(call, CallFailed)
    assert (call.kind, call.usage.estimated) == ("lost", True)
    assert turn == TurnInterrupted(1, "crash")


def test_a_turn_lost_twice_is_given_again_and_the_third_time_it_fails() -> None:
    debate = Simulation(table(), speak).start()
    for _ in range(3):
        crash_while_speaking(debate)
    assert [(turn.slot, turn.state) for turn in debate.debate.turns] == [
        (0, "interrupted"),
        (0, "interrupted"),
        (0, "failed"),
    ]
    debate.run_until(lambda d: bool(d.live))
    assert debate.debate.live[0].slot == 1


def test_a_person_may_have_a_turn_tried_again_after_it_was_lost_too_often() -> None:
    debate = Simulation(table(), speak).start()
    for _ in range(3):
        crash_while_speaking(debate)
    debate.ask(Retry())
    crash_while_speaking(debate)
    assert debate.debate.turns[-1].state == "failed"
    debate.ask(PauseDebate())
    for _ in range(3):
        debate.ask(Retry())
    debate.ask(ResumeDebate())
    crash_while_speaking(debate)
    assert debate.debate.turns[-1].state == "interrupted"


def test_a_judge_lost_twice_is_asked_again_and_the_third_time_spoils_the_ballot() -> None:
    debate = Simulation(table("free", limits=DebateLimits(1, turns=2)), speak).start()
    for crashes in range(1, 4):
        debate.run_until(lambda d: d.status == "judging" and bool(d.calls))
        debate.crash()
        debate.step()
        assert debate.debate.judging
        assert debate.debate.judging.spoiled == ((("judge", 0),) if crashes == 3 else ())
    assert debate.run().debate.failure == "judge_failed"
    assert debate.events[-1] == DebateFailed("judge_failed", runner_decisions.JUDGE_LOST)


def test_a_judge_is_asked_in_one_order_and_then_in_the_other() -> None:
    debate = Simulation(table("free", limits=DebateLimits(1, turns=2)), speak).start().run()
    assert [sent.purpose.order for sent in debate.sent if sent.purpose.judge] == [0, 1]


@pytest.mark.parametrize("heard", [0, 100, 300])
def test_a_call_that_was_lost_long_ago_counts_with_all_that_it_may_have_said(heard: int) -> None:
    debate = Simulation(table(seats=seats("for", "against", model=PRICED)), speeches("x" * 400)).start()
    debate.run_until(lambda d: bool(d.calls and len(d.live[0].text) >= heard))
    (open_call,) = debate.debate.calls
    (call, _) = recover(debate.debate, MUCH_LATER)
    assert isinstance(call, CallFailed)
    assert (call.usage.output, call.usage.input) == (open_call.max_tokens, open_call.input_guess)
    assert call.usage.estimated
    assert call.cost is not None
    assert open_call.reserved is not None
    assert Money(0) < call.cost <= open_call.reserved


def test_parked_turns_are_given_again_however_often() -> None:
    debate = Simulation(table(), speak).start()
    for _ in range(5):
        debate.run_until(lambda d: bool(d.calls))
        debate.drain()
        debate.step()
    assert {turn.by for turn in debate.debate.turns} == {"drain"}
    assert debate.run().debate.status == "completed"


def test_parking_a_debate_that_rests_does_nothing() -> None:
    assert interrupt_for_shutdown(Simulation(table(), speak).debate) == ()


# --- judging ------------------------------------------------------------------------------------------


def judged(script: Script) -> Debate:
    return Simulation(table("free", limits=DebateLimits(1, turns=2)), script).start().run().debate


def voting(*winners: str | None) -> Script:
    """Speeches, then ballots for these seats."""
    coming = iter(winners)

    def script(sent: Sent) -> Reply:
        return Reply(ballot(sent, next(coming))) if sent.purpose.judge else speak(sent)

    return script


def test_the_verdict_ends_the_debate_for_the_reason_the_judging_began() -> None:
    debate = Simulation(table("free"), speak).start().run_until(lambda d: d.is_live(3))
    debate.ask(Stop("enough"))
    debate.run()
    assert [type(event) for event in debate.events[-2:]] == [VerdictReached, DebateEnded]
    assert debate.events[-1] == DebateEnded("stopped")


def test_a_judge_who_changes_its_mind_makes_it_too_close() -> None:
    verdict = judged(voting("a", "b")).verdict
    assert verdict
    assert (verdict.outcome, verdict.winner, verdict.flips) == ("too-close", None, 1)


def test_an_unreadable_reply_is_asked_for_once_more() -> None:
    replies = [Reply("One."), Reply("Two."), Reply("I liked Birch.")]
    debate = Simulation(table("free", limits=DebateLimits(1, turns=2)), in_turn(replies)).start().run()
    repairs = [sent.purpose.repair for sent in debate.sent if sent.purpose.judge]
    assert repairs == [False, True, False]
    assert debate.debate.verdict


def test_without_a_readable_reply_there_is_no_verdict() -> None:
    replies = [Reply("One."), Reply("Two."), Reply("Birch."), Reply("Birch!")]
    debate = Simulation(table("free", limits=DebateLimits(1, turns=2)), in_turn(replies)).start().run().debate
    assert (debate.status, debate.failure, debate.verdict) == ("error", "judge_failed", None)


def test_a_failed_judging_can_be_asked_for_again() -> None:
    replies = [Reply("One."), Reply("Two."), Reply("Birch."), Reply("Birch!")]
    debate = Simulation(table("free", limits=DebateLimits(1, turns=2)), in_turn(replies)).start().run()
    debate.ask(JudgeNow())
    assert debate.run().debate.verdict
    assert debate.debate.judging
    assert debate.debate.judging.number == 2


def test_a_ballot_that_is_cast_is_not_asked_for_again_after_a_crash() -> None:
    debate = live().run_until(lambda d: d.judging is not None and len(d.judging.ballots) == 1)
    debate.crash()
    debate.run()
    assert sum(isinstance(event, BallotCast) for event in debate.events) == 2


# --- the budget ---------------------------------------------------------------------------------------


def limited(limit: str, script: Script = speak, **changes: Any) -> Simulation:
    usual: dict[str, Any] = {
        "format": formats.load("oxford"),
        "seats": seats("for", "against", model=PRICED),
        "judges": (Judge("judge", "Judge", replace(PRICED, max_tokens=300)),),
        "limits": DebateLimits(5, cost_limit=Money(limit), warn_at=Money(limit) / 2),
    }
    return Simulation(opened(**{**usual, **changes}), script)


def greedy(sent: Sent) -> Reply:
    """Says and bills all that it may."""
    if sent.purpose.judge:
        return replace(speak(sent), reported="worst")
    return Reply(chr(0x6728 + sent.call) * 2 * sent.request.max_tokens, reported="worst")


@pytest.mark.parametrize("limit", ["0.02", "0.03", "0.04", "0.05", "0.06", "0.07", "0.08", "0.1"])
def test_a_debate_that_has_spent_its_money_is_still_judged(limit: str) -> None:
    debate = limited(limit, greedy).start().run()
    assert any(isinstance(event, BudgetExhausted) for event in debate.events)
    assert (debate.debate.status, debate.debate.ended) == ("completed", "budget")
    assert debate.debate.verdict
    assert debate.debate.counted <= Money(limit)


@pytest.mark.parametrize("free", [True, False])
def test_the_moderator_sums_up_where_the_money_is_spent_if_it_reaches_for_that(free: bool) -> None:
    moderator = replace(
        seats("for", "for", "neutral", model=replace(PRICED, price=FREE) if free else PRICED)[2],
        role="moderator",
    )
    sitting = (*seats("for", "against", model=PRICED), moderator)
    panel = {"format": formats.load("panel"), "seats": sitting, "judges": ()}
    debate = limited("0.02", greedy, **panel).start().run().debate
    assert (debate.status, debate.ended) == ("completed", "budget")
    assert debate.counted <= Money("0.02")
    if free:
        assert (debate.turns[-1].tone, debate.turns[-1].state) == ("summary", "completed")


def test_the_last_call_is_clamped_to_what_fits() -> None:
    sent = limited("0.08", greedy).start().run().sent
    sizes = [call.request.max_tokens for call in sent if call.purpose.turn]
    assert sizes[:-1] == [200] * (len(sizes) - 1)
    assert 48 <= sizes[-1] <= 200


def test_a_limit_too_small_for_the_first_speech_is_an_error_and_not_the_end_of_a_debate() -> None:
    debate = limited("0.001").start().run()
    assert not debate.sent
    assert (debate.debate.status, debate.debate.failure) == ("error", "budget")
    assert debate.events[-1] == DebateFailed("budget", runner_decisions.TOO_LITTLE_MONEY)
    assert debate.debate.verdict is None


def test_nothing_is_held_back_where_no_judge_will_be_asked() -> None:
    by_hand = DebateSetup(winning="user-decides")
    assert limited("0.012", setup=by_hand).start().run().sent
    assert not limited("0.012").start().run().sent


def test_a_judge_who_cannot_be_paid_spoils_the_ballot() -> None:
    dear = Judge("judge", "Judge", replace(PRICED, price=flat_price(Money(900), Money(900))))
    decided = DebateSetup(winning="user-decides")
    debate = limited("0.03", greedy, setup=decided, judges=(dear,)).start()
    debate.run_until(lambda d: d.rounds_done == 1)
    debate.ask(JudgeNow())
    debate.run()
    spoiled = [event for event in debate.events if isinstance(event, BallotSpoiled)]
    assert {event.message for event in spoiled} == {FAULT_MESSAGES["budget"]}
    assert debate.debate.failure == "judge_failed"


def test_the_warning_comes_once() -> None:
    debate = limited("0.2", greedy).start().run()
    warnings = [event for event in debate.events if isinstance(event, BudgetWarned)]
    assert len(warnings) == 1
    assert warnings[0].threshold == Money("0.1")
    assert warnings[0].spent >= Money("0.1")
    assert warnings[0].limit is None


@for_each("limit", ["0.001", "0.05", "0.06", "0.07", "0.08", "0.1", "0.12", "0.2"])
@for_each("script", [speak, greedy])
@for_each("share", ["0.1", "0.5", "0.99"])
def test_the_warning_comes_before_the_limit(limit: str, script: Script, share: str) -> None:
    limits = DebateLimits(5, cost_limit=Money(limit), warn_at=Money(limit) * Money(share))
    debate = limited(limit, script, limits=limits).start().run()
    told = [type(event) for event in debate.events if isinstance(event, BudgetWarned | BudgetExhausted)]
    assert told.count(BudgetWarned) == (BudgetExhausted in told or BudgetWarned in told)
    assert told.index(BudgetWarned) == 0 if told else debate.debate.counted < Money(limit)


def test_the_warning_comes_when_the_settled_cost_has_passed_its_threshold() -> None:
    limits = DebateLimits(5, cost_limit=Money("0.2"), warn_at=Money("0.001"))
    debate = limited("0.2", limits=limits).start().run_until(lambda d: d.warned)
    (warning,) = (event for event in debate.events if isinstance(event, BudgetWarned))
    assert warning.spent == debate.debate.cost_so_far >= Money("0.001")
    settled = [event for event in debate.events if isinstance(event, CallCompleted)]
    assert warning.spent - (settled[-1].cost or Money(0)) < Money("0.001")


def test_a_limit_that_stops_the_debate_before_the_threshold_is_the_reason_of_the_warning() -> None:
    limits = DebateLimits(5, cost_limit=Money("0.08"), warn_at=Money("0.0799"))
    debate = limited("0.08", greedy, limits=limits).start().run()
    (warning,) = (event for event in debate.events if isinstance(event, BudgetWarned))
    assert warning.limit == Money("0.08")
    assert warning.spent < warning.threshold


def test_a_pause_outlasts_the_money() -> None:
    debate = limited("0.02", greedy).start()
    debate.run_until(lambda d: d.is_live(2))
    debate.ask(PauseDebate())
    debate.run()
    assert debate.debate.status == "paused"
    debate.ask(ResumeDebate())
    assert debate.run().debate.status == "completed"
    assert debate.debate.ended == "budget"
    assert debate.debate.verdict


def test_a_model_of_unknown_price_is_neither_reserved_nor_free() -> None:
    nameless = replace(PRICED, price=None)
    debate = Simulation(table(seats=seats("for", "against", model=nameless)), speak).start()
    debate.run_until(lambda d: bool(d.calls))
    assert debate.debate.calls[0].reserved is None
    debate.run()
    assert debate.debate.tallies["scripted/owl"].unpriced == 10


def test_a_lost_call_leaves_less_room() -> None:
    debate = limited("0.2").start().run_until(lambda d: bool(d.calls and d.live[0].text))
    reserved = debate.debate.reserved
    debate.crash()
    debate.step()
    assert Money(0) < debate.debate.cost_so_far <= debate.debate.counted < reserved
    assert debate.debate.reserved == 0


def test_the_room_of_a_call_counts_the_calls_beside_it() -> None:
    opening = opened(
        format=blind(),
        seats=seats("for", "against", model=PRICED),
        judges=(),
        limits=DebateLimits(2, cost_limit=Money("0.007")),
    )
    debate = Simulation(opening, speak).start()
    debate.run_until(lambda d: len(d.calls) == 1)
    debate.step(1)
    assert debate.debate.counted + debate.debate.reserved <= Money("0.007")


@pytest.mark.parametrize("limit", [f"0.0{tenths}" for tenths in range(36, 60)])
def test_the_judging_of_what_is_said_at_the_same_time_is_held_back_too(limit: str) -> None:
    debate = limited(limit, greedy, format=blind()).start()
    for pick in range(2000):
        if not debate.step(pick):
            break
    asked = [sent.request.max_tokens for sent in debate.sent if sent.purpose.judge]
    assert set(asked) <= {300}
    assert (debate.debate.verdict is not None) == debate.debate.has_speeches


def test_a_second_reading_that_cannot_be_paid_is_waived_and_the_verdict_says_so() -> None:
    debate = limited("0.02", greedy).start().run()
    (waived,) = (event for event in debate.events if isinstance(event, BallotSpoiled))
    assert (waived.order, waived.waived) == (1, True)
    assert debate.debate.verdict is not None
    assert debate.debate.verdict.read_once == 1
    whole = limited("0.2").start().run().debate
    assert whole.verdict is not None
    assert whole.verdict.read_once == 0


def test_speeches_are_shortened_before_a_round_is_dropped_and_only_between_rounds() -> None:
    debate = limited("0.05", greedy).start().run()
    shortened = [event for event in debate.events if isinstance(event, BudgetShortened)]
    assert next((event.round, event.percent) for event in shortened) == (1, 50)
    for event, state in zip(debate.events, debate.states, strict=True):
        if isinstance(event, BudgetShortened):
            assert not state.live
            assert state.round == event.round - 1
    budgets = {debate.debate.word_budget(turn.slot) for turn in debate.debate.turns if turn.round == 1}
    assert budgets == {100}


def test_the_speeches_of_a_round_that_the_money_cut_are_not_judged() -> None:
    debate = limited("0.03", greedy).start().run()
    (reached,) = (event for event in debate.events if isinstance(event, BudgetExhausted))
    assert reached.cut_round == 2
    judged = {turn.round for turn in evidence(debate.debate)}
    assert judged == {1}
    (request, *_) = (sent.request for sent in debate.sent if sent.purpose.judge)
    (unheard,) = (turn for turn in debate.debate.turns if turn.round == 2 and turn.text)
    assert unheard.text[:50] not in request.messages[0].content


def test_moves_are_the_same_however_often_they_are_asked_for() -> None:
    debate = calling().debate
    assert advance(debate) == advance(debate)
    assert runner_decisions.recover(debate, MUCH_LATER) == runner_decisions.recover(debate, MUCH_LATER)


# --- people -------------------------------------------------------------------------------------------


def with_a_person(**changes: Any) -> Simulation:
    """A person speaks first, a model answers."""
    one, other = seats("for", "against", model=PRICED)
    return Simulation(table(seats=(replace(one, model=PERSON), other), **changes), speak).start()


def test_a_person_has_the_floor_as_soon_as_it_is_their_turn() -> None:
    started = advance(with_a_person().debate)[-1]
    assert isinstance(started, CallStarted)
    assert (started.turn, started.model, started.reserved) == (1, "human/ada", Money(0))


def test_a_person_whose_judges_could_not_be_paid_does_not_begin() -> None:
    judge = Judge("judge", "Judge", replace(PRICED, max_tokens=300))
    debate = with_a_person(judges=(judge,), limits=DebateLimits(5, cost_limit=Money("0.0001"))).run()
    assert any(isinstance(event, BudgetExhausted) for event in debate.events)
    assert (debate.debate.turns, debate.debate.failure) == ((), "budget")
