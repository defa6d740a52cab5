"""What a stream tells: the nine events of v1, each with its payload, and the records of the native log.

Members that a payload has and this client does not know are passed over. Amounts of money are `Decimal`.
"""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any

import msgspec
from msgspec import Raw, Struct

from moot.client.client_errors import Unreadable
from moot.core import events
from moot.core.sse import SseEvent


class State(Struct, frozen=True, rename="camel", kw_only=True):
    """`status`: the debate has reached another state or round."""

    debate_id: str
    state: str
    current_round: int
    timestamp: datetime | None = None


class Words(Struct, frozen=True, rename="camel", kw_only=True):
    """`participant`: words of a speech; with `done` its figures.

    Words of a higher `attempt` stand for all earlier ones of the same speech; with `replace`, the chunk
    stands for all earlier ones of its attempt.
    """

    participant_id: str
    participant_name: str
    round_number: int
    chunk: str
    done: bool
    tokens_used: int | None = None
    latency_ms: int | None = None
    attempt: int = 1
    replace: bool = False
    speech: int | None = None
    status: str = ""
    interrupted: str = ""
    timestamp: datetime | None = None


class Response(Struct, frozen=True, rename="camel"):
    participant_id: str
    participant_name: str
    content: str
    tokens_used: int = 0
    latency_ms: int = 0
    status: str = ""


class RoundComplete(Struct, frozen=True, rename="camel", kw_only=True):
    """`round_complete`: every speech of a round."""

    round_number: int
    responses: tuple[Response, ...]
    total_tokens: int
    round_cost: Decimal
    timestamp: datetime | None = None


class JudgeWords(Struct, frozen=True, rename="camel", kw_only=True):
    """`judge`: words of a judge's reasons; `attempt` and `replace` as in `Words`."""

    chunk: str
    done: bool
    judge_id: str = ""
    order: int = 0
    attempt: int = 1
    replace: bool = False
    timestamp: datetime | None = None


class Score(Struct, frozen=True, rename="camel"):
    score: float
    strengths: tuple[str, ...] = ()
    weaknesses: tuple[str, ...] = ()


class Verdict(Struct, frozen=True, rename="camel", kw_only=True):
    """`verdict`: the winner is a participant's id, or `tie`."""

    winner: str | None = None
    scores: dict[str, Score] = {}
    reasoning: str = ""
    criteria: dict[str, str] = {}
    tokens_used: int = 0
    outcome: str = ""
    timestamp: datetime | None = None


class Tokens(Struct, frozen=True, rename="camel"):
    input_tokens: int = 0
    output_tokens: int = 0


class TokensUsed(Struct, frozen=True, rename="camel"):
    total: int = 0
    by_model: dict[str, Tokens] = {}


class CostUpdate(Struct, frozen=True, rename="camel", kw_only=True):
    """`cost_update`: what has been used and spent so far."""

    total_cost: Decimal
    cost_by_model: dict[str, Decimal] = {}
    tokens_used: TokensUsed = TokensUsed()
    estimated: bool = False
    timestamp: datetime | None = None


class CostWarning(Struct, frozen=True, rename="camel", kw_only=True):
    """`cost_warning`: the costs have passed `warnAtCost`."""

    threshold: Decimal
    current_cost: Decimal
    message: str = ""
    percent_of_limit: float | None = None
    timestamp: datetime | None = None


class StreamError(Struct, frozen=True, rename="camel", kw_only=True):
    """`error`: something went wrong; where it is `retryable`, it is tried again."""

    type: str
    message: str
    retryable: bool = False
    participant_id: str | None = None
    timestamp: datetime | None = None


class Complete(Struct, frozen=True, rename="camel", kw_only=True):
    """`complete`: nothing follows."""

    debate_id: str
    total_rounds: int
    final_cost: Decimal
    duration: float
    verdict: Verdict | None = None
    stopped: bool = False
    timestamp: datetime | None = None


Data = (
    State | Words | RoundComplete | JudgeWords | Verdict | CostUpdate | CostWarning | StreamError | Complete
    | dict[str, Any]
)  # fmt: skip

PAYLOADS: dict[str, type[Struct]] = {
    "status": State,
    "participant": Words,
    "round_complete": RoundComplete,
    "judge": JudgeWords,
    "verdict": Verdict,
    "cost_update": CostUpdate,
    "cost_warning": CostWarning,
    "error": StreamError,
    "complete": Complete,
}
_decoders: dict[str, msgspec.json.Decoder[Any]] = {
    name: msgspec.json.Decoder(shape) for name, shape in PAYLOADS.items()
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


class _RawRecord(Struct, frozen=True):
    seq: int
    at: datetime
    event: Raw


class _Kind(Struct, frozen=True):
    type: str


_placed = msgspec.json.Decoder(_RawRecord)
_kind = msgspec.json.Decoder(_Kind)
_KNOWN: frozenset[str] = frozenset(str(shape.__struct_config__.tag) for shape in events.Event.__args__)


def record_of(data: bytes | Raw) -> Record:
    try:
        placed = _placed.decode(data)
        kind = _kind.decode(placed.event).type
        event = events.decode_event(bytes(placed.event)) if kind in _KNOWN else None
    except msgspec.DecodeError as error:
        raise Unreadable from error
    return Record(placed.seq, placed.at, kind, event)
