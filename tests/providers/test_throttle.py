"""The throttle of a service: which calls start, which wait, and when the service is left alone."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

import pytest

from moot.core.errors import Fault
from moot.providers.throttle import MAX_FAILURES, TEST_SECONDS, EndpointLimits, Throttle

HASTY = Fault("rate_limited", http_status=429)
GONE = Fault("unreachable", billed=False)


class Clock:
    def __init__(self) -> None:
        self.time = 1000.0

    def __call__(self) -> float:
        return self.time


async def until_settled() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def crowd(gate: Throttle, size: int) -> tuple[list[int], list[asyncio.Event], list[asyncio.Task[None]]]:
    """So many callers at once; each stays inside until it is told to leave."""
    entered: list[int] = []
    leave = [asyncio.Event() for _ in range(size)]

    async def call(number: int) -> None:
        async with gate.admit():
            entered.append(number)
            await leave[number].wait()

    tasks = [asyncio.create_task(call(number)) for number in range(size)]
    await until_settled()
    return entered, leave, tasks


async def test_no_more_than_allowed_are_inside_and_the_first_come_are_the_first_served() -> None:
    gate = Throttle(EndpointLimits(concurrent=2))
    entered, leave, tasks = await crowd(gate, 4)
    assert entered == [0, 1]
    leave[1].set()
    await until_settled()
    assert entered == [0, 1, 2]
    for event in leave:
        event.set()
    await asyncio.gather(*tasks)
    assert (entered, gate.active) == ([0, 1, 2, 3], 0)


async def test_who_gives_up_waiting_leaves_no_hole() -> None:
    gate = Throttle(EndpointLimits(concurrent=1))
    entered, leave, tasks = await crowd(gate, 3)
    tasks[1].cancel()
    await until_settled()
    leave[0].set()
    await until_settled()
    assert entered == [0, 2]
    leave[2].set()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert gate.active == 0


async def test_who_is_cut_at_the_moment_of_being_called_passes_the_place_on() -> None:
    gate = Throttle(EndpointLimits(concurrent=1))
    entered, leave, tasks = await crowd(gate, 3)
    leave[0].set()
    await asyncio.sleep(0)
    tasks[1].cancel()
    await until_settled()
    assert entered[-1] == 2
    leave[2].set()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert gate.active == 0


async def test_a_caller_cut_in_the_same_moment_as_the_one_inside_is_simply_gone() -> None:
    gate = Throttle(EndpointLimits(concurrent=1))
    entered, leave, tasks = await crowd(gate, 3)
    tasks[0].cancel()
    tasks[1].cancel()
    results = await asyncio.gather(*tasks[:2], return_exceptions=True)
    assert all(isinstance(result, asyncio.CancelledError) for result in results)
    await until_settled()
    assert entered == [0, 2]
    leave[2].set()
    await tasks[2]
    assert gate.active == 0


async def test_a_refusal_for_haste_halves_the_room_once_for_all_who_began_before() -> None:
    clock = Clock()
    gate = Throttle(EndpointLimits(concurrent=8), clock)
    async with AsyncExitStack() as inside:
        for _ in range(8):
            await inside.enter_async_context(gate.admit())
        clock.time += 1
        for _ in range(5):
            gate.failed(HASTY, began=1000.0)
        assert gate.limit == 4
        gate.failed(HASTY, began=1001.5)
        assert gate.limit == 2


async def test_success_widens_the_room_again_but_never_beyond_what_is_allowed() -> None:
    gate = Throttle(EndpointLimits(concurrent=4))
    async with gate.admit():
        gate.failed(HASTY, began=gate.now())
    assert gate.limit == 1
    for _ in range(200):
        gate.succeeded()
    assert gate.limit == 4


async def test_a_wait_that_the_service_asks_for_is_kept_by_everyone() -> None:
    gate = Throttle(EndpointLimits(concurrent=4))
    gate.failed(Fault("rate_limited", retry_after=0.05), began=gate.now())
    asked = gate.now()
    async with gate.admit():
        assert gate.now() - asked >= 0.04


async def test_calls_a_minute_are_counted() -> None:
    clock = Clock()
    gate = Throttle(EndpointLimits(concurrent=9, per_minute=2), clock)
    for _ in range(2):
        async with gate.admit():
            pass
    third = asyncio.create_task(crowd_of_one(gate))
    await until_settled()
    assert not third.done()
    third.cancel()
    await asyncio.gather(third, return_exceptions=True)
    assert gate.active == 0
    clock.time += 61
    await crowd_of_one(gate)


async def crowd_of_one(gate: Throttle) -> None:
    async with gate.admit():
        pass


def failing(times: int) -> tuple[Throttle, Clock]:
    clock = Clock()
    gate = Throttle(clock=clock)
    for _ in range(times):
        gate.check()
        gate.failed(GONE, began=clock.time)
    return gate, clock


def test_a_service_that_fails_ten_times_in_a_row_is_left_alone() -> None:
    gate, _ = failing(MAX_FAILURES)
    with pytest.raises(Fault) as caught:
        gate.check()
    fault = caught.value
    assert (fault.kind, fault.severity, fault.billed) == ("unreachable", "transient", False)
    assert fault.retry_after == TEST_SECONDS


def test_nine_failures_are_no_reason_yet() -> None:
    gate, _ = failing(MAX_FAILURES - 1)
    gate.check()


def test_one_call_looks_whether_the_service_is_back() -> None:
    gate, clock = failing(MAX_FAILURES)
    clock.time += TEST_SECONDS
    gate.check()
    with pytest.raises(Fault):
        gate.check()
    gate.succeeded()
    gate.check()


def test_however_long_a_service_was_gone_it_is_tried_every_five_seconds() -> None:
    gate, clock = failing(MAX_FAILURES)
    for _ in range(20):
        assert gate.down_for == TEST_SECONDS == 5
        with pytest.raises(Fault):
            gate.check()
        clock.time += TEST_SECONDS
        assert gate.down_for == 0
        gate.check()
        gate.failed(GONE, began=clock.time)
    clock.time += TEST_SECONDS
    gate.check()
    gate.succeeded()
    assert gate.down_for == 0


def test_an_answer_of_any_kind_is_a_sign_of_life() -> None:
    gate, _ = failing(MAX_FAILURES - 1)
    gate.failed(Fault("bad_request", "permanent"), began=0)
    gate.failed(GONE, began=0)
    gate.check()


async def test_a_hundred_callers_of_a_service_for_five_all_get_through_with_three_retries_each() -> None:
    """Without the door, all hundred would come back at the same moment, three times."""
    gate = Throttle(EndpointLimits(concurrent=32))
    serving, refusals = 0, 0

    async def call() -> bool:
        nonlocal serving, refusals
        began = gate.now()
        if serving >= 5:
            refusals += 1
            await asyncio.sleep(0)
            gate.failed(HASTY, began)
            return False
        serving += 1
        await asyncio.sleep(0.002)
        serving -= 1
        gate.succeeded()
        return True

    async def debate() -> int:
        for attempt in range(4):
            async with gate.admit():
                if await call():
                    return attempt
            await asyncio.sleep(0.01 * 2**attempt)
        return 4

    attempts = await asyncio.gather(*(debate() for _ in range(100)))
    assert max(attempts) < 4
    assert refusals < 100


async def test_a_call_may_begin_at_once_only_where_a_place_is_free_and_nobody_waits() -> None:
    gate = Throttle(EndpointLimits(concurrent=2, per_minute=4), clock=Clock())
    first, second = gate.admit_at_once(), gate.admit_at_once()
    assert first is not None
    assert second is not None
    assert gate.admit_at_once() is None
    entered, leave, tasks = await crowd(gate, 1)
    first.close()
    await until_settled()
    assert (entered, gate.active, gate.admit_at_once()) == ([0], 2, None)
    second.close()
    leave[0].set()
    await asyncio.gather(*tasks)
    assert gate.active == 0
    last = gate.admit_at_once()
    assert last is not None
    with last:
        assert gate.active == 1
    assert (gate.active, gate.admit_at_once()) == (0, None), "the minute is used up"
