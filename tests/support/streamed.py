"""Appends streamed text to one debate and waits for it, as a runner does for all of its calls together."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from moot.core.events import StreamedEvent
from moot.store.contract import AppendStreamed, RecordResult, Store


async def append_streamed(
    store: Store, debate_id: str, events: Sequence[StreamedEvent], *, epoch: int
) -> RecordResult:
    reply: asyncio.Future[RecordResult] = asyncio.get_running_loop().create_future()
    store.append_streamed([AppendStreamed(reply, debate_id, events, epoch)])
    return await reply
