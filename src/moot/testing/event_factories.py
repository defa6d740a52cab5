"""Small events for tests: each function gives one that is complete and plain; change what matters."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from msgspec.structs import replace

from moot import formats
from moot.core.events import CallDelta, CallStarted, DebateOpened, Event, Recorded, TurnStarted
from moot.core.evolve import fold
from moot.core.state import Debate
from moot.core.terms import FREE, DebateLimits, DebateSetup, Judge, Model, Seat, Side
from moot.prompts.templates import VERSION

FENCE = "0123456789abcdef0123456789abcdef"
"""What the dice give a debate in tests."""
SCRIPTED = Model(provider="scripted", name="parrot", price=FREE)


def opened(**changes: Any) -> DebateOpened:
    event = DebateOpened(
        motion="Cats are better than dogs",
        format=formats.load("free"),
        seats=(
            Seat(id="for", name="For", side="for", model=SCRIPTED),
            Seat(id="against", name="Against", side="against", model=SCRIPTED),
        ),
        judges=(Judge(id="judge", name="Judge", model=SCRIPTED),),
        limits=DebateLimits(rounds=5, turns=10),
        setup=DebateSetup(),
        prompts=VERSION,
        fence=FENCE,
    )
    return replace(event, **changes)


def turn_started(turn: int = 1, seat: str = "for") -> TurnStarted:
    return TurnStarted(turn=turn, slot=turn - 1, round=1, phase="opening", tone="opening", seat=seat)


def call_started(call: int = 1, turn: int | None = 1, **changes: Any) -> CallStarted:
    event = CallStarted(
        call=call,
        model=SCRIPTED.label,
        request="sha256:none",
        attempt=1,
        max_tokens=100,
        input_bound=100,
        reserved=None,
        turn=turn,
    )
    return replace(event, **changes)


def delta(text: str, call: int = 1) -> CallDelta:
    return CallDelta(call=call, segment=0, kind="text", text=text)


def table(format: str = "oxford", *sides: Side, **changes: Any) -> DebateOpened:
    """A debate of this format with a seat for each side named; further changes as in `opened`."""
    fmt = formats.load(format)
    usual = {
        "format": fmt,
        "seats": seats(*(sides or ("for", "against"))),
        "limits": DebateLimits(rounds=fmt.rounds, turns=fmt.turns),
    }
    opening = opened(**{**usual, **changes})
    fitting = formats.fit_format(opening.format, opening.seats, opening.setup)
    return replace(opening, format=fitting)


def seats(*sides: Side, model: Model = SCRIPTED) -> tuple[Seat, ...]:
    """Seats a, b, c ... with these sides."""
    return tuple(
        Seat(id=chr(ord("a") + place), name=f"Seat {place + 1}", side=side, model=model)
        for place, side in enumerate(sides)
    )


def log(*events: Event, debate: str = "deb_1") -> tuple[Recorded, ...]:
    """The events in their places, a second apart."""
    return tuple(
        Recorded(debate, seq, datetime(2026, 1, 5, 12, tzinfo=UTC) + timedelta(seconds=seq), 1, event)
        for seq, event in enumerate(events, 1)
    )


def state(*events: Event) -> Debate:
    debate = fold(log(*events))
    assert debate is not None
    return debate
