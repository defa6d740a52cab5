"""The speeches of the view: text and reasoning of each as they grow, with tools, notes and figures."""

from __future__ import annotations

from typing import Any

import msgspec

from moot.api.v1.people_replies import ends_at, seconds_left
from moot.core.state import Debate, Turn
from moot.core.terms import Reasoning, Text, ToolCall, ToolResult, UnknownItem
from moot.core.visibility import Viewer, is_withheld, may_read_reasoning, visible_segment
from moot.core.word_count import CLIPPED_MARK
from moot.prompts.first_words import count_first_words, expected_words
from moot.rules.retry import AMENDABLE_FAULTS, RETRIES
from moot.views.costs import dollars
from moot.views.transcript import (
    THOUGHT_SEPARATOR,
    by_hand,
    speaker_role,
    speech_flags,
    speech_notes,
    speech_title,
    streamed_thoughts,
    thoughts,
)
from moot.views.transcript_json import moment

Shape = dict[str, Any]
MOST_OF_AN_ITEM = 4000
SHORTEST_SECONDS = 0.2
"""Over less time a rate says nothing."""


def turn_shape(debate: Debate, turn: Turn, viewer: Viewer) -> Shape:
    """`debate` is the complete state; what this viewer may not read is left out here."""
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
        "parts": [] if hidden else _parts(turn, viewer),
        "veiled": hidden,
        "words": turn.words,
        "budget": expected_words(debate.seat(turn.seat), turn.tone, debate.word_budget(turn.slot)),
        "begun": _words_by_moot(debate, turn) if not hidden else 0,
        "clipped": turn.clipped,
        "flags": list(marks),
        "notes": list(speech_notes(turn)),
        "cost": dollars(turn.cost) if turn.usage.total or turn.cost else "",
        "tokens": turn.usage.total,
        "latencyMs": turn.latency_ms,
        "firstTokenMs": _first_token_ms(turn),
        "tokensPerSecond": _tokens_per_second(turn),
        "call": turn.call if viewer.privileged else None,
        "attempt": turn.attempt,
        "trouble": _retry_notice(debate, turn),
        "byHand": by_hand(turn) or (person and turn.state == "live"),
        "struck": "struck" in marks,
        "startedAt": moment(turn.started_at),
        "endedAt": moment(turn.ended_at),
        "endsAt": _ends_at(debate, turn, person),
        "seq": turn.seq,
    }


def _words_by_moot(debate: Debate, turn: Turn) -> int:
    """The number of words at the start of a finished speech that Moot wrote. For a live one the seat says it:
    only words are sent then.
    """
    return 0 if turn.state == "live" or by_hand(turn) else count_first_words(debate, turn)


def _first_token_ms(turn: Turn) -> int | None:
    """From the start of a finished turn to its first token; None for people. While it streams, the page
    measures it: only words are sent then."""
    if by_hand(turn) or not turn.runs or turn.state == "live":
        return None
    return max(0, round((turn.runs[0].at - turn.started_at).total_seconds() * 1000))


def _tokens_per_second(turn: Turn) -> float | None:
    """The output of a finished speech over the time from its first token to its end."""
    if by_hand(turn) or not turn.runs or turn.ended_at is None or not turn.usage.output:
        return None
    seconds = (turn.ended_at - turn.runs[0].at).total_seconds()
    return round(turn.usage.output / seconds, 1) if seconds >= SHORTEST_SECONDS else None


def _thoughts(debate: Debate, turn: Turn, viewer: Viewer) -> str:
    if not may_read_reasoning(debate, viewer):
        return ""
    return streamed_thoughts(turn) if turn.state == "live" else thoughts(turn)


def _parts(turn: Turn, viewer: Viewer) -> list[Shape]:
    """Tools in order, and how much reasoning and text came before each.

    After the last part there is reasoning, then text, as in any speech; that is not listed, so that the
    parts change only when one is complete, never with a token.
    """
    live = turn.state == "live"
    segments = [visible_segment(part, viewer) for part in (turn.segments if live else turn.shown)]
    results = {part.id: part for part in segments if isinstance(part, ToolResult)}
    thought: list[str] = []
    speech_texts: list[str] = []
    parts: list[Shape] = []
    for segment in segments:
        match segment:
            case Reasoning() if segment.text:
                thought.append(segment.text)
                _mark_progress(parts, "thoughts", thought, THOUGHT_SEPARATOR)
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
    """A part like that of a tool, with the beginning of the item."""
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
    """The length of the text in UTF-16 units, as browsers count."""
    return len(text) + sum(character > "\uffff" for character in text)


def _retry_notice(debate: Debate, turn: Turn) -> Shape | None:
    """The failed call that is being retried."""
    speaks = turn.text != turn.kept.text
    if turn.state != "live" or not turn.fault or speaks or turn.fault in AMENDABLE_FAULTS:
        return None
    nth = min(turn.failures, RETRIES)
    return {
        "text": f"Retry {nth} of {RETRIES}",
        "message": turn.message,
        "kind": turn.fault,
        "tries": turn.failures,
        "retryAt": moment(turn.retry_at),
        "provider": debate.seat(turn.seat).model.provider,
    }


def _ends_at(debate: Debate, turn: Turn, person: bool) -> str | None:
    """When the time of the speech ends; None while the clock is stopped or after a model has finished."""
    if turn.state != "live":
        return None
    if person:
        return moment(ends_at(debate, turn)) if seconds_left(debate, turn, turn.started_at) else None
    return None


def turns(debate: Debate, viewer: Viewer) -> Shape:
    return {str(turn.number): turn_shape(debate, turn, viewer) for turn in (*debate.turns, *debate.live)}
