"""What people in the room may do, and when: decided on the state alone, with a clock that stands still."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from moot.core.errors import Invalid, Refused
from moot.core.events import (
    AsideAnswered,
    AsideAsked,
    AsideFailed,
    BallotCast,
    CallCompleted,
    CallDelta,
    CallStarted,
    DebateFailed,
    DebateOpened,
    DraftKept,
    Event,
    JudgingStarted,
    PollClosed,
    PollOpened,
    Recorded,
    SeatLeft,
    SeatTaken,
    TurnCompleted,
    TurnFailed,
    TurnInterrupted,
    TurnStarted,
    VoteCast,
)
from moot.core.evolve import evolve, fold
from moot.core.state import Debate, Turn
from moot.core.terms import (
    FREE,
    HUMAN,
    Ballot,
    DebateLimits,
    DebateSetup,
    Judge,
    Model,
    PartyScore,
    PollSettings,
    Seat,
)
from moot.engine.jobs import HumanJob
from moot.rules import runner_decisions
from moot.rules.budget import CallPurpose
from moot.rules.commands import (
    Abort,
    Command,
    DecideWinner,
    ExtendDebate,
    JudgeNow,
    PauseDebate,
    ResumeDebate,
    SkipTurn,
    Start,
    Stop,
    decide,
)
from moot.rules.participation import (
    MAX_DELTA_CHARS,
    MAX_SPEECH_CHARS,
    MAX_VOTES,
    AnswerPoint,
    CastVote,
    ClosePoll,
    GiveSpeech,
    KeepDraft,
    LeaveSeat,
    OfferPoint,
    SubmitBallot,
    TakeSeat,
    draft,
)
from moot.rules.runner_decisions import wants_runner
from moot.testing.event_factories import SCRIPTED, opened, seats, table
from tests.rules.random_debates import blind
from tests.rules.simulate import MUCH_LATER

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)
PERSON = Model(HUMAN, "ada", price=FREE)
STAND_IN = Model("scripted", "understudy", price=FREE)


class Room:
    """A debate and a clock; what is done is decided on its head, as a store would."""

    def __init__(self, opening: DebateOpened) -> None:
        self.now = NOON
        self.log: list[Event] = []
        self.state: Debate | None = None
        self.write(opening)

    @property
    def debate(self) -> Debate:
        assert self.state is not None
        return self.state

    @property
    def turn(self) -> Turn:
        return self.debate.live[0]

    def write(self, *events: Event) -> None:
        for event in events:
            seq = len(self.log) + 1
            self.log.append(event)
            self.state = evolve(self.state, Recorded("deb_1", seq, self.now, 1, event))

    def do(self, command: Command) -> list[Event]:
        decision = decide(self.debate, command)
        if isinstance(decision, Refused):
            raise decision
        self.write(*decision)
        return [*decision]

    def go(self) -> Room:
        """What a runner would write down next."""
        self.write(*runner_decisions.advance(self.debate))
        return self

    def after(self, seconds: float) -> Room:
        self.now += timedelta(seconds=seconds)
        return self

    def time_is_up(self, **purpose: Any) -> list[Event]:
        events = runner_decisions.time_is_up(self.debate, CallPurpose(**purpose))
        self.write(*events)
        return [*events]

    def left(self, **purpose: Any) -> float | None:
        return HumanJob(CallPurpose(**purpose), "").seconds_left(self.debate, self.now)


def person(stand_in: Model | None = None, **changes: Any) -> tuple[Seat, ...]:
    first, second = seats("for", "against")
    return replace(first, model=PERSON, stand_in=stand_in, **changes), second


def room(stand_in: Model | None = None, **changes: Any) -> Room:
    """A person opens, a model answers; it is the person's turn."""
    made = Room(table("free", seats=person(stand_in), **changes))
    made.do(Start())
    return made.go()


# --- speaking -----------------------------------------------------------------------------------------


def test_a_person_has_the_floor_in_the_same_breath_as_their_turn_begins() -> None:
    events = room().log
    assert [type(event) for event in events[-2:]] == [TurnStarted, CallStarted]
    started = events[-1]
    assert isinstance(started, CallStarted)
    assert (started.model, started.reserved, started.request) == ("human/ada", 0, "")


def test_a_speech_that_is_said_at_once_is_whole() -> None:
    made = room()
    made.do(GiveSpeech("a", "  Cats purr. "))
    turn = made.debate.turns[0]
    assert (turn.text, turn.words, turn.state, turn.cost) == ("Cats purr.", 2, "completed", 0)
    assert not made.debate.calls


