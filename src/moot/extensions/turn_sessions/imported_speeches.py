"""Speeches that were given elsewhere, as the events of a debate that can be read and continued here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from moot.core.events import (
    CallCompleted,
    CallStarted,
    DebateOpened,
    DebatePaused,
    DebateReady,
    DebateStarted,
    Event,
    RoundCompleted,
    RoundStarted,
    SegmentCompleted,
    TurnCompleted,
    TurnSkipped,
    TurnStarted,
)
from moot.core.schedule import schedule
from moot.core.state import ZERO
from moot.core.terms import Money, Reasoning, ReasoningPart, Slot, Text, Usage
from moot.core.word_count import count_words

IMPORTED = "elsewhere"


class ImportedSpeech(Struct, frozen=True):
    """A speech that was given elsewhere."""

    slot: int
    text: str
    reasoning: str = ""
    response_id: str | None = None
    cost: Money | None = ZERO


def imported_events(opened: DebateOpened, speeches: Sequence[ImportedSpeech]) -> tuple[Event, ...]:
    """The events of a debate with these speeches; missing slots before them are skipped, and it is paused."""
    slots = schedule(opened.format, opened.seats, opened.limits)
    by_slot = {speech.slot: speech for speech in speeches}
    events: list[Event] = [opened, DebateStarted(), DebateReady()]
    number = round_ = 0
    for slot in slots[: max(by_slot, default=-1) + 1]:
        speech = by_slot.get(slot.index)
        if speech is None:
            events.append(TurnSkipped(slot.index, slot.seat, IMPORTED))
            continue
        if slot.round > round_:
            events += [RoundCompleted(round_)] if round_ else []
            events.append(RoundStarted(slot.round))
            round_ = slot.round
        number += 1
        events += _speech_events(opened, slot, number, speech)
    if round_ and all(
        slot.index in by_slot or slot.index < max(by_slot) for slot in slots if slot.round == round_
    ):
        events.append(RoundCompleted(round_))
    return (*events, DebatePaused(IMPORTED))


def _speech_events(opened: DebateOpened, slot: Slot, number: int, speech: ImportedSpeech) -> Iterator[Event]:
    phase = opened.format.phases[slot.phase]
    model = next(seat.model for seat in opened.seats if seat.id == slot.seat)
    yield TurnStarted(number, slot.index, slot.round, phase.key, slot.tone, slot.seat)
    yield CallStarted(number, model.label, "", 1, 0, 0, ZERO, turn=number)
    if speech.reasoning:
        yield SegmentCompleted(number, Reasoning((ReasoningPart(speech.reasoning),)))
    yield SegmentCompleted(number, Text(speech.text, index=1))
    yield CallCompleted(
        number, "stop", Usage(), speech.cost, 0, response_id=speech.response_id, reason=IMPORTED
    )
    yield TurnCompleted(number, count_words(speech.text))
