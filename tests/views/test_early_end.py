"""Why the speeches ended before the end of the format, in one sentence."""

from __future__ import annotations

from moot.core.events import (
    DebateEnded,
    DebateFailed,
    JudgingStarted,
    StalemateFound,
    TurnFailed,
    TurnInterrupted,
)
from moot.core.evolve import evolve
from moot.core.state import Debate
from moot.core.statuses import FailReason
from moot.views.early_end import early_end
from tests.golden.reading import log_of
from tests.support.for_each import for_each
from tests.views.logs import Log, ballot, held


def golden(name: str) -> Debate:
    debate: Debate | None = None
    for recorded in log_of(name):
        debate = evolve(debate, recorded)
    assert debate is not None
    return debate


def spoken() -> Log:
    return Log().start().say("for", "Yes.").say("against", "No.")


@for_each(
    "name, sentence",
    [
        ("stalemate", "Stopped after speech 3 of 10: both sides repeated themselves."),
        ("stalemate-judged", "Stopped after speech 3 of 10: both sides repeated themselves."),
        ("concession", "Seat 2 conceded in speech 2."),
        ("concession-refereed", "Seat 2 conceded in speech 6."),
        ("budget", "Stopped after speech 2 of 10: the cost limit of $0.080 was reached."),
        ("stopped", "Stopped by request in speech 4 of 10."),
        ("aborted", "Aborted by request in speech 2 of 10. The reason given: Wrong motion."),
        ("manual", "Judged by request after speech 6 of 9."),
        ("brought", "Stopped by request after speech 4. The reason given: Enough."),
        ("all-failed", "Stopped before the first speech: every speaker of the round failed."),
    ],
)
def test_the_sentence_says_what_ended_the_speeches(name: str, sentence: str) -> None:
    assert early_end(golden(name)) == sentence


@for_each(
    "name",
    [
        "asked-for",
        "free",
        "lincoln-douglas",
        "oxford-swing",
        "ragged",
        "judged-again",
        "by-hand",
        "unreadable",
    ],
)
def test_a_debate_that_ran_to_its_end_says_nothing(name: str) -> None:
    assert early_end(golden(name)) == ""


def test_nothing_is_said_while_speeches_may_follow() -> None:
    assert early_end(spoken().debate) == ""


def test_judging_a_debate_again_is_no_early_end() -> None:
    log = held()
    ballots = (ballot("for", 80, 70, 0), ballot("for", 80, 70, 1))
    assert early_end(log.judged_again(log.debate.judges, *ballots).debate) == ""


def test_a_seat_that_failed_is_named() -> None:
    log = spoken()
    log.add(TurnFailed(log.begin("for"), "bad_key", "The key was rejected."))
    log.add(DebateFailed("permanent_fault", "The key was rejected."))
    assert early_end(log.debate) == "Stopped after speech 2 of 6: For could not speak."
    log.add(JudgingStarted(1, "judged"))
    assert early_end(log.debate) == "Judged by request after speech 2 of 6, when For could not speak."


def test_the_reason_that_was_given_is_told() -> None:
    log = spoken().add(DebateEnded("stopped", "Lunch."))
    assert early_end(log.debate) == "Stopped by request after speech 2 of 6. The reason given: Lunch."


def test_a_speech_that_was_cut_is_the_one_in_which_it_ended() -> None:
    log = spoken()
    turn = log.begin("for")
    log.hear("Thirdly").add(TurnInterrupted(turn, "decide"), DebateEnded("decided"))
    assert early_end(log.debate) == "Decided by a person in speech 3 of 6."


def test_a_stop_after_the_last_speech_is_none() -> None:
    log = held()
    for slot in log.debate.remaining_slots():
        log.say(slot.seat, "Again.")
    assert early_end(log.add(DebateEnded("stopped")).debate) == ""


def test_a_debate_in_circles_says_so_also_after_its_last_speech() -> None:
    log = Log().start()
    while slots := log.debate.remaining_slots():
        log.say(slots[0].seat, "Again.")
    log.add(StalemateFound((), 90.0))
    assert early_end(log.debate) == "Ended after speech 6 of 6: both sides repeated themselves."


def test_a_concession_without_a_winner_names_nobody() -> None:
    assert early_end(spoken().add(DebateEnded("concession")).debate) == "One side conceded."


@for_each(
    "reason, sentence",
    [
        ("permanent_fault", "Stopped after speech 2 of 6: a model cannot be used."),
        ("budget", "Stopped after speech 2 of 6: the cost limit is too small."),
        ("internal", "Stopped after speech 2 of 6: an internal error occurred."),
        ("judge_failed", ""),
    ],
)
def test_a_failure_is_named_unless_only_the_judging_failed(reason: FailReason, sentence: str) -> None:
    assert early_end(spoken().add(DebateFailed(reason)).debate) == sentence


def test_a_cost_limit_that_is_not_known_is_told_without_it() -> None:
    log = spoken().add(DebateEnded("budget"))
    assert early_end(log.debate) == "Stopped after speech 2 of 6: the cost limit was reached."
