"""Debates run as tasks of this process.

The process holds a file lock whose name stands in the head row of each debate it is running. A debate whose
lock nobody holds lost its process and may be taken over; the epoch sees to it that only one succeeds. A
runner that leaves clears its name, so that any process may run the debate next.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from itertools import count
from pathlib import Path

from moot import moves
from moot.debate import Debate
from moot.errors import Fenced, StoreError, UnknownDebate
from moot.events import Event
from moot.formats.plan import AskJudges, Poll, closes_by_itself, plan
from moot.runner import Runner
from moot.store.contract import Head, Store, Wanted
from moot.store.locks import RunnerLock, is_free
from moot.terms import Status

log = logging.getLogger(__name__)

UNDER_WAY: tuple[Status, ...] = ("initializing", "awaiting_arguments", "debating", "judging")
PAGE = 500
LOST_SECONDS = 1.0
"""How long to wait before trying again after the store could not be reached."""


def wants_runner(debate: Debate) -> bool:
    """There is something to do, or something that a crash has left open, even in a debate that is over."""
    if debate.live or debate.calls or debate.open_asides or moves.advance(debate):
        return True
    step = plan(debate)
    return isinstance(step, AskJudges) or (isinstance(step, Poll) and closes_by_itself(debate, step.name))


class InProcess:
    def __init__(self, store: Store, make_runner: Callable[[str, int], Runner], locks: Path | None) -> None:
        self._store = store
        self._make_runner = make_runner
        self._locks = locks
        self._lock: RunnerLock | None = None
        self._running: dict[str, asyncio.Task[None]] = {}
        self._again: set[str] = set()
        self._closed = False

    def want(self, debate_id: str) -> None:
        """See to it that this debate is run, here or where it already is."""
        if self._closed:
            return
        if debate_id in self._running:
            self._again.add(debate_id)
            return
        task = asyncio.create_task(self._run(debate_id), name=f"runner of {debate_id}")
        self._running[debate_id] = task
        task.add_done_callback(lambda _: self._left(debate_id))

    async def recover(self) -> int:
        """Take over every debate that wants a runner and has none alive."""
        found = 0
        for head in await self._candidates():
            if head.id in self._running or not self._may_take(head.runner):
                continue
            if wants_runner(await self._store.state(head.id)):
                found += 1
                self.want(head.id)
        return found

    async def _candidates(self) -> list[Head]:
        """Those that somebody ran, over or not, and those that should be running."""
        heads = {head.id: head for head in await self._store.held()}
        for offset in count(0, PAGE):
            page = await self._store.list(Wanted(statuses=UNDER_WAY), limit=PAGE, offset=offset)
            heads.update({head.id: head for head in page.heads})
            if len(page.heads) < PAGE:
                break
        return list(heads.values())

    async def close(self) -> None:
        """Park every running turn and leave."""
        self._closed = True
        self._again.clear()
        tasks = tuple(self._running.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._lock is not None:
            self._lock.release()

    def _left(self, debate_id: str) -> None:
        self._running.pop(debate_id, None)
        if debate_id in self._again:
            self._again.discard(debate_id)
            self.want(debate_id)

    def is_alive(self, runner: str) -> bool:
        """Whether the lock of this name is held, by us or by another process."""
        if not runner or self._locks is None:
            return bool(runner)
        return not is_free(self._locks, runner)

    def _may_take(self, runner: str) -> bool:
        return runner == self._name or not self.is_alive(runner)

    @property
    def _name(self) -> str:
        if self._locks is None:
            return "memory"
        if self._lock is None:
            self._lock = RunnerLock.hold(self._locks)
        return self._lock.name

    async def _run(self, debate_id: str) -> None:
        while not self._closed:
            try:
                head = await self._store.head(debate_id)
                if not self._may_take(head.runner):
                    return
                epoch = await self._store.claim(debate_id, self._name, seen_epoch=head.epoch)
                try:
                    await self._hold(debate_id, epoch)
                finally:
                    await self._release(debate_id, epoch)
                # Another process may have asked for something while we were leaving, and left it to us.
                if not wants_runner(await self._store.state(debate_id)):
                    return
            except (Fenced, UnknownDebate):
                return
            except StoreError as error:
                log.warning("%s Trying again.", error, extra={"debate": debate_id})
                await asyncio.sleep(LOST_SECONDS)

    async def _hold(self, debate_id: str, epoch: int) -> None:
        try:
            await self._make_runner(debate_id, epoch).run()
        except (Fenced, UnknownDebate, StoreError):
            raise
        except Exception:
            log.exception("the runner failed", extra={"debate": debate_id})
            await self._give_up(debate_id, epoch)

    async def _release(self, debate_id: str, epoch: int) -> None:
        try:
            # One that is over, and is being judged again, is found by the name of its runner alone.
            if self._closed and (state := await self._store.state(debate_id)).final and wants_runner(state):
                return
            await asyncio.shield(self._store.claim(debate_id, "", seen_epoch=epoch))
        except (Fenced, UnknownDebate, StoreError):
            return

    async def _give_up(self, debate_id: str, epoch: int) -> None:
        def decide(debate: Debate | None) -> tuple[Event, ...]:
            return () if debate is None else moves.give_up(debate)

        await self._store.record(debate_id, decide, epoch=epoch)
