"""Appends are spaced out while many calls speak, the more the longer an append takes."""

from __future__ import annotations

from moot.store.postgres.append_pacer import (
    KEPT_SECONDS,
    MANY_CALLS,
    MAX_SPACING_SECONDS,
    SLOW_SECONDS,
    SPACING_FACTOR,
    SPACING_SECONDS,
    AppendPacer,
)


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def append(pacer: AppendPacer, clock: Clock, calls: int, seconds: float) -> None:
    with pacer.measure(calls):
        clock.now += seconds


def test_few_calls_are_written_at_once() -> None:
    pacer = AppendPacer(clock := Clock())
    assert pacer.pause(1) == 0
    append(pacer, clock, MANY_CALLS - 1, 1.0)
    assert pacer.pause(1) == 0


def test_where_many_calls_speak_a_few_requests_wait_for_a_while_and_many_do_not() -> None:
    pacer = AppendPacer(clock := Clock())
    append(pacer, clock, MANY_CALLS, 0.001)
    assert 0 < pacer.pause(1) <= SPACING_SECONDS
    assert pacer.pause(MANY_CALLS) == 0
    append(pacer, clock, 1, 0.001)
    assert 0 < pacer.pause(1) <= SPACING_SECONDS
    clock.now += KEPT_SECONDS
    append(pacer, clock, 1, 0.001)
    assert pacer.pause(1) == 0


def test_after_a_slow_append_all_wait_up_to_a_limit() -> None:
    pacer = AppendPacer(clock := Clock())
    append(pacer, clock, MANY_CALLS, SLOW_SECONDS)
    assert round(pacer.pause(MANY_CALLS), 6) == round((SPACING_FACTOR - 1) * SLOW_SECONDS, 6)
    append(pacer, clock, MANY_CALLS, 0.1)
    assert round(pacer.pause(MANY_CALLS), 6) == round(MAX_SPACING_SECONDS - 0.1, 6)
    append(pacer, clock, MANY_CALLS, 1.0)
    assert pacer.pause(1) == 0
