"""The limits of one service for all processes together.

Besides a slot in the throttle of its process, a call needs one of the shared slots, and one of those of the
minute. The first is held while the call lasts, and expires if its process dies. Of all calls that wait in a
process only the first polls, so that many cost no more than one. A pause or a refusal for too many calls is
passed on to all processes; each then applies its own, reduced limit to all calls together, except for calls
that have waited long.
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
    from moot.core.ephemeral_store import EphemeralStore

LEASE_SECONDS = 15.0
RENEWALS = 3
"""How often a slot is renewed before it would expire."""
MINUTE = 60.0
FIRST_PAUSE = 0.02
LONGEST_PAUSE = 0.5
OWN_LIMIT_SECONDS = 3.0
"""After this wait a process ignores its own limit if that is lower than the shared one: otherwise it might
never get a slot, and never learn that the service accepts more."""
HINT_SECONDS = 10.0
CLOSE_SECONDS = 1.0


class BackoffHint(Struct, frozen=True, array_like=True):
    """A service has refused a call because there were too many."""

    by: str
    until: float
    """When it may be called again, in wall-clock time: machines share no other clock."""


class SharedThrottle:
    def __init__(
        self,
        ephemeral: EphemeralStore,
        service: str,
        *,
        concurrent: int | None = None,
        per_minute: int | None = None,
        lease: float = LEASE_SECONDS,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`concurrent` limits the calls of all processes; without it only pauses are shared."""
        self._ephemeral = ephemeral
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

    async def acquire(self, own_limit: Callable[[], int]) -> str:
        """Wait for a shared slot, in the order of arrival within this process. Returns its name.

        `own_limit` is how many calls this process would allow to all together.
        """
        active, minute = self._counters
        name = f"{self._process_id}:{next(self._numbers)}"
        try:
            async with self._queue_lock:
                if self._concurrent is not None:
                    await self._acquire_slot(active, name, self._concurrent, self._lease, own_limit)
                    self._keep_slot(name)
                if self._per_minute is not None:
                    await self._acquire_slot(minute, name, self._per_minute, MINUTE)
        except BaseException:
            # Even if the caller was cancelled: the slot may have been granted.
            self.release(name)
            raise
        return name

    def release(self, name: str) -> None:
        if self._concurrent is not None:
            self._held.discard(name)
            self._released.append(name)
            self._wake()

    def report_backoff(self, seconds: float) -> None:
        """Tell all processes that the service refused a call, and how long it is not to be called."""
        until = max(self._clock() + seconds, self._unsent_hint.until if self._unsent_hint else 0.0)
        self._unsent_hint = BackoffHint(f"{self._process_id}:{next(self._numbers)}", until)
        self._wake()

    async def reported_backoff(self) -> float | None:
        """How long to wait because of another process's refusal; None if there is no new one."""
        hint = _read_hint(await self._ephemeral.get(self._key))
        if hint is None or hint.by == self._last_hint or hint.by.startswith(self._process_id):
            return None
        self._last_hint = hint.by
        return max(0.0, hint.until - self._clock())

    async def close(self) -> None:
        """Release all slots."""
        self._released += self._held
        self._held.clear()
        if self._task is None:
            return
        self._wakeup.set()
        await asyncio.wait([self._task], timeout=CLOSE_SECONDS)
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _acquire_slot(
        self, counter: str, name: str, limit: int, seconds: float, own_limit: Callable[[], int] | None = None
    ) -> None:
        pause, waited = FIRST_PAUSE, 0.0
        # Slots released elsewhere send no signal. Those released here send none either: a process with a long
        # queue would keep its slots for ever, and the others would get none.
        while True:
            current = own_limit() if own_limit and waited < OWN_LIMIT_SECONDS else limit
            if await self._ephemeral.join(counter, name, limit=current, seconds=seconds):
                return
            await asyncio.sleep(pause)
            pause, waited = min(2 * pause, LONGEST_PAUSE), waited + pause

    def _keep_slot(self, name: str) -> None:
        self._held.add(name)
        self._wake()

    # --- in the background, so that no caller waits for it --------------------------------------------

    def _wake(self) -> None:
        self._wakeup.set()
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run(), name="shared throttle")

    async def _run(self) -> None:
        """Release the slots of finished calls, renew the others, publish refusals."""
        now = asyncio.get_running_loop().time
        due = now() + self._lease / RENEWALS
        while self._held or self._released or self._unsent_hint:
            self._wakeup.clear()
            await self._publish_hint()
            while self._released:
                await self._ephemeral.leave(self._counters[0], self._released.pop())
            if now() >= due:
                await self._renew()
                due = now() + self._lease / RENEWALS
            elif self._held:
                with suppress(TimeoutError):
                    async with asyncio.timeout_at(due):
                        await self._wakeup.wait()

    async def _renew(self) -> None:
        held = frozenset(self._held)
        await self._ephemeral.renew([(self._counters[0], name) for name in held], seconds=self._lease)
        # Slots released meanwhile may have been renewed.
        self._released += held - self._held

    async def _publish_hint(self) -> None:
        hint, self._unsent_hint = self._unsent_hint, None
        if hint is None:
            return
        known = _read_hint(await self._ephemeral.get(self._key))
        until = max(hint.until, known.until if known else 0.0)
        encoded = msgspec.json.encode(BackoffHint(hint.by, until))
        await self._ephemeral.put(self._key, encoded, max(HINT_SECONDS, until - self._clock()))


def _read_hint(encoded: bytes | None) -> BackoffHint | None:
    with suppress(msgspec.MsgspecError):
        return msgspec.json.decode(encoded, type=BackoffHint) if encoded else None
    return None
