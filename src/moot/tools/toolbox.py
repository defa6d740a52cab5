"""The tools of the servers in `moot.toml`: each server is connected at first use and stays connected.

A server that fails is not tried again for a while, so that a debate does not wait for it before every speech.
A failure becomes one sentence for the model and one line of the log.
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import logging
from collections.abc import Mapping, Sequence
from time import monotonic
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from moot.core.errors import Unavailable
from moot.core.terms import Tool, ToolCall, ToolResult
from moot.installation import install_command
from moot.providers.redaction import shown_remedy
from moot.tools.argument_check import ArgumentChecker, check_arguments, make_checker
from moot.tools.contract import HOSTED, ConnectionLost, ToolCallFailed, ToolServerInfo, refuse_unknown
from moot.tools.tool_listing import ToolEntry, admitted_tools, allowed_entries
from moot.tools.tool_settings import ToolServerSettings

if TYPE_CHECKING:
    from moot.tools.tool_connection import ToolConnection

OPEN_WAIT_SECONDS = 10.0
"""How long to wait for a server that is starting; it may start later than that."""
RETRY_SECONDS = 30.0
"""Before a server that failed is tried again."""
LIST_CACHE_SECONDS = 60.0
"""How old a list of tools may be if the server reports no changes."""

log = logging.getLogger("moot.tools")


class McpToolbox:
    def __init__(self, servers: Sequence[ToolServerSettings], environ: Mapping[str, str]) -> None:
        self._servers = {server.name: ServerTools(server, environ) for server in servers}

    def names(self) -> tuple[str, ...]:
        return (*HOSTED, *self._servers)

    def knows(self, name: str) -> bool:
        if name in HOSTED:
            return True
        server, _, tool = name.partition("/")
        tools = self._servers.get(server)
        return tools is not None and (name == server or (bool(tool) and tools.may_have(tool)))

    async def check(self, allowed: Sequence[str]) -> None:
        refuse_unknown(allowed, self.knows)
        if set(allowed) <= {*HOSTED}:
            return
        _check_possible()
        # Once the servers have listed their tools, more names are known to be wrong.
        await asyncio.gather(*(tools.entries() for tools in self._servers_of(allowed)))
        refuse_unknown(allowed, self.knows)

    async def servers(self) -> tuple[ToolServerInfo, ...]:
        return tuple(await asyncio.gather(*(tools.info() for tools in self._servers.values())))

    async def tools_for(self, allowed: Sequence[str]) -> tuple[Tool, ...]:
        listed = await asyncio.gather(*(tools.entries() for tools in self._servers_of(allowed)))
        return tuple(entry.tool for entries in listed for entry in allowed_entries(entries, allowed))

    async def call(self, call: ToolCall, allowed: Sequence[str]) -> ToolResult:
        for tools in self._servers_of(allowed):
            if call.name.startswith(f"{tools.server.name}__"):
                for entry in allowed_entries(await tools.entries(), allowed):
                    if entry.tool.name == call.name:
                        output, error = await tools.call(entry, call.arguments)
                        return ToolResult(call.id, output, error=error, index=call.index)
        return ToolResult(call.id, "", error="There is no such tool.", index=call.index)

    async def close(self) -> None:
        await asyncio.gather(*(tools.close() for tools in self._servers.values()))

    def _servers_of(self, allowed: Sequence[str]) -> list[ServerTools]:
        names = dict.fromkeys(name.partition("/")[0] for name in allowed)
        return [self._servers[name] for name in names if name in self._servers]


class ServerTools:
    """One server: its connection, if there is one, and its tools as listed last."""

    def __init__(self, server: ToolServerSettings, environ: Mapping[str, str]) -> None:
        self.server = server
        self._environ = environ
        self._connection: ToolConnection | None = None
        self._entries: tuple[ToolEntry, ...] | None = None
        self._checkers: dict[str, ArgumentChecker] = {}
        self._listed_at = self._retry_at = float("-inf")
        self._missing = ""
        self._closed = False
        self._lock = asyncio.Lock()

    def may_have(self, tool: str) -> bool:
        if self._entries is None:
            return self.server.admits(tool)
        return any(entry.own_name == tool for entry in self._entries)

    async def info(self) -> ToolServerInfo:
        entries = await self.entries()
        tools = tuple(replace(entry.tool, name=entry.allowed_name) for entry in entries)
        return ToolServerInfo(self.server.name, self.server.title, tools, "" if tools else self._missing)

    async def entries(self) -> tuple[ToolEntry, ...]:
        """Its tools; none if it cannot be reached now."""
        async with self._lock:
            connection = await self._connect()
            if connection is None:
                return ()
            if (
                connection.changed
                or connection.unresponsive
                or monotonic() - self._listed_at > LIST_CACHE_SECONDS
            ):
                await self._refresh(connection)
            return self._entries or () if self._connection is connection else ()

    async def call(self, entry: ToolEntry, arguments: str) -> tuple[str, str]:
        """The output of the tool and the error: one of them is empty."""
        connection, checker = self._connection, self._checkers.get(entry.own_name)
        if connection is None or connection.closed or checker is None:
            return "", "The tool's server has gone."
        parsed, problem = check_arguments(arguments, checker)
        if problem:
            return "", problem
        try:
            text, is_error = await connection.call(entry.own_name, parsed)
        except (ConnectionLost, ToolCallFailed) as error:
            log.warning("tool %s failed: %s", entry.allowed_name, error)
            if isinstance(error, ConnectionLost):
                await connection.close()
            return "", str(error)
        return ("", text or "The tool failed.") if is_error else (text, "")

    async def close(self) -> None:
        self._closed = True
        if self._connection is not None:
            await self._connection.close()

    async def _connect(self) -> ToolConnection | None:
        if self._connection is not None and self._connection.closed:
            await self._connection.close()
            self._connection, self._listed_at = None, float("-inf")
        if self._closed or monotonic() < self._retry_at:
            return None
        try:
            if self._connection is None:
                self._connection = await _open_connection(self.server, self._environ)
            if self._closed:  # meanwhile
                await self._connection.close()
            if await self._connection.open(OPEN_WAIT_SECONDS):
                return self._connection
        except Unavailable as error:
            await self._on_failure(f"{error} {error.fix}", f"{error} {shown_remedy(error.fix)}")
            return None
        except Exception as error:
            await self._on_failure(str(error))
            return None
        self._missing = "It is still starting."
        return None

    async def _refresh(self, connection: ToolConnection) -> None:
        try:
            entries = admitted_tools(self.server, await connection.list_tools())
        except Exception as error:
            await self._on_failure(str(error))
            return
        self._checkers = await asyncio.to_thread(_checkers, entries)
        self._entries = tuple(entry for entry in entries if entry.own_name in self._checkers)
        self._listed_at = monotonic()
        self._missing = "" if self._entries else "It has no tool that may be used."

    async def _on_failure(self, cause: str, public: str = "It does not answer.") -> None:
        """`cause` is for the log alone: it may contain the address of the server."""
        log.warning("tool server %s does not answer, see `moot tools`: %s", self.server.name, cause)
        self._missing = public
        self._retry_at = monotonic() + RETRY_SECONDS
        if self._connection is not None:
            await self._connection.close()
            self._connection, self._listed_at = None, float("-inf")


def _checkers(entries: Sequence[ToolEntry]) -> dict[str, ArgumentChecker]:
    """Checkers of the tools with a valid schema. Slow for many, so it runs in a thread."""
    return {entry.own_name: checker for entry in entries if (checker := make_checker(entry.tool.schema))}


async def _open_connection(server: ToolServerSettings, environ: Mapping[str, str]) -> ToolConnection:
    _check_possible()
    # The SDK takes a second to import, which would block the event loop.
    module: Any = await asyncio.to_thread(importlib.import_module, "moot.tools.tool_connection")
    return module.ToolConnection(server, environ)


def _check_possible() -> None:
    if importlib.util.find_spec("mcp") is None:
        raise Unavailable("Tools need the package mcp, which is not installed.", install_command("mcp"))