def test_what_is_typed_live_is_shown_piece_by_piece() -> None:
    made = room()
    assert made.do(KeepDraft("a", "Cats ", live=True)) == [CallDelta(1, 0, "text", "Cats ")]
    assert made.do(KeepDraft("a", "Cats purr", live=True)) == [CallDelta(1, 0, "text", "purr")]
    assert made.do(KeepDraft("a", "Cats purr", live=True)) == []
    assert draft(made.debate, "a") == "Cats purr"
    made.do(GiveSpeech("a", "Cats purr loudly."))
    assert made.debate.turns[0].text == "Cats purr loudly."
    shown = "".join(event.text for event in made.log if isinstance(event, CallDelta))
    assert shown == "Cats purr loudly."


def test_who_goes_back_and_changes_what_was_shown_is_shown_no_further() -> None:
    made = room()
    made.do(KeepDraft("a", "Cats bark", live=True))
    assert made.do(KeepDraft("a", "Cats purr", live=True)) == [DraftKept("a", "Cats purr")]
    assert (made.turn.text, draft(made.debate, "a")) == ("Cats bark", "Cats purr")
    made.do(GiveSpeech("a"))
    assert (made.debate.turns[0].text, made.debate.turns[0].words) == ("Cats purr", 2)


def test_who_changes_it_back_is_shown_again() -> None:
    made = room()
    made.do(KeepDraft("a", "Cats", live=True))
    made.do(KeepDraft("a", "Dogs", live=True))
    assert made.do(KeepDraft("a", "Cats", live=True)) == [DraftKept("a", "Cats")]
    assert made.do(KeepDraft("a", "Cats purr", live=True)) == [CallDelta(1, 0, "text", " purr")]
    assert draft(made.debate, "a") == "Cats purr"


def test_who_deletes_all_that_was_shown_has_an_empty_draft() -> None:
    made = room()
    made.do(KeepDraft("a", "Cats", live=True))
    made.do(KeepDraft("a", "", live=True))
    assert draft(made.debate, "a") == ""
    with pytest.raises(Invalid, match="words"):
        made.do(GiveSpeech("a"))


def test_a_draft_may_be_written_before_ones_turn_and_is_said_without_being_sent_again() -> None:
    made = Room(table("free", seats=person()))
    made.do(KeepDraft("a", "Prepared."))
    assert made.do(KeepDraft("a", "Prepared.")) == []
    made.do(Start())
    made.go().do(GiveSpeech("a"))
    assert made.debate.turns[0].text == "Prepared."
    assert made.debate.drafts == {}


def test_a_long_text_is_written_in_pieces() -> None:
    made = room()
    made.do(GiveSpeech("a", "x" * (MAX_DELTA_CHARS + 1)))
    assert [len(event.text) for event in made.log if isinstance(event, CallDelta)] == [MAX_DELTA_CHARS, 1]


def test_a_speech_over_its_budget_is_kept_whole_and_heard_in_part() -> None:
    made = room()
    budget = made.debate.word_budget(made.turn.slot)
    made.do(GiveSpeech("a", "word " * budget * 2))
    turn = made.debate.turns[0]
    assert (turn.words, turn.over_length) == (budget * 2, True)
    assert 0 < turn.clipped < turn.words


