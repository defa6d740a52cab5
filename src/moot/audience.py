"""Who may hear what: `hears` for the seats, `visible` for those who watch.

Reasoning has no way into `hears`: a seat hears its own words, the words of the others and the remarks made
before its turn began, and nothing else. `visible` stands between the log and every watcher and fails closed:
an event that it does not know is shown to nobody.
"""

from __future__ import annotations

from typing import Literal, assert_never

from msgspec import Struct
from msgspec.structs import replace

from moot import events as ev
from moot.debate import Debate, Turn
from moot.events import Recorded
from moot.terms import Reasoning, Seat, ToolCall


class Heard(Struct, frozen=True):
    """Something a seat has heard: a speech of its own or another's, or a remark from the floor."""

    kind: Literal["own", "other", "remark"]
    text: str
    seat: str | None = None
    turn: int | None = None
    round: int = 0


def hears(debate: Debate, turn: Turn) -> tuple[Heard, ...]:
    """All that the speaker of this turn has heard when it starts, in the order in which it heard it."""
    group = debate.schedule[turn.slot].group
    said = [other for other in debate.turns if other.said and other.seq < turn.seq]
    # What was said at the same time as an own speech is heard after it.
    own = {debate.schedule[t.slot].group: t.seq for t in said if t.seat == turn.seat}
    heard: list[tuple[int, Heard]] = []
    for other in said:
        theirs = debate.schedule[other.slot].group
        speech = Heard("other", other.text, other.seat, other.number, other.round)
        if other.seat == turn.seat:
            heard.append((other.seq, replace(speech, kind="own")))
        elif theirs != group:
            heard.append((max(other.seq, own.get(theirs, 0)), speech))
    heard.extend(
        (remark.seq, Heard("remark", remark.text))
        for remark in debate.remarks
        if remark.seq < turn.seq and remark.to in (None, turn.seat)
    )
    return tuple(item for _, item in sorted(heard, key=lambda pair: (pair[0], pair[1].kind != "own")))


class Viewer(Struct, frozen=True):
    """Someone who watches. A participant sits in a seat and must not read the others' minds."""

    role: Literal["owner", "moderator", "observer", "participant"] = "observer"
    seat: str | None = None

    @property
    def privileged(self) -> bool:
        return self.role in ("owner", "moderator")


OWNER = Viewer("owner")
OBSERVER = Viewer("observer")


def visible(debate: Debate, recorded: Recorded, viewer: Viewer) -> Recorded | None:
    """The event as this viewer may see it, or None. `debate` is the state that includes the event."""
    event = _shown(debate, recorded.event, viewer)
    if event is None:
        return None
    return recorded if event is recorded.event else replace(recorded, event=event)


def _shown(debate: Debate, event: ev.Event, viewer: Viewer) -> ev.Event | None:
    if isinstance(event, ev.CallDelta):
        # Nearly all that ever happens, so it is asked first.
        return event if event.kind == "text" or _may_read_reasoning(debate, viewer) else None
    match event:
        case ev.DebateOpened():
            if viewer.privileged:
                return event
            return replace(event, seats=tuple(_without_secrets(seat, viewer) for seat in event.seats))
        case ev.SegmentCompleted(segment=Reasoning()):
            if _may_read_reasoning(debate, viewer):
                return _unsealed(event, viewer)
            # Who has seen the words must learn that they were none.
            hidden = Reasoning((), event.segment.index, redacted=True)
            return replace(event, segment=hidden) if event.taken_back else None
        case ev.SegmentCompleted(segment=ToolCall()):
            return _unsealed(event, viewer)
        case ev.RemarkInjected():
            return event if may_hear(event.to, viewer) else None
        case ev.CallStarted():
            return event if viewer.privileged else replace(event, request="", previous_response_id=None)
        case ev.CallCompleted():
            # By these ids a provider's own record can be found: for those who hold the key.
            return event if viewer.privileged else replace(event, response_id=None, request_id="")
        case ev.CallFailed():
            return event if viewer.privileged else replace(event, request_id="")
        case (
            ev.DebateStarted() | ev.DebateReady() | ev.DebatePaused() | ev.DebateResumed()
            | ev.DebateStopped() | ev.DebateEnded() | ev.DebateFailed()
            | ev.RoundAsked() | ev.RoundStarted() | ev.RoundCompleted()
            | ev.TurnStarted() | ev.TurnCompleted() | ev.TurnFailed() | ev.TurnInterrupted()
            | ev.TurnSkipped() | ev.TurnRetried() | ev.SegmentCompleted()
            | ev.BudgetWarned() | ev.BudgetExhausted() | ev.StalemateFound() | ev.ConcessionMade()
            | ev.JudgingStarted() | ev.BallotCast() | ev.BallotSpoiled() | ev.VerdictReached()
        ):  # fmt: skip
            return event
        case _:
            assert_never(event)


def may_hear(to: str | None, viewer: Viewer) -> bool:
    """A remark for one seat is for nobody else, but for those who conduct the debate."""
    return to is None or viewer.privileged or viewer.seat == to


def _unsealed(event: ev.SegmentCompleted, viewer: Viewer) -> ev.SegmentCompleted:
    """What goes back to a provider unread is nobody else's business."""
    if viewer.privileged or not isinstance(event.segment, Reasoning | ToolCall) or not event.segment.opaque:
        return event
    return replace(event, segment=replace(event.segment, opaque=""))


def _may_read_reasoning(debate: Debate, viewer: Viewer) -> bool:
    if viewer.role == "participant":
        return False
    return viewer.privileged or debate.manner.show_reasoning


def _without_secrets(seat: Seat, viewer: Viewer) -> Seat:
    if viewer.seat == seat.id:
        return seat
    return replace(seat, objective="", system_prompt="")
