"""Who hears what, and who sees what."""

from __future__ import annotations

from typing import get_args

import pytest
from msgspec.structs import replace

from moot.core.events import (
    AsideAnswered,
    AsideAsked,
    AsideFailed,
    BallotCast,
    BallotSpoiled,
    CallCompleted,
    CallDelta,
    CallStarted,
    DebateEnded,
    DebateImported,
    DebateOpened,
    DebatePaused,
    DraftKept,
    Event,
    JudgingStarted,
    PointRaised,
    Recorded,
    RemarkInjected,
    SegmentCompleted,
    TurnCompleted,
    TurnInterrupted,
    TurnStarted,
    VoteCast,
)
from moot.core.extension_events import ExtensionEvent
from moot.core.state import Debate
from moot.core.terms import (
    DebateLimits,
    DebateSetup,
    PartStart,
    Reasoning,
    ReasoningPart,
    Segment,
    Text,
    ToolCall,
    ToolResult,
    UnknownItem,
)
from moot.core.visibility import (
    OBSERVER,
    OWNER,
    Heard,
    Viewer,
    hears,
    visible_event,
    visible_segment,
    visible_state,
)
from moot.rules.commands import AddRemark, PauseDebate, ResumeDebate, Retry, SkipTurn
from moot.testing.event_factories import (
    FENCE,
    call_started,
    delta,
    log,
    opened,
    seats,
    state,
    table,
    turn_started,
)
from tests.core.sample_events import (
    EVENTS,
    answered,
    asked,
    completed,
    declined,
    drafted,
    secretive,
    started,
    thought,
    vote,
    whisper,
    whole_thought,
)
from tests.rules.random_debates import blind
from tests.rules.simulate import Reply, Simulation, in_turn, speak, speeches
from tests.support.for_each import for_each

# --- hears --------------------------------------------------------------------------------------------


def heard(debate: Debate) -> list[tuple[str, str]]:
    return [(item.kind, item.text) for item in hears(debate, debate.live[0])]


def live(simulation: Simulation, turn: int) -> Simulation:
    return simulation.run_until(lambda d: d.is_live(turn))


def test_the_first_speaker_has_heard_nothing() -> None:
    debate = live(Simulation(table(), speak).start(), 1).debate
    assert hears(debate, debate.live[0]) == ()


def test_a_seat_hears_its_own_words_and_the_others() -> None:
    debate = live(Simulation(table(), speeches("One.", "Two.")).start(), 3).debate
    assert hears(debate, debate.live[0]) == (
        Heard("own", "One.", "a", 1, 1),
        Heard("other", "Two.", "b", 2, 1),
    )


def test_nobody_hears_what_anybody_thought() -> None:
    thinking = Reply("Two.", reasoning="They will not see this coming.")
    debate = live(Simulation(table(), in_turn([Reply("One."), thinking])).start(), 3).debate
    assert heard(debate) == [("own", "One."), ("other", "Two.")]


def test_a_remark_is_heard_by_the_turns_that_start_after_it_and_not_by_the_live_one() -> None:
    debate = live(Simulation(table(), speeches("One.", "Two.")).start(), 1)
    debate.ask(AddRemark("Louder!"))
    assert heard(debate.debate) == []
    assert heard(live(debate, 2).debate) == [("other", "One."), ("remark", "Louder!")]
    assert heard(live(debate, 3).debate) == [("own", "One."), ("remark", "Louder!"), ("other", "Two.")]


def test_a_remark_to_one_seat_is_heard_by_that_seat() -> None:
    debate = live(Simulation(table(), speeches("One.", "Two.")).start(), 1)
    debate.ask(AddRemark("Louder!", to="a"))
    assert heard(live(debate, 2).debate) == [("other", "One.")]
    assert ("remark", "Louder!") in heard(live(debate, 3).debate)


def test_a_speech_that_was_cut_is_heard_as_far_as_it_went() -> None:
    debate = Simulation(table(), in_turn([Reply("One and more.", piece=3)])).start()
    debate.run_until(lambda d: bool(d.live and d.live[0].text))
    debate.ask(SkipTurn())
    assert heard(live(debate, 2).debate) == [("other", "One")]


