"""Who may hear and see what: `hears` for the seats, `visible_event` and `visible_state` for viewers.

Reasoning has no way into `hears`: a seat hears its own words and notes, the words of the others, the accepted
points of information and the remarks made before its turn began, and nothing else. Every event passes through
`visible_event` on its way to a viewer. It fails closed: an event that is neither a `PublicEvent` nor handled
here is a type error. Dialects of the APIs get it as a `SeenEvent`, with the states around it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from hashlib import blake2b
from typing import Any, Literal, assert_never, cast

from msgspec import Struct
from msgspec.structs import replace

from moot.core import events as ev
from moot.core.events import Recorded
from moot.core.extension_events import ExtensionEvent, visible_extension_event
from moot.core.state import Aside, Debate, EarlierCalls, Remark, Turn
from moot.core.terms import (
    ASIDE_KINDS,
    CompletionStatus,
    DebateSetup,
    Reasoning,
    Seat,
    Segment,
    Text,
    ToolCall,
    ToolResult,
    UnknownItem,
)
from moot.extension import loaded


class Heard(Struct, frozen=True):
    """Something that a seat has heard: a speech of its own or another's, an accepted point of information, a
    remark or a question from the audience, or its own notes."""

    kind: Literal["own", "other", "remark", "question", "point", "notes"]
    text: str
    seat: str | None = None
    """Who said it; for a question from the audience, to whom it is put."""
    turn: int | None = None
    round: int = 0


def hears(debate: Debate, turn: Turn) -> tuple[Heard, ...]:
    """What the speaker of this turn has heard when it starts, in the order in which it heard it."""
    group = debate.schedule[turn.slot].group
    speeches = [other for other in debate.turns if other.has_words and other.seq < turn.seq]
    # Speeches given at the same time as an own speech are heard after it.
    own_groups = {debate.schedule[t.slot].group: t.seq for t in speeches if t.seat == turn.seat}
    items: list[tuple[int, Heard]] = []
    for other in speeches:
        other_group = debate.schedule[other.slot].group
        speech = Heard("other", debate.heard_text(other), other.seat, other.number, other.round)
        if other.seat == turn.seat:
            items.append((other.seq, replace(speech, kind="own", text=other.text)))
        elif other_group != group:
            items.append((max(other.seq, own_groups.get(other_group, 0)), speech))
    own = [*(speech for speech in speeches if speech.seat == turn.seat), turn]
    items = _with_quotes(debate, items, [speech for speech in own if speech.quoted])
    items.extend(
        (remark.seq, _remark(remark, turn))
        for remark in debate.remarks
        if remark.seq < turn.seq and (remark.question or remark.to in (None, turn.seat))
    )
    items.extend(
        (point.seq, Heard("point", point.text, point.seat, point.turn))
        for point in debate.points
        if point.seq < turn.seq and point.accepted
    )
    items.extend(
        (aside.seq, Heard("notes", aside.text, aside.seat))
        for aside in debate.asides
        if aside.kind == "notes" and aside.text and aside.seat == turn.seat and aside.seq < turn.seq
    )
    return tuple(item for _, item in sorted(items, key=lambda pair: (pair[0], pair[1].kind != "own")))


def _with_quotes(
    debate: Debate, items: list[tuple[int, Heard]], quoting: Sequence[Turn]
) -> list[tuple[int, Heard]]:
    """With what a client sent as the opponent's words in place of the speech before each of these turns."""
    for turn in quoting:
        slot = debate.schedule[turn.slot - 1]
        before = {other.number for other in debate.turns if other.slot == slot.index}
        items = [(seq, item) for seq, item in items if item.kind != "other" or item.turn not in before]
        items.append((turn.seq - 1, Heard("other", turn.quoted, slot.seat, None, slot.round)))
    return items


def _remark(remark: Remark, turn: Turn) -> Heard:
    """All hear a question; to those it is not put to, it is only a remark."""
    asks = remark.question and remark.to in (None, turn.seat)
    return Heard("question" if asks else "remark", remark.text, remark.to if remark.question else None)


class Viewer(Struct, frozen=True):
    """Who watches. A participant sits in a seat and must not read the others' reasoning; a judge reads
    nobody's reasoning, and no other judge's ballot."""

    role: Literal["owner", "moderator", "observer", "participant", "judge"] = "observer"
    seat: str | None = None

    @property
    def privileged(self) -> bool:
        """Whether they conduct the debate: owner or moderator."""
        return self.role in ("owner", "moderator")


OWNER = Viewer("owner")
OBSERVER = Viewer("observer")


def visible_event(debate: Debate, recorded: Recorded, viewer: Viewer) -> Recorded | None:
    """The event as this viewer may see it, or None. `debate` is the state that includes the event."""
    event = _redact(debate, recorded.event, viewer)
    if event is None:
        return None
    return recorded if event is recorded.event else replace(recorded, event=event)


class SeenEvent(Struct, frozen=True):
    """An event as a viewer may see it, with the state before and after it.

    `event` is None where the viewer may not see it at all. The states are the server's own and hold what
    viewers may not see: a dialect uses only what is public.
    """

    seq: int
    at: datetime
    event: ev.Event | None
    before: Debate | None
    after: Debate


