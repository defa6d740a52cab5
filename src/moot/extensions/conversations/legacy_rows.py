"""Converts events of conversations from the old shape to the unified one and back. Pure.

The old shape is a row of a table: `segments` (text, tool calls, results) and beside them one `reasoning`,
without its position among the segments. That column has one thought, or an array of its parts, or an array
of several thoughts, or plain text. The unified shape has them among the segments. What it cannot hold of a
row is stored beside it, in a remainder: `to_legacy_row(unified(row))` is the row, whatever was in it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeGuard

import msgspec
from msgspec import Struct

from moot.core.errors import Invalid

JsonObject = dict[str, Any]

REASONING, STATUS, UNKNOWN = "reasoning", "completion_status", "unknown_item"
COLUMNS = ("id", "conversation_id", "role", "segments", "reasoning", "order_key", "ts", "created_at")
MAX_NAME_CHARS = 200
"""As long as a query may have it."""
_INT64 = 1 << 63
_BROKEN = re.compile("[\ud800-\udfff]")
_NUMBER = re.compile("0|[1-9][0-9]{0,8}", re.ASCII)
_sorted = msgspec.json.Encoder(order="sorted")

ReasoningColumn = JsonObject | list[Any] | str | None
"""Reasoning in a column of its own, beside the segments."""


class LegacyRow(Struct, frozen=True, kw_only=True):
    id: str
    conversation_id: str
    role: str
    segments: list[JsonObject]
    reasoning: ReasoningColumn = None
    order_key: str
    ts: int
    created_at: str | float | None = None
    more: JsonObject = {}
    """Columns that the old shape does not have."""

    def shape(self) -> JsonObject:
        return {**{name: getattr(self, name) for name in COLUMNS}, **self.more}


class UnifiedEvent(Struct, frozen=True, kw_only=True):
    segments: list[JsonObject]
    metadata: JsonObject | None = None
    remainder: JsonObject | None = None
    """What the row had and the segments cannot hold."""


def canonical(what: object) -> bytes:
    """Canonical bytes of a JSON value. 1, 1.0 and true differ, although they are equal in Python."""
    return _sorted.encode(what)


# --- a row, read ----------------------------------------------------------------------------------------


def read_row(row: Mapping[str, Any]) -> LegacyRow:
    """Return a checked row. Raises Invalid with the first error."""
    for name in ("id", "conversation_id", "role"):
        if not _is_name(row.get(name)):
            raise Invalid(f"{name} is missing, or no text of 1 to {MAX_NAME_CHARS} printable characters")
    if not _is_text(row.get("order_key")):
        raise Invalid("order_key is missing, or no text")
    ts = row.get("ts")
    if not isinstance(ts, int) or isinstance(ts, bool) or not -_INT64 <= ts < _INT64:
        raise Invalid("ts is missing, or no whole number")
    if not _is_moment(created_at := row.get("created_at")):
        raise Invalid("created_at is no moment")
    return LegacyRow(
        id=row["id"],
        conversation_id=row["conversation_id"],
        role=row["role"],
        segments=_segments(row.get("segments")),
        reasoning=read_reasoning(row.get("reasoning")),
        order_key=row["order_key"],
        ts=ts,
        created_at=created_at,
        more={name: value for name, value in row.items() if name not in COLUMNS},
    )


def _is_name(value: object) -> bool:
    return (
        isinstance(value, str)
        and 0 < len(value) <= MAX_NAME_CHARS
        and value.isprintable()
        and value == value.strip()
    )


def _is_text(value: object) -> TypeGuard[str]:
    """Whether it is text that every database can store."""
    return isinstance(value, str) and "\0" not in value and not _BROKEN.search(value)


def _is_moment(value: object) -> TypeGuard[str | float | None]:
    """Whether it is a time: text, or a number in some tables."""
    if isinstance(value, int | float):
        return not isinstance(value, bool) and abs(value) < math.inf
    return value is None or _is_text(value)


def _is_object(value: object) -> TypeGuard[JsonObject]:
    return isinstance(value, dict)


def _is_array(value: object) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


def _segments(value: Any) -> list[JsonObject]:
    segments = parsed(value, "segments")
    if not _is_array(segments):
        raise Invalid("segments is no array")
    if not all(_is_object(segment) for segment in segments):
        raise Invalid("a segment is no object")
    return segments


def read_reasoning(value: Any) -> ReasoningColumn:
    """The parsed column; text that is not JSON is the reasoning itself. Raises Invalid."""
    try:
        reasoning = parsed(value, "reasoning")
    except Invalid:
        reasoning = value
    if reasoning is None or _is_object(reasoning) or _is_array(reasoning):
        return reasoning
    if isinstance(value, str):
        return value
    raise Invalid("reasoning is no object, array or text")


def parsed(value: Any, name: str) -> Any:
    """The parsed value; a table without a JSON type stores it as text or bytes."""
    if not isinstance(value, str | bytes):
        return value
    try:
        return msgspec.json.decode(value)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        raise Invalid(f"{name} is not valid JSON") from None


# --- from the old shape to the unified one, and back ------------------------------------------------------


def to_unified(row: LegacyRow) -> UnifiedEvent:
    segments, remainder = [_normalized(segment, row.ts) for segment in row.segments], JsonObject()
    pairs = [(str(n), old, new) for n, (old, new) in enumerate(zip(row.segments, segments, strict=True))]
    if changed := {n: old for n, old, new in pairs if new is not old and canonical(new) != canonical(old)}:
        remainder["segments"] = changed
    places, column = list[int](), None
    for thought in thoughts_in(row.reasoning):
        places.append(_place(thought.get("output_index"), segments))
        segments.insert(places[-1], segment := reasoning_segment(thought, row.ts))
        column = reasoning_column(segment)
    if places:
        remainder["at"] = places if len(places) > 1 else places[0]
    if canonical(column) != canonical(row.reasoning):
        remainder["reasoning"] = row.reasoning
    if not isinstance(row.created_at, str | None):
        remainder["created_at"] = row.created_at
    if row.more:
        remainder["more"] = row.more
    return UnifiedEvent(segments=segments, metadata=_metadata(row, segments), remainder=remainder or None)


def to_legacy_row(
    event: UnifiedEvent,
    *,
    id: str,
    conversation_id: str,
    role: str,
    order_key: str,
    ts: int,
    created_at: str | None,
) -> LegacyRow:
    segments, remainder = list(event.segments), event.remainder or {}
    thoughts = [segments.pop(index) for index in insert_positions(remainder.get("at"))]
    column = reasoning_column(thoughts[0]) if len(thoughts) == 1 else None
    for index, segment in remainder.get("segments", {}).items():
        segments[int(index)] = segment
    return LegacyRow(
        id=id,
        conversation_id=conversation_id,
        role=role,
        segments=segments,
        reasoning=remainder.get("reasoning", column),
        order_key=order_key,
        ts=ts,
        created_at=remainder.get("created_at", created_at),
        more=remainder.get("more", {}),
    )


def thoughts_in(reasoning: ReasoningColumn) -> list[JsonObject]:
    """Each as `reasoning_segment` takes it. An array has the parts of one thought, or several thoughts."""
    if _is_object(reasoning):
        return [reasoning]
    if isinstance(reasoning, str):
        return [{"parts": [reasoning]}] if reasoning.strip() else []
    if not reasoning:
        return []
    if not any(_is_thought(one) for one in reasoning):
        return [{"parts": reasoning}]
    return [one if _is_thought(one) else {"parts": [one]} for one in reasoning]


def _is_thought(value: Any) -> TypeGuard[JsonObject]:
    """Whether it is a thought, and not a part of one, which has a `summary_index`."""
    marks = {"item_id", "output_index", "parts", "summary"}
    return _is_object(value) and not marks.isdisjoint(value) and "summary_index" not in value


def insert_positions(at: int | list[int] | None) -> list[int]:
    """The positions at which thoughts were inserted, last first: removing one does not move the others."""
    return [at] if isinstance(at, int) else (at or [])[::-1]


def reasoning_segment(column: JsonObject, ts: int = 0) -> JsonObject:
    """The column as a segment: `parts`, an object by number in old rows, becomes an array in that order.
    Members that readers rely on get their types; members that are null are treated as missing."""
    parts = _parts(_raw_parts(column), ts)
    numbers = [number for part in parts if (number := _as_int(part["sequence_number"])) is not None]
    number = _as_int(column.get("sequence_number"))
    names = (name for name in (column.get("item_id"), column.get("id")) if isinstance(name, str))
    members = {
        name: value
        for name, value in column.items()
        if name not in ("type", "id", "item_id", "output_index", "sequence_number", "parts")
        and value is not None
    }
    return {
        "type": REASONING,
        "id": next(names, ""),
        "output_index": _as_int(column.get("output_index")) or 0,
        "sequence_number": min(numbers, default=0) if number is None else number,
        "parts": parts,
        **members,
    }


def reasoning_column(*segments: JsonObject) -> JsonObject:
    """Segments as the one column of the old shape. The parts of several are numbered consecutively, with the
    position of the first: all reasoning is included, but not when it came."""
    first, later = segments[0], segments[1:]
    column = {name: value for name, value in first.items() if name not in ("type", "id", "sequence_number")}
    column = {"item_id": first.get("id", ""), **column}
    if not later:
        return {**column, "parts": dict(zip(_keys(first["parts"]), first["parts"], strict=True))}
    parts = [part for segment in segments for part in segment["parts"]]
    column["parts"] = {str(n): {**part, "summary_index": n} for n, part in enumerate(parts)}
    texts = [text for segment in segments if (text := segment.get("combined_text"))]
    counts = [count for segment in segments if isinstance(count := segment.get("reasoning_tokens"), int)]
    if texts:
        column["combined_text"] = "\n\n".join(texts)
    if counts:
        column["reasoning_tokens"] = sum(counts)
    return column


def _raw_parts(column: JsonObject) -> Any:
    """The parts of a thought; some rows have it as the service sent it."""
    if "parts" in column or not column.keys() & {"summary", "text"}:
        return column.get("parts")
    return column["summary"] if "summary" in column else [column["text"]]


def _parts(value: Any, ts: int) -> list[JsonObject]:
    if _is_object(value):
        numbered = sorted((key for key in value if _NUMBER.fullmatch(key)), key=int)
        others = (key for key in value if not _NUMBER.fullmatch(key))
        last = int(numbered[-1]) if numbered else -1
        keys = [*((int(key), key) for key in numbered), *enumerate(others, last + 1)]
        return [_part(number, value[key], ts) for number, key in keys]
    return [_part(number, part, ts) for number, part in enumerate(value)] if _is_array(value) else []


def _part(number: int, part: Any, ts: int) -> JsonObject:
    """Return a part with every member that readers rely on; values of the row win."""
    members = part if _is_object(part) else {"text": None if part is None else str(part)}
    usual = {"summary_index": number, "type": "summary_text", "text": "", "sequence_number": 0}
    present = {name: value for name, value in members.items() if value is not None}
    return {**usual, "is_complete": True, "created_at": ts, **present}


def _keys(parts: Sequence[JsonObject]) -> list[str]:
    """Return the numbers of the parts where they are distinct, else their positions."""
    numbers = [_as_int(part.get("summary_index")) for part in parts]
    keys = [str(index if number is None else number) for index, number in enumerate(numbers)]
    return keys if len({*keys}) == len(keys) else [str(index) for index in range(len(keys))]


def _as_int(value: Any) -> int | None:
    """A number, which some tables have as text."""
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _place(index: Any, segments: Sequence[JsonObject]) -> int:
    """The position before the first segment with a higher `output_index`; else the end."""
    if (own := _as_int(index)) is None:
        return len(segments)
    indexes = ((n, _as_int(segment.get("output_index"))) for n, segment in enumerate(segments))
    return next((n for n, other in indexes if other is not None and other > own), len(segments))


def _normalized(segment: JsonObject, ts: int) -> JsonObject:
    """The segment with its `parts` as an array: some rows have reasoning among the segments already."""
    return reasoning_segment(segment, ts) if segment.get("type") == REASONING else segment


def _metadata(row: LegacyRow, segments: Sequence[JsonObject]) -> JsonObject | None:
    """The metadata of the row; without any, what its reasoning says."""
    with suppress(Invalid):
        if _is_object(metadata := parsed(row.more.get("response_metadata"), "response_metadata")):
            return metadata
    thoughts = [segment for segment in segments if segment.get("type") == REASONING]
    known: JsonObject = {}
    if any(part["is_complete"] is False for thought in thoughts for part in thought["parts"]):
        known["completion_status"] = "partial"
    if counts := [count for t in thoughts if (count := _as_int(t.get("reasoning_tokens"))) is not None]:
        known["usage"] = {"reasoning_tokens": sum(counts)}
    return known or None


# --- events as they are shown -------------------------------------------------------------------------------


def to_legacy_shape(event: JsonObject) -> JsonObject:
    """Return a unified event in the old shape: see `reasoning_column`."""
    thoughts = [segment for segment in event["segments"] if segment.get("type") == REASONING]
    others = [segment for segment in event["segments"] if segment.get("type") not in (REASONING, STATUS)]
    members = {name: value for name, value in event.items() if name not in ("segments", "response_metadata")}
    return {**members, "segments": others, "reasoning": reasoning_column(*thoughts) if thoughts else None}


def reasoning_text(segment: JsonObject) -> str:
    """The text of a reasoning segment: the combined one, and after it the parts that are not in it."""
    texts = [str(part.get("text") or "") for part in segment.get("parts", ())]
    combined = str(segment.get("combined_text") or "")
    known = " ".join(combined.split())
    return "\n\n".join(
        [*([combined] if known else []), *(text for text in texts if " ".join(text.split()) not in known)]
    )


def only_segment_types(events: Iterable[JsonObject], types: Sequence[str]) -> list[JsonObject]:
    """The events with only segments of these types, without events that have none; in either shape."""
    if not types:
        return list(events)
    selected: list[JsonObject] = []
    for event in events:
        segments = [segment for segment in event["segments"] if segment.get("type") in types]
        filtered = {**event, "segments": segments}
        if "reasoning" in filtered and REASONING not in types:
            filtered["reasoning"] = None
        if segments or thoughts_in(filtered.get("reasoning")):
            selected.append(filtered)
    return selected
