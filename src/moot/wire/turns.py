"""`/api/debate/stream`: a client asks for one turn at a time, and is told that turn and nothing else.

Four events: `reasoning` and `content` with a `chunk` each, then `complete` or `error`. Words that were sent
are sent: where a second attempt was made, or the end differs from the stream, `content` of `complete` is the
whole, and what counts. Bodies are as their document has them, with null for what there is not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal, cast

from msgspec import Struct
from pydantic import Field

from moot.debate import NOTHING, Debate, Turn
from moot.events import (
    CallDelta,
    DebateEnded,
    DebateFailed,
    DebatePaused,
    SegmentCompleted,
    TurnCompleted,
    TurnFailed,
    TurnInterrupted,
)
from moot.pricing import cost
from moot.setup import SeatSetup, Setup
from moot.terms import Model, Money, Reasoning, Usage
from moot.turnwise import FORMAT, NOBODY, TURNS, latest, response_name
from moot.views.sessions import TURN_SECONDS, entry, history, model_id, times, total_cost
from moot.wire.frames import Frame, Seen
from moot.wire.strict_json import loads
from moot.wire.v1.bodies import Body, check
from moot.wire.v1.fields import ModelId
from moot.wire.v1.wording import Rule, Says, between, line, matching, one_of, refused

ROLES = ("AFFIRMATIVE", "NEGATIVE")
REQUIRED_FIELDS = ("modelId", "topic", "role", "intensity", "turnNumber")
MISSING = {"error": "Missing required fields"}
LONGEST_MESSAGE = 100_000
PIECE = 4 * 1024
"""Characters; a text that comes late is sent in pieces."""
CALLED_OFF = "The turn was called off."
CUT = "The turn was cut short; ask for it again."
ENDING = ("stop", "abort", "decide", "judge")
"""What cuts a turn together with its session."""
GONE = Frame("error", {"message": "The session was deleted."})


# --- bodies in ----------------------------------------------------------------------------------------


def _whole(text: str) -> str:
    """The words of a model, whatever signs are in them; but a zero no store could keep."""
    if "\0" in text:
        raise refused("Control characters are not allowed")
    if len(text) > LONGEST_MESSAGE:
        raise refused(f"Must be at most {LONGEST_MESSAGE} characters")
    return text


Words = Annotated[str, Rule(_whole, {"maxLength": LONGEST_MESSAGE, "pattern": r"^[^\u0000]*$"})]
ResponseName = Annotated[str, matching(r"[\x21-\x7e]+", 200, "Must be the id of a response")]
SessionName = Annotated[str, matching(r"[A-Za-z0-9_.-]+", 100, "Must be the id of a session")]


class AskedTurn(Body):
    """One turn of a debate between two models: odd ones are the first model's, even ones the second's."""

    detail: ClassVar[str] = "Invalid turn"

    model_id: Annotated[ModelId, Field(examples=["gpt-5-mini"])]
    """Who speaks: as the price list calls it, or `provider/model`."""
    topic: Annotated[str, line(1, 500)]
    role: Annotated[Literal["AFFIRMATIVE", "NEGATIVE"], Says(one_of(ROLES))]
    intensity: Annotated[int, between(1, 5)]
    turn_number: Annotated[int, between(1, TURNS)]
    opponent_message: Words | None = None
    """What the other model said last; from the second turn on. Where the session is known, its own record of
    that is what counts."""
    previous_response_id: ResponseName | None = None
    """Of the turn that this model gave last; from the third turn on. Without it the history is sent."""
    session_id: SessionName | None = None
    """Without it the session is found by the other members."""

    @classmethod
    def together(cls, shape: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
        number = shape.get("turnNumber")
        if type(number) is not int or not 1 <= number <= TURNS:
            return
        if shape.get("role") in ROLES and shape["role"] != role_of(number):
            yield "role", f"Must be {role_of(number)} in this turn"
        if number > 1 and not str(shape.get("opponentMessage") or "").strip():
            yield "opponentMessage", "Needed from the second turn on"
        if number <= 2 and shape.get("previousResponseId") is not None:
            yield "previousResponseId", "This model has not spoken yet"

    @property
    def slot(self) -> int:
        return self.turn_number - 1

    @property
    def said(self) -> str:
        """What the other model said last, as it can be compared."""
        return (self.opponent_message or "").strip()


def role_of(number: int) -> str:
    return ROLES[(number - 1) % 2]


def read_turn(data: bytes) -> AskedTurn | None:
    """None where something is missing that the document calls required: nothing, null, "", 0 and false."""
    shape = loads(data)
    if not isinstance(shape, dict):
        return check(AskedTurn, shape)
    given = cast("dict[str, Any]", shape)
    if _is_missing_something(given):
        return None
    # A client that was told no id may have kept an empty one.
    nameless = given.get("previousResponseId") == ""
    return check(AskedTurn, {**given, "previousResponseId": None} if nameless else given)


def _is_missing_something(shape: Mapping[str, Any]) -> bool:
    *others, number = REQUIRED_FIELDS
    return shape.get(number) is None or any(shape.get(name) in (None, "", 0, False) for name in others)


def setup_of(asked: AskedTurn, model: Model) -> Setup:
    """A session in which this model has its seat, and the other seat is nobody's yet."""
    held = (model, NOBODY) if asked.turn_number % 2 else (NOBODY, model)
    return Setup(
        motion=asked.topic,
        format=FORMAT,
        seats=tuple(
            SeatSetup(model=one, name=chair.name, side=chair.side)
            for one, chair in zip(held, FORMAT.chairs, strict=True)
        ),
        turns=TURNS,
        turn_seconds=TURN_SECONDS,
        winning="user-decides",
        intensity=asked.intensity,
    )