def seen_event(recorded: Recorded, before: Debate | None, after: Debate, viewer: Viewer) -> SeenEvent:
    event = _redact(after, recorded.event, viewer)
    if viewer.seat is not None and any(phase.simultaneous for phase in after.format.phases):
        # A person in a seat may not see simultaneous speeches before their own has ended.
        before, after = before and visible_state(before, viewer), visible_state(after, viewer)
    return SeenEvent(recorded.seq, recorded.at, event, before, after)


def _redact(debate: Debate, event: ev.Event, viewer: Viewer) -> ev.Event | None:
    if isinstance(event, ev.CallDelta):
        # Nearly all events are deltas, so they come first.
        if event.kind != "text" and not may_read_reasoning(debate, viewer):
            return None
        if _is_private(debate, event.call, viewer):
            return None
        if event.part is not None and event.part.item_id and not viewer.privileged:
            return replace(event, part=replace(event.part, item_id=""))
        return event
    if isinstance(event, ev.PublicEvent):
        return event
    match event:
        case ev.DebateOpened():
            if viewer.role == "owner":
                return event
            if viewer.privileged:
                return replace(event, fence="")
            seats = tuple(_without_secrets(seat, viewer) for seat in event.seats)
            return replace(event, seats=seats, fence="", setup=_without_passage(event.setup, viewer))
        case ev.SegmentCompleted() if _is_private(debate, event.call, viewer):
            return None
        case ev.SegmentCompleted(segment=Reasoning()):
            if may_read_reasoning(debate, viewer):
                return _with_visible_segment(event, viewer)
            # Viewers who have seen the text must learn that it was not speech.
            hidden = Reasoning((), event.segment.index, redacted=True)
            return replace(event, segment=hidden) if event.taken_back else None
        case ev.SegmentCompleted(segment=UnknownItem()):
            return _with_visible_segment(event, viewer) if may_read_reasoning(debate, viewer) else None
        case ev.RemarkInjected():
            return event if event.question or may_hear(event.to, viewer) else None
        case ev.CallStarted():
            return event if viewer.privileged else replace(event, request="", previous_response_id=None)
        case ev.CallCompleted():
            # With these ids a provider's record can be found: only for those who hold the key.
            return event if viewer.privileged else replace(event, response_id=None, request_id="")
        case ev.CallFailed():
            return event if viewer.privileged else replace(event, request_id="")
        case ev.DebateImported():
            # The record holds everything, reasoning included.
            return event if viewer.privileged else None
        case ev.DraftKept():
            return event if viewer.seat == event.seat else None
        case ev.AsideAsked() | ev.AsideAnswered() | ev.AsideFailed():
            return event if _may_read_aside(debate, debate.aside(event.aside), viewer) else None
        case ev.PointRaised():
            return event if event.accepted or viewer.privileged else replace(event, text="")
        case ev.VoteCast():
            # A vote stays secret; only that there was one is visible.
            return replace(event, voter="", choice="")
        case ev.BallotCast() | ev.BallotSpoiled():
            return None if viewer.role == "judge" else event
        case ev.SegmentCompleted():
            return _with_visible_segment(event, viewer)
        case ExtensionEvent():
            return visible_extension_event(debate, event, viewer)
        case _:
            assert_never(event)


def may_hear(to: str | None, viewer: Viewer) -> bool:
    """A remark to one seat is only for that seat and for those who conduct the debate."""
    return to is None or viewer.privileged or viewer.seat == to


def _with_visible_segment(event: ev.SegmentCompleted, viewer: Viewer) -> ev.SegmentCompleted:
    segment = visible_segment(event.segment, viewer)
    return event if segment is event.segment else replace(event, segment=segment)


def visible_segment(segment: Segment, viewer: Viewer) -> Segment:
    """Without the provider's own data and ids, except for those who conduct the debate: with an id a record
    can be found at the provider. The ids by which results refer to calls are replaced by our own."""
    if viewer.privileged:
        return segment
    match segment:
        case Text():
            notes = tuple(_without_ids(note) for note in segment.annotations)
            return replace(segment, item_id="", annotations=notes)
        case Reasoning():
            return replace(segment, item_id="", opaque="")
        case ToolCall():
            return replace(segment, id=_own_id(segment.id), item_id="", opaque="")
        case ToolResult():
            return replace(segment, id=_own_id(segment.id))
        case UnknownItem():
            return replace(segment, item=_without_ids(segment.item), item_id="")
        case CompletionStatus():
            return segment
        case _:
            assert_never(segment)


def _own_id(provider_id: str) -> str:
    return f"call_{blake2b(provider_id.encode(), digest_size=8).hexdigest()}" if provider_id else ""


def _without_ids(data: Any) -> Any:
    """JSON of a provider without the members that are ids or encrypted."""
    if isinstance(data, dict):
        members = cast("dict[str, Any]", data)
        return {name: _without_ids(value) for name, value in members.items() if not _ID_MEMBER.search(name)}
    if isinstance(data, list):
        return [_without_ids(value) for value in cast("list[Any]", data)]
    return data