@pytest.mark.parametrize(
    ("deed", "reason"),
    [
        (GiveSpeech("b", "Woof."), "A model sits"),
        (KeepDraft("b", "Woof."), "A model sits"),
        (AnswerPoint("a", accept=True), "Nobody has offered"),
        (OfferPoint("a", "But why?"), "while the other side speaks"),
        (TakeSeat("a", "bob"), "A person sits"),
        (LeaveSeat("a"), "No model stands in"),
        (LeaveSeat("b"), "Nobody sits"),
        (CastVote("v", "for"), "No vote is open"),
        (ClosePoll(), "No vote is open"),
        (SubmitBallot(Ballot("judge", 0, None, {}, "")), "not being judged"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else "",
)
def test_what_cannot_be_done_now_is_refused_with_the_reason(deed: Command, reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        room().do(deed)


@pytest.mark.parametrize(
    ("deed", "field"),
    [
        (GiveSpeech("a", " "), "text"),
        (GiveSpeech("a", "x" * (MAX_SPEECH_CHARS + 1)), "text"),
        (KeepDraft("a", "x" * (MAX_SPEECH_CHARS + 1)), "text"),
        (OfferPoint("a", ""), "text"),
        (GiveSpeech("z", "Hello."), "seat"),
        (TakeSeat("z"), "seat"),
        (LeaveSeat("z"), "seat"),
    ],
)
def test_a_mistake_is_named(deed: Command, field: str) -> None:
    with pytest.raises(Invalid) as error:
        room().do(deed)
    assert list(error.value.problems) == [field]


def test_of_two_speeches_at_once_the_second_is_refused() -> None:
    made = room()
    made.do(GiveSpeech("a", "First."))
    with pytest.raises(Refused, match="not this seat's turn"):
        made.do(GiveSpeech("a", "Second."))


def test_a_person_may_speak_while_the_debate_is_paused() -> None:
    made = room()
    made.do(PauseDebate())
    made.do(GiveSpeech("a", "Meanwhile."))
    assert made.debate.status == "paused"
    assert made.debate.turns[0].has_words


def test_a_person_may_finish_when_the_other_has_stopped_the_debate_by_a_fault() -> None:
    made = Room(opened(format=blind(), seats=person(), limits=DebateLimits(2)))
    made.do(Start())
    made.go()
    made.write(TurnFailed(2, "bad_key", "No."), DebateFailed("permanent_fault", "No."))
    made.do(GiveSpeech("a", "Still here."))
    assert made.debate.status == "error"
    assert made.debate.turns[-1].has_words


@pytest.mark.parametrize(
    "command", [Abort(), JudgeNow(), DecideWinner("a"), Stop()], ids=lambda c: type(c).__name__
)
def test_whoever_ends_the_speeches_cuts_the_person_and_leaves_nothing_open(command: Command) -> None:
    made = room()
    made.do(GiveSpeech("a", "One."))
    made.go().write(*runner_decisions.recover(made.debate, MUCH_LATER))
    made = _next_person(made)
    made.do(KeepDraft("a", "Half a", live=True))
    made.do(command)
    assert not made.debate.live
    assert not made.debate.calls
    with pytest.raises(Refused, match="over"):
        made.do(GiveSpeech("a", "Half a sentence."))


def _next_person(made: Room) -> Room:
    """The model's speech falls out; it is the person's turn again."""
    made.do(SkipTurn(slot=made.debate.remaining_slots()[0].index))
    return made.go()


def test_who_is_skipped_keeps_the_words_that_were_shown() -> None:
    made = room()
    made.do(KeepDraft("a", "Cats p", live=True))
    made.do(SkipTurn())
    turn = made.debate.turns[0]
    assert (turn.text, turn.has_words, turn.by) == ("Cats p", True, "skip")
    assert not made.debate.calls
    assert made.debate.drafts == {}


def test_who_is_cut_by_a_pause_finds_their_words_again() -> None:
    made = room()
    made.do(KeepDraft("a", "Cats p", live=True))
    made.do(PauseDebate(now=True))
    assert draft(made.debate, "a") == "Cats p"
    made.do(ResumeDebate())
    made.go().do(GiveSpeech("a"))
    assert made.debate.turns[-1].text == "Cats p"


# --- the clock ----------------------------------------------------------------------------------------


def test_a_person_has_the_usual_time_and_what_they_are_given_on_top() -> None:
    made = room(limits=DebateLimits(5, 10, person_seconds=60))
    assert made.after(20).left(turn=1) == 40
    made.do(ExtendDebate(seconds=30))
    assert made.left(turn=1) == 70


def test_a_pause_stops_the_clock() -> None:
    made = room(limits=DebateLimits(5, 10, person_seconds=60))
    made.after(20).do(PauseDebate())
    assert made.after(1000).left(turn=1) is None
    made.do(ResumeDebate())
    assert made.left(turn=1) == 40


def test_a_pause_gives_a_model_no_more_time() -> None:
    made = Room(opened(format=blind(), seats=person(), limits=DebateLimits(2)))
    made.do(Start())
    made.go().do(PauseDebate())
    made.after(100).do(ResumeDebate())
    assert [turn.extended for turn in made.debate.live] == [100, 0]


@pytest.mark.parametrize("live", [True, False], ids=["shown", "in the draft"])
def test_what_is_written_when_the_time_is_up_is_said(live: bool) -> None:
    made = room()
    made.do(KeepDraft("a", "Cats purr and", live=live))
    made.time_is_up(turn=1)
    turn = made.debate.turns[0]
    assert (turn.state, turn.truncated, turn.text, turn.words) == ("completed", "timeout", "Cats purr and", 3)
    with pytest.raises(Refused, match="not this seat's turn"):
        made.do(GiveSpeech("a", "Cats purr and sleep."))


def test_when_the_time_is_up_what_was_changed_counts_and_not_what_was_shown() -> None:
    made = room()
    made.do(KeepDraft("a", "Cats bark", live=True))
    made.do(KeepDraft("a", "Cats purr softly", live=True))
    made.time_is_up(turn=1)
    assert (made.debate.turns[0].text, made.debate.turns[0].words) == ("Cats purr softly", 3)


def test_without_a_word_the_stand_in_speaks_from_then_on() -> None:
    made = room(STAND_IN)
    events = made.time_is_up(turn=1)
    assert [type(event) for event in events] == [CallCompleted, TurnInterrupted, SeatLeft]
    made.go()
    assert made.turn.slot == 0
    assert made.debate.seat("a").model == STAND_IN


def test_without_a_word_or_a_stand_in_the_speech_falls_out() -> None:
    made = room()
    made.time_is_up(turn=1)
    turn = made.debate.turns[0]
    assert (turn.state, turn.by) == ("failed", "timeout")
    assert not made.debate.calls
    made.go()
    assert made.turn.seat == "b"


def test_time_that_was_up_too_late_changes_nothing() -> None:
    made = room(STAND_IN)
    made.do(GiveSpeech("a", "Just in time."))
    assert made.time_is_up(turn=1) == []


def test_a_crash_leaves_a_person_speaking() -> None:
    made = room()
    made.do(KeepDraft("a", "Cats", live=True))
    made.do(KeepDraft("a", "Cats, well", live=False))
    before = made.debate
    assert runner_decisions.recover(made.debate, MUCH_LATER) == ()
    assert runner_decisions.interrupt_for_shutdown(made.debate) == ()
    assert made.debate == before
    made.do(GiveSpeech("a"))
    assert made.debate.turns[0].text == "Cats, well"


def test_a_runner_that_fails_leaves_nothing_that_would_be_run_again_at_once() -> None:
    made = room()
    made.write(*runner_decisions.fail_internally(made.debate, MUCH_LATER))
    assert made.debate.status == "error"
    assert not wants_runner(made.debate)


# --- seats --------------------------------------------------------------------------------------------


def test_a_person_takes_a_models_seat_and_the_model_stands_in() -> None:
    made = room()
    assert made.do(TakeSeat("b", "bob")) == [SeatTaken("b", "bob")]
    seat = made.debate.seat("b")
    assert (seat.model.label, seat.model.price, seat.stand_in) == ("human/bob", FREE, SCRIPTED)


def test_a_seat_is_not_taken_while_it_speaks_or_is_asked_something() -> None:
    made = Room(table("free"))
    made.do(Start())
    made.go()
    with pytest.raises(Refused, match="speaking"):
        made.do(TakeSeat("a", "ada"))
    made.write(AsideAsked(1, "notes", 1, "b"))
    with pytest.raises(Refused, match="speaking"):
        made.do(TakeSeat("b", "bob"))
    made.write(AsideFailed(1, "No."))
    assert made.do(TakeSeat("b", "bob"))


def test_who_leaves_in_mid_speech_gives_way_to_the_stand_in() -> None:
    made = room(STAND_IN)
    made.do(KeepDraft("a", "I have to g", live=True))
    made.do(LeaveSeat("a", "ada"))
    made.go()
    assert (made.turn.slot, made.turn.text) == (0, "")
    assert made.debate.turns[0].by == "absent"
    assert not made.debate.turns[0].has_words
    assert not made.debate.calls


def test_who_leaves_has_declined_what_they_were_asked() -> None:
    made = room(STAND_IN)
    made.write(AsideAsked(1, "leave", 0, "a", turn=1))
    made.do(LeaveSeat("a"))
    assert not made.debate.open_asides


def test_who_comes_back_takes_the_seat_from_the_stand_in() -> None:
    made = room(STAND_IN)
    made.do(LeaveSeat("a"))
    made.do(TakeSeat("a", "ada"))
    made.go().do(GiveSpeech("a", "Back again."))
    assert made.debate.turns[-1].text == "Back again."
    assert made.debate.seat("a").stand_in == STAND_IN


# --- points of information ----------------------------------------------------------------------------


def point_room(*, human: str) -> Room:
    """Two seats on a row with points of information; the one named is a person."""
    fmt = table("oxford").format
    phases = tuple(replace(phase, points_of_information=True) for phase in fmt.phases)
    both = tuple(
        replace(seat, model=PERSON) if seat.id == human else seat for seat in seats("for", "against")
    )
    made = Room(opened(format=replace(fmt, phases=phases), seats=both, limits=DebateLimits(3)))
    made.do(Start())
    return made.go()


def test_a_person_offers_one_point_in_each_speech_of_the_other_side() -> None:
    made = point_room(human="b")
    assert made.do(OfferPoint("b", " Why? ")) == [
        AsideAsked(1, "point", 0, "b", turn=1),
        AsideAnswered(1, yes=True, text="Why?"),
    ]
    with pytest.raises(Refused, match="have offered"):
        made.do(OfferPoint("b", "And how?"))


def test_nobody_offers_a_point_to_their_own_side() -> None:
    with pytest.raises(Refused, match="while the other side speaks"):
        point_room(human="a").do(OfferPoint("a", "Why?"))


def test_a_person_who_speaks_says_whether_they_take_a_point() -> None:
    made = point_room(human="a")
    made.write(AsideAsked(1, "leave", 0, "a", turn=1))
    assert made.do(AnswerPoint("a", accept=True)) == [AsideAnswered(1, yes=True)]
    with pytest.raises(Refused, match="Nobody has offered"):
        made.do(AnswerPoint("a", accept=False))


def test_a_pause_stops_the_clock_of_who_is_asked() -> None:
    made = point_room(human="a")
    made.write(AsideAsked(1, "leave", 0, "a", turn=1))
    before = made.after(5).left(aside=1)
    made.do(PauseDebate())
    made.after(500).do(ResumeDebate())
    assert made.left(aside=1) == before


def test_no_answer_is_a_no() -> None:
    made = point_room(human="a")
    made.write(AsideAsked(1, "leave", 0, "a", turn=1))
    made.time_is_up(aside=1)
    assert [(aside.state, aside.yes) for aside in made.debate.asides] == [("failed", False)]


# --- judging ------------------------------------------------------------------------------------------


def bench(*, models: int = 0) -> Room:
    """A debate with something said, being judged by a person and perhaps by models."""
    judges = [Judge("person", "Ada", PERSON)] + [Judge(f"model_{n}", "M", SCRIPTED) for n in range(models)]
    made = room(judges=tuple(judges), limits=DebateLimits(5, 10, person_seconds=60))
    made.do(GiveSpeech("a", "Cats purr."))
    made.do(JudgeNow())
    return made


def ballot(**changes: Any) -> Ballot:
    scores = {"a": PartyScore(80), "b": PartyScore(70)}
    return replace(Ballot("person", 0, "a", scores, "She made me laugh.", cites=(1,)), **changes)


def test_a_person_judges_once_whatever_order_they_name() -> None:
    made = bench()
    assert made.do(SubmitBallot(ballot(order=1))) == [BallotCast(1, ballot())]
    with pytest.raises(Refused, match="has voted"):
        made.do(SubmitBallot(ballot(winner="b")))


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"winner": "z"}, "winner"),
        ({"scores": {"z": PartyScore(50)}}, "scores"),
        ({"scores": {"a": PartyScore(101)}}, "scores"),
        ({"cites": (7,)}, "cites"),
        ({"ranking": ("a",)}, "ranking"),
        ({"reasoning": "x" * (MAX_SPEECH_CHARS + 1)}, "reasoning"),
    ],
)
def test_a_ballot_that_says_what_cannot_be_is_turned_down(changes: dict[str, Any], field: str) -> None:
    with pytest.raises(Invalid) as error:
        bench().do(SubmitBallot(ballot(**changes)))
    assert list(error.value.problems) == [field]


