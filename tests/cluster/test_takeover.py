"""Debates that want a runner are looked for again and again: at all of them seldom, at few of them often."""

from __future__ import annotations

from datetime import UTC, datetime

from moot.engine.claim_loop import FULL_SCAN_SECONDS, SCAN_MARGIN, UnclaimedSearch
from moot.store.contract import ActiveDebate
from moot.store.memory import MemoryStore


class Watched(MemoryStore):
    """Tells since when it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[datetime | None] = []

    async def active_debates(self, since: datetime | None = None) -> tuple[ActiveDebate, ...]:
        self.asked.append(since)
        return await super().active_debates(since)


async def test_all_are_looked_at_first_and_after_a_while_and_meanwhile_what_has_changed() -> None:
    time, store = 0.0, Watched()
    search = UnclaimedSearch(store, lambda: time)

    async def look() -> None:
        assert await search.scan_recent(lambda _: True, nobody) == 0

    async def nobody(_debate_id: str) -> bool:
        raise AssertionError("there is none")

    began = datetime.now(UTC)
    await look()
    await look()
    time = FULL_SCAN_SECONDS
    await look()
    first, then, last = store.asked
    assert (first, last) == (None, None)
    assert then is not None
    assert began - SCAN_MARGIN <= then <= datetime.now(UTC) - SCAN_MARGIN
