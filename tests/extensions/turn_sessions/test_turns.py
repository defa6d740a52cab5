"""A debate that goes one turn at a time, as each is asked for."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from moot.api.page_view.actions import open_actions
from moot.core.errors import Invalid, Refused
from moot.core.events import (
    CallCompleted,
    CallStarted,
    DebateResumed,
    DebateStarted,
    Recorded,
    SeatFilled,
    TurnInterrupted,
    TurnRetried,
    TurnStarted,
)
from moot.core.evolve import evolve
from moot.core.terms import FREE, DebateSetup, Model, Money, Seat
from moot.extensions.turn_sessions.turns import (
    FORMAT,
    UNASSIGNED_MODEL,
    AskTurn,
    last_asked_position,
    last_turn_of_speaker,
    latest_turn,
    stream_position,
)
from moot.prompts.templates import intensity
from moot.rules.commands import Open, PauseDebate, ResumeDebate, Retry, SkipTurn, Start, Stop, decide
from moot.rules.participation import GiveSpeech, KeepDraft, LeaveSeat, TakeSeat
from moot.rules.turn_by_turn import client_response_id
from moot.testing.event_factories import opened
from moot.views.participants import participants
from moot.views.summary import summarize as summary
from tests.rules.simulate import Reply, Script, Sent, Simulation, speak

A, B, C = (Model("scripted", name, price=FREE) for name in "abc")
OPENING = opened(
    format=FORMAT,
    seats=(Seat("part_1", "AFFIRMATIVE", "for", A), Seat("part_2", "NEGATIVE", "against", UNASSIGNED_MODEL)),
    judges=(),
    setup=DebateSetup(winning="user-decides"),
)


def same(_sent: Sent) -> Reply:
    """The same words each time, and words that sound like giving way."""
    return Reply("I concede. You are right, and I was persuaded by you.")


def session(turns: int = 0, script: Script = speak) -> Simulation:
    held = Simulation(OPENING, script)
    for slot in range(turns):
        ask(held, slot)
    return held


def ask(held: Simulation, slot: int, previous: str | None = None) -> Simulation:
    if held.debate.status == "created":
        held.ask(Start("turn"))
    else:
        held.ask(AskTurn(slot, (A, B)[slot % 2], previous))
    return held.run()


def failing(*calls: int) -> Script:
    """One that fails for good where a single call does, else one that is tried until it has failed."""

    def script(sent: Sent) -> Reply:
        if sent.call not in calls:
            return speak(sent)
        if len(calls) == 1:
            return Reply(fault="bad_key", severity="permanent")
        return Reply(fault="overloaded")

    return script


def problems(held: Simulation, asked: AskTurn) -> dict[str, list[str]]:
    with pytest.raises(Invalid) as error:
        decide(held.debate, asked)
    return error.value.problems


def test_nothing_is_said_that_nobody_asked_for() -> None:
    held = session(1)
    assert [turn.seat for turn in held.debate.turns] == ["part_1"]
    assert held.debate.status == "paused"
    assert decide(None, Open(OPENING, start=True, step="turn")) == (OPENING, DebateStarted("turn"))


def test_a_long_speech_is_heard_to_its_end() -> None:
    held = session(2, lambda _sent: Reply("And so on. " * 1000 + "The very end."))
    assert "The very end." in held.sent[1].request.messages[-1].content


def test_ten_turns_are_ten_calls_whatever_is_said_in_them() -> None:
    held = session(10, same)
    assert [turn.seat for turn in held.debate.turns] == ["part_1", "part_2"] * 5
    assert len(held.sent) == 10
    assert (held.debate.status, held.debate.ended) == ("completed", "rounds")
    # Who asks for one of them now is told it again.
    assert held.ask(AskTurn(9, B)) == ()
    assert problems(held, AskTurn(10, A)) == {"turnNumber": ["Must be between 1 and 10"]}


def test_a_seat_is_filled_by_the_first_turn_that_is_asked_of_it() -> None:
    held = session(1)
    assert held.debate.seats[1].model == UNASSIGNED_MODEL
    decision = held.ask(AskTurn(1, B, by="Ann"))
    assert decision == (SeatFilled("part_2", B, "Ann"), DebateResumed("turn"))
    held.run()
    assert held.sent[-1].request.model == B
    assert problems(held, AskTurn(3, A)) == {"modelId": ["Must be b, as before"]}


def test_who_has_come_to_nothing_may_be_replaced() -> None:
    held = session(2, failing(2))
    assert latest_turn(held.debate, 1) is not None
    assert held.ask(AskTurn(1, C)) == (TurnRetried(2), SeatFilled("part_2", C), DebateResumed("turn"))


def test_to_ask_again_changes_nothing() -> None:
    held = session(1)
    held.ask(AskTurn(1, B))
    assert held.ask(AskTurn(1, B)) == ()
    assert problems(held, AskTurn(1, C)) == {"modelId": ["Must be b, as before"]}
    held.run_until(lambda debate: bool(debate.live))
    assert held.ask(AskTurn(1, B)) == ()
    held.run()
    assert held.ask(AskTurn(1, B)) == ()
    assert held.ask(AskTurn(0, A)) == ()
    assert len(held.sent) == 2


@pytest.mark.parametrize(("calls", "status"), [((3,), "error"), ((3, 4, 5, 6), "paused")])
def test_a_failed_turn_is_given_again_on_its_own_chain(calls: tuple[int, ...], status: str) -> None:
    held = session(3, failing(*calls))
    assert [turn.state for turn in held.debate.turns] == ["completed", "completed", "failed"]
    assert held.debate.status == status
    assert problems(held, AskTurn(3, B)) == {"turnNumber": ["The next turn is 3"]}
    ask(held, 2)
    assert [turn.slot for turn in held.debate.turns if turn.has_words] == [0, 1, 2]
    assert held.debate.status == "paused"
    assert held.sent[-1].request.previous_response_id == held.debate.turns[0].response_id


def test_a_turn_that_was_cut_is_given_again() -> None:
    held = session(2)
    held.ask(AskTurn(2, A))
    held.run_until(lambda debate: bool(debate.live and debate.live[0].text))
    held.ask(PauseDebate(now=True))
    held.run()
    assert [turn.state for turn in held.debate.turns] == ["completed", "completed", "interrupted"]
    assert last_asked_position(held.debate) == (3, held.debate.turns[2].seq - 1)
    ask(held, 2)
    assert [turn.slot for turn in held.debate.turns if turn.has_words] == [0, 1, 2]
    assert len(held.debate.turns) == 4


@pytest.mark.parametrize("calls", [(10,), (10, 11, 12, 13)], ids=["for good", "in the end"])
def test_a_session_is_over_only_when_its_last_turn_was_given(calls: tuple[int, ...]) -> None:
    held = session(10, failing(*calls))
    assert held.debate.status == ("error" if len(calls) == 1 else "paused")
    held.ask(AskTurn(9, B))
    held.run_until(lambda debate: bool(debate.live))
    held.ask(PauseDebate(now=True))
    assert held.run().debate.status == "paused"
    assert ask(held, 9).debate.status == "completed"
    assert [turn.slot for turn in held.debate.turns if turn.has_words] == list(range(10))


def test_each_turn_is_as_fierce_as_it_is_asked_to_be() -> None:
    held = session(1)
    assert held.ask(AskTurn(1, B, intensity=5)) == (SeatFilled("part_2", B), DebateResumed("turn", 5))
    held.run()
    assert held.ask(AskTurn(2, A, intensity=5)) == (DebateResumed("turn"),)
    held.run()
    mild, fierce, still_fierce = (sent.request.instructions for sent in held.sent)
    assert intensity(3) in mild
    assert intensity(5) in fierce
    assert intensity(5) in still_fierce


def test_what_a_crash_has_left_is_asked_for_anew() -> None:
    held = session(1)
    held.ask(AskTurn(1, B))
    held.run_until(lambda debate: bool(debate.live))
    held.crash()
    held.run()
    assert held.debate.status == "paused"
    ask(held, 1)
    assert [turn.slot for turn in held.debate.turns if turn.has_words] == [0, 1]


def test_a_turn_out_of_turn_is_refused_with_the_one_that_is_next() -> None:
    held = session(2)
    assert problems(held, AskTurn(3, B)) == {"turnNumber": ["The next turn is 3"]}
    held.ask(SkipTurn(slot=2))
    assert problems(held, AskTurn(2, A)) == {"turnNumber": ["The next turn is 4"]}


def test_a_chain_is_the_speakers_own() -> None:
    held = session(4)
    own, others = (held.debate.turns[place].response_id for place in (2, 3))
    assert own
    assert held.ask(AskTurn(4, A, own)) == (DebateResumed("turn"),)
    held.run()
    last = last_turn_of_speaker(held.debate, 5)
    assert last is not None
    told = {"previousResponseId": ["Must be the last response of this turn's own model"]}
    for previous in (own, "resp_of_nobody"):
        assert problems(held, AskTurn(5, B, previous)) == told
    for previous in (others, client_response_id(held.debate, last, private=False), None):
        assert decide(held.debate, AskTurn(5, B, previous)) == (DebateResumed("turn"),)


def test_the_turn_to_watch_is_known_before_it_begins() -> None:
    held = session(1)
    held.ask(AskTurn(1, B))
    number, after = stream_position(held.debate, 1)
    assert last_asked_position(held.debate) == (number, after) == (2, held.debate.seq)
    held.run()
    assert held.debate.turns[1].number == number
    assert stream_position(held.debate, 1) == (2, held.debate.turns[1].seq - 1)
    assert last_asked_position(session().debate) is None


def test_other_debates_are_not_asked_for_turns_and_over_is_over() -> None:
    assert problems(Simulation(opened(), speak), AskTurn(0, A))
    held = session(1)
    held.ask(Stop())
    assert isinstance(held.ask(AskTurn(1, B)), Refused)
    held = session(1)
    held.ask(AskTurn(1, B))
    assert held.ask(AskTurn(1, B)) == ()


def test_no_turn_follows_by_itself() -> None:
    held = session(1)
    for step in (None, "turn"):
        assert isinstance(held.ask(ResumeDebate(step)), Refused)
    failed = session(2, failing(2))
    assert failed.debate.status == "error"
    assert failed.ask(Retry()) == (TurnRetried(2), DebateResumed("turn"))


def test_the_side_that_was_not_asked_is_nobodys() -> None:
    held = session(1)
    for deed in (
        TakeSeat("part_2"),
        LeaveSeat("part_2"),
        KeepDraft("part_2", "Well"),
        GiveSpeech("part_2", "No."),
    ):
        refused = held.ask(deed)
        assert isinstance(refused, Refused)
        assert refused.reason == "No model has been named for this seat yet."
    assert not participants(held.debate)["part_2"].person
    assert not [deed for deed in open_actions(held.debate) if deed.endswith("part_2") or deed == "resume"]
    assert summary(held.debate).models == ("scripted/a", "")


def test_a_turn_that_waits_for_a_person_who_never_was_there_is_given_by_the_model() -> None:
    """As logs have it from the time when such a session could be resumed."""
    debate = session(1).debate
    for event in (
        DebateResumed(),
        TurnStarted(2, 1, 1, "opening", "opening", "part_2"),
        CallStarted(2, "human/human", "", 1, 0, 0, Money(0), turn=2),
    ):
        debate = evolve(debate, Recorded(debate.id, debate.seq + 1, debate.updated_at, 1, event))
    *settled, cut, filled, going_on = decide(debate, AskTurn(1, B))
    assert [type(event) for event in settled] == [CallCompleted]
    assert (cut, filled) == (TurnInterrupted(2, "pause"), SeatFilled("part_2", B))
    assert going_on == DebateResumed("turn")


def test_a_person_who_sits_there_is_not_replaced() -> None:
    person = replace(OPENING.seats[0], model=UNASSIGNED_MODEL, stand_in=A)
    held = Simulation(replace(OPENING, seats=(person, OPENING.seats[1])), speak)
    held.ask(Start("turn"))
    held.run_until(lambda debate: bool(debate.live))
    assert problems(held, AskTurn(0, B)) == {"modelId": ["Must be human, as before"]}


ACTS = ("ask", "ask", "again", "ahead", "walk", "walk", "cut", "crash")


@given(
    st.lists(st.tuples(st.sampled_from(ACTS), st.integers(1, 9)), max_size=40), st.sets(st.integers(1, 30))
)
@settings(max_examples=100)
def test_whatever_is_asked_turns_follow_one_another_and_each_chain_is_its_own(
    acts: list[tuple[str, int]], broken: set[int]
) -> None:
    def script(sent: Sent) -> Reply:
        return Reply(fault="bad_key", severity="permanent") if sent.call in broken else speak(sent)

    held = session(script=script)
    held.ask(Start("turn"))
    for act, size in acts:
        given_ = [turn.slot for turn in held.debate.turns if turn.has_words]
        slot = {"again": len(given_) - 1, "ahead": len(given_) + 1}.get(act, len(given_))
        match act:
            case "walk":
                for _ in range(size):
                    held.step()
            case "cut":
                held.ask(PauseDebate(now=True))
            case "crash":
                held.crash()
            case _ if 0 <= slot < 10:
                with suppress(Invalid):
                    held.ask(AskTurn(slot, (A, B)[slot % 2]))
            case _:
                pass
        assert len(held.debate.live) <= 1
    held.run()
    said = [turn for turn in held.debate.turns if turn.has_words]
    assert [turn.slot for turn in said] == list(range(len(said)))
    for sent in held.sent:
        own = [turn for turn in sent.debate.turns if turn.has_words and turn.seat == sent.debate.live[0].seat]
        chain = sent.request.previous_response_id
        assert chain is None or chain == own[-1].response_id
