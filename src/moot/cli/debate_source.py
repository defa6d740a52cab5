"""Where debates are held: on this machine, or on a server. Both can be asked the same things."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from moot.core.events import Recorded
    from moot.core.state import Debate
    from moot.core.terms import Status
    from moot.rules.commands import Command
    from moot.store.contract import DebateHead, DebatePage, RecordResult


class DebateSource(Protocol):
    """What the terminal needs of an arena."""

    async def ask(self, debate_id: str, command: Command) -> RecordResult: ...

    async def rejudge(
        self,
        debate_id: str,
        judges: Sequence[str] = (),
        *,
        criteria: Sequence[str] = (),
        reason: str = "",
        allowance: str | None = None,
    ) -> RecordResult: ...

    async def state(self, debate_id: str) -> Debate: ...

    async def head(self, debate_id: str) -> DebateHead: ...

    async def list(
        self, *, statuses: Sequence[Status] = (), search: str = "", limit: int = 20, offset: int = 0
    ) -> DebatePage: ...

    def follow(self, debate_id: str, after: int = 0) -> AsyncGenerator[Recorded, None]: ...

    def watch(self, debate_id: str, after: int = 0) -> AsyncGenerator[Recorded, None]: ...

    async def is_running(self, debate_id: str) -> bool: ...

    async def is_last(self, debate_id: str, seq: int) -> bool: ...

    @property
    def away(self) -> bool: ...

    def run(self, debate_id: str) -> None: ...

    async def delete(self, debate_id: str) -> None: ...


@asynccontextmanager
async def open_source(server: str | None) -> AsyncGenerator[DebateSource]:
    """The server's, where one is named, else this machine's own."""
    if server:
        from moot.cli.remote import RemoteSource

        async with RemoteSource.open(server) as remote:
            yield remote
        return
    from moot.engine.arena import Arena

    async with Arena.open() as arena:
        yield arena


def server_option(server: str | None) -> str:
    """How a command must end that we advise to type next: it should go to the same place."""
    if not server or server == os.environ.get("MOOT_SERVER"):
        return ""
    return f" --server {server}"
