"""A debate as a conversation of events with unified segments: one pure projection of its state.

The motion has the role of the system, remarks and points of information that of the user, and each speech
that of the assistant: its text, reasoning, tool calls and results in the order of the provider. A live speech
is included so far as it is stored, and one that was cut says so. A viewer gets what `core/visibility.py`
allows: no draft, no hidden speech, reasoning only where they may read it, and ids of the provider only where
they conduct the debate.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, Literal, assert_never

import msgspec

from moot.core.state import Debate, Turn
from moot.core.terms import (
    CompletionStatus,
    Reasoning,
    ReasoningPart,
    Segment,
    Text,
    ToolCall,
    ToolResult,
    UnknownItem,
)
from moot.core.visibility import Viewer, visible_segment, visible_state
from moot.extensions.conversations.legacy_rows import UNKNOWN

JsonObject = dict[str, Any]
Completion = Literal["complete", "partial", "interrupted"]
LEVELS = {"minimal": "low", "low": "low", "medium": "medium", "high": "high", "xhigh": "high", "max": "high"}
ITEMS = ("text", "reasoning", "tool_call", UNKNOWN)
"""The output of a provider; tool results and status marks are inserted between it."""


def conversation(debate: Debate, viewer: Viewer) -> list[JsonObject]:
    """Every event, in the order in which they began."""
    visible = visible_state(debate, viewer)
    events = [(0, _text_event(visible, 1, visible.created_at, "system", visible.motion, kind="motion"))]
    for remark in visible.remarks:
        kind, to = "question" if remark.question else "remark", {"to": remark.to} if remark.to else {}
        remark_event = _text_event(
            visible, remark.seq, remark.at, "user", remark.text, kind=kind, name=remark.by, **to
        )
        events.append((remark.seq, remark_event))
    turns = (*visible.turns, *visible.live)
    began = {turn.number: turn.started_at for turn in turns}
    for point in visible.points:
        if point.accepted:
            seat, at = visible.seat(point.seat), began.get(point.turn, visible.created_at)
            by = {"seat": seat.id, "name": seat.name, "turn": point.turn}
            events.append(
                (point.seq, _text_event(visible, point.seq, at, "user", point.text, kind="point", **by))
            )
    events += [(turn.seq, _speech(visible, turn, viewer)) for turn in turns]
    return [event for _, event in sorted(events, key=lambda pair: pair[0])]


def event_id(debate_id: str, seq: int) -> str:
    """Return the id of an event, by the place in the log at which it began."""
    return f"{debate_id}.{seq}"


def is_live(event: JsonObject) -> bool:
    """Whether the event may still grow."""
    return event.get("live", False)


def _text_event(debate: Debate, seq: int, at: datetime, role: str, text: str, **more: Any) -> JsonObject:
    segments = [{"type": "text", "text": text}]
    return {"id": event_id(debate.id, seq), "role": role, "segments": segments, "ts": _ms(at), **more}


def _speech(debate: Debate, turn: Turn, viewer: Viewer) -> JsonObject:
    seat = debate.seat(turn.seat)
    ident, ts = event_id(debate.id, turn.seq), _ms(turn.started_at)
    effort = seat.model.effort or ""
    segment_shapes = (
        _segment(turn, visible_segment(segment, viewer), complete, ident, effort)
        for segment, complete in _ordered_segments(turn)
    )
    segments = list(_renumbered(shape for shapes in segment_shapes for shape in shapes))
    metadata: JsonObject = {
        "total_output_items": sum(shape["type"] in ITEMS for shape in segments),
        "completion_status": _completion(turn),
    }
    if turn.usage.total:
        metadata["usage"] = {
            "reasoning_tokens": turn.usage.reasoning,
            "completion_tokens": turn.usage.output,
            "total_tokens": turn.usage.total,
            "input_tokens": turn.usage.input,
        }
    return {
        "id": ident,
        "role": "assistant",
        "segments": [*segments, *_completion_segment(turn)],
        "response_metadata": metadata,
        "ts": ts,
        "kind": "speech",
        "seat": seat.id,
        "name": seat.name,
        "turn": turn.number,
        **({"live": True} if turn.state == "live" else {}),
        **({"struck": True} if turn.struck else {}),
    }


def _completion(turn: Turn) -> Completion:
    match turn.state:
        case "live":
            return "partial"
        case "completed":
            return "partial" if turn.truncated else "complete"
        case "failed" | "interrupted":
            return "interrupted"
        case _:
            assert_never(turn.state)


def _completion_segment(turn: Turn) -> Iterator[JsonObject]:
    """Where a speech is not whole, its last segment says why."""
    match turn.state:
        case "live":
            yield _status("partial", live=True)
        case "interrupted":
            yield _status("partial", interrupted_by=turn.by)
        case "failed":
            yield _status("error", fault=turn.by)
        case "completed":
            if turn.truncated:
                yield _status("partial", truncated=turn.truncated)
        case _:
            assert_never(turn.state)


def _status(status: str, **metadata: Any) -> JsonObject:
    return {"type": "completion_status", "status": status, "metadata": metadata}


# --- what a speech is made of ---------------------------------------------------------------------------


def _ordered_segments(turn: Turn) -> Iterator[tuple[Segment, bool]]:
    """The segments in the provider's order, then text that is in none; each with whether it is complete."""
    segments = sorted(turn.shown, key=lambda segment: segment.index)
    thoughts = [segment for segment in segments if isinstance(segment, Reasoning)]
    texts = [segment for segment in segments if isinstance(segment, Text)]
    parts = [part.text for segment in thoughts for part in segment.parts]
    thought = _rest(turn.reasoning, "".join(segment.text for segment in thoughts), "".join(parts))
    unsegmented = _rest(turn.text, "".join(segment.text for segment in texts))
    for segment in segments:
        # If the streamed text differs from the segments, the streamed text counts.
        remainder = (
            unsegmented if isinstance(segment, Text) else thought if isinstance(segment, Reasoning) else ""
        )
        if remainder is not None:
            yield segment, segment in turn.segments
    last, complete = segments[-1].index + 1 if segments else 0, turn.state == "completed"
    if words := turn.reasoning if thought is None else thought:
        yield Reasoning((ReasoningPart(words),), last), complete
        last += 1
    if words := turn.text if unsegmented is None else unsegmented:
        yield Text(words, last), complete


