"""The moving part of the live view: what is waited for, and the clocks of people."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec.structs import replace

from moot.cli.render.status_line import status_lines
from moot.core.events import AsideAsked, JudgingStarted, PollOpened, TurnCompleted
from moot.core.terms import FREE, DebateSetup, Judge, Model, PollSettings
from tests.views.logs import Log, seat


@pytest.mark.parametrize(
    ("aside", "words"),
    [
        (AsideAsked(1, "notes", 1, "against"), "Against makes notes"),
        (AsideAsked(1, "point", 1, "against"), "Against may rise on a point of information"),
        (AsideAsked(1, "leave", 1, "for"), "For is offered a point of information"),
        (AsideAsked(1, "concession", 1, "for"), "For is asked whether it gives way"),
        (AsideAsked(1, "referee", 1, judge="judge"), "a referee is asked"),
        (PollOpened("before", 90), "the audience votes · 0 votes · 1:29 left"),
        (PollOpened("before"), "until the vote is closed"),
    ],
)
def test_the_moving_part_says_what_is_waited_for(aside: AsideAsked | PollOpened, words: str):
    log = Log(setup=DebateSetup(polls=PollSettings())).start().add(aside)
    told = status_lines(log.debate, log.debate.updated_at + timedelta(seconds=1), 80, 0)
    assert words in told[0].plain


def test_the_clock_of_a_person_and_of_a_judge_in_person_is_in_sight():
    human = Model("human", "human", price=FREE)
    judges = (Judge("judge", "Judge", human), Judge("other", "Zoe", human))
    log = Log(seats=(replace(seat("for"), model=human), seat("against")), judges=judges).start()
    turn = log.begin("for")
    now = log.debate.updated_at
    assert "a person types, 4:5" in status_lines(log.debate, now, 90, 0)[0].plain
    log.hear("Mine.").settle("Mine.").add(TurnCompleted(turn, 1), JudgingStarted(1, "rounds"))
    assert (
        "waiting for the ballot of Judge and Zoe · 0 of 2 ballots"
        in status_lines(log.debate, now, 90, 0)[0].plain
    )