def test_nobody_casts_the_ballot_of_a_model() -> None:
    with pytest.raises(Refused, match="in person"):
        bench(models=1).do(SubmitBallot(ballot(judge="model_0")))


def test_a_persons_time_to_judge_begins_when_the_models_have_judged() -> None:
    made = bench(models=1).after(500)
    made.write(BallotCast(1, ballot(judge="model_0")))
    assert made.after(20).left(judge="person") == 40


def test_a_judge_who_does_not_vote_in_time_has_spoiled_the_ballot() -> None:
    made = bench()
    made.time_is_up(judge="person")
    assert made.debate.judging is not None
    assert made.debate.judging.spoiled == (("person", 0),)


# --- voting -------------------------------------------------------------------------------------------


def poll_room(seconds: float | None = None) -> Room:
    made = Room(table("free", setup=DebateSetup(winning="audience", polls=PollSettings(seconds=seconds))))
    made.do(Start())
    return made.go()


def test_one_voter_has_one_vote_in_each_poll() -> None:
    made = poll_room()
    assert made.do(CastVote("v", "for")) == [VoteCast("before", "v", "for")]
    with pytest.raises(Refused, match="have voted"):
        made.do(CastVote("v", "against"))
    assert made.do(CastVote("w", "undecided"))
    made.do(ClosePoll("chair"))
    assert made.go().turn.seat == "a"