def test_a_failed_speech_is_heard_by_nobody() -> None:
    silent = Reply("Hm, ", fault="empty", severity="unusable")
    assert heard(live(Simulation(table(), in_turn([silent, silent])).start(), 2).debate) == []


def test_a_struck_speech_is_heard_by_nobody() -> None:
    debate = Simulation(table(), in_turn([Reply("One and more.", piece=3), Reply("Again.")])).start()
    debate.run_until(lambda d: bool(d.live and d.live[0].text))
    debate.ask(SkipTurn())
    debate.ask(PauseDebate())
    debate.run()
    debate.ask(Retry())
    debate.ask(ResumeDebate())
    assert heard(live(debate, 3).debate) == [("other", "Again.")]


def test_those_who_speak_at_the_same_time_do_not_hear_one_another() -> None:
    opening = opened(format=blind(), seats=seats("for", "against"), limits=DebateLimits(2))
    debate = Simulation(opening, speeches("One.", "Two.")).start()
    debate.run_until(lambda d: len(d.turns) == 1)
    assert hears(debate.debate, debate.debate.live[0]) == ()


@pytest.mark.parametrize("pick", [0, 1], ids=["first ends first", "second ends first"])
def test_what_was_said_at_the_same_time_is_heard_after_ones_own_speech(pick: int) -> None:
    opening = opened(format=blind(), seats=seats("for", "against"), limits=DebateLimits(2))
    debate = Simulation(opening, lambda sent: Reply(f"I am {sent.request.model.name}.")).start()
    while not debate.debate.is_live(3):
        debate.step(pick)
    for turn in debate.debate.live:
        assert [item.kind for item in hears(debate.debate, turn)] == ["own", "other"]


# --- visible ------------------------------------------------------------------------------------------

PARTICIPANT = Viewer("participant", "for")
MODERATOR = Viewer("moderator")
JUDGE = Viewer("judge")
VIEWERS = (OWNER, MODERATOR, OBSERVER, PARTICIPANT, JUDGE)

ALTERED = (DebateOpened, CallStarted, CallCompleted)
SECRET = (AsideAnswered, AsideAsked, AsideFailed, DebateImported, DraftKept, PointRaised, VoteCast)
NOBODYS = (DraftKept, VoteCast)
"""What is not even for those who conduct the debate."""


def shown(event: Event, viewer: Viewer, setup: DebateSetup | None = None) -> Event | None:
    debate = state(opened(setup=setup or DebateSetup()))
    recorded = replace(log(event)[0], seq=2)
    seen = visible_event(debate, recorded, viewer)
    return seen.event if seen else None


def test_every_kind_of_event_has_its_audience() -> None:
    assert {type(event) for event in EVENTS} == set(get_args(Event)) - {ExtensionEvent}


@for_each(
    "event",
    [*(e for e in EVENTS if not isinstance(e, NOBODYS)), thought, whole_thought, whisper],
    ids=lambda e: type(e).__name__,
)
@for_each("viewer", [OWNER, MODERATOR], ids=lambda v: v.role)
def test_owner_and_moderator_see_everything(event: Event, viewer: Viewer) -> None:
    if isinstance(event, DebateOpened) and viewer != OWNER:
        event = replace(event, fence="")
    assert shown(event, viewer, DebateSetup(show_reasoning=False)) == event


@pytest.mark.parametrize("viewer", [OWNER, MODERATOR, OBSERVER, JUDGE, Viewer("participant", "for")])
def test_only_the_owner_sees_the_secret_of_the_fences(viewer: Viewer) -> None:
    event = shown(opened(), viewer, DebateSetup())
    assert isinstance(event, DebateOpened)
    secret = FENCE if viewer == OWNER else ""
    assert (event.fence, visible_state(state(opened()), viewer).fence) == (secret, secret)


