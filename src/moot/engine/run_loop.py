"""Holding a debate: claim it, run it, release it, and again for as long as it wants a runner.

How a debate is come by differs from placement to placement, and is handed in as `claim`. A debate that is
released keeps its epoch: whoever holds it next takes a later one.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from moot.core.errors import Fenced, StoreError, UnknownDebate
from moot.core.events import Event
from moot.core.state import Debate
from moot.engine.placement import MakeRunner, wants_runner
from moot.rules import runner_decisions
from moot.store.contract import Store

log = logging.getLogger(__name__)

LOST_SECONDS = 1.0
"""How long to wait before trying again after the store could not be reached."""

ClaimEpoch = Callable[[], Awaitable[int | None]]
"""Take the debate and return the epoch for it; None where it is not to be had."""


class RunLoop:
    def __init__(self, store: Store, make_runner: MakeRunner) -> None:
        self._store = store
        self._make_runner = make_runner
        self.closed = False

    async def run(self, debate_id: str, claim: ClaimEpoch) -> None:
        """Until the debate wants no runner, or another holds it. Cancelled, it parks the turns first."""
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
                # Another process may have asked for something while we were leaving, and left it to us.
                if not wants_runner(await self._store.state(debate_id)):
                    return
            except (Fenced, UnknownDebate):
                return
            except StoreError as error:
                if not warned:
                    log.warning("%s Trying again.", error, extra={"debate": debate_id})
                warned = True
                await asyncio.sleep(LOST_SECONDS)

    async def _run_once(self, debate_id: str, epoch: int) -> None:
        try:
            await self._make_runner(debate_id, epoch).run()
        except (Fenced, UnknownDebate, StoreError):
            raise
        except Exception:
            log.exception("the runner of a debate failed", extra={"debate": debate_id})
            await self._give_up(debate_id, epoch)

    async def _release(self, debate_id: str, epoch: int) -> None:
        try:
            # One that is over, and is being judged again, is found by the name of its runner alone.
            if self.closed and (state := await self._store.state(debate_id)).final and wants_runner(state):
                return
            releasing = asyncio.ensure_future(self._store.claim(debate_id, "", seen_epoch=epoch, epoch=epoch))
            # Whoever is cancelled meanwhile does not hear how it went; that is nothing to be logged.
            releasing.add_done_callback(lambda done: done.cancelled() or done.exception())
            await asyncio.shield(releasing)
        except (Fenced, UnknownDebate, StoreError):
            return

    async def _give_up(self, debate_id: str, epoch: int) -> None:
        def decide(debate: Debate | None) -> tuple[Event, ...]:
            return () if debate is None else runner_decisions.fail_internally(debate)

        await self._store.record(debate_id, decide, epoch=epoch)
