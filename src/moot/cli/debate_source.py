"""Where debates are: on this machine, or on a server. Every command with `--server` works on either.

`local.py` is the arena of this machine, `remote.py` a client of a server with the same methods. A
`DebateSource` is the one or the other.
"""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from moot.cli.local import LocalSource
    from moot.cli.remote import RemoteSource

    DebateSource = LocalSource | RemoteSource


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
