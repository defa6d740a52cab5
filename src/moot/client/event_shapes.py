"""What a stream tells: the nine events of v1, each with its payload, and the records of the native log.

Members that a payload has and this client does not know are passed over. Amounts of money are `Decimal`.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec
from msgspec import Struct

from moot.api.shapes.base import decode_value
from moot.api.shapes.records import LogEntry
from moot.api.shapes.stream_events import EVENTS, Score, TokensUsed, Verdict
from moot.api.shapes.stream_events import CompleteEvent as Complete
from moot.api.shapes.stream_events import CostUpdateEvent as CostUpdate
from moot.api.shapes.stream_events import CostWarningEvent as CostWarning
from moot.api.shapes.stream_events import ErrorEvent as StreamError
from moot.api.shapes.stream_events import JudgeEvent as JudgeWords
from moot.api.shapes.stream_events import ParticipantEvent as Words
from moot.api.shapes.stream_events import RoundCompleteEvent as RoundComplete
from moot.api.shapes.stream_events import RoundResponse as Response
from moot.api.shapes.stream_events import StatusEvent as State
from moot.api.shapes.stream_events import TokenUsage as Tokens
from moot.client.client_errors import Unreadable
from moot.core import events
from moot.core.sse import SseEvent

__all__ = [
    "Complete", "CostUpdate", "CostWarning", "Data", "Event", "JudgeWords", "Record", "Response",
    "RoundComplete", "Score", "State", "StreamError", "Tokens", "TokensUsed", "Verdict", "Words",
    "event_of", "record_of",
]  # fmt: skip
Data = (
    State | Words | RoundComplete | JudgeWords | Verdict | CostUpdate | CostWarning | StreamError | Complete
    | dict[str, Any]
)  # fmt: skip
_decoders: dict[str, msgspec.json.Decoder[Any]] = {
    name: msgspec.json.Decoder(shape, dec_hook=decode_value) for name, shape in EVENTS.items()
}


class Event(Struct, frozen=True):
    """`id` is where to go on from. Events that only an extended stream has come as plain dictionaries."""

    name: str
    id: str
    data: Data


class Record(Struct, frozen=True):
    """A place in the native log.

    `event` is None where we may not see it (`kind` is `hidden` then) or do not know its kind.
    """

    seq: int
    at: datetime
    kind: str
    event: events.Event | None


def event_of(message: SseEvent) -> Event:
    decoder = _decoders.get(message.name)
    try:
        data = decoder.decode(message.data) if decoder else msgspec.json.decode(message.data)
    except msgspec.DecodeError as error:
        raise Unreadable from error
    return Event(message.name, message.id, data)


class _Kind(Struct, frozen=True):
    type: str


_entry = msgspec.json.Decoder(LogEntry)
_kind = msgspec.json.Decoder(_Kind)
_KNOWN: frozenset[str] = frozenset(str(shape.__struct_config__.tag) for shape in events.Event.__args__)


def record_of(entry: LogEntry | bytes) -> Record:
    try:
        entry = _entry.decode(entry) if isinstance(entry, bytes) else entry
        kind = _kind.decode(entry.event).type
        event = events.decode_event(bytes(entry.event)) if kind in _KNOWN else None
    except msgspec.DecodeError as error:
        raise Unreadable from error
    return Record(entry.seq, entry.at, kind, event)
