"""One door for all processes of an arena: what the operator allows towards a service, they use up together.

Beside the place at its own process's door a call needs one in the commons, and one of those of the minute.
The first is kept for as long as the call lasts, and lapses with a process that dies. Of all who wait in a
process only the first asks, now and then, so a crowd costs no more than one. What a service says to one of
them, to wait or to be less hasty, all are told; each then keeps the whole to the room that it finds right
itself, but for those who have waited long.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from secrets import token_hex
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

if TYPE_CHECKING:
    from moot.core.shared_state import SharedState

LEASE_SECONDS = 15.0
RENEWALS = 3
"""So often a place is taken again before it would lapse."""
MINUTE = 60.0
FIRST_PAUSE = 0.02
LONGEST_PAUSE = 0.5
OWN_LIMIT_SECONDS = 3.0
"""After so long a wait a process that thinks the room smaller than others do takes a place as they would: it
would never be let in, and only by being heard could it learn better."""
HINT_SECONDS = 10.0
CLOSE_SECONDS = 1.0


class BackoffHint(Struct, frozen=True, array_like=True):
    """A service was asked too much."""

    by: str
    until: float
    """When it may be asked again, by the clock on the wall: processes on several machines share no other."""


class SharedThrottle:
    def __init__(
        self,
        shared_state: SharedState,
        service: str,
        *,
        concurrent: int | None = None,
        per_minute: int | None = None,
        lease: float = LEASE_SECONDS,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`concurrent`: how many calls all together may have under way; else they only tell each other."""
        self._shared_state = shared_state
        self._counters = f"calls under way to {service}", f"calls of a minute to {service}"
        self._key = f"haste towards {service}"
        self._concurrent = concurrent
        self._per_minute = per_minute
        self._lease = lease
        self._clock = clock
        self._process_id = token_hex(8)
        self._numbers = count(1)
        self._queue_lock = asyncio.Lock()
        self._held: set[str] = set()
        self._released: list[str] = []
        self._unsent_hint: BackoffHint | None = None
        self._last_hint = ""
        self._wakeup = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def acquire(self, most: Callable[[], int]) -> str:
        """Wait for a place among those of all processes, where this one finds that there are `most`.

        First come, first served, in each of them.
        """
        under_way, minute = self._counters
        name = f"{self._process_id}:{next(self._numbers)}"
        try:
            async with self._queue_lock:
                if self._concurrent is not None:
                    await self._acquire_slot(under_way, name, self._concurrent, self._lease, most)
                    self._keep_slot(name)
                if self._per_minute is not None:
                    await self._acquire_slot(minute, name, self._per_minute, MINUTE)
        except BaseException:
            # Also where nobody waited for the answer: the place may have been given.
            self.release(name)
            raise
        return name

    def release(self, name: str) -> None:
        if self._concurrent is not None:
            self._held.discard(name)
            self._released.append(name)
            self._wake()

    def report_backoff(self, seconds: float) -> None:
        """The service asks all of us to be less hasty, and perhaps to wait so long."""
        until = max(self._clock() + seconds, self._unsent_hint.until if self._unsent_hint else 0.0)
        self._unsent_hint = BackoffHint(f"{self._process_id}:{next(self._numbers)}", until)
        self._wake()

    async def reported_backoff(self) -> float | None:
        """For how long to wait where another process was found too hasty; None where there is no news."""
        hint = _read_hint(await self._shared_state.get(self._key))
        if hint is None or hint.by == self._last_hint or hint.by.startswith(self._process_id):
            return None
        self._last_hint = hint.by
        return max(0.0, hint.until - self._clock())

    async def close(self) -> None:
        """Whoever still has a place leaves it."""
        self._released += self._held
        self._held.clear()
        if self._task is None:
            return
        self._wakeup.set()
        await asyncio.wait([self._task], timeout=CLOSE_SECONDS)
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _acquire_slot(
        self, counter: str, name: str, allowed: int, seconds: float, own: Callable[[], int] | None = None
    ) -> None:
        pause, waited = FIRST_PAUSE, 0.0
        # Nobody tells who left elsewhere. Those who leave here do not wake us either: a process with a long
        # queue would hand its places on for ever, and the others would get none.
        while True:
            most = own() if own and waited < OWN_LIMIT_SECONDS else allowed
            if await self._shared_state.join(counter, name, limit=most, seconds=seconds):
                return
            await asyncio.sleep(pause)
            pause, waited = min(2 * pause, LONGEST_PAUSE), waited + pause

    def _keep_slot(self, name: str) -> None:
        self._held.add(name)
        self._wake()

    # --- in the background, so that nobody who leaves has to wait ----------------------------------------

    def _wake(self) -> None:
        self._wakeup.set()
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run(), name="places at a service's door")

    async def _run(self) -> None:
        """Leave for those who have left, stay for those who are there, pass on what was said."""
        now = asyncio.get_running_loop().time
        due = now() + self._lease / RENEWALS
        while self._held or self._released or self._unsent_hint:
            self._wakeup.clear()
            await self._publish_hint()
            while self._released:
                await self._shared_state.leave(self._counters[0], self._released.pop())
            if now() >= due:
                await self._renew()
                due = now() + self._lease / RENEWALS
            elif self._held:
                with suppress(TimeoutError):
                    async with asyncio.timeout_at(due):
                        await self._wakeup.wait()

    async def _renew(self) -> None:
        held = frozenset(self._held)
        await self._shared_state.renew([(self._counters[0], name) for name in held], seconds=self._lease)
        # Who left meanwhile may have been put in again.
        self._released += held - self._held

    async def _publish_hint(self) -> None:
        hint, self._unsent_hint = self._unsent_hint, None
        if hint is None:
            return
        known = _read_hint(await self._shared_state.get(self._key))
        until = max(hint.until, known.until if known else 0.0)
        words = msgspec.json.encode(BackoffHint(hint.by, until))
        await self._shared_state.put(self._key, words, max(HINT_SECONDS, until - self._clock()))


def _read_hint(words: bytes | None) -> BackoffHint | None:
    with suppress(msgspec.MsgspecError):
        return msgspec.json.decode(words, type=BackoffHint) if words else None
    return None
