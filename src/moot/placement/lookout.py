"""What every worker looks for while it works: debates whose worker fell silent, and those without a job.

Several look at the same time and may find the same. That does no harm: only one of them ends the old job, and
defers the new in the same statement. Should there be two new jobs after all, the second is refused while the
first waits, and a spare one where it runs.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

from moot.errors import StoreError, UnknownDebate
from moot.placement.contract import Rhythm, wants_runner
from moot.placement.holding import candidates
from moot.placement.queue import COMMON, Post, Queue
from moot.store.contract import Head, Store

log = logging.getLogger(__name__)

FORGOTTEN_SECONDS = 5.0
ASKING_SECONDS = 2.0
SHARE = 20.0
AT_ONCE = 100
"""So many are taken over in one statement: whoever waits for them can begin with the first."""


class Lookout:
    def __init__(self, queue: Queue, store: Store, rhythm: Rhythm, to: Callable[[], str]) -> None:
        """`to` names the queue into which we put what we find."""
        self._queue = queue
        self._store = store
        self._stall = rhythm.stall_seconds
        self._to = to
        self._time = asyncio.get_running_loop().time
        self._due = 0.0
        self._resting: dict[str, int] = {}
        """The versions at which debates under way were found to want nobody: they are not folded again."""
        self.wanted: set[str] = set()
        """What somebody at this terminal has asked for, and what has not come to an end here."""

    async def look(self, ours: Sequence[Post], *, everywhere: bool) -> None:
        """`everywhere`: also after debates that nobody here has asked for."""
        stalled = [post for post in await self._queue.stalled(self._stall) if post not in ours]
        await self.take_over([post for post in stalled if everywhere or post.debate in self.wanted])
        began = self._time()
        if everywhere and began >= self._due:
            for post in await self._queue.stranded(self._stall):
                await self.move(post, COMMON)
            await self.find_forgotten(older=ASKING_SECONDS)
            await self._queue.strike_off(self._stall)
            # Where thousands of debates rest, this must not become all that we do.
            self._due = self._time() + max(FORGOTTEN_SECONDS, SHARE * (self._time() - began))

    async def take_over(self, posts: Sequence[Post]) -> None:
        """Never by giving the same job out again: whoever has it may still be alive, and would end it."""
        for start in range(0, len(posts), AT_ONCE):
            for debate_id in await self._queue.replace(posts[start : start + AT_ONCE], self._to()):
                log.warning("nobody runs it any more, another takes it over", extra={"debate": debate_id})

    async def move(self, post: Post, to: str) -> None:
        """To another queue, unless somebody has fetched it meanwhile."""
        if await self._queue.withdraw(post):
            await self._queue.defer(post.debate, to)

    async def find_forgotten(self, older: float = 0.0) -> int:
        """Debates that want a runner and have no job: their asker died before it had deferred one. One that
        has just changed is left to its asker, who may be about to do so, and for a queue of its own."""
        before = datetime.now(UTC) - timedelta(seconds=older)
        heads = [head for head in await candidates(self._store) if head.updated_at <= before]
        busy = await self._queue.debates()
        resting, found = dict[str, int](), 0
        for head in heads:
            if head.id in busy:
                continue
            if await self._rests(head):
                resting[head.id] = head.version
            elif await self._queue.defer(head.id, self._to()):
                found += 1
        self._resting = resting
        return found

    async def _rests(self, head: Head) -> bool:
        if self._resting.get(head.id) == head.version:
            return True
        try:
            return not wants_runner(await self._store.state(head.id))
        except UnknownDebate:
            return True
        except StoreError:
            raise
        except Exception:
            # One that cannot be read must not keep the others from being found.
            log.exception("it cannot be told whether it wants a runner", extra={"debate": head.id})
            return True
