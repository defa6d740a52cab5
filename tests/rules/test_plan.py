"""What comes next in a debate."""

from __future__ import annotations

from moot.core.events import PollClosed, PollOpened, TurnStarted
from moot.core.terms import (
    FREE,
    HUMAN,
    DebateLimits,
    DebateSetup,
    Judge,
    Model,
    ModelPrice,
    Money,
    PollSettings,
    PriceTier,
)
from moot.rules.commands import Abort, NextRound, PauseDebate
from moot.rules.participation import ClosePoll
from moot.rules.plan import AskJudges, Conclude, FailDebate, HoldPoll, Idle, Speak, plan
from moot.testing.event_factories import SCRIPTED, opened, seats, table
from tests.rules.random_debates import blind
from tests.rules.simulate import Reply, Sent, Simulation, in_turn, speak

PERSON = Model(HUMAN, "ada", price=FREE)


def begun(**changes: object) -> Simulation:
    return Simulation(table("oxford", **changes), speak).start()


def test_a_debate_waits_to_be_started() -> None:
    assert plan(Simulation(table(), speak).debate) == Idle("start")


def test_the_first_unspent_slot_speaks() -> None:
    debate = begun().run_until(lambda d: len(d.turns) == 3).debate
    assert plan(debate) == Speak((debate.schedule[3],))


def test_slots_of_a_group_speak_together() -> None:
    opening = opened(format=blind(), seats=seats("for", "against"), limits=DebateLimits(2))
    debate = Simulation(opening, speak).start().debate
    assert plan(debate) == Speak(debate.schedule[:2])


def test_while_somebody_speaks_there_is_nothing_to_do() -> None:
    assert plan(begun().run_until(lambda d: bool(d.live)).debate) == Idle("turn")


def test_a_pause_rests() -> None:
    debate = begun()
    debate.ask(PauseDebate())
    assert plan(debate.debate) == Idle("resume")


def test_what_is_over_rests() -> None:
    debate = begun()
    debate.ask(Abort())
    assert plan(debate.debate) == Idle("nothing")


def test_manual_mode_waits_for_each_round() -> None:
    debate = begun(setup=DebateSetup(auto=False)).run()
    assert plan(debate.debate) == Idle("round")
    debate.ask(NextRound())
    assert plan(debate.debate) == Speak((debate.debate.schedule[0],))


def test_when_the_slots_are_spent_the_speeches_are_over() -> None:
    debate = begun().run_until(lambda d: len(d.turns) == 10).debate
    assert plan(debate) == Conclude("rounds")


def test_the_judge_waits_to_be_asked_where_nothing_is_automatic() -> None:
    assert plan(begun(setup=DebateSetup(auto_judge=False)).run().debate) == Idle("judge")


def test_the_person_who_decides_is_waited_for() -> None:
    assert plan(begun(setup=DebateSetup(winning="user-decides")).run().debate) == Idle("decision")


def test_every_judge_is_asked_in_both_orders_one_after_the_other() -> None:
    judges = (Judge("j", "J", SCRIPTED), Judge("k", "K", SCRIPTED))
    debate = begun(judges=judges).run_until(lambda d: d.status == "judging")
    assert plan(debate.debate) == AskJudges((("j", 0), ("k", 0)))
    debate.run_until(lambda d: d.judging is not None and len(d.judging.ballots) == 2)
    assert plan(debate.debate) == AskJudges((("j", 1), ("k", 1)))
    debate.run_until(lambda d: d.judging is not None and len(d.judging.ballots) == 4)
    assert plan(debate.debate) == AskJudges(())


# --- all failing --------------------------------------------------------------------------------------


def failing(*slots: int):
    """Nobody gets a word out in these slots."""

    def script(sent: Sent) -> Reply:
        turn = sent.debate.turn(sent.purpose.turn or 0)
        fails = turn is not None and turn.slot in slots
        return Reply(fault="empty", severity="unusable") if fails else speak(sent)

    return script


