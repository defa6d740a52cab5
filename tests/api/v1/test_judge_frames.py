"""How v1 tells of the judges, of money, and of the end."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.core.events import (
    BallotCast,
    BallotSpoiled,
    BudgetExhausted,
    BudgetWarned,
    CallCompleted,
    CallDelta,
    CallFailed,
    DebateEnded,
    DebateFailed,
    DebateStarted,
    DebateStopped,
    JudgingStarted,
    RoundCompleted,
    SegmentCompleted,
    VerdictReached,
)
from moot.core.terms import (
    DebateLimits,
    Model,
    ModelPrice,
    Money,
    PriceTier,
    Reasoning,
    ReasoningPart,
    Text,
    Usage,
)
from moot.rules.commands import Abort, DecideWinner, Stop
from moot.testing.event_factories import call_started, seats, table
from tests.api.watching import EXTENDED, PLAIN, last, named, told, watch
from tests.rules.random_debates import LAW
from tests.rules.simulate import Simulation, speak
from tests.views.logs import Log, ballot, held, judge

REASONING = 'Birch led; Speaker Cedar\'s "answer" — the Birchwood one — came late.\nTeam Birch \U0001f333.'
SHOWN = 'For led; Against\'s "answer" — the Birchwood one — came late.\nFor \U0001f333.'
REPLY = json.dumps({"reasoning": REASONING, "criteria": {}, "speakers": {}, "winner": "Birch"})


def judging(*judges: str) -> Log:
    log = Log(judges=tuple(judge(name) for name in judges or ("judge",)))
    log.start().say("for", "Yes.").say("against", "No.")
    return log.add(RoundCompleted(1), JudgingStarted(1, "rounds"))


def asked(log: Log, call: int, order: int = 0, who: str = "judge", **more: Any) -> Log:
    return log.add(call_started(call, None, judge=who, order=order, model="scripted/owl", **more))


def words(call: int, text: str) -> CallDelta:
    return CallDelta(call, 0, "text", text)


def read(log: Log, dialect: Any = PLAIN, who: str = "judge", order: int = 0) -> str:
    """What is on the screen of one ballot."""
    text = ""
    for data in named(told(dialect, watch(log.records)), "judge"):
        if not data["done"] and (data["judgeId"], data["order"]) == (who, order):
            text = ("" if data.get("replace") else text) + data["chunk"]
    return text


@LAW
@given(st.lists(st.integers(0, len(REPLY)), max_size=30).map(sorted))
def test_the_reasoning_of_a_judge_is_read_as_it_is_written_with_names(cuts: list[int]):
    log = asked(judging(), 3)
    for start, end in zip([0, *cuts], [*cuts, len(REPLY)], strict=True):
        log.add(words(3, REPLY[start:end]))
    frames = named(told(PLAIN, watch(log.records)), "judge")
    assert all(SHOWN.startswith("".join(f["chunk"] for f in frames[: n + 1])) for n in range(len(frames)))
    log.add(SegmentCompleted(3, Text(REPLY)))
    assert read(log) == SHOWN
    assert not any("replace" in data for data in named(told(PLAIN, watch(log.records)), "judge"))


def test_nothing_of_the_json_around_it_is_told():
    log = asked(judging(), 3).add(words(3, '```json\n{"rea'), words(3, 'soning": "I think'), words(3, " so"))
    assert read(log) == "I think "


def test_a_reply_that_came_whole_is_told_whole():
    assert read(asked(judging(), 3).add(SegmentCompleted(3, Text(REPLY)))) == SHOWN


def test_a_reply_that_ends_otherwise_than_it_was_streamed_is_replaced():
    log = asked(judging(), 3).add(words(3, '{"reasoning": "All for nothing. Really'))
    log.add(SegmentCompleted(3, Text('{"reasoning": "All is well."}')))
    assert read(log, EXTENDED) == "All is well."
    # A client of the document can take nothing back.
    assert read(log) == "All for nothing. "


def test_an_unusable_reply_is_struck_and_asked_for_again():
    log = asked(judging(), 3).add(words(3, '{"reasoning": "I like trees."'))
    log.add(CallFailed(3, "malformed", "unusable", "Not a ballot.", Usage(), None, retry_in_ms=1000))
    (first, struck), (second, error) = last(EXTENDED, watch(log.records), CallFailed)
    assert (first, struck["chunk"], struck["replace"], struck["done"]) == ("judge", "", True, False)
    assert (second, error["retryable"], error["judgeId"]) == ("error", True, "judge")
    assert "participantId" not in error
    asked(log, 4, attempt=2).add(words(4, '{"reasoning": "I like '))
    assert read(log, EXTENDED) == "I like "
    assert read(log) == "I like trees."


def test_an_unusable_reply_that_came_whole_is_struck_too():
    log = asked(judging(), 3).add(SegmentCompleted(3, Text('{"reasoning": "I like trees."}')))
    assert read(log) == "I like trees."
    log.add(CallFailed(3, "malformed", "unusable", "Not a ballot.", Usage(), None, retry_in_ms=1000))
    assert read(log, EXTENDED) == ""
    asked(log, 4, attempt=2).add(words(4, '{"reasoning": "I hate them, '))
    assert read(log) == "I like trees."


def test_a_judges_thoughts_that_were_taken_for_its_reply_are_taken_back():
    log = asked(judging(), 3).add(words(3, 'Perhaps {"reasoning": "Hm, hm."} will do. '))
    log.add(SegmentCompleted(3, Reasoning((ReasoningPart("Perhaps"),)), taken_back=True))
    assert read(log, EXTENDED) == ""
    assert read(log.add(SegmentCompleted(3, Text(REPLY, index=1))), EXTENDED) == SHOWN
    assert read(log) == "Hm, hm."


def test_the_plain_stream_follows_one_ballot_and_the_extended_one_all():
    log = judging("judge", "other")
    asked(asked(asked(log, 3), 4, order=1), 5, who="other")
    log.add(
        words(3, '{"reasoning": "One '), words(4, '{"reasoning": "Two '), words(5, '{"reasoning": "Three ')
    )
    assert "".join(data["chunk"] for data in named(told(PLAIN, watch(log.records)), "judge")) == "One "
    assert read(log, EXTENDED, "judge", 1) == "Two "
    assert read(log, EXTENDED, "other") == "Three "


def test_the_verdict_comes_after_the_last_word_of_the_judge():
    (first, done), (second, verdict) = last(PLAIN, watch(held().records), VerdictReached)
    assert (first, done["chunk"], done["done"]) == ("judge", "", True)
    assert second == "verdict"
    assert verdict == {
        "winner": "for",
        "scores": {
            "for": {"score": 78.0, "strengths": ["clear"], "weaknesses": ["long"]},
            "against": {"score": 71.0, "strengths": ["deep"], "weaknesses": ["dry"]},
        },
        "reasoning": "Because of the evidence.",
        "criteria": {"argument": "Sound."},
        "tokensUsed": 0,
        "outcome": "win",
        "headline": "For wins",
        "by": "judges",
        "margin": 7.0,
        "agreement": 1.0,
        "flips": 0,
        "doubts": [],
        "lastWord": "against",
        "timestamp": verdict["timestamp"],
        "seq": verdict["seq"],
    }


def test_a_verdict_says_what_the_judges_have_used():
    log = asked(judging(), 3).add(CallCompleted(3, "stop", Usage(100, 20), Money(0), 1500))
    log.add(BallotCast(1, ballot("for", 80, 70, 0)), BallotCast(1, ballot("for", 80, 70, 1)))
    log.verdict(held().debate.verdicts[0])
    assert named(told(PLAIN, watch(log.records)), "verdict")[0]["tokensUsed"] == 120


def test_too_close_to_call_is_a_tie():
    log = Log().start().say("for", "Yes.").say("against", "No.")
    log.judged(ballot("for", 80, 70, 0), ballot("against", 70, 80, 1))
    (verdict,) = named(told(PLAIN, watch(log.records)), "verdict")
    assert (verdict["winner"], verdict["outcome"], len(verdict["doubts"])) == ("tie", "too-close", 1)


def test_the_end_tells_the_verdict_once_more():
    frames = told(PLAIN, watch(held().records))
    (first, status), (second, complete) = last(PLAIN, watch(held().records), DebateEnded)
    assert (first, status["state"], second) == ("status", "completed", "complete")
    verdict = named(frames, "verdict")[0]
    assert complete["verdict"] == {k: v for k, v in verdict.items() if k not in ("timestamp", "seq")}
    assert (complete["debateId"], complete["totalRounds"], complete["finalCost"]) == ("deb_1", 2, 0)
    assert complete["duration"] == held().debate.seq - 2
    assert (complete["stopped"], complete["reason"]) == (False, "rounds")


@pytest.mark.parametrize("reason", ["stopped", "aborted"])
def test_a_debate_that_was_stopped_says_so(reason: str):
    log = Log().start().say("for", "Yes.").add(DebateStopped(), DebateEnded(reason))  # type: ignore[arg-type]  # parametrized
    (complete,) = named(told(PLAIN, watch(log.records)), "complete")
    assert (complete["stopped"], complete["reason"], complete["verdict"]) == (True, reason, None)
    assert named(told(PLAIN, watch(log.records)), "verdict") == []


def test_an_abort_while_the_judge_thinks_ends_the_judging_first():
    log = asked(judging(), 3).add(DebateEnded("aborted"))
    assert [event for event, _ in last(PLAIN, watch(log.records), DebateEnded)] == [
        "judge",
        "status",
        "complete",
    ]


@pytest.mark.parametrize(("reason", "again"), [("judge_failed", True), ("permanent_fault", False)])
def test_a_debate_that_cannot_go_on_says_whether_it_may_be_tried_again(reason: str, again: bool):
    log = Log().start().say("for", "Yes.").add(DebateFailed(reason, "So it is."))  # type: ignore[arg-type]  # parametrized
    (_, status), (event, error) = last(PLAIN, watch(log.records), DebateFailed)
    assert (status["state"], event, error["type"]) == ("error", "error", "model_error")
    assert error["retryable"] is again
    assert error["message"].endswith("So it is.")


def test_a_warning_says_how_much_of_the_limit_is_spent():
    log = Log(limits=DebateLimits(2, cost_limit=Money(5), warn_at=Money(3))).start()
    log.add(BudgetWarned(Money(3), Money("3.25")))
    ((event, data),) = last(PLAIN, watch(log.records), BudgetWarned)
    assert event == "cost_warning"
    assert (data["threshold"], data["currentCost"], data["percentOfLimit"]) == (3, 3.25, 65)
    assert data["message"] == "The debate has cost $3.25; the warning was set at $3.00."


def test_a_warning_says_what_is_reserved():
    log = Log(limits=DebateLimits(2, cost_limit=Money(5), warn_at=Money(3))).start()
    log.add(BudgetWarned(Money(3), Money("2.5"), Money("0.75")))
    ((_, data),) = last(PLAIN, watch(log.records), BudgetWarned)
    assert (data["currentCost"], data["percentOfLimit"]) == (2.5, 50)
    assert data["message"].startswith("The debate has cost $2.50, and $0.75 more is reserved; the warning")


@pytest.mark.parametrize("command", [Abort(), Stop(), DecideWinner("a")])
def test_the_end_tells_what_the_calls_cost_that_it_cut(command: Abort | Stop | DecideWinner):
    price = ModelPrice(input=(PriceTier(0, Money(1)),), output=(PriceTier(0, Money(10)),))
    seated = seats("for", "against", model=Model("scripted", "owl", price=price))
    debate = Simulation(table(seats=seated, judges=()), speak).start()
    debate.run_until(lambda d: bool(d.live and d.live[0].text))
    debate.ask(command)
    debate.run()
    assert debate.debate.cost_so_far > 0
    seen = watch(debate.records)
    (complete,) = named(told(PLAIN, seen), "complete")
    assert complete["finalCost"] == float(debate.debate.cost_so_far)


def test_a_limit_too_small_for_the_first_speech_is_an_error_of_its_own_kind():
    log = Log().start().add(DebateFailed("budget", "Too small."))
    *_, (event, error) = last(PLAIN, watch(log.records), DebateFailed)
    assert (event, error["type"], error["retryable"]) == ("error", "cost_limit", False)


def test_without_a_limit_there_is_no_share_of_it():
    log = Log(limits=DebateLimits(2, warn_at=Money(3))).start().add(BudgetWarned(Money(3), Money(4)))
    assert "percentOfLimit" not in last(PLAIN, watch(log.records), BudgetWarned)[0][1]


def test_at_the_limit_there_is_an_error_that_waiting_does_not_help():
    log = Log().start().add(BudgetExhausted(Money(5), Money("4.9"), Money("0.5")))
    ((event, data),) = last(PLAIN, watch(log.records), BudgetExhausted)
    assert (event, data["type"], data["retryable"]) == ("error", "cost_limit", False)


def test_a_round_tells_its_speeches_and_what_they_cost():
    log = Log().start().say("for", "Yes.").say("against", "No.").add(RoundCompleted(1))
    event, data = last(PLAIN, watch(log.records), RoundCompleted)[0]
    assert event == "round_complete"
    assert [(r["participantId"], r["content"]) for r in data["responses"]] == [
        ("for", "Yes."),
        ("against", "No."),
    ]
    assert (data["roundNumber"], data["totalTokens"], data["roundCost"]) == (1, 240, 0)


def test_the_first_thing_told_is_that_a_debate_begins():
    opened = Log()
    assert told(PLAIN, watch(opened.records)) == []
    ((event, data),) = last(PLAIN, watch(opened.add(DebateStarted()).records), DebateStarted)
    assert event == "status"
    assert data == {
        "debateId": "deb_1",
        "state": "initializing",
        "currentRound": 0,
        "timestamp": "2026-03-01T12:00:02.000Z",
        "seq": 2,
    }


def test_ballots_are_told_on_the_extended_stream_alone():
    log = judging().add(BallotCast(1, ballot("for", 80, 70, 0)), BallotSpoiled(1, "judge", 1, "No JSON."))
    assert last(PLAIN, watch(log.records), BallotCast, BallotSpoiled) == []
    cast, spoiled = named(told(EXTENDED, watch(log.records)), "ballot")
    assert (cast["judgeId"], cast["order"], cast["winner"], cast["scores"]["for"]["score"]) == (
        "judge",
        0,
        "for",
        80,
    )
    assert (spoiled["order"], spoiled["spoiled"]) == (1, "No JSON.")
