"""The bodies of v1's replies."""

from __future__ import annotations

import json
from typing import Any

import pytest

from moot.api.v1 import command_replies, replies
from moot.core.events import (
    DebatePaused,
    DebateReady,
    DebateStarted,
    RoundCompleted,
    TurnFailed,
    TurnRetried,
)
from moot.core.evolve import fold
from moot.core.json_types import encoder
from moot.core.state import Debate
from moot.core.terms import DebateLimits, DebateSetup, Money
from moot.store.contract import DebateHead, DebatePage
from moot.views.summary import summary
from moot.views.transcript import transcript
from moot.views.transcript_json import to_json
from tests.api.v1_contract import CREATED, LISTING, STATUS, TRANSCRIPT, keeps
from tests.api.watching import NAMES, watch
from tests.golden.reading import log_of
from tests.support.for_each import for_each
from tests.views.logs import Log, held, seat


def sent(shape: Any) -> dict[str, Any]:
    return json.loads(encoder.encode(shape))


def golden(name: str) -> Debate:
    debate = fold(log_of(name))
    assert debate
    return debate


def head(debate: Debate) -> DebateHead:
    return DebateHead(
        id=debate.id,
        owner="",
        status=debate.status,
        motion=debate.motion,
        format=debate.format.name,
        version=debate.seq,
        epoch=debate.epoch,
        runner="",
        created_at=debate.created_at,
        updated_at=debate.updated_at,
        summary=summary(debate),
    )


@for_each("name", NAMES)
def test_every_golden_debate_has_a_status_and_a_transcript_as_promised(name: str):
    debate = golden(name)
    assert keeps(sent(replies.status_reply(debate)), STATUS)
    assert keeps(json.loads(to_json(transcript(debate))), TRANSCRIPT)
    assert keeps(sent(replies.listing_reply(DebatePage((head(debate),), 1), 20, 0)), LISTING)


def test_every_moment_of_a_debate_has_a_status_as_promised():
    for one in watch(log_of("oxford-steered")):
        assert keeps(sent(replies.status_reply(one.after)), STATUS)


def test_a_new_debate_is_answered_with_all_that_was_asked_for():
    debate = Log(
        seats=(seat("for", colour="#FF6B6B"), seat("against", colour="#4ECDC4")),
        limits=DebateLimits(5, turn_seconds=90.0, cost_limit=Money("5.0"), warn_at=Money("3.0")),
    ).debate
    reply = sent(replies.created_reply(debate))
    assert keeps(reply, CREATED)
    promised = {name: reply[name] for name in CREATED}
    assert promised == {
        "id": "deb_1",
        "status": "initializing",
        "topic": "Cats are better than dogs",
        "participants": [
            {
                "id": "for",
                "name": "For",
                "model": "scripted/parrot",
                "position": "for",
                "color": "#FF6B6B",
            },
            {
                "id": "against",
                "name": "Against",
                "model": "scripted/parrot",
                "position": "against",
                "color": "#4ECDC4",
            },
        ],
        "judge": {"id": "judge", "name": "Judge", "model": "scripted/owl"},
        "config": {
            "maxRounds": 5,
            "timeoutPerRound": 90,
            "costLimit": 5.0,
            "warnAtCost": 3.0,
            "autoJudge": True,
            "autoProgress": True,
            "winningCondition": "ai-judge",
            "intensity": 3,
            "showReasoning": True,
            "personSeconds": 300,
            "prep": False,
            "blind": False,
        },
        "createdAt": "2026-03-01T12:00:01.000Z",
        "streamUrl": "/api/v1/debates/deb_1/stream",
    }


def test_limits_that_nobody_set_are_left_out():
    config = sent(replies.created_reply(Log(limits=DebateLimits(3)).debate))["config"]
    assert "costLimit" not in config
    assert "warnAtCost" not in config
    assert config["timeoutPerRound"] == 120


def test_a_debate_that_has_gone_on_is_created_as_it_was():
    assert sent(replies.created_reply(held().debate))["status"] == "initializing"


def test_secrets_are_in_no_reply():
    secret = seat("for", objective="Make them laugh.", system_prompt="You are a clown.")
    debate = held(seats=(secret, seat("against"))).debate
    said = str(
        [
            sent(replies.created_reply(debate)),
            sent(replies.status_reply(debate)),
            sent(replies.listing_reply(DebatePage((head(debate),), 1), 1, 0)),
        ]
    )
    assert "laugh" not in said
    assert "clown" not in said