def test_a_round_in_which_everybody_failed_cannot_go_on() -> None:
    debate = Simulation(table("oxford"), failing(2, 3)).start()
    debate.run_until(lambda d: d.status == "error")
    assert debate.debate.failure == "all_failed"
    assert len(debate.debate.turns) == 4


def test_a_round_in_which_somebody_spoke_goes_on() -> None:
    assert Simulation(table("oxford"), failing(2, 5)).start().run().debate.status == "completed"


def test_one_speech_that_fails_in_a_round_of_its_own_spoils_nothing() -> None:
    last = len(Simulation(table("lincoln-douglas"), speak).debate.schedule) - 1
    debate = Simulation(table("lincoln-douglas"), failing(last)).start().run().debate
    assert debate.turns[-1].state == "failed"
    assert debate.verdict


def test_a_debate_of_one_speech_that_failed_is_in_error() -> None:
    opening = table("free", limits=DebateLimits(1, turns=1))
    debate = Simulation(opening, failing(0)).start().run().debate
    assert debate.failure == "all_failed"


def test_it_is_noticed_when_the_round_is_over() -> None:
    silent = Reply(fault="empty", severity="unusable")
    debate = Simulation(table("oxford"), in_turn([silent] * 4)).start()
    debate.run_until(lambda d: len(d.turns) == 2)
    assert isinstance(plan(debate.debate), Speak)
    debate.run_until(lambda d: d.rounds_done == 1)
    state = debate.states[next(i for i, s in enumerate(debate.states) if s.rounds_done == 1)]
    assert plan(state) == FailDebate("all_failed")


# --- people and the audience --------------------------------------------------------------------------


def test_people_who_judge_are_waited_for_last() -> None:
    judges = (Judge("p", "P", PERSON), Judge("j", "J", SCRIPTED))
    debate = begun(judges=judges).run_until(lambda d: d.status == "judging")
    assert plan(debate.debate) == AskJudges((("j", 0),))
    debate.run_until(lambda d: d.judging is not None and len(d.judging.ballots) == 2)
    assert plan(debate.debate) == AskJudges((("p", 0),))
    assert debate.run().debate.verdict


def test_the_audience_votes_before_the_first_word_and_after_the_last() -> None:
    polls = begun(setup=DebateSetup(winning="audience", polls=PollSettings(seconds=60))).run()
    assert [type(event) for event in polls.events if isinstance(event, PollOpened | PollClosed)] == [
        *(PollOpened, PollClosed),
        *(PollOpened, PollClosed),
    ]
    first = next(place for place, event in enumerate(polls.events) if isinstance(event, TurnStarted))
    assert isinstance(polls.events[first - 2], PollClosed)
    assert polls.debate.status == "completed"


def test_a_vote_without_a_clock_waits_for_whoever_closes_it() -> None:
    debate = begun(setup=DebateSetup(winning="audience", polls=PollSettings(before=False))).run()
    assert plan(debate.debate) == HoldPoll("after")
    debate.ask(ClosePoll())
    assert debate.run().debate.status == "completed"


def test_where_the_audience_decides_a_debate_in_circles_comes_to_the_vote() -> None:
    same = in_turn([Reply("We have been over this ground before, and I say so again.")] * 20)
    opening = table("free", setup=DebateSetup(winning="audience", polls=PollSettings(before=False)))
    assert plan(Simulation(opening, same).start().run().debate) == HoldPoll("after")


def test_a_debate_that_has_spent_its_money_is_still_put_to_the_vote() -> None:
    dear = Model(
        "scripted",
        "owl",
        max_tokens=200,
        price=ModelPrice((PriceTier(0, Money(1)),), (PriceTier(0, Money(10)),)),
    )
    debate = begun(
        seats=seats("for", "against", model=dear),
        limits=DebateLimits(5, cost_limit=Money("0.008")),
        setup=DebateSetup(winning="audience", polls=PollSettings(before=False)),
    ).run()
    assert plan(debate.debate) == HoldPoll("after")
    debate.ask(ClosePoll())
    assert debate.run().debate.ended == "budget"
