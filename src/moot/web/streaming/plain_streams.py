"""Streams for clients that can only add text: one line of data per event, nothing after the end.

A speech begins, is continued, and is over. Where text that was sent no longer counts (an attempt broke off,
the text was reasoning, the final text differs from the stream) the speech begins once more and the text is
sent again. For these viewers a debate is over when it ends or fails for the first time; that it was continued
later is not reported here.

The reply to a POST has no ids and no comments: its readers split it by hand. The stream of a GET is read by a
browser's EventSource, which needs ids to resume and a 204 to stop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from msgspec import Struct, structs
from starlette.requests import Request
from starlette.responses import Response

from moot.api.frames import Dialect, Frame, SeenEvent
from moot.api.problems import Problem
from moot.api.shapes.plain_streams import QuickMessage, QuickOutcome
from moot.api.v1 import query_params
from moot.api.v1.speech_frames import PIECE_LENGTH, live_turn, unveiled_turns
from moot.core.events import (
    CallDelta,
    CallFailed,
    CallStarted,
    SegmentCompleted,
    TurnCompleted,
    TurnFailed,
    TurnInterrupted,
    TurnStarted,
)
from moot.core.state import REPLAYED_INTERRUPTIONS, Debate, Turn
from moot.core.visibility import Viewer
from moot.store.contract import RecordResult
from moot.views import outcome
from moot.views.costs import costs
from moot.web.app_context import AppContext, head_of, identity_of, query_string
from moot.web.responses import replayed_header
from moot.web.route_docs import STREAM_OVER, documented, resumable_events
from moot.web.routes.handlers import check_accepts_stream, follow_debate


class SpeechBegun(Struct, frozen=True):
    """The speech begins, perhaps again: text that was sent before does not count."""

    turn: Turn


class SpeechText(Struct, frozen=True):
    turn: Turn
    text: str


class SpeechOver(Struct, frozen=True):
    """`turn.text` is the final text; a speech that failed has none for viewers."""

    turn: Turn


SpeechEvent = SpeechBegun | SpeechText | SpeechOver


def end_seq(debate: Debate) -> int:
    """The seq of the last event of the stream; 0 while the debate continues."""
    return min((seq for seq in (debate.ended_seq, debate.failed_seq) if seq), default=0)


def is_after_end(seen: SeenEvent) -> bool:
    """Whether the event came after the end of the stream."""
    return 0 < end_seq(seen.after) < seen.seq


def speech_events(seen: SeenEvent) -> Iterator[SpeechEvent]:
    """What this event changes in speeches."""
    event = seen.event
    match event:
        case CallDelta():
            turn = live_turn(seen.after, event.call)
            if turn is not None and event.text and event.kind == "text":
                yield SpeechText(turn, event.text)
        case TurnStarted():
            turn = seen.after.turn(event.turn)
            if turn is not None:
                yield SpeechBegun(turn)
        case CallStarted() | CallFailed() | SegmentCompleted():
            yield from _restarted(seen, event.call)
        case TurnCompleted() | TurnInterrupted() | TurnFailed():
            yield from _ended(seen, event)
            yield from _revealed(seen, event.turn)
        case _:
            return


def turns_by_slot(debate: Debate) -> list[Turn]:
    """The speeches that used their slot, in the order of the schedule."""
    return sorted((turn for turn in debate.turns if turn.used_slot), key=lambda turn: turn.slot)


def milliseconds(debate: Debate) -> int:
    """From the start to the end, or to the last event."""
    began, last = debate.started_at or debate.created_at, debate.ended_at or debate.updated_at
    return round((last - began).total_seconds() * 1000)


def debate_outcome(debate: Debate) -> QuickOutcome:
    """The result of a debate: the members that its last event and `GET /api/debates/{id}` share."""
    figures = costs(debate)
    return QuickOutcome(
        summary=summary(debate),
        total_tokens=figures.usage.total,
        total_cost=None if figures.total is None else float(figures.total),
        duration=milliseconds(debate),
        transcript=tuple(
            QuickMessage(role=debate.seat(turn.seat).name, content=turn.text, round=turn.round - 1)
            for turn in turns_by_slot(debate)
            if turn.has_words
        ),
    )


def summary(debate: Debate) -> str:
    """The moderator's summary; without one, the reasoning of the judges or the reason of the end."""
    summed_up = [turn.text for turn in turns_by_slot(debate) if turn.has_words and turn.tone == "summary"]
    if summed_up:
        return summed_up[-1]
    verdict = debate.verdict
    return (verdict.reasoning or outcome.headline(debate, verdict)) if verdict else outcome.ending(debate)