def _rest(words: str, *texts: str) -> str | None:
    """The text beyond that of the segments; None if they differ."""
    for text in texts:
        if text.startswith(words):
            return ""
        if words.startswith(text):
            return words.removeprefix(text)
    return None


def _segment(turn: Turn, segment: Segment, complete: bool, ident: str, effort: str) -> Iterator[JsonObject]:
    match segment:
        case Text():
            yield {"type": "text", "text": segment.text}
        case Reasoning():
            yield _reasoning(turn, segment, complete, ident, effort)
        case ToolCall():
            yield {
                "type": "tool_call",
                "id": segment.id,
                "name": segment.name,
                "args": _object(segment.arguments, "arguments"),
                **_non_empty(server_label=segment.server, display_name=segment.title),
                **({"server_type": segment.kind} if not segment.needs_answer else {}),
            }
            if segment.output or segment.error:
                # It ran at the provider's, and came back with the call.
                result = {"type": "tool_result", "id": segment.id, "output": _object(segment.output, "text")}
                yield {**result, **_non_empty(error=segment.error)}
        case ToolResult():
            result = {"type": "tool_result", "id": segment.id, "output": _object(segment.output, "text")}
            yield {**result, **_non_empty(error=segment.error)}
        case UnknownItem():
            yield {
                "type": UNKNOWN,
                "id": segment.item_id or f"{ident}.{segment.index}",
                "output_index": segment.index,
                "sequence_number": segment.sequence_number or 0,
                "item_type": segment.kind,
                "item": segment.item,
            }
        case CompletionStatus():
            yield _status(segment.status, **_non_empty(detail=segment.detail))
        case _:
            assert_never(segment)


def _reasoning(turn: Turn, segment: Reasoning, complete: bool, ident: str, effort: str) -> JsonObject:
    shape: JsonObject = {
        "type": "reasoning",
        "id": segment.item_id or f"{ident}.{segment.index}",
        "output_index": segment.index,
        "sequence_number": segment.sequence_number or 0,
        "parts": [
            {
                "summary_index": part.summary_index,
                "type": "summary_text",
                "text": part.text,
                "sequence_number": part.sequence_number or 0,
                "is_complete": (complete and not segment.incomplete) or part is not segment.parts[-1],
                "created_at": _ms(turn.came_at(segment.index, "reasoning", part.summary_index)),
            }
            for part in segment.parts
        ],
        "combined_text": segment.text,
        **_effort(segment.effort or effort),
    }
    if segment.tokens is not None:
        shape["reasoning_tokens"] = segment.tokens
    return {**shape, "redacted": True} if segment.redacted else shape


def _renumbered(shapes: Iterable[JsonObject]) -> Iterator[JsonObject]:
    """Makes `sequence_number` of reasoning rise through the whole speech: each call counts from the start,
    and some services do not count."""
    least = 0
    for shape in shapes:
        if shape["type"] == "reasoning":
            ahead = max(0, least - shape["sequence_number"])
            for one in (shape, *shape["parts"]):
                one["sequence_number"] += ahead
                least = max(least, one["sequence_number"] + 1)
        yield shape


def _effort(effort: str) -> JsonObject:
    """The nearest of the three levels that readers know, with the original effort beside it if it differs."""
    level = LEVELS.get(effort, "")
    return _non_empty(effort_level=level, effort=effort if effort != level else "")


def _object(text: str, name: str) -> JsonObject:
    """The JSON object in the text; any other text is wrapped in an object."""
    try:
        decoded = msgspec.json.decode(text, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return {name: text} if text else {}
    return decoded


def _non_empty(**members: str) -> JsonObject:
    return {name: value for name, value in members.items() if value}


def _ms(at: datetime) -> int:
    return int(at.timestamp() * 1000)
