"""One of every kind of event, and those that not everybody may see."""

from __future__ import annotations

from msgspec.structs import replace

from moot.core.events import (
    AsideAnswered,
    AsideAsked,
    AsideFailed,
    BallotCast,
    BallotSpoiled,
    BudgetExhausted,
    BudgetShortened,
    BudgetWarned,
    CallCompleted,
    CallDelta,
    CallFailed,
    CallStarted,
    ConcessionMade,
    DebateEnded,
    DebateFailed,
    DebateImported,
    DebatePaused,
    DebateReady,
    DebateResumed,
    DebateStarted,
    DebateStopped,
    DraftKept,
    Event,
    JudgingFailed,
    JudgingStarted,
    PointRaised,
    PollClosed,
    PollOpened,
    RemarkInjected,
    RoundAsked,
    RoundCompleted,
    RoundsAdded,
    RoundStarted,
    SeatFilled,
    SeatLeft,
    SeatTaken,
    SegmentCompleted,
    StalemateFound,
    TurnCompleted,
    TurnExtended,
    TurnFailed,
    TurnInterrupted,
    TurnRetried,
    TurnSkipped,
    TurnStarted,
    VerdictReached,
    VoteCast,
)
from moot.core.terms import Ballot, DebateVerdict, Model, Money, Reasoning, ReasoningPart, Text, Usage
from moot.testing.event_factories import opened

secretive = opened(
    seats=tuple(
        replace(seat, objective=f"aim of {seat.id}", system_prompt=f"orders of {seat.id}", persona="calm")
        for seat in opened().seats
    )
)
failed = CallFailed(1, "cut", "transient", "Cut.", Usage(), None)
thought = CallDelta(1, 0, "reasoning", "Hm.")
whole_thought = SegmentCompleted(1, Reasoning((ReasoningPart("Hm."),)))
whisper = RemarkInjected(1, "Psst!", to="against")
started = CallStarted(1, "m", "digest", 1, 9, 9, None, turn=1, previous_response_id="resp_0")
drafted = DraftKept("for", "What I mean to say")
asked = AsideAsked(1, "notes", 0, seat="for")
answered = AsideAnswered(1, text="Begin with the cost.")
declined = PointRaised(1, 1, "against", accepted=False, text="But who pays?")
vote = VoteCast("before", "voter_1", "for")
imported = DebateImported("elsewhere", {"id": "debate_1", "turn_history": []})
completed = CallCompleted(1, "stop", Usage(), None, 9, response_id="resp_1")

EVENTS: tuple[Event, ...] = (
    secretive,
    DebateStarted(),
    DebateReady(),
    DebatePaused(),
    DebateResumed(),
    DebateStopped(),
    DebateEnded("rounds"),
    DebateFailed("internal"),
    RoundAsked(),
    RoundStarted(1),
    RoundCompleted(1),
    TurnStarted(1, 0, 1, "opening", "opening", "for"),
    TurnCompleted(1, 3),
    TurnFailed(1, "empty", "Nothing."),
    TurnInterrupted(1, "skip"),
    TurnSkipped(0, "for"),
    TurnRetried(1),
    started,
    CallDelta(1, 0, "text", "Well."),
    SegmentCompleted(1, Text("Well.")),
    completed,
    failed,
    RemarkInjected(1, "Hear!"),
    BudgetWarned(Money(1), Money(1)),
    BudgetShortened(2, 75),
    BudgetExhausted(Money(1), Money(1), Money(0)),
    StalemateFound((), 90.0),
    ConcessionMade(1, "for", "[I concede]"),
    JudgingStarted(1, "rounds"),
    BallotCast(1, Ballot("judge", 0, "for", {}, "")),
    BallotSpoiled(1, "judge", 0, ""),
    VerdictReached(DebateVerdict("draw", None, "hand")),
    JudgingFailed(2, "No verdict."),
    TurnExtended(1, 30.0),
    RoundsAdded(1),
    SeatTaken("for", "Ada"),
    SeatLeft("for", "Ada"),
    SeatFilled("against", Model("scripted", "b")),
    imported,
    drafted,
    asked,
    answered,
    AsideFailed(1, "Nothing."),
    declined,
    PollOpened("before"),
    vote,
    PollClosed("before"),
)


def tag_of(event: Event) -> str:
    return str(event.__struct_config__.tag)
