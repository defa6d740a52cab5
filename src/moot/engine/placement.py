"""Who runs which debate: the contract, and the placement of a deployment with one process.

A command that gives a debate something to do calls `ensure_running`. Whether the runner is in this process or
on another machine is up to the placement; a runner does not know under which one it runs.
`cluster/queue_placement.py` is the placement of several machines. What either does with a debate that it has,
claim it, run it and release it, is `claim_loop.py`.

After a crash, one process takes over debates whose file lock is free, every `RECOVERY_SECONDS`. Several take
over those of a worker that was silent for `MOOT_STALL_S` (`WorkerTimings.stall_seconds`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Literal, Protocol

from msgspec import Struct

from moot.core.errors import StoreError
from moot.engine.claim_loop import ClaimLoop, MakeRunner, UnclaimedSearch
from moot.store.contract import UNCLAIMED, ActiveDebate, Store, StoreFigures
from moot.store.runner_locks import RunnerLock, is_free

RECOVERY_SECONDS = 5.0

ProcessRole = Literal["api", "worker", "both", "terminal"]
"""What a process is to the others on the same log."""


class QueueStats(Struct, frozen=True):
    """Debates that wait for a worker: how many, for how long, and how many were left by one that died."""

    jobs: int
    oldest_seconds: float
    running: int
    stalled: int


class WorkerTimings(Protocol):
    """Deadlines by which workers watch each other; `settings.Cluster` is one."""

    @property
    def debates(self) -> int: ...

    @property
    def heartbeat_seconds(self) -> float: ...

    @property
    def stall_seconds(self) -> float: ...

    @property
    def statement_seconds(self) -> float: ...


class Placement(Protocol):
    async def open(self, *, recover: bool) -> None:
        """Begin. With `recover`, debates that lost their process are taken over, now and while it is open."""
        ...

    def announce(self, role: ProcessRole, streams: Callable[[], int]) -> None:
        """This process serves until it is stopped: show it to the others, and end it if it hangs."""
        ...

    def ensure_running(self, debate_id: str) -> None:
        """Have this debate run, here or where it already runs."""
        ...

    async def recover(self) -> int:
        """Take over every debate that wants a runner and has none alive; returns how many."""
        ...

    async def figures(self) -> tuple[StoreFigures, QueueStats | None]:
        """Those of the store and of the queue, in one query; None where there is no queue."""
        ...

    @property
    def takeovers(self) -> int:
        """How many debates this process has taken over from processes that were gone."""
        ...

    async def is_running(self, debate_id: str, runner: str) -> bool:
        """Whether the process named in the debate's head (`runner`) is alive, or another is about to take the
        debate."""
        ...

    @property
    def unreachable(self) -> bool:
        """Whether the service that places debates does not answer at present; it is tried again."""
        ...

    async def close(self) -> None:
        """Interrupt every running turn, release the debates, and end."""
        ...


class InProcessPlacement:
    """Debates run as tasks of this process.

    The process holds a file lock, and the head row of each debate that it runs names that lock. A debate
    whose lock is free lost its process and may be taken over; the epoch lets only one succeed. A runner that
    ends clears the name, so that any process may run the debate next.
    """

    def __init__(self, store: Store, make_runner: MakeRunner, locks: Path | None) -> None:
        self._store = store
        self._run_loop = ClaimLoop(store, make_runner)
        self._search = UnclaimedSearch(store)
        self._locks = locks
        self._lock: RunnerLock | None = None
        self._running: dict[str, asyncio.Task[None]] = {}
        self._rerun: set[str] = set()
        self._recovery: asyncio.Task[None] | None = None
        self.takeovers = 0

    async def open(self, *, recover: bool) -> None:
        if recover:
            await self.recover()
            self._recovery = asyncio.create_task(self._keep_recovering(), name="recovery")

    def announce(self, role: ProcessRole, streams: Callable[[], int]) -> None:
        """There are no other processes."""

    def ensure_running(self, debate_id: str) -> None:
        if self._run_loop.closed:
            return
        if debate_id in self._running:
            self._rerun.add(debate_id)
            return
        work = self._run_loop.run(debate_id, partial(self._claim, debate_id))
        task = asyncio.create_task(work, name=f"runner of {debate_id}")
        self._running[debate_id] = task
        task.add_done_callback(lambda _: self._task_done(debate_id))

    async def recover(self) -> int:
        return await self._search.scan_all(self._may_recover, self._recover)

    async def figures(self) -> tuple[StoreFigures, None]:
        return await self._store.figures(), None

    async def is_running(self, debate_id: str, runner: str) -> bool:
        return self._is_held(runner)

    @property
    def unreachable(self) -> bool:
        return False

    async def close(self) -> None:
        self._run_loop.closed = True
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

    def _may_recover(self, debate: ActiveDebate) -> bool:
        return debate.id not in self._running and self._may_take(debate.runner)

    async def _recover(self, debate_id: str) -> bool:
        self.takeovers += 1
        self.ensure_running(debate_id)
        return True

    def _task_done(self, debate_id: str) -> None:
        self._running.pop(debate_id, None)
        if debate_id in self._rerun:
            self._rerun.discard(debate_id)
            self.ensure_running(debate_id)

    def _is_held(self, runner: str) -> bool:
        """Whether the lock of this name is held, by this process or another."""
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
