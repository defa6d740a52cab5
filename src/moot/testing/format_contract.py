"""What every debate format must be good for, as a class of tests that a format's own tests inherit.

    class TestMyFormat(FormatContract):
        @pytest.fixture
        def debate_format(self) -> Format:
            return formats.load("my.toml")

`formats.load` refuses what cannot be right in a file, with its line. These tests lay out the speeches of the
format at every size and hold a debate in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import msgspec
import pytest

from moot import formats
from moot.core.schedule import schedule, seats_by_side
from moot.core.terms import MAX_PARTICIPANTS, DebateLimits, Format, Seat, Side, Slot
from moot.engine.arena import Arena
from moot.providers.scripted import ScriptedProvider
from moot.settings import Settings
from moot.store.memory import MemoryStore
from moot.testing.event_factories import seats
from moot.testing.served import QUICK

SIDES: tuple[Side, ...] = ("for", "against", "for", "against")


def tables(fmt: Format) -> Iterator[tuple[Seat, ...]]:
    """Seats for and against in turn, as many as the format and the API take."""
    for number in range(fmt.min_seats, min(fmt.max_seats, MAX_PARTICIPANTS) + 1):
        yield seats(*SIDES[:number])


def laid_out(fmt: Format) -> Iterator[tuple[str, tuple[Seat, ...], tuple[Slot, ...]]]:
    """The speeches at each table and for each number of rounds, with a name for the case."""
    played = formats.without_audience(fmt)
    for table in tables(fmt):
        for rounds in range(1, fmt.max_rounds + 1):
            name = f"{len(table)} seats, {rounds} rounds"
            yield name, table, schedule(played, table, DebateLimits(rounds, fmt.turns))


class FormatContract:
    """What every format must be good for. A subclass gives the fixture `debate_format`."""

    def test_a_log_keeps_the_format_as_it_is(self, debate_format: Format) -> None:
        assert msgspec.json.decode(msgspec.json.encode(debate_format), type=Format) == debate_format

    def test_slots_are_numbered_rounds_rise_and_everybody_sits_in_the_debate(
        self, debate_format: Format
    ) -> None:
        for name, table, slots in laid_out(debate_format):
            assert [slot.index for slot in slots] == list(range(len(slots))), name
            numbers = [slot.round for slot in slots]
            assert sorted(set(numbers)) == list(range(1, numbers[-1] + 1)), name
            assert numbers == sorted(numbers), name
            assert {slot.seat for slot in slots} <= {seat.id for seat in table}, name
            for _, group in groupby(slots, lambda slot: slot.group):
                speakers = [slot.seat for slot in group]
                assert len(speakers) == len(set(speakers)), f"{name}: somebody speaks twice at the same time"

    def test_both_sides_meet_and_everybody_speaks_if_it_is_held_at_full_length(
        self, debate_format: Format
    ) -> None:
        longest = {len(table): (name, table, slots) for name, table, slots in laid_out(debate_format)}
        for name, table, slots in longest.values():
            speakers = {slot.seat for slot in slots}
            assert speakers == {seat.id for seat in table}, name
            assert all(speakers & {seat.id for seat in side} for side in seats_by_side(table)), name

    @pytest.mark.asyncio
    async def test_a_debate_is_held_from_the_first_speech_to_the_last(
        self, debate_format: Format, tmp_path: Path
    ) -> None:
        settings = Settings(data=tmp_path, pace=QUICK)
        models = {"scripted": ScriptedProvider()}
        async with Arena.open(settings, store=MemoryStore(), providers=models) as arena:
            motion = "This house would hold a debate."
            setup = await arena.setup(motion, format=debate_format, model="scripted/demo")
            debate_id = (await arena.create(setup, start=True)).debate.id
            async for _ in arena.watch(debate_id):
                pass
            debate = await arena.state(debate_id)
        assert debate.status == "completed"
        assert debate.remaining_slots() == ()
