"""Which command a debate accepts in which status, and the events it records."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from moot.core.choices import WinningRule
from moot.core.errors import Invalid, Refused
from moot.core.events import (
    CallFailed,
    DebateEnded,
    DebatePaused,
    DebateResumed,
    DebateStarted,
    DebateStopped,
    JudgingFailed,
    JudgingStarted,
    PollClosed,
    RemarkInjected,
    RoundAsked,
    RoundCompleted,
    RoundsAdded,
    TurnExtended,
    TurnInterrupted,
    TurnRetried,
    TurnSkipped,
    TurnStarted,
    VerdictReached,
)
from moot.core.statuses import Status
from moot.core.terms import (
    DebateLimits,
    DebateSetup,
    DebateVerdict,
    Judge,
    ModelPrice,
    Money,
    PollSettings,
    PriceTier,
    Seat,
)
from moot.rules.commands import (
    MAX_REMARK_CHARS,
    MAX_REMARKS,
    Abort,
    AddRemark,
    Command,
    DecideWinner,
    ExtendDebate,
    JudgeAgain,
    JudgeNow,
    NextRound,
    Open,
    PauseDebate,
    ResumeDebate,
    Retry,
    SkipToJudge,
    SkipTurn,
    Start,
    Stop,
    decide,
)
from moot.rules.participation import ClosePoll
from moot.rules.plan import HoldPoll, Idle, plan
from moot.rules.runner_decisions import wants_runner
from moot.testing.event_factories import SCRIPTED, opened, seats, table
from tests.rules.random_debates import blind
from tests.rules.simulate import Reply, Sent, Simulation, in_turn, speak
from tests.support.for_each import for_each

STEPPED = DebatePaused("step")


def simulation(**changes: Any) -> Simulation:
    return Simulation(table("oxford", **changes), speak)


def speaking(turn: int = 1, **changes: Any) -> Simulation:
    """A debate in which this turn has begun to speak."""
    debate = simulation(**changes).start()
    return debate.run_until(lambda d: any(live.number == turn and live.text for live in d.live))


def failing_at(call: int) -> Callable[[Sent], Reply]:
    fault = Reply(fault="bad_key", severity="permanent")
    return lambda sent: fault if sent.call == call else speak(sent)


def manual(rounds: int = 1) -> Simulation:
    """Manual mode, with this many rounds held."""
    debate = simulation(setup=DebateSetup(auto=False)).start().run()
    for _ in range(rounds):
        debate.ask(NextRound())
        debate.run()
    return debate


# --- every command in every status --------------------------------------------------------------------

STATUSES: dict[Status, Callable[[], Simulation]] = {
    "created": simulation,
    "initializing": lambda: simulation().start(),
    "awaiting_arguments": manual,
    "debating": lambda: speaking(3),
    "paused": lambda: _asked(speaking(3), PauseDebate()),
    "judging": lambda: simulation().start().run_until(lambda d: d.status == "judging"),
    "completed": lambda: simulation().start().run(),
    "aborted": lambda: _asked(speaking(3), Abort()),
    "error": lambda: Simulation(table("oxford"), failing_at(3)).start().run(),
}


def _asked(debate: Simulation, command: Command) -> Simulation:
    debate.ask(command)
    return debate


STARTED, OVER = "The debate has already started.", "The debate is over."
HEARD = "Nobody would hear a remark now."
RUNNING, PAUSED = "The debate is not running.", "The debate is not paused."
ROUND, SKIP, RETRY = "A round is in progress.", "There is no turn to skip.", "There is no turn to try again."
UNTRIED = "No turn has failed or been interrupted."
STILL = "Only a running debate can be paused."
JUDGE, DECIDE = "The debate cannot be judged now.", "The debate cannot be decided now."
EXTEND, SILENT = "Only a running debate can be extended.", "Nobody is speaking."
UNBEGUN = "That speech has not begun."
AGAIN = "Only a debate that is over is judged again."
OK = ""

# fmt: off
LEGAL: dict[Command, tuple[str, ...]] = {
    #                 created  initial.  awaiting debating paused   judging  completed aborted  error
    Start():         (OK,      STARTED,  STARTED, STARTED, STARTED, STARTED, STARTED,  STARTED, STARTED),
    PauseDebate():         (STILL,   OK,       OK,      OK,      OK,      STILL,   STILL,    STILL,   STILL),
    PauseDebate(now=True): (STILL,   OK,       OK,      OK,      OK,      STILL,   STILL,    STILL,   STILL),
    ResumeDebate("turn"):  (PAUSED,  PAUSED,   PAUSED,  PAUSED,  OK,      PAUSED,  PAUSED,   PAUSED,  PAUSED),
    ResumeDebate():        (PAUSED,  PAUSED,   PAUSED,  PAUSED,  OK,      PAUSED,  PAUSED,   PAUSED,  PAUSED),
    NextRound():     (RUNNING, "Rounds follow by themselves in this debate.",
                                         OK,      ROUND,   RUNNING, RUNNING, RUNNING,  RUNNING, RUNNING),
    SkipToJudge():   (RUNNING, "Nothing to judge.",
                                         OK,      ROUND,   RUNNING, RUNNING, RUNNING,  RUNNING, RUNNING),
    SkipTurn():      (SKIP,    SILENT,   SILENT,  OK,      OK,      SKIP,    SKIP,     SKIP,    SKIP),
    SkipTurn(turn=99):(SKIP,   UNBEGUN,  UNBEGUN, UNBEGUN, UNBEGUN, SKIP,    SKIP,     SKIP,    SKIP),
    AddRemark("Hear!"): (OK,      OK,       OK,      OK,      OK,      HEARD,   HEARD,    HEARD,   HEARD),
    JudgeNow():      (JUDGE,   "Nothing to judge.",
                                         OK,      OK,      OK,      JUDGE,   JUDGE,    JUDGE,   OK),
    DecideWinner(None):    (DECIDE,  OK,       OK,      OK,      OK,      DECIDE,  DECIDE,   DECIDE,  OK),
    DecideWinner("a"):     (DECIDE,  OK,       OK,      OK,      OK,      DECIDE,  DECIDE,   DECIDE,  OK),
    Retry():         (RETRY,   UNTRIED,  UNTRIED, RETRY,   RETRY,   RETRY,   RETRY,    RETRY,   OK),
    Stop():          (OK,      OK,       OK,      OK,      OK,      OVER,    OVER,     OVER,    OK),
    Abort():         (OK,      OK,       OK,      OK,      OK,      OK,      OVER,     OVER,    OK),
    ExtendDebate(30):      (EXTEND,  SILENT,   SILENT,  OK,      OK,      EXTEND,  EXTEND,   EXTEND,  EXTEND),
    ExtendDebate(rounds=1):(EXTEND,  OK,       OK,      OK,      OK,      EXTEND,  EXTEND,   EXTEND,  EXTEND),
    JudgeAgain():       (AGAIN,   AGAIN,    AGAIN,   AGAIN,   AGAIN,   AGAIN,   OK,       OK,      AGAIN),
}
# fmt: on


@for_each(
    ("command", "status", "reason"),
    [(command, *cell) for command, row in LEGAL.items() for cell in zip(STATUSES, row, strict=True)],
)
def test_a_command_is_carried_out_or_refused_with_the_reason(
    command: Command, status: Status, reason: str
) -> None:
    debate = STATUSES[status]().debate
    assert debate.status == status
    decision = decide(debate, command)
    if reason:
        assert isinstance(decision, Refused)
        assert (decision.reason, decision.status) == (reason, status)
    else:
        assert isinstance(decision, tuple)


@pytest.mark.parametrize("command", LEGAL)
def test_nothing_can_be_asked_of_a_debate_that_does_not_exist(command: Command) -> None:
    decision = decide(None, command)
    assert isinstance(decision, Refused)
    assert decision.status == "unknown"


def test_a_debate_opens_once() -> None:
    assert decide(None, Open(opened())) == (opened(),)
    again = decide(simulation().debate, Open(opened()))
    assert isinstance(again, Refused)
    assert again.status == "created"


def test_start_is_written_down() -> None:
    assert decide(simulation().debate, Start()) == (DebateStarted(),)


# --- pausing ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", ["initializing", "awaiting_arguments", "debating"])
def test_resume_returns_to_where_the_pause_came_in(status: Status) -> None:
    debate = STATUSES[status]()
    debate.ask(PauseDebate())
    assert debate.debate.status == "paused"
    debate.ask(ResumeDebate())
    assert debate.debate.status == status
    assert debate.debate.paused_at is None


def test_a_pause_lets_the_speaker_finish() -> None:
    debate = speaking(1)
    assert debate.ask(PauseDebate(by="chair")) == (DebatePaused("chair"),)
    debate.run()
    assert debate.debate.status == "paused"
    assert [turn.state for turn in debate.debate.turns] == ["completed"]
    assert plan(debate.debate) == Idle("resume")


def test_a_pause_now_cuts_the_speaker_who_then_speaks_again() -> None:
    debate = speaking(1)
    assert debate.ask(PauseDebate(now=True)) == (TurnInterrupted(1, "pause"), DebatePaused())
    debate.run()
    assert [turn.state for turn in debate.debate.turns] == ["interrupted"]
    assert debate.ask(ResumeDebate()) == (DebateResumed(),)
    debate.run_until(lambda d: len(d.turns) == 2)
    cut, again = debate.debate.turns
    assert (cut.slot, cut.used_slot, cut.has_words) == (again.slot, False, False)
    assert again.state == "completed"


def test_a_step_is_one_speech_and_then_a_pause() -> None:
    debate = _asked(speaking(1), PauseDebate()).run()
    for given in (2, 3, 4):
        assert debate.ask(ResumeDebate("turn")) == (DebateResumed("turn"),)
        debate.run()
        assert (debate.debate.status, debate.debate.step) == ("paused", None)
        assert [turn.state for turn in debate.debate.turns] == ["completed"] * given
    assert [e for e in debate.events if isinstance(e, DebatePaused)] == [DebatePaused(), *[STEPPED] * 3]


def test_a_step_that_is_asked_for_in_mid_speech_takes_the_next_speech_too() -> None:
    debate = _asked(speaking(1), PauseDebate())
    debate.ask(ResumeDebate("turn"))
    debate.run()
    assert [turn.number for turn in debate.debate.turns] == [1, 2]


def test_speeches_given_together_are_one_step() -> None:
    debate = Simulation(opened(format=blind(), seats=seats("for", "against"), limits=DebateLimits(2)), speak)
    _asked(debate.start(), PauseDebate()).ask(ResumeDebate("turn"))
    debate.run()
    assert [turn.seat for turn in debate.debate.turns] == ["a", "b"]
    started = [number for number, event in enumerate(debate.events) if isinstance(event, TurnStarted)]
    assert debate.events[started[-1] + 1] == STEPPED


def test_a_step_of_a_round_ends_with_it_and_the_last_one_with_the_verdict() -> None:
    debate = _asked(speaking(1), PauseDebate()).run()
    for rounds in range(1, debate.debate.rounds_planned):
        debate.ask(ResumeDebate("round"))
        debate.run()
        assert (debate.debate.status, debate.debate.rounds_done) == ("paused", rounds)
        assert debate.events[-2:] == [RoundCompleted(rounds), STEPPED]
    debate.ask(ResumeDebate("round"))
    assert debate.run().debate.verdict is not None


def test_where_rounds_are_asked_for_a_step_needs_no_pause() -> None:
    debate = _asked(manual(), PauseDebate())
    debate.ask(ResumeDebate("round"))
    debate.ask(NextRound())
    assert debate.run().debate.status == "awaiting_arguments"


@pytest.mark.parametrize("command", [PauseDebate(), Stop(), JudgeNow()])
def test_whoever_steps_in_ends_the_step(command: Command) -> None:
    debate = _asked(speaking(1), PauseDebate()).run()
    debate.ask(ResumeDebate("round"))
    debate.run_until(lambda d: bool(d.live))
    assert debate.debate.step == "round"
    debate.ask(command)
    assert debate.debate.step is None


def test_a_second_pause_changes_nothing_but_may_cut_the_speaker() -> None:
    debate = speaking(1)
    debate.ask(PauseDebate())
    assert decide(debate.debate, PauseDebate()) == ()
    assert decide(debate.debate, PauseDebate(now=True)) == (TurnInterrupted(1, "pause"),)


def test_a_round_that_ends_during_a_pause_is_remembered() -> None:
    debate = simulation(setup=DebateSetup(auto=False)).start().run()
    debate.ask(NextRound())
    debate.run_until(lambda d: bool(d.live) and d.live[0].number == 2)
    debate.ask(PauseDebate())
    debate.run()
    assert (debate.debate.status, debate.debate.before_pause) == ("paused", "awaiting_arguments")
    assert debate.debate.rounds_done == 1


# --- skipping -----------------------------------------------------------------------------------------


def test_skipping_cuts_the_speaker_and_keeps_what_was_said() -> None:
    debate = speaking(1)
    assert debate.ask(SkipTurn()) == (TurnInterrupted(1, "skip"),)
    debate.run_until(lambda d: d.is_live(2))
    turn = debate.debate.turns[0]
    assert turn.has_words
    assert turn.used_slot
    assert debate.debate.live[0].slot == 1


def test_a_skip_without_a_name_is_refused_where_nobody_speaks() -> None:
    debate = manual()
    upcoming = debate.debate.remaining_slots()
    refused = debate.ask(SkipTurn("chair"))
    assert isinstance(refused, Refused)
    assert refused.reason == "Nobody is speaking."
    assert debate.debate.remaining_slots() == upcoming


@pytest.mark.parametrize("again", [SkipTurn(turn=1), SkipTurn(slot=0)])
def test_a_skip_that_names_its_speech_and_is_sent_again_leaves_the_next_one_alone(again: SkipTurn) -> None:
    debate = speaking(1)
    assert debate.ask(again) == (TurnInterrupted(1, "skip"),)
    debate.run_until(lambda d: d.is_live(2))
    assert debate.ask(again) == ()
    assert debate.debate.is_live(2)
    assert debate.run().debate.turns[1].state == "completed"
    assert debate.ask(again) == ()


@pytest.mark.parametrize(
    ("late", "reason"),
    [
        (SkipTurn(turn=1), "That speech is over."),
        (SkipTurn(slot=0), "That speech is over."),
        (SkipTurn(turn=3), "That speech has not begun."),
        (SkipTurn(slot=99), "There is no such speech."),
    ],
)
def test_a_skip_means_the_speech_that_it_names_and_no_other(late: SkipTurn, reason: str) -> None:
    debate = speaking(2)
    refused = debate.ask(late)
    assert isinstance(refused, Refused)
    assert refused.reason == reason
    assert debate.debate.is_live(2)


def test_of_speeches_given_together_the_one_is_skipped_that_was_named() -> None:
    opening = opened(format=blind(), seats=seats("for", "against"), limits=DebateLimits(2))
    debate = Simulation(opening, speak).start().run_until(lambda d: len(d.live) == 2)
    first, second = (turn.number for turn in debate.debate.live)
    assert debate.ask(SkipTurn(turn=first)) == (TurnInterrupted(first, "skip"),)
    assert debate.debate.is_live(second)


def test_a_speech_that_was_skipped_and_is_given_again_can_be_skipped_again() -> None:
    debate = speaking(3)
    slot = debate.debate.live[0].slot
    debate.ask(SkipTurn(slot=slot))
    debate.ask(PauseDebate())
    debate.run()
    debate.ask(Retry())
    debate.ask(ResumeDebate())
    debate.run_until(lambda d: any(live.slot == slot for live in d.live))
    number = debate.debate.live[0].number
    assert debate.ask(SkipTurn(turn=3)) == ()
    assert debate.ask(SkipTurn(slot=slot)) == (TurnInterrupted(number, "skip"),)


def test_a_speech_to_come_is_passed_over_where_it_is_named() -> None:
    debate = manual()
    upcoming = debate.debate.remaining_slots()[0]
    assert debate.ask(SkipTurn("chair", slot=upcoming.index)) == (
        TurnSkipped(upcoming.index, upcoming.seat, "chair"),
    )
    assert debate.debate.remaining_slots()[0].index == upcoming.index + 1
    debate.ask(NextRound())
    debate.run()
    assert upcoming.index not in {turn.slot for turn in debate.debate.turns}


def test_there_is_an_end_to_skipping() -> None:
    debate = simulation().start()
    for slot in debate.debate.schedule:
        debate.ask(SkipTurn(slot=slot.index))
    assert isinstance(debate.ask(SkipTurn()), Refused)
    assert debate.run().debate.ended == "rounds"
    assert debate.debate.verdict is None


# --- manual mode --------------------------------------------------------------------------------------


def test_in_manual_mode_each_round_waits_to_be_asked_for() -> None:
    debate = simulation(setup=DebateSetup(auto=False)).start().run()
    assert plan(debate.debate) == Idle("round")
    for asked in range(1, 6):
        assert debate.debate.status == "awaiting_arguments"
        assert debate.ask(NextRound()) == (RoundAsked(),)
        assert debate.debate.rounds_asked == asked
        debate.run()
        assert debate.debate.rounds_done == asked
    assert debate.debate.status == "completed"


def test_a_round_is_asked_for_once() -> None:
    debate = simulation(setup=DebateSetup(auto=False)).start().run()
    debate.ask(NextRound())
    again = debate.ask(NextRound())
    assert isinstance(again, Refused)
    assert again.reason == "A round is in progress."


def test_after_the_last_round_there_is_none_to_ask_for() -> None:
    debate = simulation(setup=DebateSetup(auto=False, auto_judge=False)).start().run()
    while isinstance(debate.ask(NextRound()), tuple):
        debate.run()
    _, _, refused = debate.asked[-1]
    assert isinstance(refused, Refused)
    assert refused.reason == "All rounds have been held."
    assert debate.debate.status == "awaiting_arguments"


def test_a_round_whose_turns_were_all_skipped_does_not_stand_in_the_way() -> None:
    debate = manual()
    for slot in debate.debate.remaining_slots()[:2]:
        debate.ask(SkipTurn(slot=slot.index))
    debate.ask(NextRound())
    debate.run()
    assert (debate.debate.round, debate.debate.rounds_done) == (3, 3)


def test_a_round_that_was_asked_for_and_then_skipped_does_not_stand_in_the_way() -> None:
    debate = manual()
    debate.ask(NextRound())
    for slot in debate.debate.remaining_slots()[:2]:
        debate.ask(SkipTurn(slot=slot.index))
    debate.run()
    assert debate.ask(NextRound()) == (RoundAsked(),)
    debate.run()
    assert debate.debate.round == 3


# --- remarks ------------------------------------------------------------------------------------------


def test_a_remark_is_numbered_and_trimmed() -> None:
    debate = speaking(1)
    assert debate.ask(AddRemark("  Speak up!  ", by="chair")) == (RemarkInjected(1, "Speak up!", "chair"),)
    assert debate.ask(AddRemark("Only you.", to="b")) == (RemarkInjected(2, "Only you.", to="b"),)


@pytest.mark.parametrize("text", ["", "  \n ", "x" * (MAX_REMARK_CHARS + 1)])
def test_a_remark_must_say_something_and_not_too_much(text: str) -> None:
    with pytest.raises(Invalid) as error:
        decide(simulation().debate, AddRemark(text))
    assert "text" in error.value.problems


def test_a_remark_of_the_greatest_length_is_taken() -> None:
    assert isinstance(decide(simulation().debate, AddRemark("x" * MAX_REMARK_CHARS)), tuple)


def test_a_remark_goes_to_a_seat_that_exists() -> None:
    with pytest.raises(Invalid) as error:
        decide(simulation().debate, AddRemark("You there!", to="nobody"))
    assert error.value.problems == {"to": ["Unknown seat"]}


def test_a_remark_that_no_speech_will_hear_is_refused() -> None:
    debate = Simulation(table("free", limits=DebateLimits(1, turns=2)), speak).start()
    debate.run_until(lambda d: d.is_live(1))
    gone = debate.ask(AddRemark("Too late for you.", to="a"))
    assert str(gone) == "Seat 1 does not speak again, and would not hear it."
    assert isinstance(debate.ask(AddRemark("The other one hears it.")), tuple)
    debate.run_until(lambda d: d.is_live(2))
    for remark in (AddRemark("Too late."), AddRemark("Too late?", question=True)):
        assert str(debate.ask(remark)) == "Nobody would hear a remark now. The last speech has begun."
    debate.ask(PauseDebate(now=True))
    assert isinstance(debate.ask(AddRemark("It is given again, and hears this.")), tuple)


def test_a_debate_that_waits_for_a_decision_hears_no_remark() -> None:
    opening = table("free", limits=DebateLimits(1, turns=2), setup=DebateSetup(winning="user-decides"))
    debate = Simulation(opening, speak).start().run()
    assert debate.debate.running
    assert isinstance(debate.ask(AddRemark("Anybody there?")), Refused)


def test_a_debate_takes_only_so_many_remarks() -> None:
    debate = simulation()
    for _ in range(MAX_REMARKS):
        assert isinstance(debate.ask(AddRemark("And another thing.")), tuple)
    assert isinstance(debate.ask(AddRemark("One more.")), Refused)


def test_a_floor_that_asks_too_much_silences_nobody_else() -> None:
    debate = simulation()
    for _ in range(MAX_REMARKS):
        debate.ask(AddRemark("And what of that?", question=True))
    assert isinstance(debate.ask(AddRemark("One more?", question=True)), Refused)
    assert isinstance(debate.ask(AddRemark("Come to the point.")), tuple)


# --- judging and deciding -----------------------------------------------------------------------------


def test_judging_early_cuts_the_speaker() -> None:
    debate = speaking(3)
    assert debate.ask(JudgeNow("late hour")) == (
        TurnInterrupted(3, "judge"),
        JudgingStarted(1, "judged", "late hour"),
    )
    debate.run()
    assert (debate.debate.status, debate.debate.ended) == ("completed", "judged")
    assert debate.debate.verdict is not None


def test_judging_early_needs_something_to_judge() -> None:
    refused = decide(speaking(1).debate, JudgeNow())
    assert isinstance(refused, Refused)
    assert refused.reason == "Nothing to judge."


def test_judging_needs_a_judge() -> None:
    refused = decide(speaking(3, judges=()).debate, JudgeNow())
    assert isinstance(refused, Refused)
    assert refused.reason == "No judge sits in this debate."


def test_a_paused_debate_that_is_judged_is_no_longer_paused() -> None:
    debate = speaking(3)
    debate.ask(PauseDebate())
    debate.ask(JudgeNow())
    state = debate.debate
    assert (state.status, state.before_pause, state.paused_at) == ("judging", None, None)


def test_with_auto_judge_off_the_judging_waits_to_be_asked_for() -> None:
    debate = simulation(setup=DebateSetup(auto_judge=False)).start().run()
    assert plan(debate.debate) == Idle("judge")
    assert debate.debate.status == "awaiting_arguments"
    debate.ask(SkipToJudge())
    assert debate.run().debate.status == "completed"


def test_a_person_names_the_winner() -> None:
    debate = speaking(1)
    interrupted, reached, cut, ended = debate.ask(DecideWinner("b", "More convincing."))
    assert interrupted == TurnInterrupted(1, "decide")
    assert reached == VerdictReached(DebateVerdict("win", "b", "hand", reasoning="More convincing."))
    assert isinstance(cut, CallFailed)
    assert ended == DebateEnded("decided", "More convincing.")
    assert (debate.debate.status, debate.debate.ended) == ("completed", "decided")


def test_a_person_calls_a_draw() -> None:
    debate = speaking(1)
    debate.ask(DecideWinner(None))
    assert debate.debate.verdict == DebateVerdict("draw", None, "hand")


def test_the_winner_must_sit_in_the_debate() -> None:
    with pytest.raises(Invalid) as error:
        decide(speaking(1).debate, DecideWinner("nobody"))
    assert error.value.problems == {"winner": ["Unknown participant"]}


def test_a_moderator_cannot_win() -> None:
    chaired = (*seats("for", "against"), Seat("m", "Mo", "neutral", SCRIPTED, role="moderator"))
    debate = Simulation(table("panel", seats=chaired), speak).start().debate
    with pytest.raises(Invalid):
        decide(debate, DecideWinner("m"))


def test_where_the_user_decides_the_debate_waits_for_it() -> None:
    debate = simulation(setup=DebateSetup(winning="user-decides")).start().run()
    assert plan(debate.debate) == Idle("decision")
    debate.ask(DecideWinner("a"))
    assert debate.debate.ended == "decided"
    assert not any(sent.purpose.judge for sent in debate.sent)


# --- trying again -------------------------------------------------------------------------------------


def test_a_failed_turn_is_given_again_with_the_same_previous_response() -> None:
    debate = Simulation(table("oxford"), failing_at(3)).start().run()
    assert debate.debate.status == "error"
    assert debate.ask(Retry()) == (TurnRetried(3),)
    assert (debate.debate.status, debate.debate.failure) == ("debating", None)
    debate.run_until(lambda d: len(d.turns) == 4)
    failed, again = debate.debate.turns[2:]
    assert (failed.struck, failed.has_words, failed.slot) == (True, False, again.slot)
    before, after = debate.sent[2:4]
    assert before.request.previous_response_id == after.request.previous_response_id == "resp_1"
    assert before.request.messages == after.request.messages


def test_a_skipped_speech_can_be_given_again() -> None:
    debate = speaking(3)
    debate.ask(SkipTurn())
    debate.ask(PauseDebate())
    debate.run()
    assert debate.ask(Retry()) == (TurnRetried(3),)
    assert debate.debate.status == "paused"
    debate.ask(ResumeDebate())
    debate.run_until(lambda d: bool(d.live))
    assert debate.debate.live[0].slot == debate.debate.turns[2].slot
    assert debate.debate.turns[2].text not in str(debate.sent[-1].request.messages)


def test_what_was_given_again_by_itself_is_not_tried_again() -> None:
    debate = speaking(1)
    debate.crash()
    debate.run_until(lambda d: len(d.turns) == 2)
    refused = debate.ask(Retry())
    assert isinstance(refused, Refused)
    assert refused.reason == "No turn has failed or been interrupted."


def test_the_last_failure_is_tried_first() -> None:
    fault = Reply(fault="empty", severity="unusable")
    debate = Simulation(table("oxford"), in_turn([fault] * 2 + [Reply("Yes.")] + [fault] * 2)).start()
    debate.run_until(lambda d: len(d.turns) == 3)
    assert [turn.state for turn in debate.debate.turns] == ["failed", "completed", "failed"]
    assert debate.ask(Retry()) == (TurnRetried(3),)
    assert debate.ask(Retry()) == (TurnRetried(1),)


def test_an_error_can_be_judged_instead() -> None:
    debate = Simulation(table("oxford"), failing_at(3)).start().run()
    debate.ask(JudgeNow())
    assert debate.run().debate.status == "completed"
    assert debate.debate.failure is None


# --- ending -------------------------------------------------------------------------------------------


def test_stop_judges_what_was_said() -> None:
    debate = speaking(3)
    assert debate.ask(Stop("enough")) == (
        TurnInterrupted(3, "stop"),
        DebateStopped("enough"),
        JudgingStarted(1, "stopped", "enough"),
    )
    debate.run()
    assert (debate.debate.status, debate.debate.ended) == ("completed", "stopped")
    assert debate.debate.verdict is not None
    assert debate.debate.stopped_at is not None


def test_a_second_stop_while_it_is_judged_changes_nothing() -> None:
    debate = speaking(3)
    debate.ask(Stop())
    assert decide(debate.debate, Stop()) == ()


def test_stop_ends_at_once_where_nothing_was_said() -> None:
    debate = simulation().start()
    assert debate.ask(Stop()) == (DebateStopped(), DebateEnded("stopped"))
    assert (debate.debate.status, debate.debate.verdict) == ("completed", None)


def test_abort_judges_nothing() -> None:
    debate = speaking(3)
    interrupted, cut, ended = debate.ask(Abort("mistake"))
    assert (interrupted, ended) == (TurnInterrupted(3, "abort"), DebateEnded("aborted", "mistake"))
    assert isinstance(cut, CallFailed)
    assert (cut.kind, cut.usage.estimated) == ("cut", True)
    debate.run()
    state = debate.debate
    assert (state.status, state.ended, state.verdict) == ("aborted", "aborted", None)
    assert not state.calls


def test_abort_ends_the_judging_too() -> None:
    debate = simulation().start().run_until(lambda d: d.status == "judging" and bool(d.calls))
    debate.ask(Abort())
    debate.run()
    assert (debate.debate.status, debate.debate.verdict) == ("aborted", None)
    assert not debate.debate.calls


def test_whoever_was_speaking_when_it_ended_speaks_no_more() -> None:
    debate = speaking(3)
    debate.ask(Stop())
    seq = debate.debate.seq
    debate.run()
    assert not any(isinstance(r.event, TurnStarted) for r in debate.records[seq:])


# --- more time, more rounds ---------------------------------------------------------------------------


def test_more_time_is_given_to_whoever_speaks() -> None:
    debate = speaking(1)
    assert debate.ask(ExtendDebate(30, by="chair")) == (TurnExtended(1, 30, "chair"),)
    assert debate.debate.live[0].extended == 30


def test_more_rounds_are_held() -> None:
    debate = speaking(3)
    planned = debate.debate.rounds_planned
    assert debate.ask(ExtendDebate(rounds=2)) == (RoundsAdded(2),)
    assert debate.run().debate.rounds_done == planned + 2


@pytest.mark.parametrize(
    "command",
    [ExtendDebate(), ExtendDebate(-1), ExtendDebate(1e9), ExtendDebate(rounds=-1), ExtendDebate(rounds=99)],
)
def test_an_extension_has_its_bounds(command: ExtendDebate) -> None:
    with pytest.raises(Invalid):
        decide(speaking(1).debate, command)


def test_a_fixed_table_has_no_more_rounds() -> None:
    debate = Simulation(table("lincoln-douglas"), speak).start().run_until(lambda d: d.is_live(1))
    refused = decide(debate.debate, ExtendDebate(rounds=1))
    assert isinstance(refused, Refused)
    assert "fixed table" in refused.reason


def test_the_last_round_cannot_be_put_off_once_it_has_begun() -> None:
    last = len(simulation().debate.schedule)
    refused = decide(speaking(last).debate, ExtendDebate(rounds=1))
    assert isinstance(refused, Refused)
    assert "too late" in refused.reason


# --- the vote of the audience -------------------------------------------------------------------------


def voted(winning: WinningRule = "audience", **changes: Any) -> Simulation:
    return simulation(setup=DebateSetup(winning=winning, polls=PollSettings()), **changes).start()


def during_the_speeches(winning: WinningRule = "audience") -> Simulation:
    """The first vote is over, and the third speaker has the floor."""
    debate = voted(winning).run()
    debate.ask(ClosePoll())
    return debate.run_until(lambda d: d.is_live(3))


def test_the_speeches_begin_when_the_first_vote_is_closed() -> None:
    debate = voted().run()
    assert plan(debate.debate) == HoldPoll("before")
    debate.ask(ClosePoll("chair"))
    assert debate.run_until(lambda d: d.is_live(1))


@pytest.mark.parametrize("winning", ["audience", "ai-judge", "user-decides"])
def test_a_debate_that_is_stopped_is_still_put_to_the_vote(winning: WinningRule) -> None:
    debate = during_the_speeches(winning)
    debate.ask(Stop("enough"))
    assert plan(debate.run().debate) == HoldPoll("after")
    debate.ask(ClosePoll())
    assert (debate.run().debate.ended, debate.debate.status) == ("stopped", "completed")


def test_a_paused_debate_that_is_stopped_goes_on_to_the_vote() -> None:
    debate = during_the_speeches()
    debate.ask(PauseDebate())
    debate.ask(Stop())
    assert plan(debate.run().debate) == HoldPoll("after")


def test_whoever_stops_a_vote_closes_it() -> None:
    debate = during_the_speeches()
    debate.ask(Stop())
    debate.run()
    assert PollClosed("after", "stopped") in list(debate.ask(Stop()))
    assert debate.run().debate.ended == "stopped"


def test_what_failed_is_stopped_without_a_vote() -> None:
    opening = table("oxford", setup=DebateSetup(winning="audience", polls=PollSettings(before=False)))
    debate = Simulation(opening, failing_at(3)).start().run()
    assert debate.debate.status == "error"
    debate.ask(Stop())
    assert debate.run().debate.status == "completed"


@pytest.mark.parametrize("command", [Abort(), DecideWinner("a"), Stop()])
def test_no_vote_outlives_its_debate(command: Command) -> None:
    debate = voted().run()
    debate.ask(command)
    debate.run()
    assert debate.debate.final
    assert all(poll.closed_at for poll in debate.debate.polls)


def test_a_judge_who_is_called_for_ends_the_vote() -> None:
    debate = during_the_speeches("ai-judge")
    debate.ask(Stop())
    debate.run()
    assert debate.ask(JudgeNow()) == (PollClosed("after", "judge"), JudgingStarted(1, "judged"))


# --- judging again ------------------------------------------------------------------------------------

OTHER = Judge("judge", "Other", replace(SCRIPTED, name="heron"))


def test_a_debate_is_judged_again_and_its_verdict_stays() -> None:
    debate = simulation().start().run()
    first = debate.debate.verdict
    started = debate.ask(JudgeAgain((OTHER,), "for comparison"))
    assert isinstance(started, tuple)
    assert isinstance(started[0], JudgingStarted)
    assert (started[0].judging, started[0].judges[0].name) == (2, "Other")
    assert wants_runner(debate.debate)
    debate.run()
    assert debate.debate.verdict == first
    assert (len(debate.debate.verdicts), debate.debate.status) == (2, "completed")
    assert not wants_runner(debate.debate)


def test_judging_again_asks_the_models_that_were_named() -> None:
    debate = simulation().start().run()
    debate.ask(JudgeAgain((OTHER,)))
    debate.run()
    assert [sent.request.model.name for sent in debate.sent if sent.purpose.judge] == [
        *["parrot"] * 2,
        *["heron"] * 2,
    ]


def test_judging_again_that_comes_to_nothing_changes_nothing() -> None:
    def script(sent: Sent) -> Reply:
        return Reply("I abstain.") if sent.debate.final else speak(sent)

    debate = Simulation(table("oxford"), script).start().run()
    first = debate.debate.verdict
    debate.ask(JudgeAgain())
    debate.run()
    assert (debate.debate.verdict, len(debate.debate.verdicts)) == (first, 1)
    assert (debate.debate.status, debate.debate.being_judged) == ("completed", False)


def test_a_debate_is_judged_by_one_panel_at_a_time() -> None:
    debate = simulation().start().run()
    debate.ask(JudgeAgain())
    assert isinstance(decide(debate.debate, JudgeAgain()), Refused)


def test_judging_again_can_be_called_off() -> None:
    debate = simulation().start().run()
    first = debate.debate.verdict
    debate.ask(JudgeAgain())
    assert debate.ask(Abort("a mistake")) == (JudgingFailed(2, "a mistake"),)
    assert (debate.debate.verdict, debate.debate.status) == (first, "completed")
    assert isinstance(decide(debate.debate, Abort()), Refused)


def test_what_was_never_said_is_not_judged_again() -> None:
    debate = simulation().start()
    debate.ask(Abort())
    assert isinstance(decide(debate.debate, JudgeAgain((OTHER,))), Refused)


def test_a_lost_judge_is_asked_again_after_the_end_too() -> None:
    debate = simulation().start().run()
    debate.ask(JudgeAgain())
    debate.run_until(lambda d: bool(d.calls))
    debate.crash()
    assert len(debate.run().debate.verdicts) == 2


def test_judging_again_costs_no_more_than_it_may() -> None:
    price = ModelPrice((PriceTier(0, Money(1)),), (PriceTier(0, Money(10)),))
    dear = Judge("dear", "Dear", replace(SCRIPTED, name="heron", price=price, max_tokens=300))
    debate = simulation().start().run()
    debate.ask(JudgeAgain((dear,), allowance=Money("0.0001")))
    debate.run()
    assert len(debate.debate.verdicts) == 1
    debate.ask(JudgeAgain((dear,), allowance=Money("0.1")))
    debate.run()
    assert len(debate.debate.verdicts) == 2
    assert debate.debate.cost_so_far <= Money("0.1")
