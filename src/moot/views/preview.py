"""A debate before it starts: the order of speeches, what will weaken its verdict, which costs are unknown."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from msgspec import Struct

from moot.core.events import DebateOpened, Recorded
from moot.core.evolve import evolve
from moot.core.schedule import ScheduledSpeech, schedule
from moot.core.state import Debate
from moot.core.terms import DebateLimits, DebateSetup, Format, Model, Money, Seat
from moot.formats import assign_teams, fit_format
from moot.prompts.first_words import expected_words, first_words_note
from moot.rules.cost_estimate import CostEstimate, estimate, opening_of
from moot.views.costs import dollars
from moot.views.outcome import warnings

EPOCH = datetime.fromtimestamp(0, UTC)
PLACEHOLDER_MODEL = Model("", "")
TOOLS_WARNING = (
    "Tools come on top of this: with each use a speaker is called once more, to read what it brought."
)
TOOLS_WARNING_LIMITED = f"{TOOLS_WARNING} The cost limit holds all the same."


class DebatePreview(Struct, frozen=True):
    order: tuple[ScheduledSpeech, ...]
    warnings: tuple[str, ...]


def preview(opened: DebateOpened) -> DebatePreview:
    debate = evolve(None, Recorded("deb_0", 1, EPOCH, 0, opened))
    beyond = (
        ()
        if not opened.setup.tools
        else (TOOLS_WARNING if opened.limits.cost_limit is None else TOOLS_WARNING_LIMITED,)
    )
    note = first_words_note(debate)
    return DebatePreview(
        _order(opened.format, opened.seats, opened.limits),
        (*warnings(debate), *((note,) if note else ()), *beyond),
    )


def cost_forecast(figures: CostEstimate, limit: Money | None) -> str:
    """What a debate will cost: what is expected, the range, and what its limit holds."""
    if figures.expected is None or figures.high is None:
        cost = "The cost is not known"
    elif not figures.high and not figures.unpriced:
        return "Free of charge."
    elif figures.high < figures.expected:
        cost = f"All of it would cost about {dollars(figures.expected)}"
    else:
        cost = f"About {dollars(figures.expected)}, {dollars(figures.low)} to {dollars(figures.high)}"
    if figures.unpriced and figures.expected is not None:
        cost += f", and an unknown amount for {', '.join(figures.unpriced)}"
    if limit is None or figures.holds is None:
        return f"{cost}."
    text = f"{cost}. The limit of {dollars(limit)} holds {figures.holds}."
    if figures.lowered:
        text += f" It may lower `maxTokens` of {', '.join(figures.lowered)}, if the money gets short."
    if figures.holds.whole or figures.whole_limit is None:
        return text
    return f"{text} The smallest limit for all of it is {dollars(figures.whole_limit)}."


def opening_forecast(debate: Debate) -> str:
    """The forecast for a debate that has just been opened; empty where nothing costs anything."""
    models = [player.model for player in (*debate.seats, *debate.panel) if not player.model.human]
    if all(model.price is not None and model.price.free for model in models):
        return ""
    return cost_forecast(estimate(opening_of(debate)), debate.limits.cost_limit)


def usual_order(fmt: Format) -> tuple[ScheduledSpeech, ...]:
    """As the format is played on its own chairs for its usual rounds, without an audience."""
    seats = assign_teams(
        fmt,
        [
            Seat(f"part_{number}", chair.name, chair.side, PLACEHOLDER_MODEL, chair.role)
            for number, chair in enumerate(fmt.chairs, 1)
        ],
    )
    return _order(
        fit_format(fmt, seats, DebateSetup()), seats, DebateLimits(rounds=fmt.rounds, turns=fmt.turns)
    )


def _order(fmt: Format, seats: Sequence[Seat], limits: DebateLimits) -> tuple[ScheduledSpeech, ...]:
    indexes = {seat.id: index for index, seat in enumerate(seats)}
    return tuple(
        ScheduledSpeech(
            seat=indexes[slot.seat],
            round=slot.round,
            tone=slot.tone,
            title=fmt.phases[slot.phase].title,
            words=expected_words(
                seats[indexes[slot.seat]], slot.tone, slot.words or fmt.phases[slot.phase].words
            ),
        )
        for slot in schedule(fmt, seats, limits)
    )
