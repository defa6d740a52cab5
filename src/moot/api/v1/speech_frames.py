"""Frames of v1 for a speech: chunks while it is given, and a last one with `done`; and for what people do.

A client of the document only adds chunks up. So in the plain stream they always continue what was sent
before: a further attempt that repeats it is sent from where it goes on, and one that differs is not sent at
all, since `round_complete` has the speech that counts. `attempt` is that of the first chunk.

In the extended stream the chunks that a viewer has read are always the text of the live turn up to the last
frame. If the text changes other than by growing, a chunk with `replace` replaces everything before it. There
`attempt` rises with every call for the same speech, so a client may show only the chunks of the highest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from moot.api.frames import Frame, SeenEvent
from moot.api.shapes.rounds import SpeechMarks
from moot.api.v1.people_replies import ends_at
from moot.core.errors import FaultKind
from moot.core.events import (
    CallDelta,
    CallStarted,
    PointRaised,
    RemarkInjected,
    SeatFilled,
    SeatLeft,
    SeatTaken,
    SegmentCompleted,
    TurnCompleted,
    TurnFailed,
    TurnInterrupted,
)
from moot.core.json_types import choose, to_members
from moot.core.state import REPLAYED_INTERRUPTIONS, Debate, Turn
from moot.core.terms import Reasoning
from moot.views.transcript_json import moment


def v1_frame(seen: SeenEvent, event: str, **members: Any) -> Frame:
    return Frame(event, {**members, "timestamp": moment(seen.at), "seq": seen.seq})


PIECE_LENGTH = 4 * 1024
"""Characters; a text that comes late is sent in pieces of at most 16 KiB."""
BREAK = "\n\n"
"""Between two thoughts."""
TIMEOUT_FAULTS: tuple[FaultKind, ...] = ("timeout", "stalled")
TIME_WAS_UP = "The time for this speech was up; what was said by then counts."


def speech_delta(seen: SeenEvent, event: CallDelta) -> tuple[Frame, ...]:
    """The hot path."""
    turn = live_turn(seen.after, event.call)
    if turn is None or not event.text:
        return ()
    begins_anew = len(turn.text) == len(event.text) and _was_restarted(seen, turn)
    return (_chunk(seen, turn, event.text, replace=begins_anew),)


def plain_speech_delta(seen: SeenEvent, event: CallDelta) -> tuple[Frame, ...]:
    """The same for clients that can only add up chunks."""
    turn = live_turn(seen.after, event.call)
    if turn is None or not event.text:
        return ()
    if not turn.abandoned and not _was_restarted(seen, turn):
        return (_chunk(seen, turn, event.text),)
    was = live_turn(seen.before, event.call)
    known = len(sent_text(seen.before, was)) if seen.before and was else 0
    return tuple(_plain_chunks(seen, turn, sent_text(seen.after, turn)[known:]))


def plain_speech_ended(seen: SeenEvent, event: TurnCompleted | TurnInterrupted) -> Iterator[Frame]:
    was = next((one for one in (seen.before.live if seen.before else ()) if one.number == event.turn), None)
    given_again = isinstance(event, TurnInterrupted) and event.by in REPLAYED_INTERRUPTIONS
    if seen.before is None or was is None or given_again:
        return
    turn, known = seen.after.turns[-1], sent_text(seen.before, was)
    if turn.text.startswith(known):
        yield from _plain_chunks(seen, turn, turn.text[len(known) :])
    yield from _time_was_up(seen, turn)
    yield _plain(seen, _final_chunk(seen, turn), turn)


def plain_speech_failed(seen: SeenEvent, event: TurnFailed) -> Iterator[Frame]:
    if (ending := _ending(seen, event.turn)) is None:
        return
    _, turn = ending
    yield error_frame(seen, event.kind, event.message, retryable=False, participantId=turn.seat)
    yield _plain(seen, _final_chunk(seen, turn), turn)


def sent_text(debate: Debate, turn: Turn) -> str:
    """What the plain stream has sent of this speech: the first attempt, as far as others continued it."""
    sent = ""
    for text, _ in _attempts(debate, turn):
        sent = text if text.startswith(sent) else sent
    return sent


def _attempts(debate: Debate, turn: Turn) -> Iterator[tuple[str, int]]:
    """The text and number of every attempt at this speech so far, also in earlier turns of the same slot."""
    before = 0
    for one in (*(o for o in debate.turns if o.slot == turn.slot and o.number < turn.number), turn):
        yield from ((each.text, before + (each.attempt or 1)) for each in one.abandoned)
        yield one.text, before + (one.attempt or 1)
        before += one.attempt or 1


def _plain_chunks(seen: SeenEvent, turn: Turn, text: str) -> Iterator[Frame]:
    if text:
        yield from (_plain(seen, frame, turn) for frame in _text_chunks(seen, turn, text, replace=False))


def _plain(seen: SeenEvent, frame: Frame, turn: Turn) -> Frame:
    """With the number of the attempt that sent the first chunk: nothing is begun again for the reader."""
    numbers = (number for text, number in _attempts(seen.after, turn) if text)
    return Frame(frame.event, {**frame.data, "attempt": next(numbers, attempt(seen.after, turn))})


def reasoning_delta(seen: SeenEvent, event: CallDelta) -> tuple[Frame, ...]:
    turn, was = live_turn(seen.after, event.call), live_turn(seen.before, event.call)
    if turn is None or not event.text:
        return ()
    opening = BREAK if was is not None and was.begins_thought(event.segment) else ""
    return (_reasoning_chunk(seen, turn, opening + event.text),)


def retracted_reasoning(seen: SeenEvent, event: SegmentCompleted) -> Iterator[Frame]:
    """The text as reasoning, for viewers who may read it."""
    turn = live_turn(seen.before, event.call)
    is_reasoning = isinstance(event.segment, Reasoning) and event.segment.parts
    if turn is not None and is_reasoning and (words := turn.text[len(turn.kept.text) :]):
        yield _reasoning_chunk(seen, turn, words)


def speech_retracted(seen: SeenEvent, call: int) -> Iterator[Frame]:
    """The text of this call no longer counts: it was reasoning, or a further attempt begins. The text of
    earlier calls of the speech still counts."""
    turn = live_turn(seen.before, call)
    if turn is not None and turn.text != turn.kept.text:
        yield from _text_chunks(seen, turn, turn.kept.text, replace=True)


def speech_restarted(seen: SeenEvent, event: CallStarted) -> Iterator[Frame]:
    """A speech that was to continue from an earlier call begins again: none of its text counts."""
    was = seen.before.turn(event.turn) if seen.before and event.turn is not None else None
    if was is not None and was.text and event.continues is None:
        yield _chunk(seen, was, "", replace=True)


def speech_ended(seen: SeenEvent, event: TurnCompleted | TurnInterrupted) -> Iterator[Frame]:
    ending = _ending(seen, event.turn)
    given_again = isinstance(event, TurnInterrupted) and event.by in REPLAYED_INTERRUPTIONS
    if ending is None or given_again:
        return
    streamed, turn = ending
    yield from _corrections(seen, turn, streamed)
    yield from _time_was_up(seen, turn)
    yield _final_chunk(seen, turn, replace=not turn.text and _was_restarted(seen, turn))


def _time_was_up(seen: SeenEvent, turn: Turn) -> Iterator[Frame]:
    """The debate goes on: an error that ends it has a `reason`."""
    if turn.truncated == "timeout":
        yield error_frame(seen, "timeout", TIME_WAS_UP, retryable=False, participantId=turn.seat)


def unveiled_turns(seen: SeenEvent, number: int) -> Iterator[Turn]:
    """Simultaneous speeches that are sent to a participant when their own speech, `number`, has ended.

    Other viewers have read them before."""
    own, before = seen.after.turn(number), seen.before
    if own is None or before is None or not seen.after.phase(own.slot).simultaneous:
        return
    group = seen.after.schedule[own.slot].group
    for turn in (*seen.after.turns, *seen.after.live):
        was = before.turn(turn.number) if seen.after.schedule[turn.slot].group == group else None
        if was is not None and turn.number != number and not was.text and turn.text:
            yield turn


def speeches_unveiled(seen: SeenEvent, number: int, *, plain: bool) -> Iterator[Frame]:
    for turn in unveiled_turns(seen, number):
        yield from _text_chunks(seen, turn, turn.text, replace=not plain)
        if turn.state != "live":
            yield _final_chunk(seen, turn)


def speech_failed(seen: SeenEvent, event: TurnFailed) -> Iterator[Frame]:
    if (ending := _ending(seen, event.turn)) is None:
        return
    streamed, turn = ending
    yield error_frame(seen, event.kind, event.message, retryable=False, participantId=turn.seat)
    yield _final_chunk(seen, turn, replace=bool(streamed) or _was_restarted(seen, turn))


def turn_started(seen: SeenEvent, number: int) -> Iterator[Frame]:
    turn = seen.after.turn(number)
    if turn is None:
        return
    phase, slot = seen.after.phase(turn.slot), seen.after.schedule[turn.slot]
    words = seen.after.word_budget(turn.slot)
    members = {"title": phase.title, "tone": turn.tone, "words": words, "to": slot.to}
    yield _frame(seen, "turn", turn, members)


def error_frame(seen: SeenEvent, kind: FaultKind, message: str, *, retryable: bool, **more: Any) -> Frame:
    sort = "timeout" if kind in TIMEOUT_FAULTS else "model_error"
    return v1_frame(seen, "error", type=sort, message=message, **more, retryable=retryable)


def attempt(debate: Debate, turn: Turn) -> int:
    """How often this speech was begun, in this turn and in earlier turns of the same slot."""
    slot, number, attempts = turn.slot, turn.number, turn.attempt or 1
    for other in debate.turns:
        if other.slot == slot and other.number < number:
            attempts += other.attempt or 1
    return attempts


def speech_marks(turn: Turn) -> SpeechMarks:
    return choose(
        SpeechMarks,
        turn,
        status="error" if turn.state == "failed" else "",
        interrupted=turn.by if turn.state == "interrupted" else "",
        truncated=turn.truncated or "",
    )


def live_turn(debate: Debate | None, call: int) -> Turn | None:
    for turn in debate.live if debate else ():
        if turn.call == call:
            return turn
    return None


def _ending(seen: SeenEvent, number: int) -> tuple[str, Turn] | None:
    """The text that was streamed, and the finished turn."""
    live = seen.before.live if seen.before else ()
    for turn in live:
        if turn.number == number:
            return turn.text, seen.after.turns[-1]
    return None


def _was_restarted(seen: SeenEvent, turn: Turn) -> bool:
    """Whether the client may still show the text of an earlier turn of the same slot."""
    return attempt(seen.after, turn) > (turn.attempt or 1)


def _corrections(seen: SeenEvent, turn: Turn, streamed: str) -> Iterator[Frame]:
    """The missing end of the text, or all of it if the stream was wrong."""
    if turn.text == streamed:
        return
    goes_on = turn.text.startswith(streamed)
    yield from _text_chunks(
        seen, turn, turn.text[len(streamed) :] if goes_on else turn.text, replace=not goes_on
    )


def _text_chunks(seen: SeenEvent, turn: Turn, text: str, *, replace: bool) -> Iterator[Frame]:
    for start in range(0, max(1, len(text)), PIECE_LENGTH):
        yield _chunk(seen, turn, text[start : start + PIECE_LENGTH], replace=replace and start == 0)


def _chunk(seen: SeenEvent, turn: Turn, text: str, *, replace: bool = False) -> Frame:
    members = {"chunk": text, "done": False}
    return _frame(seen, "participant", turn, {**members, "replace": True} if replace else members)


def _final_chunk(seen: SeenEvent, turn: Turn, *, replace: bool = False) -> Frame:
    used = {"tokensUsed": turn.usage.total, "latencyMs": turn.latency_ms}
    members = {"chunk": "", "done": True, **used, **to_members(speech_marks(turn))}
    return _frame(seen, "participant", turn, {**members, "replace": True} if replace else members)


def _reasoning_chunk(seen: SeenEvent, turn: Turn, text: str) -> Frame:
    return _frame(seen, "reasoning", turn, {"kind": "reasoning", "chunk": text, "done": False})


def _frame(seen: SeenEvent, name: str, turn: Turn, members: Mapping[str, Any]) -> Frame:
    """Written out for speed: it runs for every few tokens."""
    data = {
        "participantId": turn.seat,
        "participantName": seen.after.seat(turn.seat).name,
        "roundNumber": turn.round,
        **members,
        "timestamp": moment(seen.at),
        "seq": seen.seq,
        "turn": turn.number,
        "speech": turn.slot + 1,
        "phase": turn.phase,
        "attempt": attempt(seen.after, turn),
    }
    return Frame(name, data)


# --- people: seats, points of information, remarks, clocks ------------------------------------------------


def seat_frame(seen: SeenEvent, event: SeatTaken | SeatLeft | SeatFilled) -> Frame:
    """A person takes the seat, or a model takes over."""
    held = seen.after.seat(event.seat)
    who: dict[str, Any] = {"participantId": held.id, "participantName": held.name, "model": held.model.label}
    return v1_frame(seen, "seat", **who, person=isinstance(event, SeatTaken), by=event.by)


def point_frame(seen: SeenEvent, event: PointRaised) -> Frame:
    """A point that was not taken is sent without its text."""
    turn = seen.after.turn(event.turn)
    return v1_frame(
        seen,
        "point",
        participantId=event.seat,
        participantName=seen.after.seat(event.seat).name,
        to=turn.seat if turn else None,
        turn=event.turn,
        accepted=event.accepted,
        text=event.text,
    )


def remark_frame(seen: SeenEvent, event: RemarkInjected) -> Frame:
    asks = {"question": True} if event.question else {}
    return v1_frame(seen, "remark", remark=event.remark, text=event.text, by=event.by, to=event.to, **asks)


def clock_frames(seen: SeenEvent) -> Iterator[Frame]:
    """The clock of a person starts, stops, continues or is extended."""
    known = _clock_ends(seen.before) if seen.before else {}
    for number, end in _clock_ends(seen.after).items():
        turn = seen.after.turn(number)
        if turn is not None and (number not in known or known[number] != end):
            yield v1_frame(seen, "clock", participantId=turn.seat, turn=number, endsAt=end)


def _clock_ends(debate: Debate) -> dict[int, str | None]:
    """The end of the time of each person who speaks; None while the clock is stopped."""
    return {
        turn.number: moment(ends_at(debate, turn))
        for turn in debate.live
        if debate.seat(turn.seat).model.human
    }
