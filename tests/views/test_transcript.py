"""A debate as it is read afterwards."""

from __future__ import annotations

import json
from typing import Any

from moot.events import (
    DebatePaused,
    DebateResumed,
    RemarkInjected,
    TurnFailed,
    TurnInterrupted,
    TurnRetried,
)
from moot.terms import Money
from moot.views.json import to_json
from moot.views.transcript import Speech, Transcript, transcript
from tests.views.logs import Log, ballot, held, seat


def speeches(log: Log, **options: bool) -> list[Speech]:
    page = transcript(log.debate, **options)
    return [speech for part in page.rounds for speech in part.speeches]


def as_json(page: Transcript) -> dict[str, Any]:
    return json.loads(to_json(page))


def test_rounds_hold_their_speeches_in_order():
    page = transcript(held().debate)
    assert [part.number for part in page.rounds] == [1, 2]
    assert [speech.speaker.name for speech in page.rounds[0].speeches] == ["For", "Against"]
    first = page.rounds[0].speeches[0]
    assert (first.title, first.words, first.usage.total, first.latency_ms) == (
        "Opening statement",
        4,
        120,
        1500,
    )
    assert first.text == "Licences keep people safe."


def test_reasoning_comes_only_on_request():
    assert all(speech.reasoning == "" for speech in speeches(held()))
    assert speeches(held(), reasoning=True)[0].reasoning == "Lead with safety."
    assert "Lead with safety" not in to_json(transcript(held().debate))
    assert "Lead with safety" in to_json(transcript(held().debate, reasoning=True))


def test_secrets_never_come_along():
    secret = seat("for", objective="Make them laugh.", system_prompt="You are a clown.")
    page = to_json(transcript(held(seats=(secret, seat("against"))).debate, reasoning=True))
    assert "laugh" not in page
    assert "clown" not in page


def test_what_befell_a_speech_is_flagged_and_said():
    log = Log().start()
    log.say(
        "for",
        "I would rather not.",
        truncated="max_tokens",
        refusal=True,
        over_length=True,
        degraded="No chain.",
    )
    turn = log.begin("against")
    log.add(TurnFailed(turn, "overloaded", "The provider is overloaded."))
    said, failed = speeches(log)
    assert said.flags == ("truncated", "refusal", "over_length", "degraded")
    assert len(said.notes) == 4
    assert failed.flags == ("failed",)
    assert failed.notes == ("No speech: The provider is overloaded.",)


def test_a_speech_that_is_given_again_does_not_count():
    log = Log().start()
    turn = log.begin("for")
    log.hear("Half a sen").add(TurnInterrupted(turn, "pause"), DebatePaused(), DebateResumed())
    log.say("for", "A whole sentence.")
    cut, whole = speeches(log)
    assert cut.flags == ("interrupted", "struck")
    assert not cut.counts
    assert cut.text == "Half a sen"
    assert whole.counts


def test_a_struck_speech_stays_in_its_round():
    log = Log().start()
    turn = log.begin("for")
    log.add(TurnFailed(turn, "timeout", "The model did not answer in time."), TurnRetried(turn))
    assert speeches(log)[0].flags == ("failed", "struck")
    assert [part.number for part in transcript(log.debate).rounds] == [1]


def test_a_live_speech_is_shown_as_far_as_it_has_come():
    log = Log().start()
    log.begin("for")
    log.hear("So far")
    (speech,) = speeches(log)
    assert (speech.flags, speech.text, speech.words) == (("speaking",), "So far", 2)


def test_a_remark_stands_before_the_speech_that_heard_it():
    log = Log().start().say("for", "Yes.")
    log.add(RemarkInjected(1, "Mind the time.")).say("against", "No.").add(RemarkInjected(2, "Too late."))
    page = transcript(log.debate)
    assert [(remark.text, remark.before) for remark in page.remarks] == [
        ("Mind the time.", 2),
        ("Too late.", None),
    ]


def test_the_json_has_the_promised_shape():
    page = as_json(transcript(held().debate))
    assert set(page) >= {"debate", "participants", "judge", "rounds", "verdict", "costs"}
    assert page["debate"]["topic"] == "Cats are better than dogs"
    assert page["debate"]["createdAt"] == "2026-03-01T12:00:01.000Z"
    assert page["debate"]["duration"] == held().debate.seq - 2
    assert page["participants"][0] == {
        "id": "for",
        "name": "For",
        "model": "scripted/parrot",
        "position": "for",
        "color": "",
    }
    assert page["judge"] == {"id": "judge", "name": "Judge", "model": "scripted/owl"}
    response = page["rounds"][0]["responses"][0]
    assert response["participant"] == "For"
    assert response["content"] == "Licences keep people safe."
    assert response["tokensUsed"] == 120
    assert page["verdict"]["winner"] == "for"
    assert page["verdict"]["scores"]["for"] == {"score": 78.0, "strengths": ["clear"], "weaknesses": ["long"]}
    assert page["costs"]["totalCost"] == 0
    assert page["costs"]["tokensByModel"]["scripted/parrot"] == {"inputTokens": 400, "outputTokens": 80}


def test_a_debate_without_a_winner_is_a_tie_with_its_outcome():
    log = Log().start().say("for", "Yes.").say("against", "No.")
    log.judged(ballot("for", 80, 70, 0), ballot("against", 70, 80, 1))
    verdict = as_json(transcript(log.debate))["verdict"]
    assert (verdict["winner"], verdict["outcome"], verdict["flips"]) == ("tie", "too-close", 1)


def test_a_running_debate_has_no_verdict_and_no_end():
    page = as_json(transcript(Log().start().say("for", "Yes.").debate))
    assert page["verdict"] is None
    assert page["debate"]["completedAt"] is None


def test_unknown_costs_are_named_and_not_counted():
    log = Log().start()
    turn = log.begin("for")
    log.hear("Words.").settle("Words.", cost=None).add(TurnInterrupted(turn, "skip"))
    page = as_json(transcript(log.debate))
    assert (page["costs"]["totalCost"], page["costs"]["costByModel"]) == (0, {})
    assert page["costs"]["unpriced"] == ["scripted/parrot"]


def test_exact_money_survives_as_a_number():
    log = Log().start()
    turn = log.begin("for")
    log.hear("Words.").settle("Words.", cost=Money("0.015")).add(TurnInterrupted(turn, "skip"))
    assert as_json(transcript(log.debate))["costs"]["costByModel"] == {"scripted/parrot": 0.015}