# --- frames out ---------------------------------------------------------------------------------------


class OneTurn(Struct, frozen=True):
    """The turn that has, or will have, this number; whatever stands up to `after` is no part of it."""

    number: int
    after: int = 0
    private: bool = True
    """Whether the viewer may know a provider's own ids."""

    @property
    def name(self) -> str:
        return f"turn-{self.number}-{self.after}"

    def frames(self, seen: Seen) -> tuple[Frame, ...]:
        return tuple(self._told(seen)) if seen.seq > self.after else ()

    def ends(self, seen: Seen) -> bool:
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
                return False

    def rests(self, debate: Debate) -> bool:
        return False

    def _told(self, seen: Seen) -> Iterator[Frame]:
        event, turn = seen.event, seen.after.turn(self.number)
        match event:
            case CallDelta() if turn is not None and turn.call == event.call and event.text:
                yield Frame("content" if event.kind == "text" else "reasoning", {"chunk": event.text})
            case SegmentCompleted(segment=Reasoning() as whole) if (
                turn is not None and turn.call == event.call
            ):
                # Thoughts that were not streamed; of those that the viewer may not read there are none here.
                yield from () if turn.reasoning else _pieces("reasoning", whole.text)
            case TurnCompleted() if turn is not None and event.turn == self.number:
                yield from _rest(seen, turn)
                yield Frame("complete", completed(seen.after, turn, private=self.private))
            case TurnFailed() if event.turn == self.number:
                yield _error(event.message)
            case TurnInterrupted() if event.turn == self.number:
                yield _error(CALLED_OFF if event.by in ENDING else CUT)
            case DebatePaused() if turn is None:
                yield _error(event.reason or CALLED_OFF)
            case DebateFailed() | DebateEnded() if turn is None or turn.state == "live":
                yield _error(CALLED_OFF)
            case _:
                return


def _error(message: str) -> Frame:
    return Frame("error", {"message": message})


def _rest(seen: Seen, turn: Turn) -> Iterator[Frame]:
    """What was not streamed, where the end goes on from what was."""
    live = seen.before.live if seen.before else ()
    shown = next((one.text for one in live if one.number == turn.number), turn.text)
    if turn.text.startswith(shown):
        yield from _pieces("content", turn.text[len(shown) :])


def _pieces(name: str, text: str) -> Iterator[Frame]:
    for start in range(0, len(text), PIECE):
        yield Frame(name, {"chunk": text[start : start + PIECE]})


def completed(debate: Debate, turn: Turn, *, private: bool) -> dict[str, Any]:
    return {
        "responseId": response_name(debate, turn, private=private),
        "tokenUsage": token_usage(turn.usage),
        "cost": costs(debate, turn),
        "sessionId": debate.id,
        "turnNumber": turn.slot + 1,
        "content": turn.text,
    }


def token_usage(usage: Usage) -> dict[str, Any]:
    return {
        "input_tokens": usage.input,
        "input_tokens_details": {"cached_tokens": usage.cached},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.total,
    }


def costs(debate: Debate, turn: Turn) -> dict[str, Any]:
    """Three parts that make the total: what was read, what was said, what was thought. Where nobody knows
    the price they are numbers all the same, and `known` says that they are none."""
    total = turn.cost
    if total is None:
        return {"total": 0, "input": 0, "output": 0, "reasoning": 0, "known": False}
    usage, price = turn.usage, debate.seat(turn.seat).model.price
    read = Usage(usage.input, cached=usage.cached, cache_write=usage.cache_write)
    given = min(total, cost(price, read) or NOTHING)
    thought = (total - given) * usage.reasoning / usage.output if usage.output else NOTHING
    parts: dict[str, Money] = {"input": given, "output": total - given - thought, "reasoning": thought}
    return {"total": total, **parts}


# --- replies ------------------------------------------------------------------------------------------


def begun(debate_id: str) -> dict[str, Any]:
    return {"sessionId": debate_id, "streamUrl": f"/api/debate/stream/{debate_id}"}


def not_found(model: str) -> str:
    return f"Model not found: {model}"


def session(debate: Debate, *, private: bool) -> dict[str, Any]:
    """The session as a client restores it."""
    turns = history(debate)
    told = [entry(debate, turn, private=private) for turn in turns]
    first, second = debate.seats[0], debate.seats[1]
    return {
        **brief(debate),
        "turnHistory": told,
        "model1ResponseIds": [
            one["responseId"] for turn, one in zip(turns, told, strict=True) if turn.seat == first.id
        ],
        "model2ResponseIds": [
            one["responseId"] for turn, one in zip(turns, told, strict=True) if turn.seat == second.id
        ],
    }


def brief(debate: Debate) -> dict[str, Any]:
    """The same without what was said."""
    first, second = debate.seats[0], debate.seats[1]
    given = [slot.index for slot in debate.schedule if latest(debate, slot.index) is not None]
    return {
        "id": debate.id,
        "topicText": debate.motion,
        "model1Id": model_id(first),
        "model2Id": model_id(second),
        "adversarialLevel": debate.manner.intensity,
        "currentTurn": max(given, default=-1) + 1,
        "totalCost": total_cost(debate),
        **times(debate),
    }
