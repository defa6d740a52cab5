"""Converts rows of an older system to stored events and back; `views/legacy_rows.py` maps the fields."""

from __future__ import annotations

import hashlib
import re
from typing import Any

import msgspec
from msgspec import Raw

from moot.extensions.conversations.archive import NULL, ArchivedEvent, IncomingEvent
from moot.extensions.conversations.legacy_rows import (
    JsonObject,
    LegacyRow,
    UnifiedEvent,
    canonical,
    insert_positions,
    reasoning_column,
    to_legacy_row,
    to_unified,
)

DIGEST = 16
_STRING, _MARK = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"'), re.compile(rb"[\[\]{}]")

_segments = msgspec.json.Decoder(list[dict[str, Any]])
_pieces = msgspec.json.Decoder(list[Raw])
_raws = msgspec.json.Decoder(dict[str, Raw])
_remainder = msgspec.json.Decoder(dict[str, Raw] | None)
_object = msgspec.json.Decoder(dict[str, Any] | None)
_places = msgspec.json.Decoder(int | list[int])


def incoming_event(row: LegacyRow) -> IncomingEvent:
    event = to_unified(row)
    archived = ArchivedEvent(
        conversation=row.conversation_id,
        id=row.id,
        order_key=row.order_key,
        role=row.role,
        ts=row.ts,
        created_at=None if row.created_at is None else str(row.created_at),
        segments=_packed(event.segments),
        metadata=_packed(event.metadata),
        legacy=_packed(event.remainder),
    )
    return IncomingEvent(archived, hashlib.blake2b(canonical(row), digest_size=DIGEST).digest())


def nesting_depth(row: LegacyRow) -> int:
    """The depth of the most deeply nested member."""
    deepest = depth = 0
    for mark in _MARK.findall(_STRING.sub(b"", canonical(row))):
        depth += 1 if mark in b"[{" else -1
        deepest = max(deepest, depth)
    return deepest


def legacy_row(archived: ArchivedEvent) -> LegacyRow:
    event = UnifiedEvent(
        segments=_segments.decode(archived.segments),
        remainder=_object.decode(archived.legacy),
    )
    return to_legacy_row(
        event,
        id=archived.id,
        conversation_id=archived.conversation,
        role=archived.role,
        order_key=archived.order_key,
        ts=archived.ts,
        created_at=archived.created_at,
    )


def unified_shape(archived: ArchivedEvent) -> JsonObject:
    """The event as readers get it; its segments are sent as they are stored, without decoding them."""
    shape: JsonObject = {"id": archived.id, "role": archived.role, "segments": archived.segments}
    if archived.metadata != NULL:
        shape["response_metadata"] = archived.metadata
    return {**shape, "ts": archived.ts, "order_key": archived.order_key, "created_at": archived.created_at}


def legacy_shape(archived: ArchivedEvent) -> JsonObject:
    """The event as the row it came from. Only the reasoning that goes back into its own column is decoded."""
    segments: Any = archived.segments
    remainder: dict[str, Raw] = _remainder.decode(archived.legacy) or {}
    reasoning: Any = remainder.get("reasoning")
    if remainder.keys() & {"at", "segments"}:
        segments = _pieces.decode(archived.segments)
    if "at" in remainder:
        thoughts = [segments.pop(index) for index in insert_positions(_places.decode(remainder["at"]))]
        reasoning = reasoning or reasoning_column(msgspec.json.decode(thoughts[0]))
    if "segments" in remainder:
        for index, segment in _raws.decode(remainder["segments"]).items():
            segments[int(index)] = segment
    return {
        "id": archived.id,
        "conversation_id": archived.conversation,
        "role": archived.role,
        "segments": segments,
        "reasoning": reasoning,
        "order_key": archived.order_key,
        "ts": archived.ts,
        "created_at": remainder.get("created_at", archived.created_at),
        **(msgspec.json.decode(remainder["more"]) if "more" in remainder else {}),
    }


def decode_segments(shape: JsonObject) -> JsonObject:
    """The same shape with its segments and reasoning decoded."""
    segments = msgspec.json.encode(shape["segments"])
    apart = {"segments": _segments.decode(segments)}
    if "reasoning" in shape:
        apart["reasoning"] = msgspec.json.decode(msgspec.json.encode(shape["reasoning"]))
    return {**shape, **apart}


def _packed(what: object) -> Raw:
    return Raw(msgspec.json.encode(what))