@for_each(
    "event", [e for e in EVENTS if not isinstance(e, (*ALTERED, *SECRET))], ids=lambda e: type(e).__name__
)
@for_each("viewer", [OBSERVER, PARTICIPANT], ids=lambda v: v.role)
def test_what_holds_no_secret_is_seen_by_all(event: Event, viewer: Viewer) -> None:
    assert shown(event, viewer) == event


def test_secret_aims_and_orders_are_hidden_from_those_who_watch() -> None:
    event = shown(secretive, OBSERVER)
    assert isinstance(event, DebateOpened)
    assert {(seat.objective, seat.system_prompt, seat.persona) for seat in event.seats} == {("", "", "calm")}


def test_a_participant_sees_its_own_aim_alone() -> None:
    event = shown(secretive, PARTICIPANT)
    assert isinstance(event, DebateOpened)
    assert [seat.objective for seat in event.seats] == ["aim of for", ""]
    assert [seat.system_prompt for seat in event.seats] == ["orders of for", ""]


@pytest.mark.parametrize("event", [thought, whole_thought], ids=["delta", "segment"])
def test_thoughts_are_for_those_who_watch_if_the_debate_says_so(event: Event) -> None:
    assert shown(event, OBSERVER) == event
    assert shown(event, OBSERVER, DebateSetup(show_reasoning=False)) is None
    assert shown(event, PARTICIPANT) is None
    assert shown(event, JUDGE) is None


@pytest.mark.parametrize(
    "segment",
    [Reasoning((ReasoningPart("Hm."),), opaque="c2VhbGVk"), ToolCall("1", "look", "{}", opaque="s")],
)
def test_what_goes_back_to_a_provider_unread_is_not_shown(segment: Segment) -> None:
    event = shown(SegmentCompleted(1, segment), OBSERVER)
    assert isinstance(event, SegmentCompleted)
    assert isinstance(event.segment, Reasoning | ToolCall)
    assert (event.segment.opaque, event.segment.index) == ("", segment.index)
    assert shown(SegmentCompleted(1, segment), OWNER) == SegmentCompleted(1, segment)


OF_PROVIDER: list[Segment] = [
    Text("So.", 1, "msg_secret", 3, annotations=({"url": "https://x", "file_id": "secret"},)),
    Reasoning((ReasoningPart("Hm."),), 0, "rs_secret", opaque="secret"),
    ToolCall("secret", "look", "{}", 2, "fc_secret", opaque="secret"),
    ToolResult("secret", "Found.", index=3),
    UnknownItem("hologram", {"id": "secret", "frames": [{"frame_id": "secret", "n": 1}]}, 4, "h_secret"),
]


@pytest.mark.parametrize("viewer", [OBSERVER, PARTICIPANT, JUDGE], ids=lambda v: v.role)
def test_the_ids_of_a_provider_are_only_for_those_who_conduct_the_debate(viewer: Viewer) -> None:
    events: list[Event] = [SegmentCompleted(1, segment) for segment in OF_PROVIDER]
    events.append(CallDelta(1, 0, "text", "So.", PartStart("msg_secret", 3)))
    events.append(CallDelta(1, 0, "reasoning", "Hm.", PartStart("rs_secret", 3, 1, 4)))
    seen = [event for event in (shown(event, viewer) for event in events) if event is not None]
    assert len(seen) == (len(events) if viewer == OBSERVER else len(events) - 3)
    assert "secret" not in str(seen)
    assert [shown(event, OWNER) for event in events] == events


def test_a_result_still_refers_to_its_call() -> None:
    call, result = (visible_segment(segment, OBSERVER) for segment in OF_PROVIDER[2:4])
    assert isinstance(call, ToolCall)
    assert isinstance(result, ToolResult)
    assert call.id == result.id != ""
    assert call.id != getattr(visible_segment(ToolCall("other", "look", "{}"), OBSERVER), "id", "")


@pytest.mark.parametrize("viewer", [OBSERVER, PARTICIPANT], ids=lambda v: v.role)
def test_who_has_seen_words_learns_that_they_were_thoughts(viewer: Viewer) -> None:
    taken = SegmentCompleted(1, Reasoning((ReasoningPart("SECRET"),), 0), taken_back=True)
    event = shown(taken, viewer, DebateSetup(show_reasoning=False))
    assert event == SegmentCompleted(1, Reasoning((), 0, redacted=True), taken_back=True)


