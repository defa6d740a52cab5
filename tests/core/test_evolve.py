"""How each event changes a debate."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from moot.core.events import (
    CallCompleted,
    CallDelta,
    CallFailed,
    DebateEnded,
    DebateFailed,
    DebatePaused,
    DebateReady,
    DebateResumed,
    DebateStarted,
    Event,
    SegmentCompleted,
    TurnCompleted,
    TurnFailed,
    TurnInterrupted,
    TurnStarted,
)
from moot.core.evolve import evolve, fold
from moot.core.state import Debate
from moot.core.statuses import EndReason
from moot.core.terms import DebateSetup, Money, Reasoning, ReasoningPart, Text, Usage
from moot.rules.commands import AddRemark, NextRound, PauseDebate, Retry, SkipTurn
from moot.testing.event_factories import call_started, delta, log, opened, state, table, turn_started
from tests.rules.simulate import Reply, Simulation, in_turn, speak

CENT = Money("0.01")
SPEAKING: tuple[Event, ...] = (opened(), DebateStarted(), DebateReady(), turn_started(), call_started())


def done(call: int = 1, cost: Money | None = CENT, *, estimated: bool = False) -> CallCompleted:
    usage = Usage(10, 5, estimated=estimated)
    return CallCompleted(call, "stop", usage, cost, 250, response_id=f"resp_{call}")


def lost(call: int = 1, cost: Money | None = CENT, *, billed: bool = True) -> CallFailed:
    usage = Usage(10, 5, estimated=True)
    return CallFailed(call, "lost", "transient", "Lost.", usage, cost, billed=billed)


def text(words: str, index: int = 0) -> SegmentCompleted:
    return SegmentCompleted(1, Text(words, index))


# --- beginnings ---------------------------------------------------------------------------------------


def test_a_debate_begins_with_its_opening() -> None:
    with pytest.raises(ValueError, match=r"begins with debate\.opened"):
        fold(log(DebateStarted()))


def test_a_debate_opens_once() -> None:
    with pytest.raises(ValueError, match="opens once"):
        state(opened(), opened())


def test_nothing_folds_to_nothing() -> None:
    assert fold(()) is None


def test_the_schedule_is_laid_out_at_the_opening() -> None:
    debate = state(opened())
    assert (debate.status, len(debate.schedule), debate.rounds_planned) == ("created", 10, 5)


def test_folding_leaves_the_earlier_state_as_it_was() -> None:
    before = state(*SPEAKING)
    after = evolve(before, replace(log(delta("Well."))[0], seq=before.seq + 1))
    assert before.live[0].text == ""
    assert after.live[0].text == "Well."


# --- status -------------------------------------------------------------------------------------------


def test_the_status_follows_the_events() -> None:
    events = [opened(), DebateStarted(), DebateReady(), turn_started(), DebatePaused(), DebateResumed()]
    seen = [state(*events[: count + 1]).status for count in range(len(events))]
    assert seen == ["created", "initializing", "awaiting_arguments", "debating", "paused", "debating"]


def test_what_happens_during_a_pause_is_remembered_and_not_shown() -> None:
    debate = state(opened(), DebateStarted(), DebatePaused(), DebateReady())
    assert (debate.status, debate.before_pause) == ("paused", "awaiting_arguments")


@pytest.mark.parametrize(("reason", "status"), [("rounds", "completed"), ("aborted", "aborted")])
def test_an_end_is_final(reason: EndReason, status: str) -> None:
    debate = state(*SPEAKING, DebateEnded(reason, "why"))
    assert (debate.status, debate.ended, debate.ended_detail, debate.final) == (status, reason, "why", True)
    assert debate.ended_at == debate.updated_at


def test_an_error_says_what_failed_and_is_not_final() -> None:
    debate = state(*SPEAKING, DebateFailed("permanent_fault", "No key."))
    assert (debate.status, debate.failure, debate.ended_detail) == ("error", "permanent_fault", "No key.")
    assert not debate.final
    assert debate.ended is None


def test_in_manual_mode_the_debate_waits_after_each_round() -> None:
    debate = Simulation(table("oxford", setup=DebateSetup(auto=False)), speak).start().run()
    debate.ask(NextRound())
    assert debate.run().debate.status == "awaiting_arguments"
    assert (debate.debate.round, debate.debate.rounds_done) == (1, 1)


# --- words --------------------------------------------------------------------------------------------


def test_words_go_to_the_turn_that_speaks_them() -> None:
    thought = CallDelta(1, 0, "reasoning", "Hm.")
    debate = state(*SPEAKING, thought, delta("Well, "), delta("no."))
    assert (debate.live[0].text, debate.live[0].reasoning) == ("Well, no.", "Hm.")


def test_a_judges_words_are_kept_with_its_call() -> None:
    ballot = call_started(1, None, judge="judge")
    debate = state(opened(), ballot, delta("{"), CallDelta(1, 0, "reasoning", "Hm."))
    assert (debate.calls[0].text, debate.calls[0].reasoning) == ("{", "Hm.")


def test_words_of_a_call_that_is_over_are_heard_by_nobody() -> None:
    before = state(*SPEAKING, delta("Yes."), done())
    after = state(*SPEAKING, delta("Yes."), done(), delta(" No.", call=1))
    assert after.live == before.live


def test_a_further_attempt_strikes_the_words_of_the_one_before() -> None:
    debate = state(
        *SPEAKING, delta("Well,"), text("Well,"), lost(), call_started(2, attempt=2), delta("Now", call=2)
    )
    turn = debate.live[0]
    assert (turn.text, turn.segments, turn.attempt) == ("Now", (), 2)


def test_the_providers_whole_text_is_what_was_said() -> None:
    debate = state(*SPEAKING, delta("Wel, no"), text("Well, no."), done(), TurnCompleted(1, 2))
    assert debate.turns[0].text == "Well, no."


def test_segments_are_put_in_the_providers_order() -> None:
    debate = state(*SPEAKING, delta("two"), text("two.", 2), text("One, ", 1), done(), TurnCompleted(1, 2))
    assert debate.turns[0].text == "One, two."


def test_reasoning_is_no_part_of_the_text() -> None:
    thought = SegmentCompleted(1, Reasoning((ReasoningPart("Hm."),), 0))
    debate = state(*SPEAKING, delta("Yes."), thought, text("Yes.", 1), done(), TurnCompleted(1, 1))
    assert debate.turns[0].text == "Yes."
    assert [type(segment) for segment in debate.turns[0].segments] == [Reasoning, Text]


@pytest.mark.parametrize(
    "end",
    [TurnInterrupted(1, "skip"), TurnCompleted(1, 4, truncated="timeout"), TurnFailed(1, "stalled", "")],
)
def test_a_speech_that_breaks_off_keeps_every_word_so_far(end: Event) -> None:
    debate = state(*SPEAKING, delta("First part. "), text("First part. "), delta("Then "), end)
    assert debate.turns[0].text == "First part. Then "


def test_segments_do_where_no_words_came() -> None:
    assert state(*SPEAKING, text("All at once."), TurnInterrupted(1, "skip")).turns[0].text == "All at once."


# --- turns --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("end", "spent", "said"),
    [
        (TurnCompleted(1, 1), True, True),
        (TurnFailed(1, "stalled", ""), True, False),
        (TurnInterrupted(1, "skip"), True, True),
        (TurnInterrupted(1, "stop"), True, True),
        (TurnInterrupted(1, "budget"), True, True),
        (TurnInterrupted(1, "crash"), False, False),
        (TurnInterrupted(1, "pause"), False, False),
        (TurnInterrupted(1, "drain"), False, False),
    ],
)
def test_how_a_turn_ends_says_whether_it_counts(end: Event, spent: bool, said: bool) -> None:
    debate = state(*SPEAKING, delta("Yes."), end)
    turn = debate.turns[0]
    assert (turn.used_slot, turn.has_words) == (spent, said)
    assert not debate.live
    assert (debate.remaining_slots()[0].index == 0) is not spent


@pytest.mark.parametrize("words", ["", "  \n"])
def test_a_speech_without_words_says_nothing(words: str) -> None:
    assert not state(*SPEAKING, delta(words), TurnInterrupted(1, "skip")).turns[0].has_words


def test_the_end_of_a_turn_that_is_over_changes_nothing() -> None:
    debate = state(*SPEAKING, TurnInterrupted(1, "skip"), TurnCompleted(1, 5))
    assert [turn.state for turn in debate.turns] == ["interrupted"]


def test_a_struck_turn_is_said_by_nobody_and_its_slot_is_free() -> None:
    debate = Simulation(table("oxford"), speak).start().run_until(lambda d: bool(d.live and d.live[0].text))
    debate.ask(SkipTurn())
    debate.ask(PauseDebate())
    debate.run()
    debate.ask(Retry())
    turn = debate.debate.turns[0]
    assert (turn.struck, turn.has_words, turn.used_slot) == (True, False, False)
    assert debate.debate.remaining_slots()[0].index == turn.slot


def test_turns_calls_seats_and_judges_are_found_by_name() -> None:
    debate = state(*SPEAKING)
    assert debate.turn(1) == debate.live[0]
    assert debate.turn(2) is None
    assert debate.call(1) == debate.calls[0]
    assert debate.call(2) is None
    assert debate.seat("against").name == "Against"
    assert debate.judge("judge").name == "Judge"
    assert debate.phase(0).key == "opening"


@pytest.mark.parametrize(
    "end", [TurnInterrupted(1, "skip"), TurnCompleted(1, 1, truncated="timeout"), TurnCompleted(1, 1)]
)
def test_words_that_turn_out_to_have_been_thoughts_are_not_heard_even_if_the_speech_is_cut(
    end: Event,
) -> None:
    thought = SegmentCompleted(1, Reasoning((ReasoningPart("SECRET plan."),), 0), taken_back=True)
    spoken = CallDelta(1, 1, "text", "Well.")
    debate = state(*SPEAKING, delta("SECRET "), delta("plan."), thought, spoken, end)
    turn = debate.turns[0]
    assert (turn.text, turn.reasoning) == ("Well.", "SECRET plan.")


def test_a_thought_that_the_speech_repeats_stays_in_the_speech() -> None:
    heard = CallDelta(1, 0, "reasoning", "Well.")
    thought = SegmentCompleted(1, Reasoning((ReasoningPart("Well."),), 0))
    debate = state(*SPEAKING, heard, CallDelta(1, 1, "text", "Well."), thought, TurnInterrupted(1, "skip"))
    assert (debate.turns[0].text, debate.turns[0].reasoning) == ("Well.", "Well.")


# --- the chain of responses ---------------------------------------------------------------------------


def spoken(*replies: Reply, turns: int) -> Debate:
    return (
        Simulation(table("oxford"), in_turn(replies))
        .start()
        .run_until(lambda d: len(d.turns) == turns)
        .debate
    )


def test_each_seat_has_a_chain_of_its_own() -> None:
    debate = spoken(turns=4)
    assert (debate.chained_response_id("a"), debate.chained_response_id("b")) == ("resp_3", "resp_4")


def test_a_chain_breaks_where_a_response_has_no_id() -> None:
    assert (
        spoken(Reply("One."), Reply("Two."), Reply("Three.", chained=False), turns=3).chained_response_id("a")
        is None
    )


def test_a_turn_that_came_to_nothing_leaves_the_chain_where_it_was() -> None:
    silent = Reply(fault="empty", severity="unusable")
    assert spoken(Reply("One."), Reply("Two."), silent, silent, turns=3).chained_response_id("a") == "resp_1"


def test_a_refusal_without_words_leaves_the_chain_where_it_was() -> None:
    assert (
        spoken(Reply("One."), Reply("Two."), Reply(finish="refusal"), turns=3).chained_response_id("a")
        == "resp_1"
    )


def test_a_response_that_the_provider_did_not_keep_is_not_referred_to() -> None:
    debate = spoken(Reply("One.", stored=False), turns=1)
    assert (debate.turns[0].response_id, debate.chained_response_id("a")) == ("resp_1", None)


def test_a_chain_in_which_a_struck_speech_was_heard_is_not_gone_on_from() -> None:
    simulation = Simulation(table("oxford"), speak).start().run_until(lambda d: len(d.turns) == 1)
    simulation.run_until(lambda d: d.is_live(2))
    simulation.ask(SkipTurn())
    simulation.run_until(lambda d: len(d.turns) == 3)
    simulation.ask(PauseDebate())
    before = simulation.debate.chained_response_id("a")
    simulation.ask(Retry())
    assert simulation.debate.turns[1].struck
    assert (before is not None, simulation.debate.chained_response_id("a")) == (True, None)


def test_a_provider_that_forgets_twice_in_a_row_is_trusted_no_more() -> None:
    forgotten = Reply("Again.", degraded="chain")
    once = spoken(Reply("One."), Reply("Two."), forgotten, Reply("Four."), turns=4)
    twice = spoken(Reply("One."), Reply("Two."), forgotten, Reply("Four."), forgotten, turns=5)
    assert (once.chained_response_id("a"), twice.chained_response_id("a")) == ("resp_3", None)


# --- money --------------------------------------------------------------------------------------------


def test_a_call_under_way_reserves_its_worst_case() -> None:
    debate = state(*SPEAKING[:-1], call_started(reserved=Money("0.5")))
    assert (debate.reserved, debate.counted, debate.cost_so_far) == (Money("0.5"), Money(0), Money(0))


def test_a_call_that_is_over_counts_what_it_cost() -> None:
    debate = state(*SPEAKING[:-1], call_started(reserved=Money("0.5")), done())
    assert (debate.reserved, debate.counted, debate.cost_so_far) == (Money(0), Money("0.01"), Money("0.01"))


def test_a_lost_call_is_spent_at_its_estimate_and_counted_in_full() -> None:
    debate = state(*SPEAKING[:-1], call_started(reserved=Money("0.5")), lost())
    assert (debate.reserved, debate.counted, debate.cost_so_far) == (Money(0), Money("0.5"), Money("0.01"))


def test_a_call_whose_usage_nobody_reported_is_counted_in_full() -> None:
    debate = state(*SPEAKING[:-1], call_started(reserved=Money("0.5")), done(estimated=True))
    assert (debate.counted, debate.cost_so_far) == (Money("0.5"), Money("0.01"))


def test_where_the_estimate_is_the_larger_figure_it_counts() -> None:
    debate = state(*SPEAKING[:-1], call_started(reserved=Money("0.005")), lost())
    assert debate.counted == Money("0.01")


def test_a_call_that_cannot_have_been_billed_counts_nothing() -> None:
    debate = state(*SPEAKING[:-1], call_started(reserved=Money("0.5")), lost(cost=Money(0), billed=False))
    assert (debate.counted, debate.cost_so_far) == (Money(0), Money(0))


def test_an_unknown_price_is_not_nothing() -> None:
    debate = state(*SPEAKING, done(cost=None))
    tally = debate.tallies["scripted/parrot"]
    assert (tally.calls, tally.unpriced, tally.cost) == (1, 1, Money(0))
    assert debate.live[0].cost is None


def test_money_adds_up_exactly() -> None:
    debate = state(*SPEAKING, done(cost=Money("0.1")), call_started(2, attempt=2), done(2, cost=Money("0.2")))
    assert debate.cost_so_far == Money("0.3")
    assert debate.live[0].cost == Money("0.3")
    assert debate.tallies["scripted/parrot"].usage == Usage(20, 10)


def test_a_call_is_settled_once() -> None:
    once = state(*SPEAKING, done())
    twice = state(*SPEAKING, done(), done())
    assert twice.cost_so_far == once.cost_so_far


def test_a_turn_that_was_cut_is_still_charged() -> None:
    debate = state(*SPEAKING, TurnInterrupted(1, "skip"), lost())
    assert debate.turns[0].cost == Money("0.01")


# --- remarks and times --------------------------------------------------------------------------------


def test_a_remark_waits_for_the_next_turn() -> None:
    debate = Simulation(table("oxford"), speak).start().run_until(lambda d: d.is_live(1))
    debate.ask(AddRemark("Louder!"))
    assert [remark.text for remark in debate.debate.unheard_remarks] == ["Louder!"]
    assert debate.run_until(lambda d: d.is_live(2)).debate.unheard_remarks == ()


def test_events_of_a_turn_say_when() -> None:
    debate = state(*SPEAKING, delta("Yes."), done(), TurnCompleted(1, 1))
    turn = debate.turns[0]
    assert turn.ended_at
    assert turn.ended_at > turn.started_at
    assert turn.seq == next(r.seq for r in log(*SPEAKING) if isinstance(r.event, TurnStarted))
