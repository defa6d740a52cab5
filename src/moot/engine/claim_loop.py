"""Which debates a process runs: the loop that holds one debate, and the search for those that nobody runs.

`ClaimLoop` claims a debate, runs it and releases it, again and again while the debate wants a runner. How a
debate is claimed differs between placements and is an argument. A released debate keeps its epoch; its next
runner takes a later one. Who may claim which debate is up to the placement (`placement.py`).

`UnclaimedSearch` finds debates that want a runner and have none. Usually it looks at those that some process
has claimed and those that changed lately. At first and then once a minute it looks at all that are under way,
because a job may be lost without a trace in the log, and a clock may be wrong.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

from moot.core.errors import Fenced, StoreError, UnknownDebate
from moot.core.events import Event
from moot.core.state import Debate
from moot.engine.runner import Runner
from moot.rules.runner_decisions import fail_internally, wants_runner
from moot.store.contract import ActiveDebate, Store

log = logging.getLogger(__name__)

STORE_RETRY_SECONDS = 1.0
"""How long to wait before trying again after the store could not be reached."""
FULL_SCAN_SECONDS = 60.0
SCAN_DUTY_FACTOR = 20.0
"""The wait after a full scan is at least this many times what the scan took: it may fold thousands."""
SCAN_MARGIN = timedelta(seconds=60)
"""Scans of recent changes overlap by this much, because the clocks of machines differ."""

MakeRunner = Callable[[str, int], Runner]
"""Makes the runner of a debate, for the epoch under which it may write."""
ClaimEpoch = Callable[[], Awaitable[int | None]]
"""Claims the debate and returns the epoch for it; None where another process has it."""


class ClaimLoop:
    def __init__(self, store: Store, make_runner: MakeRunner) -> None:
        self._store = store
        self._make_runner = make_runner
        self.closed = False

    async def run(self, debate_id: str, claim: ClaimEpoch) -> None:
        """Until the debate wants no runner or another process has it. On cancellation the runner interrupts
        the running turns first."""
        warned = False
        while not self.closed:
            try:
                epoch = await claim()
                if epoch is None:
                    return
                try:
                    await self._run_once(debate_id, epoch)
                finally:
                    await self._release(debate_id, epoch)
                # Another process may have recorded a command while we released, relying on us to run it.
                state = await self._store.state(debate_id)
                if not wants_runner(state):
                    if state.final and state.series is not None:
                        self._store.release(debate_id)  # thousands are held, and hardly one is looked at
                    return
            except (Fenced, UnknownDebate):
                return
            except StoreError as error:
                if not warned:
                    log.warning("%s Trying again.", error, extra={"debate": debate_id})
                warned = True
                await asyncio.sleep(STORE_RETRY_SECONDS)

    async def _run_once(self, debate_id: str, epoch: int) -> None:
        def fail(debate: Debate | None) -> tuple[Event, ...]:
            return () if debate is None else fail_internally(debate, datetime.now(UTC))

        try:
            await self._make_runner(debate_id, epoch).run()
        except (Fenced, UnknownDebate, StoreError):
            raise
        except Exception:
            log.exception("the runner of a debate failed", extra={"debate": debate_id})
            await self._store.record(debate_id, fail, epoch=epoch)

    async def _release(self, debate_id: str, epoch: int) -> None:
        try:
            # A finished debate that is being judged again is found by the name of its runner alone.
            if self.closed and (state := await self._store.state(debate_id)).final and wants_runner(state):
                return
            releasing = asyncio.ensure_future(self._store.claim(debate_id, "", seen_epoch=epoch, epoch=epoch))
            # After a cancellation nobody awaits the result; an error is then not worth a log line.
            releasing.add_done_callback(lambda done: done.cancelled() or done.exception())
            await asyncio.shield(releasing)
        except (Fenced, UnknownDebate, StoreError):
            return


MayTake = Callable[[ActiveDebate], bool]
TakeDebate = Callable[[str], Awaitable[bool]]


class UnclaimedSearch:
    def __init__(self, store: Store, clock: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._clock = clock
        self._full_scan_at = float("-inf")
        self._since: datetime | None = None
        self.idle_versions: dict[str, int] = {}
        """The versions at which debates were found to want no runner: they are not folded again."""

    async def scan_all(self, may_take: MayTake, take: TakeDebate) -> int:
        """Take the debates that want a runner and may be taken; returns how many were taken."""
        started, now = self._clock(), datetime.now(UTC)
        idle: dict[str, int] = {}
        taken = await self._scan(await self._store.active_debates(), idle, may_take, take)
        self.idle_versions, self._since = idle, now - SCAN_MARGIN
        pause = max(FULL_SCAN_SECONDS, SCAN_DUTY_FACTOR * (self._clock() - started))
        self._full_scan_at = self._clock() + pause
        return taken

    async def scan_recent(self, may_take: MayTake, take: TakeDebate) -> int:
        """The same among those that changed lately, unless a full scan is due."""
        if self._clock() >= self._full_scan_at:
            return await self.scan_all(may_take, take)
        now = datetime.now(UTC)
        active = await self._store.active_debates(self._since)
        taken = await self._scan(active, self.idle_versions, may_take, take)
        self._since = now - SCAN_MARGIN
        return taken

    async def _scan(
        self, active: tuple[ActiveDebate, ...], idle: dict[str, int], may_take: MayTake, take: TakeDebate
    ) -> int:
        taken = 0
        by_id = {debate.id: debate for debate in (*await self._store.claimed_debates(), *active)}
        for debate in by_id.values():
            if not may_take(debate):
                continue
            if await self._is_idle(debate):
                idle[debate.id] = debate.version
            elif await take(debate.id):
                taken += 1
        return taken

    async def _is_idle(self, debate: ActiveDebate) -> bool:
        if self.idle_versions.get(debate.id) == debate.version:
            return True
        try:
            return not wants_runner(await self._store.state(debate.id))
        except UnknownDebate:
            return True
        except StoreError:
            raise
        except Exception:
            # A debate that cannot be read must not keep the others from being found.
            log.exception("could not check whether a debate needs a runner", extra={"debate": debate.id})
            return True