def test_a_remark_to_one_seat_is_hidden_from_the_other_participants() -> None:
    assert shown(whisper, PARTICIPANT) is None
    assert shown(whisper, Viewer("participant", "against")) == whisper


def test_what_was_sent_is_for_the_owner() -> None:
    for viewer in (OBSERVER, PARTICIPANT):
        event = shown(started, viewer)
        assert isinstance(event, CallStarted)
        assert (event.request, event.previous_response_id) == ("", None)


def test_a_participant_does_not_learn_response_ids() -> None:
    event = shown(completed, PARTICIPANT)
    assert isinstance(event, CallCompleted)
    assert event.response_id is None


@pytest.mark.parametrize("viewer", VIEWERS, ids=lambda v: v.role)
def test_what_is_seen_keeps_its_place_in_the_log(viewer: Viewer) -> None:
    recorded = log(secretive)[0]
    seen = visible_event(state(secretive), recorded, viewer)
    assert isinstance(seen, Recorded)
    assert (seen.seq, seen.at, seen.debate) == (recorded.seq, recorded.at, recorded.debate)


def told(viewer: Viewer, *events: Event) -> Event | None:
    """The last of these events, as this viewer sees it in a debate where they all happened."""
    records = log(opened(setup=DebateSetup(show_reasoning=True)), *events)
    seen_by = visible_event(state(*(recorded.event for recorded in records)), records[-1], viewer)
    return seen_by.event if seen_by else None


def test_a_draft_is_for_whoever_writes_it_alone() -> None:
    assert shown(drafted, PARTICIPANT) == drafted
    for viewer in (OWNER, MODERATOR, OBSERVER, JUDGE, Viewer("participant", "against")):
        assert shown(drafted, viewer) is None


@pytest.mark.parametrize("viewer", VIEWERS, ids=lambda v: v.role)
def test_a_vote_is_secret_for_good(viewer: Viewer) -> None:
    assert shown(vote, viewer) == replace(vote, voter="", choice="")


@pytest.mark.parametrize("viewer", [OBSERVER, JUDGE, Viewer("participant", "against")], ids=lambda v: v.role)
def test_what_is_asked_aside_is_for_the_seat_that_is_asked(viewer: Viewer) -> None:
    for event in (asked, answered, AsideFailed(1, "Nothing.")):
        before = () if event is asked else (asked,)
        assert told(viewer, *before, event) is None
        assert told(PARTICIPANT, *before, event) == event
        assert told(MODERATOR, *before, event) == event


def test_a_referees_word_is_for_those_who_conduct_the_debate() -> None:
    referee = AsideAsked(1, "referee", 0, judge="judge", turn=1)
    for viewer in (OBSERVER, JUDGE, PARTICIPANT):
        assert told(viewer, referee) is None
    assert told(OWNER, referee) == referee


@pytest.mark.parametrize("event", [delta("No."), SegmentCompleted(1, Text("No."))], ids=["delta", "segment"])
def test_an_answer_in_the_making_is_as_private_as_the_answer(event: Event) -> None:
    call = call_started(turn=None, aside=1)
    for viewer in (OBSERVER, JUDGE, PARTICIPANT):
        assert told(viewer, asked, call, event) is None
    assert told(OWNER, asked, call, event) == event


def test_a_point_that_was_declined_is_heard_by_nobody() -> None:
    for viewer in (OBSERVER, PARTICIPANT, JUDGE):
        assert shown(declined, viewer) == replace(declined, text="")
        assert shown(replace(declined, accepted=True), viewer) == replace(declined, accepted=True)


def test_a_judge_does_not_read_the_other_ballots() -> None:
    call = call_started(turn=None, judge="judge")
    assert told(JUDGE, JudgingStarted(1, "rounds"), call, delta("{")) is None
    assert told(OBSERVER, JudgingStarted(1, "rounds"), call, delta("{")) == delta("{")
    for event in EVENTS:
        if isinstance(event, BallotCast | BallotSpoiled):
            assert shown(event, JUDGE) is None