def test_a_status_has_the_rounds_with_the_beginnings_of_their_speeches():
    log = Log().start().say("for", "word " * 100).say("against", "No.").add(RoundCompleted(1))
    (part,) = sent(replies.status_reply(log.debate))["rounds"]
    assert [len(response["contentPreview"]) for response in part["responses"]] == [200, 3]
    assert (part["roundNumber"], part["totalTokens"], part["roundCost"]) == (1, 240, 0)


def test_a_failed_speech_stands_in_its_round_without_words():
    log = Log().start()
    log.begin("for")
    log.hear("Well, ").fail_call().add(TurnFailed(1, "bad_key", "No key."))
    (part,) = sent(replies.status_reply(log.debate))["rounds"]
    assert [(r["contentPreview"], r["status"]) for r in part["responses"]] == [("", "error")]
    page = json.loads(to_json(transcript(log.debate)))
    assert page["rounds"][0]["responses"][0]["content"] == ""


def test_a_speech_that_was_struck_counts_for_nothing_but_its_cost():
    log = Log().start()
    log.begin("for")
    log.hear("Well, ").settle("", cost=Money("0.5")).add(TurnFailed(1, "empty", "No."), TurnRetried(1))
    log.say("for", "Yes.")
    (part,) = sent(replies.status_reply(log.debate))["rounds"]
    assert [response["contentPreview"] for response in part["responses"]] == ["Yes."]
    assert part["roundCost"] == 0.5
    (written,) = json.loads(to_json(transcript(log.debate)))["rounds"]
    assert [response["content"] for response in written["responses"]] == ["Yes."]
    assert [response["flags"] for response in written["struck"]] == [["failed", "struck"]]


def test_a_finished_debate_has_its_verdict_and_its_end():
    reply = sent(replies.status_reply(held().debate))
    assert reply["status"] == "completed"
    assert reply["verdict"]["winner"] == "for"
    assert reply["completedAt"] == reply["updatedAt"]
    assert reply["stopped"] is False


def test_a_running_debate_has_neither():
    reply = sent(replies.status_reply(Log().start().debate))
    assert "verdict" not in reply
    assert "completedAt" not in reply


@pytest.mark.parametrize(("name", "stopped"), [("aborted", True), ("stopped", True), ("free", False)])
def test_a_debate_that_was_ended_early_says_so(name: str, stopped: bool):
    reply = sent(replies.status_reply(golden(name)))
    assert (reply["status"], reply["stopped"]) == ("completed", stopped)


def test_a_list_says_whether_there_is_more():
    page = DebatePage((head(held().debate),), 3)
    assert sent(replies.listing_reply(page, 1, 0))["pagination"] == {
        "total": 3,
        "limit": 1,
        "offset": 0,
        "hasMore": True,
    }
    assert not sent(replies.listing_reply(page, 1, 2))["pagination"]["hasMore"]
    assert not sent(replies.listing_reply(DebatePage((), 3), 1, 7))["pagination"]["hasMore"]


def test_a_list_has_one_line_for_each_debate():
    (line,) = sent(replies.listing_reply(DebatePage((head(held().debate),), 1), 20, 0))["debates"]
    assert (line["id"], line["status"], line["participantCount"]) == ("deb_1", "completed", 2)
    assert (line["currentRound"], line["maxRounds"], line["totalCost"]) == (2, 2, 0)
    assert line["completedAt"] == sent(replies.status_reply(held().debate))["completedAt"]
    (line,) = sent(replies.listing_reply(DebatePage((head(Log().start().debate),), 1), 20, 0))["debates"]
    assert "completedAt" not in line


def manual() -> Log:
    return Log(setup=DebateSetup(auto=False)).add(DebateStarted(), DebateReady())


def test_a_pause_before_the_first_round_does_not_make_one():
    log = Log().add(DebateStarted(), DebatePaused())
    assert sent(replies.status_reply(log.debate))["currentRound"] == 0
    assert sent(replies.status_reply(manual().debate))["currentRound"] == 1
    assert (
        sent(command_replies.action_reply("Good.")(manual().add(DebatePaused()).debate))["currentRound"] == 1
    )