_ID_MEMBER = re.compile(r"^ids?$|_ids?$|[a-z]Ids?$|[eE]ncrypted|[sS]ignature")


def _may_read_aside(debate: Debate, aside: Aside | None, viewer: Viewer) -> bool:
    """A side question is only for the seat that is asked and for those who conduct the debate; that of an
    extension for whom the extension says."""
    if viewer.privileged or aside is None:
        return viewer.privileged
    if aside.kind not in ASIDE_KINDS:
        return _shows_aside(debate, aside, viewer)
    return aside.seat is not None and viewer.seat == aside.seat


def _shows_aside(debate: Debate, aside: Aside, viewer: Viewer) -> bool:
    """Whether the extension that asks shows it to this viewer."""
    found = loaded().side_questions(aside.kind)
    if found is None or found[1].visible is None:
        return False
    try:
        return found[1].visible(debate, aside, viewer)
    except Exception as error:
        loaded().leave_out(found[0].name, "side_questions", error)
        return False


def _is_private(debate: Debate, number: int, viewer: Viewer) -> bool:
    """Whether the text of this call is hidden from the viewer: the answer to a side question, a ballot for
    another judge, a speech that is withheld."""
    if viewer.privileged:
        return False
    for call in debate.calls:
        if call.number != number:
            continue
        if call.turn is not None:
            return viewer.seat is not None and is_withheld(debate, call.turn, viewer)
        return call.aside is not None or viewer.role == "judge"
    # Tool results come after the call that asked for them.
    turns = (turn.number for turn in (*debate.live, *debate.turns) if turn.call == number)
    return viewer.seat is not None and any(is_withheld(debate, turn, viewer) for turn in turns)


def is_withheld(debate: Debate, number: int, viewer: Viewer) -> bool:
    """Whether the person in a seat must not read this speech yet, because their own is given at the same
    time."""
    if viewer.seat is None or debate.final or debate.being_judged:
        return False
    turn = debate.turn(number)
    if turn is None or turn.seat == viewer.seat or not debate.phase(turn.slot).simultaneous:
        return False
    group = debate.schedule[turn.slot].group
    return any(slot.group == group and slot.seat == viewer.seat for slot in debate.remaining_slots())


def may_read_reasoning(debate: Debate, viewer: Viewer) -> bool:
    """Participants and judges never read reasoning, even where all other viewers do."""
    if viewer.role in ("participant", "judge"):
        return False
    return viewer.privileged or debate.setup.show_reasoning


def visible_state(debate: Debate, viewer: Viewer) -> Debate:
    """The debate as this viewer may see it now: without others' drafts, notes, secret objectives and
    reasoning, and without speeches that are withheld. Votes are counted by `judging/audience_votes.py`."""
    drafts = {seat: text for seat, text in debate.drafts.items() if seat == viewer.seat}
    fence = debate.fence if viewer.role == "owner" else ""
    if viewer.privileged:
        return replace(debate, drafts=drafts, fence=fence)
    with_reasoning = may_read_reasoning(debate, viewer)
    return replace(
        debate,
        drafts=drafts,
        fence=fence,
        setup=_without_passage(debate.setup, viewer),
        seats=tuple(_without_secrets(seat, viewer) for seat in debate.seats),
        asides=tuple(
            a if _may_read_aside(debate, a, viewer) else replace(a, text="", about="", chances={})
            for a in debate.asides
        ),
        remarks=tuple(r for r in debate.remarks if r.question or may_hear(r.to, viewer)),
        points=tuple(p if p.accepted else replace(p, text="") for p in debate.points),
        turns=tuple(_visible_turn(debate, turn, viewer, with_reasoning) for turn in debate.turns),
        live=tuple(_visible_turn(debate, turn, viewer, with_reasoning) for turn in debate.live),
    )


def _visible_turn(debate: Debate, turn: Turn, viewer: Viewer, with_reasoning: bool) -> Turn:
    if is_withheld(debate, turn.number, viewer):
        return replace(turn, text="", reasoning="", segments=(), runs=(), cut=(), kept=EarlierCalls())
    if with_reasoning:
        return turn
    return replace(
        turn,
        reasoning="",
        segments=tuple(part for part in turn.segments if not isinstance(part, Reasoning | UnknownItem)),
        runs=tuple(run for run in turn.runs if run.kind == "text"),
        cut=tuple(part for part in turn.cut if not isinstance(part, Reasoning)),
        kept=EarlierCalls(turn.kept.text),
    )


def _without_passage(setup: DebateSetup, viewer: Viewer) -> DebateSetup:
    """A judge must not read the text that the question is about."""
    if viewer.role != "judge" or setup.question is None:
        return setup
    return replace(setup, question=replace(setup.question, passage=""))


def _without_secrets(seat: Seat, viewer: Viewer) -> Seat:
    if viewer.seat == seat.id:
        return seat
    return replace(seat, objective="", system_prompt="")
