"""The bodies, frames and replies of `/api/debate/stream`: a client asks for one turn at a time.

Four events: `reasoning` and `content` with a `chunk` each, then `complete` or `error`. Clients only add up
the chunks, so what was sent cannot be taken back. The text of a further attempt is held back until it is
longer than what was sent. Where it differs, or the final text does, an `error` with `retrying` ends the
stream, and a new request for the same turn sends it as it then stands. So the chunks of a stream that ends in
`complete` add up to its `content`. The reasoning of a further attempt follows after a break. Fields without a
value are null, as the document of this API has them.

The stream of a GET has ids, with which a browser resumes it. What is sent depends on where the stream began,
so an id says that too: `3-118-131` is event 131 in the stream of turn 3 that began after event 118.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, cast

from msgspec import Struct, structs
from pydantic import Field

from moot.api.frames import Cursor, Frame, SeenEvent, parse_cursor
from moot.api.problems import Problem
from moot.api.strict_json import loads
from moot.api.v1 import query_params
from moot.api.v1.bodies import Body, check_body
from moot.api.v1.fields import ModelId
from moot.api.v1.validation_messages import FieldRule, FixedMessage, between, invalid, line, matching, one_of
from moot.core.events import (
    CallDelta,
    DebateEnded,
    DebateFailed,
    DebatePaused,
    Event,
    SegmentCompleted,
    TurnCompleted,
    TurnFailed,
    TurnInterrupted,
)
from moot.core.pricing import cost
from moot.core.state import ZERO, Debate, Turn
from moot.core.terms import MAX_MOTION_CHARS, Model, Reasoning, Usage
from moot.extensions.turn_sessions.rows import TURN_SECONDS, counted_turns, entry, model_id, times, total_cost
from moot.extensions.turn_sessions.shapes import (
    DebateSession,
    ResponsesUsage,
    SessionBegun,
    SessionBrief,
    SimpleError,
    TurnComplete,
    TurnContent,
    TurnCost,
    TurnError,
    TurnReasoning,
    TurnStreamEvent,
)
from moot.extensions.turn_sessions.turns import FORMAT, TURNS, UNASSIGNED_MODEL, latest_turn
from moot.rules.debate_setup import SeatSetup, Setup
from moot.rules.turn_by_turn import client_response_id
from moot.views.transcript import thoughts
from moot.web.streaming.plain_streams import pieces

ROLES = ("AFFIRMATIVE", "NEGATIVE")
REQUIRED_FIELDS = ("modelId", "topic", "role", "intensity", "turnNumber")
MISSING_FIELDS = SimpleError(error="Missing required fields")
MAX_MESSAGE = 100_000
CANCELLED_MESSAGE = "The turn was called off."
CUT_MESSAGE = "The turn was cut short; ask for it again."
BEGUN_AGAIN = "The answer broke off and was begun again; ask for this turn again to read it."
BREAK = "\n\n"
"""Between two pieces of reasoning."""
ENDING_COMMANDS = ("stop", "abort", "decide", "judge")
"""The commands that end the session, and with it the turn."""


# --- bodies in ----------------------------------------------------------------------------------------


def _without_nul(text: str) -> str:
    """Any characters that a model may write, but NUL, which no store could keep."""
    if "\0" in text:
        raise invalid("Control characters are not allowed")
    if len(text) > MAX_MESSAGE:
        raise invalid(f"Must be at most {MAX_MESSAGE} characters")
    return text


Words = Annotated[str, FieldRule(_without_nul, {"maxLength": MAX_MESSAGE, "pattern": r"^[^\u0000]*$"})]
ResponseName = Annotated[str, matching(r"[\x21-\x7e]+", 200, "Must be the id of a response")]
SessionName = Annotated[str, matching(r"[A-Za-z0-9_.-]+", 100, "Must be the id of a session")]


class AskedTurn(Body):
    """One turn of a debate between two models: odd ones are the first model's, even ones the second's."""

    detail: ClassVar[str] = "Invalid turn"

    model_id: Annotated[ModelId, Field(examples=["gpt-5-mini"])]
    """Who speaks: as the price list calls it, or `provider/model`."""
    topic: Annotated[str, line(1, MAX_MOTION_CHARS)]
    role: Annotated[Literal["AFFIRMATIVE", "NEGATIVE"], FixedMessage(one_of(ROLES))]
    intensity: Annotated[int, between(1, 5)]
    turn_number: Annotated[int, between(1, TURNS)]
    opponent_message: Words | None = None
    """What the other model said last, which is quoted as it is sent; from the second turn on. With
    `sessionId` it may be null: then the session's own record is quoted."""
    previous_response_id: ResponseName | None = None
    """Of the turn that this model gave last; from the third turn on. Without it the history is sent."""
    session_id: SessionName | None = None
    """Without it the session is found by `previousResponseId`, or it is the one that this client opened on
    the topic and that waits for this turn."""

    @classmethod
    def together(cls, shape: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
        number = shape.get("turnNumber")
        if type(number) is not int or not 1 <= number <= TURNS:
            return
        if shape.get("role") in ROLES and shape["role"] != role_of(number):
            yield "role", f"Must be {role_of(number)} in this turn"
        is_known = shape.get("sessionId") is not None
        if number > 1 and not is_known and not str(shape.get("opponentMessage") or "").strip():
            yield "opponentMessage", "Needed from the second turn on"
        if number <= 2 and shape.get("previousResponseId") is not None:
            yield "previousResponseId", "This model has not spoken yet"

    @property
    def slot(self) -> int:
        return self.turn_number - 1

    @property
    def opponent_text(self) -> str:
        return (self.opponent_message or "").strip()

    def names(self, model: Model) -> bool:
        """Whether this is the model that is asked for."""
        return self.model_id in (model.name, model.label, model.alias)


def role_of(number: int) -> str:
    return ROLES[(number - 1) % 2]


def read_turn(data: bytes) -> AskedTurn | None:
    """None where a required field is missing, null, "", 0 or false."""
    shape = loads(data)
    if not isinstance(shape, dict):
        return check_body(AskedTurn, shape)
    fields = cast("dict[str, Any]", shape)
    if _is_missing_something(fields):
        return None
    # A client that received no id may have stored an empty one.
    is_empty = fields.get("previousResponseId") == ""
    return check_body(AskedTurn, {**fields, "previousResponseId": None} if is_empty else fields)


def _is_missing_something(shape: Mapping[str, Any]) -> bool:
    *others, number = REQUIRED_FIELDS
    return shape.get(number) is None or any(shape.get(name) in (None, "", 0, False) for name in others)


def setup_for_turn(turn_request: AskedTurn, model: Model) -> Setup:
    """A session in which this model has its seat; the other seat has no model yet."""
    models = (model, UNASSIGNED_MODEL) if turn_request.turn_number % 2 else (UNASSIGNED_MODEL, model)
    return Setup(
        motion=turn_request.topic,
        format=FORMAT,
        seats=tuple(
            SeatSetup(model=one, name=chair.name, side=chair.side)
            for one, chair in zip(models, FORMAT.chairs, strict=True)
        ),
        turns=TURNS,
        turn_seconds=TURN_SECONDS,
        winning="user-decides",
        intensity=turn_request.intensity,
        any_length=True,
    )


# --- where a stream is --------------------------------------------------------------------------------

_ID = r"([1-9][0-9]{0,17})-(0|[1-9][0-9]{0,17})-([1-9][0-9]{0,17}(?:\.[1-9][0-9]{0,3})?)"
_LAST_ID: dict[str, Any] = {"type": "string", "pattern": f"^(?:{_ID})?$"}


class TurnPosition(NamedTuple):
    """The number of a turn, and the seq after which its stream begins."""

    number: int
    after: int

    @property
    def id_prefix(self) -> str:
        return f"{self.number}-{self.after}-"


class LastTurnEvent(NamedTuple):
    """The last event that a client has seen of the stream of a turn."""

    position: TurnPosition
    cursor: Cursor


def parse_last_event(query: bytes, last_event_id: str | None) -> LastTurnEvent | None:
    """From the header or else from the query; None for a client that has seen nothing. Raises Problem."""
    reader = query_params.QueryReader(query, "lastEventId", query_params.TICKET)
    given = reader.finish(reader.text("lastEventId"))
    text = last_event_id or given
    if not text:
        return None
    match = re.fullmatch(_ID, text, re.ASCII)
    if match is None:
        raise Problem("malformed-request", NOT_OUR_ID)
    return LastTurnEvent(TurnPosition(int(match[1]), int(match[2])), parse_cursor(match[3]))


NOT_OUR_ID = "The last event id is not one of ours"
STREAM_PARAMETERS: list[dict[str, Any]] = [
    *query_params.PARAMETERS["ticket"],
    *(
        {"name": name, "in": place, "required": False, "schema": _LAST_ID, "description": text}
        for name, place, text in (
            ("lastEventId", "query", "The last id that was seen. The header Last-Event-ID wins."),
            ("Last-Event-ID", "header", "The last id that was seen; browsers send it by themselves."),
        )
    ),
]


# --- frames out ---------------------------------------------------------------------------------------


class TurnFrames(Struct, frozen=True):
    """The turn with this number; events up to `after` are no part of its stream."""

    number: int
    after: int = 0
    private: bool = True
    """Whether the viewer may see a provider's own ids."""

    @property
    def name(self) -> str:
        return f"turn-{self.number}-{self.after}"

    def frames(self, seen: SeenEvent) -> tuple[Frame, ...]:
        return tuple(self._event_frames(seen)) if seen.seq > self.after else ()

    def ends(self, seen: SeenEvent) -> bool:
        if seen.seq <= self.after:
            return False
        match seen.event:
            case TurnCompleted() | TurnFailed() | TurnInterrupted():
                return seen.event.turn == self.number
            case DebateEnded() | DebateFailed():
                return True
            case DebatePaused():
                return seen.after.turn(self.number) is None
            case _:
                return self._is_lost(seen.after.turn(self.number))

    def rests(self, debate: Debate) -> bool:
        return False

    def _event_frames(self, seen: SeenEvent) -> Iterator[Frame]:
        event, turn = seen.event, seen.after.turn(self.number)
        was = seen.before.turn(self.number) if seen.before else None
        if self._is_lost(was):
            return
        first = seen.seq == self.after + 1
        match event:
            case TurnCompleted() if was is not None and turn is not None and event.turn == self.number:
                yield from self._ended(seen, was, turn, streamed=not first)
            case TurnFailed() if event.turn == self.number:
                yield error_frame(event.message)
            case TurnInterrupted() if event.turn == self.number:
                yield error_frame(CANCELLED_MESSAGE if event.by in ENDING_COMMANDS else CUT_MESSAGE)
            case DebatePaused() if turn is None:
                yield error_frame(event.reason or CANCELLED_MESSAGE)
            case DebateFailed() | DebateEnded() if turn is None or turn.state == "live":
                yield error_frame(CANCELLED_MESSAGE)
            case _:
                if first and was is not None:
                    # The viewer joins a speech whose earlier calls have brought text already.
                    yield from (*_chunks(TurnReasoning, thoughts(was)), *_chunks(TurnContent, was.text))
                if was is not None and turn is not None:
                    yield from self._continued(event, was, turn)

    def _continued(self, event: Event | None, was: Turn, turn: Turn) -> Iterator[Frame]:
        match event:
            case CallDelta() if turn.call == event.call and event.text:
                yield from self._said(was, turn) if event.kind == "text" else self._thought(event, was, turn)
            case SegmentCompleted(segment=Reasoning() as whole) if turn.call == event.call:
                # Reasoning that was not streamed. (What the viewer may not read is not in the event.)
                if whole.text and whole.index not in turn.thinking and not event.taken_back:
                    before = any(isinstance(one, Reasoning) and one.text for one in was.segments)
                    break_ = BREAK if was.reasoning or before else ""
                    yield from _chunks(TurnReasoning, break_ + whole.text)
            case _:
                return

    def _said(self, was: Turn, turn: Turn) -> Iterator[Frame]:
        if self._is_lost(turn):
            yield _frame(TurnError(BEGUN_AGAIN, retrying=True))
        else:
            sent = max(len(was.text), len(self._sent(turn)))
            yield from _chunks(TurnContent, turn.text[sent:])

    def _thought(self, event: CallDelta, was: Turn, turn: Turn) -> Iterator[Frame]:
        sent = max((one.reasoning for one in turn.abandoned if one.seq > self.after), key=len, default="")
        if sent and not _agree(sent, was.reasoning):
            yield _frame(TurnReasoning(_break_before(event, was) + event.text))
        elif sent and not _agree(sent, turn.reasoning):
            yield from _chunks(TurnReasoning, BREAK + turn.reasoning)
        elif len(was.reasoning) >= len(sent):
            yield _frame(TurnReasoning(_break_before(event, was) + event.text))
        else:
            yield from _chunks(TurnReasoning, turn.reasoning[len(sent) :])

    def _ended(self, seen: SeenEvent, was: Turn, turn: Turn, *, streamed: bool) -> Iterator[Frame]:
        """The text that was not streamed, and `complete`. `streamed`: the viewer has the turn so far."""
        sent = max(was.text, self._sent(was), key=len) if streamed else ""
        if not streamed:
            yield from _chunks(TurnReasoning, thoughts(turn))
        if turn.text.startswith(sent):
            yield from _chunks(TurnContent, turn.text[len(sent) :])
        elif turn.text.strip() != sent.strip():
            yield _frame(TurnError(BEGUN_AGAIN, retrying=True))
            return
        yield _frame(completed(seen.after, turn, private=self.private))

    def _sent(self, turn: Turn) -> str:
        """The text of earlier attempts that was sent to this viewer: each continues the one before."""
        return max((one.text for one in turn.abandoned if one.seq > self.after), key=len, default="")

    def _is_lost(self, turn: Turn | None) -> bool:
        """Whether text that was sent to this viewer no longer counts."""
        return turn is not None and not _agree(self._sent(turn), turn.text)


def _agree(one: str, other: str) -> bool:
    """Whether one text continues the other."""
    return one.startswith(other) or other.startswith(one)


def _break_before(event: CallDelta, was: Turn) -> str:
    """A break, where another piece of reasoning begins."""
    return BREAK if was.begins_thought(event.segment) else ""


def _frame(data: TurnStreamEvent) -> Frame:
    return Frame(data.event, data)


def error_frame(message: str) -> Frame:
    return _frame(TurnError(message))


DELETED_FRAME = error_frame("The session was deleted.")


def _chunks(kind: type[TurnReasoning | TurnContent], text: str) -> Iterator[Frame]:
    return (_frame(kind(piece)) for piece in pieces(text))


def completed(debate: Debate, turn: Turn, *, private: bool) -> TurnComplete:
    usage = turn.usage
    return TurnComplete(
        response_id=client_response_id(debate, turn, private=private),
        token_usage=ResponsesUsage(
            input_tokens=usage.input,
            input_tokens_details={"cached_tokens": usage.cached},
            output_tokens=usage.output,
            output_tokens_details={"reasoning_tokens": usage.reasoning},
            total_tokens=usage.total,
        ),
        cost=turn_costs(debate, turn),
        session_id=debate.id,
        turn_number=turn.slot + 1,
        content=turn.text,
    )


def turn_costs(debate: Debate, turn: Turn) -> TurnCost:
    """The total and its parts; without a price all of them are 0 and `known` is false."""
    total = turn.cost
    if total is None:
        return TurnCost(total=ZERO, input=ZERO, output=ZERO, reasoning=ZERO, known=False)
    usage, price = turn.usage, debate.seat(turn.seat).model.price
    read = Usage(usage.input, cached=usage.cached, cache_write=usage.cache_write)
    input_cost = min(total, cost(price, read) or ZERO)
    reasoning = (total - input_cost) * usage.reasoning / usage.output if usage.output else ZERO
    return TurnCost(total=total, input=input_cost, output=total - input_cost - reasoning, reasoning=reasoning)


# --- replies ------------------------------------------------------------------------------------------


def started_reply(debate_id: str) -> SessionBegun:
    return SessionBegun(session_id=debate_id, stream_url=f"/api/debate/stream/{debate_id}")


def session_reply(debate: Debate, *, private: bool) -> DebateSession:
    """The session with its turns, from which a client can restore it."""
    turns = [(turn.seat, entry(debate, turn, private=private)) for turn in counted_turns(debate)]
    first, second = debate.seats[0], debate.seats[1]
    return DebateSession(
        **structs.asdict(session_summary(debate)),
        turn_history=tuple(turn for _, turn in turns),
        model1_response_ids=tuple(turn.response_id for seat, turn in turns if seat == first.id),
        model2_response_ids=tuple(turn.response_id for seat, turn in turns if seat == second.id),
    )


def session_summary(debate: Debate) -> SessionBrief:
    """The session without its turns."""
    first, second = debate.seats[0], debate.seats[1]
    spoken = [slot.index for slot in debate.schedule if latest_turn(debate, slot.index) is not None]
    created_at, updated_at = times(debate)
    return SessionBrief(
        id=debate.id,
        topic_text=debate.motion,
        model1_id=model_id(first),
        model2_id=model_id(second),
        adversarial_level=debate.setup.intensity,
        current_turn=max(spoken, default=-1) + 1,
        total_cost=total_cost(debate),
        created_at=created_at,
        updated_at=updated_at,
    )
