"""Converts a session (`rules/turn_by_turn.py`) to a row of the table of older servers, and a row to a log.

An imported row is stored in the log unchanged, so that the export returns the same row; turns that were given
here afterwards are added to it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Annotated, Any, cast

from msgspec import Meta, Struct

from moot.core.errors import Invalid
from moot.core.events import (
    DebateImported,
    DebateOpened,
    Event,
)
from moot.core.json_types import Dollars, Nth, to_members
from moot.core.state import ZERO, Debate, Turn
from moot.core.terms import (
    SEAT_COLOURS,
    DebateLimits,
    DebateSetup,
    Model,
    Money,
    Seat,
)
from moot.extensions.turn_sessions.imported_speeches import ImportedSpeech, imported_events
from moot.extensions.turn_sessions.turns import FORMAT, TURNS, UNASSIGNED_MODEL
from moot.prompts.templates import VERSION
from moot.rules.turn_by_turn import client_response_id, is_empty
from moot.views.transcript import thoughts
from moot.views.transcript_json import moment

SOURCE_TABLE = "debate_sessions"
LIST_COLUMNS = ("turn_history", "model1_response_ids", "model2_response_ids")
COLUMNS = (
    "id", "topic_text", "model1_id", "model2_id", "adversarial_level", *LIST_COLUMNS,
    "total_cost", "created_at", "updated_at",
)  # fmt: skip
TURN_SECONDS = 300.0
MAX_TURNS = 200
SessionRow = dict[str, Any]


class SessionTurn(Struct, frozen=True, rename="camel", kw_only=True):
    """A turn of the column `turn_history`."""

    turn: Nth
    model_id: str
    content: str
    reasoning: Annotated[str, Meta(description="Empty for those who may not read it.")]
    response_id: str
    cost: Dollars
    timestamp: Annotated[int, Meta(description="Milliseconds since 1970.")]


# --- as a row -----------------------------------------------------------------------------------------


def session_row(debate: Debate) -> SessionRow:
    """The row of a session. Of an imported session it is the stored row, with the later turns added."""
    turns = [turn for turn in counted_turns(debate) if debate.origin is None or turn.seq > debate.origin.seq]
    entries = [to_members(entry(debate, turn)) for turn in turns]
    ids = [
        [client_response_id(debate, turn) for turn in turns if turn.seat == seat.id]
        for seat in debate.seats[:2]
    ]
    if debate.origin is None:
        return {
            "id": debate.id,
            "topic_text": debate.motion,
            **_models(debate),
            "adversarial_level": debate.setup.intensity,
            **dict(zip(LIST_COLUMNS, (entries, *ids), strict=True)),
            "total_cost": float(total_cost(debate)),
            "created_at": _naive(debate.created_at),
            "updated_at": _naive(debate.updated_at),
        }
    row = debate.origin.record
    if not turns:
        return row
    longer = {name: [*row[name], *more] for name, more in zip(LIST_COLUMNS, (entries, *ids), strict=True)}
    return {
        **row,
        **_models(debate),
        **longer,
        "total_cost": float(total_cost(debate)),
        "updated_at": _naive(debate.updated_at),
    }


def total_cost(debate: Debate) -> Money:
    """Return all costs, here and elsewhere, also those of failed calls."""
    origin = debate.origin
    elsewhere = _amount(origin.record.get("total_cost")) if origin else None
    if origin is None or elsewhere is None:
        return debate.cost_so_far
    brought = sum((turn.cost or ZERO for turn in debate.turns if turn.seq < origin.seq), ZERO)
    return elsewhere + debate.cost_so_far - brought


def counted_turns(debate: Debate) -> list[Turn]:
    """The turns that stand, in order."""
    return sorted((turn for turn in debate.turns if turn.has_words), key=lambda turn: turn.slot)


def entry(debate: Debate, turn: Turn, *, private: bool = True) -> SessionTurn:
    return SessionTurn(
        turn=turn.slot + 1,
        model_id=model_id(debate.seat(turn.seat)),
        content=turn.text,
        reasoning=thoughts(turn),
        response_id=client_response_id(debate, turn, private=private),
        cost=float(turn.cost or ZERO),
        timestamp=_imported_turn(debate, turn).get("timestamp")
        or int((turn.ended_at or turn.started_at).timestamp() * 1000),
    )


def times(debate: Debate) -> tuple[str | None, str | None]:
    """Return when it was opened and last changed, here or elsewhere."""
    row = debate.origin.record if debate.origin else SessionRow()
    here = debate.origin is None or any(turn.seq > debate.origin.seq for turn in debate.turns)
    opened_at = row.get("created_at") or moment(debate.created_at)
    return opened_at, moment(debate.updated_at) if here else row.get("updated_at")


def _imported_turn(debate: Debate, turn: Turn) -> SessionRow:
    """The imported turn of the row, if the turn was given elsewhere."""
    if debate.origin is None or turn.seq > debate.origin.seq:
        return {}
    history = cast("list[Any]", debate.origin.record["turn_history"])
    rows = (cast("SessionRow", one) for one in history if isinstance(one, dict))
    return next((row for row in rows if row.get("turn") == turn.slot + 1), SessionRow())


def model_id(seat: Seat) -> str:
    """Return the model as clients call it; empty until one is named."""
    return "" if is_empty(seat) else seat.model.alias or seat.model.name


def _models(debate: Debate) -> SessionRow:
    return {f"model{number}_id": model_id(seat) for number, seat in enumerate(debate.seats, 1)}


def _naive(at: datetime) -> str:
    """The time in UTC without a time zone, as the table has it."""
    return at.astimezone(UTC).replace(tzinfo=None).isoformat()


# --- as a log -----------------------------------------------------------------------------------------


def session_events(row: SessionRow, model: Callable[[str], Model]) -> tuple[Event, ...]:
    """The events of a session that was held elsewhere; it can be read and continued. Raises Invalid."""
    for column in set(COLUMNS) - set(LIST_COLUMNS):
        if isinstance(row.get(column), list | dict):
            raise Invalid(f"{column} of a session is not a plain value.")
    turns, *_ids = (_list(row, column) for column in LIST_COLUMNS)
    speeches = tuple(_imported_speeches(turns))
    opened = DebateOpened(
        motion=_text(row, "topic_text"),
        format=FORMAT,
        seats=tuple(
            Seat(
                f"part_{number}",
                chair.name,
                chair.side,
                _named(row, f"model{number}_id", model),
                colour=colour,
            )
            for number, (chair, colour) in enumerate(zip(FORMAT.chairs, SEAT_COLOURS, strict=False), 1)
        ),
        judges=(),
        limits=DebateLimits(
            rounds=FORMAT.rounds,
            turns=max(TURNS, *(speech.slot + 1 for speech in speeches), TURNS),
            turn_seconds=TURN_SECONDS,
        ),
        setup=DebateSetup(winning="user-decides", intensity=_intensity(row)),
        prompts=VERSION,
    )
    return (*imported_events(opened, speeches), DebateImported(SOURCE_TABLE, row))


def _imported_speeches(turns: list[Any]) -> Iterator[ImportedSpeech]:
    """The turns of a row that have text and a slot; others are only in the stored row."""
    taken: set[int] = set()
    for one in turns:
        shape = cast("SessionRow", one) if isinstance(one, dict) else SessionRow()
        turn, text = shape.get("turn"), shape.get("content")
        if type(turn) is not int or not 1 <= turn <= MAX_TURNS or turn in taken:
            continue
        if not isinstance(text, str) or not text.strip():
            continue
        taken.add(turn)
        reasoning, response, cost = shape.get("reasoning"), shape.get("responseId"), shape.get("cost")
        yield ImportedSpeech(
            turn - 1,
            text,
            reasoning if isinstance(reasoning, str) else "",
            response if isinstance(response, str) and response else None,
            _amount(cost),
        )


def _amount(value: object) -> Money | None:
    """The cost as money; None if the value is not an amount."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return Money(repr(value)) if 0 <= value < math.inf else None


def _named(row: SessionRow, column: str, model: Callable[[str], Model]) -> Model:
    name = row.get(column)
    return model(name) if isinstance(name, str) and name else UNASSIGNED_MODEL


def _intensity(row: SessionRow) -> int:
    level = row.get("adversarial_level")
    return min(5, max(1, level)) if isinstance(level, int) else 3


def _text(row: SessionRow, column: str) -> str:
    value = row.get(column)
    if not isinstance(value, str) or not value:
        raise Invalid(f"A session has no {column}.")
    return value


def _list(row: SessionRow, column: str) -> list[Any]:
    value = row.get(column)
    if not isinstance(value, list):
        raise Invalid(f"{column} of a session is not a list.")
    return cast("list[Any]", value)
