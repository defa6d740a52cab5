"""Where debates are: on this machine, or on a server. Every command with `--server` works on either.

`local.py` is the arena of this machine, `remote.py` a client of a server. Both are a `DebateSource`.
"""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

if TYPE_CHECKING:
    from moot.cli.commands.debate import DebateCliOptions
    from moot.client import Invitation
    from moot.core.events import Recorded
    from moot.core.state import Debate
    from moot.core.statuses import Status
    from moot.core.terms import InvitationRole
    from moot.rules.commands import Command
    from moot.store.contract import DebateHead, DebatePage, RecordResult
    from moot.views.poll_results import PollReport


class StartedDebate(Struct, frozen=True):
    id: str
    remark: str = ""
    """What to say below its heading."""


class DebateSource(Protocol):
    # --- giving commands ----------------------------------------------------------------------------------

    async def start_debate(self, motion: str, options: DebateCliOptions) -> StartedDebate:
        """Create and start a debate as the options of the command line describe it. Raises Invalid."""
        ...

    async def ask(self, debate_id: str, command: Command) -> RecordResult:
        """Raises Refused with the reason."""
        ...

    async def rejudge(
        self,
        debate_id: str,
        judges: Sequence[str] = (),
        *,
        criteria: Sequence[str] = (),
        reason: str = "",
        allowance: str | None = None,
    ) -> RecordResult: ...

    async def delete(self, debate_id: str) -> None: ...

    def run(self, debate_id: str) -> None:
        """See to it that a debate with something to do is run."""
        ...

    # --- reading ------------------------------------------------------------------------------------------

    async def state(self, debate_id: str) -> Debate: ...

    async def head(self, debate_id: str) -> DebateHead: ...

    async def list(
        self, *, statuses: Sequence[Status] = (), search: str = "", limit: int = 20, offset: int = 0
    ) -> DebatePage: ...

    def follow(self, debate_id: str, after: int = 0) -> AsyncGenerator[Recorded, None]: ...

    def watch(self, debate_id: str, after: int = 0) -> AsyncGenerator[Recorded, None]:
        """Like `follow`, but ends where nothing more happens until someone gives a command."""
        ...

    async def is_running(self, debate_id: str) -> bool: ...

    async def is_last(self, debate_id: str, seq: int) -> bool: ...

    @property
    def disconnected(self) -> bool:
        """Whether the log cannot be reached at present."""
        ...

    async def document(self, debate_id: str, name: str, *, reasoning: bool = False) -> bytes: ...

    async def poll_results(self, debate_id: str) -> PollReport | None:
        """None where the audience has no vote."""
        ...

    async def draft(self, debate_id: str, seat: str) -> str:
        """What the person at this seat has written so far."""
        ...

    # --- invitations --------------------------------------------------------------------------------------

    async def invite(
        self,
        debate_id: str,
        role: InvitationRole,
        *,
        seat: str | None,
        judge: str | None,
        name: str,
        days: float | None,
        many: bool,
    ) -> Invitation: ...

    async def invitations(self, debate_id: str) -> Sequence[Invitation]: ...

    async def uninvite(self, debate_id: str, name: str) -> None: ...


@asynccontextmanager
async def open_source(server: str | None) -> AsyncGenerator[DebateSource]:
    """Open the debates of `server`, or without one those of this machine."""
    if server:
        from moot.cli.remote import RemoteSource

        async with RemoteSource.open(server) as remote:
            yield remote
        return
    from moot.cli.local import LocalSource

    async with LocalSource.open() as local:
        yield local


def server_option(server: str | None) -> str:
    """Return what to append to a command that we suggest, so that it goes to the same server."""
    if not server or server == os.environ.get("MOOT_SERVER"):
        return ""
    return f" --server {server}"