def numbered_frames(shapes: Sequence[Struct]) -> tuple[Frame, ...]:
    """Frames without a name; each holds its cursor: `seq`, and `part` for all but the last of an event."""
    last = len(shapes)
    return tuple(
        Frame("", shape if index == last else structs.replace(shape, part=index))
        for index, shape in enumerate(shapes, 1)
    )


def _restarted(seen: SeenEvent, call: int) -> Iterator[SpeechEvent]:
    """The speech begins again where its text no longer continues what was sent."""
    turn = live_turn(seen.after, call)
    was = seen.before.turn(turn.number) if seen.before and turn else None
    if turn is not None and was is not None and not turn.text.startswith(was.text):
        yield SpeechBegun(turn)
        yield from _speech_texts(turn, turn.text)


def _ended(seen: SeenEvent, event: TurnCompleted | TurnInterrupted | TurnFailed) -> Iterator[SpeechEvent]:
    is_repeated = isinstance(event, TurnInterrupted) and event.by in REPLAYED_INTERRUPTIONS
    streamed = next(
        (turn for turn in (seen.before.live if seen.before else ()) if turn.number == event.turn), None
    )
    turn = seen.after.turn(event.turn)
    if streamed is None or turn is None or is_repeated:
        return
    if not isinstance(event, TurnFailed) and turn.text != streamed.text:
        continues = turn.text.startswith(streamed.text)
        if not continues:
            yield SpeechBegun(turn)
        yield from _speech_texts(turn, turn.text[len(streamed.text) :] if continues else turn.text)
    yield SpeechOver(turn)


def _revealed(seen: SeenEvent, number: int) -> Iterator[SpeechEvent]:
    for turn in unveiled_turns(seen, number):
        yield SpeechBegun(turn)
        yield from _speech_texts(turn, turn.text)
        if turn.state != "live":
            yield SpeechOver(turn)


def pieces(text: str) -> Iterator[str]:
    for start in range(0, len(text), PIECE_LENGTH):
        yield text[start : start + PIECE_LENGTH]


def _speech_texts(turn: Turn, text: str) -> Iterator[SpeechText]:
    return (SpeechText(turn, piece) for piece in pieces(text))


# --- following ----------------------------------------------------------------------------------------


def follow_route(summary: str, events: Any) -> dict[str, Any]:
    """The arguments of the decorator of a route that calls `follow_plainly`."""
    return documented(
        "watch",
        tag="Compatibility APIs",
        summary=summary,
        events=resumable_events(events),
        says="Events as they happen.",
        query=query_params.PARAMETERS["plain"],
        resumes=True,
        headers=("X-Debate-Id",),
        refusals=(403, 404, 406, 409, 422),
        responses=STREAM_OVER,
    )


class PlainFrames(Struct, frozen=True):
    """A dialect of these streams: `shapes` are the events that one event of the log is sent as."""

    def ends(self, seen: SeenEvent) -> bool:
        return end_seq(seen.after) == seen.seq

    def rests(self, debate: Debate) -> bool:
        return False

    def frames(self, seen: SeenEvent) -> Sequence[Frame]:
        """Also for an event that the viewer may not see: after it a decision may be awaited."""
        return () if is_after_end(seen) else numbered_frames(self.shapes(seen))

    def shapes(self, seen: SeenEvent) -> Sequence[Struct]:
        raise NotImplementedError


async def follow_plainly(
    context: AppContext,
    request: Request,
    debate_id: str,
    dialect_for: Callable[[Viewer], Dialect],
    deleted_frame: Frame,
) -> Response:
    """The stream from the start or from the client's cursor; 204 if the client has seen the end."""
    query = query_params.parse_plain_stream(query_string(request), request.headers.get("last-event-id"))
    check_accepts_stream(request)
    cursor = query.cursor
    viewer = await context.viewer_of(identity_of(request), query.seat, debate_id)
    if cursor.seq > head_of(request).version:
        raise Problem("cursor-ahead")
    over = end_seq(await context.arena.state(debate_id)) if cursor.seq else 0
    if over and cursor.complete_seq >= over:
        return Response(status_code=204)
    return follow_debate(
        context,
        request,
        debate_id,
        dialect_for(viewer),
        viewer,
        cursor,
        deleted_frame,
        extra_headers={"X-Debate-Id": debate_id},
    )


def opened_headers(opened: RecordResult) -> dict[str, str]:
    """The headers of a reply that opened a debate."""
    debate_id = opened.debate.id
    return {"Location": f"/api/debates/{debate_id}", "X-Debate-Id": debate_id, **replayed_header(opened)}
