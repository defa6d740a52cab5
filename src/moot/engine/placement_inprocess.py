"""Debates run as tasks of this process.

The process holds a file lock whose name stands in the head row of each debate it is running. A debate whose
lock nobody holds lost its process and may be taken over; the epoch sees to it that only one succeeds. A
runner that leaves clears its name, so that any process may run the debate next.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from moot.core.errors import StoreError
from moot.engine.placement import MakeRunner, ProcessRole
from moot.engine.run_loop import RunLoop
from moot.engine.unclaimed import UnclaimedSearch
from moot.store.contract import UNCLAIMED, ActiveDebate, Store
from moot.store.runner_locks import RunnerLock, is_free

RECOVERY_SECONDS = 5.0


class InProcessPlacement:
    def __init__(self, store: Store, make_runner: MakeRunner, locks: Path | None) -> None:
        self._store = store
        self._holding = RunLoop(store, make_runner)
        self._search = UnclaimedSearch(store)
        self._locks = locks
        self._lock: RunnerLock | None = None
        self._running: dict[str, asyncio.Task[None]] = {}
        self._rerun: set[str] = set()
        self._recovery: asyncio.Task[None] | None = None

    async def open(self, *, recover: bool) -> None:
        if recover:
            await self.recover()
            self._recovery = asyncio.create_task(self._keep_recovering(), name="recovery")

    def announce(self, role: ProcessRole, streams: Callable[[], int]) -> None:
        """There are no others."""

    def ensure_running(self, debate_id: str) -> None:
        if self._holding.closed:
            return
        if debate_id in self._running:
            self._rerun.add(debate_id)
            return
        work = self._holding.run(debate_id, partial(self._claim, debate_id))
        task = asyncio.create_task(work, name=f"runner of {debate_id}")
        self._running[debate_id] = task
        task.add_done_callback(lambda _: self._task_done(debate_id))

    async def recover(self) -> int:
        return await self._search.scan_all(self._may_recover, self._recover)

    def _may_recover(self, one: ActiveDebate) -> bool:
        return one.id not in self._running and self._may_take(one.runner)

    async def _recover(self, debate_id: str) -> bool:
        self.ensure_running(debate_id)
        return True

    async def close(self) -> None:
        self._holding.closed = True
        if self._recovery is not None:
            self._recovery.cancel()
            await asyncio.gather(self._recovery, return_exceptions=True)
        self._rerun.clear()
        tasks = tuple(self._running.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._lock is not None:
            self._lock.release()

    async def _keep_recovering(self) -> None:
        while True:
            await asyncio.sleep(RECOVERY_SECONDS)
            with suppress(StoreError):
                await self._search.scan_recent(self._may_recover, self._recover)

    def _task_done(self, debate_id: str) -> None:
        self._running.pop(debate_id, None)
        if debate_id in self._rerun:
            self._rerun.discard(debate_id)
            self.ensure_running(debate_id)

    async def queue_stats(self) -> None:
        return None

    async def is_running(self, debate_id: str, runner: str) -> bool:
        return self._is_held(runner)

    @property
    def unreachable(self) -> bool:
        return False

    def _is_held(self, runner: str) -> bool:
        """Whether the lock of this name is held, by us or by another process."""
        if runner in ("", UNCLAIMED):
            return False
        if self._locks is None:
            return True
        return not is_free(self._locks, runner)

    def _may_take(self, runner: str) -> bool:
        return runner == self._name or not self._is_held(runner)

    @property
    def _name(self) -> str:
        if self._locks is None:
            return "memory"
        if self._lock is None:
            self._lock = RunnerLock.hold(self._locks)
        return self._lock.name

    async def _claim(self, debate_id: str) -> int | None:
        head = await self._store.head(debate_id)
        if not self._may_take(head.runner):
            return None
        return await self._store.claim(debate_id, self._name, seen_epoch=head.epoch)
