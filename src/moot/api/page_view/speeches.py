"""The speeches of the view: of each its words and thoughts as they grow, and all that stands about them."""

from __future__ import annotations

from typing import Any

import msgspec

from moot.api.v1.people_replies import ends_at, seconds_left
from moot.core.state import Debate, Turn
from moot.core.terms import Reasoning, Text, ToolCall, ToolResult, UnknownItem
from moot.core.visibility import Viewer, is_withheld, may_read_reasoning
from moot.core.word_count import CLIPPED_MARK
from moot.rules.retry import AMENDABLE_FAULTS, RETRIES
from moot.views.costs import dollars
from moot.views.transcript import (
    THOUGHT_SEPARATOR,
    by_hand,
    speaker_role,
    speech_flags,
    speech_notes,
    speech_title,
    thoughts,
)
from moot.views.transcript_json import moment

Shape = dict[str, Any]
MOST_OF_AN_ITEM = 4000


def turn_shape(debate: Debate, turn: Turn, viewer: Viewer) -> Shape:
    """`debate` is the whole of it; what this viewer may not read of the speech is left out here."""
    hidden = is_withheld(debate, turn.number, viewer)
    person, marks = debate.seat(turn.seat).model.human, speech_flags(turn)
    return {
        "number": turn.number,
        "slot": turn.slot,
        "seat": turn.seat,
        "round": turn.round,
        "phase": turn.phase,
        "title": speech_title(debate, turn),
        "tone": turn.tone,
        "speaksAs": speaker_role(debate, turn),
        "to": debate.schedule[turn.slot].to,
        "state": turn.state,
        "text": "" if hidden else turn.text,
        "reasoning": _thoughts(debate, turn, viewer) if not hidden else "",
        "parts": [] if hidden else _parts(turn),
        "veiled": hidden,
        "words": turn.words,
        "budget": debate.word_budget(turn.slot),
        "clipped": turn.clipped,
        "flags": list(marks),
        "notes": list(speech_notes(turn)),
        "cost": dollars(turn.cost) if turn.usage.total or turn.cost else "",
        "tokens": turn.usage.total,
        "latencyMs": turn.latency_ms,
        "call": turn.call if viewer.privileged else None,
        "attempt": turn.attempt,
        "trouble": _retry_notice(turn),
        "byHand": by_hand(turn) or (person and turn.state == "live"),
        "struck": "struck" in marks,
        "startedAt": moment(turn.started_at),
        "endedAt": moment(turn.ended_at),
        "endsAt": _ends_at(debate, turn, person),
        "seq": turn.seq,
    }


def _thoughts(debate: Debate, turn: Turn, viewer: Viewer) -> str:
    if not may_read_reasoning(debate, viewer):
        return ""
    return turn.reasoning if turn.state == "live" else thoughts(turn)


def _parts(turn: Turn) -> list[Shape]:
    """In the order in which they came: tools, and how far thoughts and words had come between them.

    What follows the last of these is thoughts and then words, as in any speech, and is not told here: so it
    changes when a part is complete, and never with a word.
    """
    live = turn.state == "live"
    results = {part.id: part for part in turn.segments if isinstance(part, ToolResult)}
    thought: list[str] = []
    speech_texts: list[str] = []
    parts: list[Shape] = []
    for segment in turn.segments if live else turn.shown:
        match segment:
            case Reasoning():
                thought.append(segment.text)
                _mark_progress(parts, "thoughts", thought, "" if live else THOUGHT_SEPARATOR)
            case Text():
                speech_texts.append(segment.text)
                _mark_progress(parts, "words", speech_texts)
            case ToolCall():
                parts.append(_tool(segment, results.get(segment.id), live=live))
            case UnknownItem():
                parts.append(_unknown(segment))
            case _:
                pass
    for kind in ("words", "thoughts"):
        _drop(parts, kind)
    return parts


def _mark_progress(parts: list[Shape], kind: str, texts: list[str], between: str = "") -> None:
    if texts[-1]:
        _drop(parts, kind)
        parts.append({"kind": kind, "end": _utf16_length(between.join(texts))})


def _drop(parts: list[Shape], kind: str) -> None:
    if parts and parts[-1]["kind"] == kind:
        parts.pop()


def _tool(call: ToolCall, result: ToolResult | None, *, live: bool) -> Shape:
    return {
        "kind": "tool",
        "id": call.id,
        "name": call.name,
        "title": call.title,
        "server": call.server,
        "arguments": call.arguments,
        "output": call.output or (result.output if result else ""),
        "error": result.error if result else call.error,
        "atWork": call.needs_answer and result is None and live,
    }


def _unknown(item: UnknownItem) -> Shape:
    """Placed like a tool; the beginning of it is enough to see what it is."""
    text = msgspec.json.encode(item.item).decode()
    return {
        "kind": "tool",
        "id": item.item_id or f"item-{item.index}",
        "name": item.kind,
        "title": f"Unknown item: {item.kind}",
        "server": "",
        "arguments": text if len(text) <= MOST_OF_AN_ITEM else text[:MOST_OF_AN_ITEM] + CLIPPED_MARK,
        "output": "",
        "error": "",
        "atWork": False,
    }


def _utf16_length(text: str) -> int:
    """Its length as a browser counts it."""
    return len(text) + sum(character > "\uffff" for character in text)


def _retry_notice(turn: Turn) -> Shape | None:
    """The call broke down and is made again."""
    speaks = turn.text != turn.kept.text
    if turn.state != "live" or not turn.fault or speaks or turn.fault in AMENDABLE_FAULTS:
        return None
    nth = min(turn.failures, RETRIES)
    text = f"Retrying {nth}/{RETRIES}…"
    return {"text": text, "message": turn.message, "kind": turn.fault, "tries": turn.failures}


def _ends_at(debate: Debate, turn: Turn, person: bool) -> str | None:
    """When its time is up; of a clock that stands still, or for a model that has said all, nothing."""
    if turn.state != "live":
        return None
    if person:
        return moment(ends_at(debate, turn)) if seconds_left(debate, turn, turn.started_at) else None
    return None


def turns(debate: Debate, viewer: Viewer) -> Shape:
    return {str(turn.number): turn_shape(debate, turn, viewer) for turn in (*debate.turns, *debate.live)}
