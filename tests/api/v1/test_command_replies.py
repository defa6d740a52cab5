"""The replies to commands."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

from moot.api.v1 import command_replies as replies
from moot.core.errors import Refused
from moot.core.events import (
    DebatePaused,
    DebateReady,
    DebateResumed,
    DebateStarted,
    DebateStopped,
    JudgingStarted,
    RoundAsked,
)
from moot.core.evolve import fold
from moot.core.json_types import encoder
from moot.core.state import Debate
from moot.core.terms import FREE, HUMAN, DebateLimits, DebateSetup, Model
from moot.rules.commands import AddRemark
from moot.testing.event_factories import seats, table
from tests.golden.reading import log_of
from tests.rules.simulate import Simulation, speak
from tests.views.logs import Log


def sent(shape: Any) -> dict[str, Any]:
    return json.loads(encoder.encode(shape))


def golden(name: str) -> Debate:
    debate = fold(log_of(name))
    assert debate
    return debate


def manual() -> Log:
    return Log(setup=DebateSetup(auto=False)).add(DebateStarted(), DebateReady())


def test_a_round_that_was_asked_for_is_about_to_begin():
    assert sent(replies.round_reply(manual().add(RoundAsked()).debate)) == {
        "debateId": "deb_1",
        "currentRound": 1,
        "status": "awaiting_arguments",
        "message": "Round 1 is about to begin.",
    }


def test_skipping_to_the_judge_answers_that_it_evaluates():
    debate = manual().add(JudgingStarted(1, "judged")).debate
    assert sent(replies.round_reply(debate))["status"] == "judge_evaluating"
    assert set(sent(replies.judge_reply(debate))) == {"debateId", "status", "message"}
    assert sent(replies.judge_reply(debate))["status"] == "judge_evaluating"


def test_a_pause_says_since_when_and_whether_somebody_still_speaks():
    log = Log().start()
    log.begin("for")
    paused = sent(replies.paused_reply(log.add(DebatePaused()).debate))
    assert paused == {
        "debateId": "deb_1",
        "status": "paused",
        "pausedAt": "2026-03-01T12:00:06.000Z",
        "pausing": True,
    }
    resumed = sent(replies.resumed_reply(log.add(DebateResumed()).debate))
    assert resumed == {
        "debateId": "deb_1",
        "status": "debating",
        "resumedAt": "2026-03-01T12:00:07.000Z",
    }


def test_a_stop_says_what_follows():
    log = Log().start().say("for", "Yes.").add(DebateStopped())
    reply = sent(replies.stopped_reply(log.add(JudgingStarted(1, "stopped")).debate))
    assert (reply["status"], reply["stopped"]) == ("judge_evaluating", True)
    assert reply["message"] == "The debate was stopped; the judge evaluates what was said."
    assert (
        sent(replies.stopped_reply(golden("aborted")))["message"]
        == "The debate was aborted; nothing was judged."
    )


# --- remarks ------------------------------------------------------------------------------------------

FROM_NOW_ON = "It is heard by every speech that starts from now on."


@pytest.mark.parametrize(
    ("remark", "message"),
    [
        (AddRemark("Mind the cost."), FROM_NOW_ON),
        (
            AddRemark("Mind the cost.", to="b"),
            "Only Seat 2 hears it, in every speech of theirs that starts from now on.",
        ),
        (AddRemark("What does it cost?", to="b", question=True), f"{FROM_NOW_ON} Seat 2 is to answer it."),
    ],
)
def test_the_reply_to_a_remark_says_who_hears_it(remark: AddRemark, message: str) -> None:
    simulation = Simulation(table("free"), speak).start().run_until(lambda d: d.is_live(1))
    simulation.ask(remark)
    assert replies.remark_reply(simulation.debate).message == message


@pytest.mark.parametrize("to", [None, "b"])
def test_a_person_who_gives_the_last_speech_reads_a_remark_and_a_model_does_not(to: str | None) -> None:
    model, person = seats("for", "against")
    person = replace(person, model=Model(HUMAN, "ada", price=FREE))
    opening = table("free", seats=(model, person), limits=DebateLimits(1, turns=2))
    simulation = Simulation(opening, speak).start().run_until(lambda d: d.is_live(2))
    assert isinstance(simulation.ask(AddRemark("Mind the cost.", to="a")), Refused)
    assert isinstance(simulation.ask(AddRemark("Mind the cost.", to=to)), tuple)
    assert replies.remark_reply(simulation.debate).message == "Seat 2, who is speaking, reads it now."