def test_a_vote_after_its_poll_has_closed_is_late() -> None:
    made = poll_room()
    made.do(ClosePoll())
    with pytest.raises(Refused, match="No vote is open"):
        made.do(CastVote("v", "for"))
    assert made.do(CastVote("v", "for", "before")) == [VoteCast("before", "v", "for", late=True)]


def test_a_poll_that_nobody_closed_is_over_with_the_debate() -> None:
    made = poll_room()
    made.do(Abort())
    with pytest.raises(Refused, match="No vote is open"):
        made.do(ClosePoll())
    assert made.do(CastVote("v", "for", "before")) == [VoteCast("before", "v", "for", late=True)]


def test_a_vote_is_for_something_that_there_is() -> None:
    with pytest.raises(Invalid) as error:
        poll_room().do(CastVote("v", "cats"))
    assert error.value.problems == {"choice": ["Must be one of: for, against, undecided"]}


def test_a_poll_that_is_not_open_yet_takes_no_vote() -> None:
    with pytest.raises(Refused, match="not open yet"):
        poll_room().do(CastVote("v", "for", "after"))


def test_a_debate_takes_so_many_votes_and_no_more() -> None:
    made = poll_room()
    made.write(*(VoteCast("before", str(number), "for") for number in range(MAX_VOTES)))
    with pytest.raises(Refused, match="at most"):
        made.do(CastVote("one more", "for"))