def test_a_question_to_one_seat_is_seen_by_all() -> None:
    question = RemarkInjected(1, "What of the mice?", to="against", question=True)
    for viewer in VIEWERS:
        assert shown(question, viewer) == question


# --- at the same time ---------------------------------------------------------------------------------


def at_once() -> tuple[Event, ...]:
    """Both speak blind; the second has said something, and the first nothing yet."""
    turns = (TurnStarted(n, n - 1, 1, "opening", "opening", seat) for n, seat in ((1, "a"), (2, "b")))
    opening = opened(format=blind(), seats=seats("for", "against"), limits=DebateLimits(2))
    return (opening, *turns, call_started(1, 1), call_started(2, 2), CallDelta(2, 0, "text", "Two."))


def test_who_speaks_at_the_same_time_does_not_read_the_other_before() -> None:
    debate, last = state(*at_once()), log(*at_once())[-1]
    assert visible_event(debate, last, Viewer("participant", "a")) is None
    for viewer in (Viewer("participant", "b"), OBSERVER, JUDGE, OWNER):
        assert visible_event(debate, last, viewer) == last


def test_the_veil_falls_when_one_has_spoken() -> None:
    a = Viewer("participant", "a")
    speaking = state(*at_once())
    assert [turn.text for turn in visible_state(speaking, a).live] == ["", ""]
    over = state(*at_once(), TurnCompleted(2, 1))
    assert [turn.text for turn in visible_state(over, a).turns] == [""]
    both = state(*at_once(), TurnCompleted(2, 1), CallDelta(1, 0, "text", "One."), TurnCompleted(1, 1))
    assert [turn.text for turn in visible_state(both, a).turns] == ["Two.", "One."]


def test_the_veil_falls_with_the_end_for_who_never_spoke() -> None:
    paused = (TurnCompleted(2, 1), TurnInterrupted(1, "pause"), DebatePaused())
    over = state(*at_once(), *paused, DebateEnded("aborted"))
    assert [turn.text for turn in visible_state(over, Viewer("participant", "a")).turns] == ["Two.", ""]


def test_in_turn_nothing_is_veiled() -> None:
    events = (opened(), turn_started(), call_started(), delta("One."))
    assert visible_event(state(*events), log(*events)[-1], Viewer("participant", "against")) is not None


# --- seen ---------------------------------------------------------------------------------------------


def rich() -> Debate:
    """A debate with something of everything that is not for all."""
    thinking = SegmentCompleted(1, Reasoning((ReasoningPart("SECRET"),)))
    return state(
        secretive, whisper, asked, replace(answered, text="SECRET"), DraftKept("against", "SECRET"),
        replace(declined, text="SECRET"), turn_started(), call_started(),
        CallDelta(1, 0, "reasoning", "SECRET"), thinking, delta("Cats purr."), TurnCompleted(1, 2),
    )  # fmt: skip


@pytest.mark.parametrize("viewer", [JUDGE, Viewer("participant", "nobody")], ids=lambda v: v.role)
def test_who_looks_at_the_whole_sees_no_more_than_who_watches(viewer: Viewer) -> None:
    whole = visible_state(rich(), viewer)
    assert "SECRET" not in str(whole)
    assert {(seat.objective, seat.system_prompt) for seat in whole.seats} == {("", "")}
    assert whole.remarks == ()
    assert whole.turns[0].text == "Cats purr."


def test_those_who_conduct_the_debate_see_it_whole_but_for_the_drafts() -> None:
    assert visible_state(rich(), MODERATOR) == replace(rich(), drafts={}, fence="")


def test_a_participant_sees_what_is_their_own() -> None:
    debate = visible_state(rich(), Viewer("participant", "against"))
    assert debate.drafts == {"against": "SECRET"}
    assert debate.seat("against").objective
    assert not debate.seat("for").objective
    assert len(debate.remarks) == 1
    assert "SECRET" in str(visible_state(rich(), PARTICIPANT).asides)