def test_a_pause_stops_the_clock_of_a_vote() -> None:
    made = poll_room(seconds=60)
    made.after(10).do(PauseDebate())
    made.after(100).do(ResumeDebate())
    poll = made.debate.poll("before")
    assert poll is not None
    assert poll.seconds == 160


def test_a_closed_poll_is_not_closed_again() -> None:
    made = poll_room(seconds=60)
    assert runner_decisions.close_poll(made.debate, "before") == (PollClosed("before", "clock"),)
    made.do(ClosePoll())
    assert runner_decisions.close_poll(made.debate, "before") == ()


# --- all of it ----------------------------------------------------------------------------------------


def test_what_people_did_folds_to_the_same_state_from_any_cut() -> None:
    made = room(STAND_IN)
    made.do(KeepDraft("a", "Cats", live=True))
    made.do(KeepDraft("a", "Dogs"))
    made.after(3).do(PauseDebate())
    made.after(3).do(ResumeDebate())
    made.do(GiveSpeech("a"))
    made.do(TakeSeat("b", "bob"))
    made.go().do(LeaveSeat("b"))
    records = [Recorded("deb_1", seq, NOON, 1, event) for seq, event in enumerate(made.log, 1)]
    whole = fold(records)
    for place in range(1, len(records)):
        assert fold(records[place:], fold(records[:place])) == whole


def test_being_judged_again_waits_for_people_too() -> None:
    made = room(judges=(Judge("person", "Ada", PERSON),))
    made.do(GiveSpeech("a", "Cats purr."))
    made.do(DecideWinner("a"))
    made.write(JudgingStarted(1, "judged", judges=(Judge("person", "Ada", PERSON),)))
    assert wants_runner(made.debate)
    made.do(SubmitBallot(ballot()))
    assert made.debate.status == "completed"


def test_a_runner_that_fails_while_judging_again_leaves_the_first_verdict() -> None:
    made = room()
    made.do(GiveSpeech("a", "Cats purr."))
    made.do(DecideWinner("a"))
    made.write(JudgingStarted(1, "judged", judges=(Judge("person", "Ada", PERSON),)))
    made.write(*runner_decisions.fail_internally(made.debate, MUCH_LATER))
    assert made.debate.status == "completed"
    assert not wants_runner(made.debate)


def test_a_poll_opens_before_the_first_word() -> None:
    assert isinstance(poll_room().log[-1], PollOpened)


def test_a_turn_that_is_over_length_or_not_says_how_many_words_it_had() -> None:
    made = room()
    said = [e for e in made.do(GiveSpeech("a", "One two three.")) if isinstance(e, TurnCompleted)]
    assert said == [TurnCompleted(1, 3)]
