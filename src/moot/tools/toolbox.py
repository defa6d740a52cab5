"""The tools of the servers in `moot.toml`, each reached when it is first needed and kept as long as it lives.

A server that does not come up is left in peace for a while, so that a debate does not wait for it before
every speech. Whatever goes wrong is told to the model in a sentence and to the log once.
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
from moot.tools.argument_check import Broken, Checker, Failed, arguments, checker
from moot.tools.contract import HOSTED, Kit, refuse_unknown
from moot.tools.tool_listing import Entry, chosen, shelved
from moot.tools.tool_settings import ToolServer

if TYPE_CHECKING:
    from moot.tools.tool_connection import Line

PATIENCE_SECONDS = 10.0
"""For a server that is still starting; it may go on starting meanwhile."""
REST_SECONDS = 30.0
"""Before one that failed is tried again."""
KEPT_SECONDS = 60.0
"""How old a list of tools may be, where the server says nothing of changes."""
FIX = 'pip install "moot[mcp]"'

log = logging.getLogger("moot.tools")


class McpToolbox:
    def __init__(self, servers: Sequence[ToolServer], environ: Mapping[str, str]) -> None:
        self._benches = {server.name: Bench(server, environ) for server in servers}

    def names(self) -> tuple[str, ...]:
        return (*HOSTED, *self._benches)

    def knows(self, name: str) -> bool:
        if name in HOSTED:
            return True
        server, _, tool = name.partition("/")
        bench = self._benches.get(server)
        return bench is not None and (name == server or (bool(tool) and bench.may_have(tool)))

    async def check(self, allowed: Sequence[str]) -> None:
        refuse_unknown(allowed, self.knows)
        if set(allowed) <= {*HOSTED}:
            return
        _check_possible()
        # Now that the servers are asked, more is known.
        await asyncio.gather(*(bench.entries() for bench in self._named(allowed)))
        refuse_unknown(allowed, self.knows)

    async def kits(self) -> tuple[Kit, ...]:
        return tuple(await asyncio.gather(*(bench.kit() for bench in self._benches.values())))

    async def offered(self, allowed: Sequence[str]) -> tuple[Tool, ...]:
        found = await asyncio.gather(*(bench.entries() for bench in self._named(allowed)))
        return tuple(entry.tool for entries in found for entry in chosen(entries, allowed))

    async def use(self, call: ToolCall, allowed: Sequence[str]) -> ToolResult:
        for bench in self._named(allowed):
            if call.name.startswith(f"{bench.server.name}__"):
                for entry in chosen(await bench.entries(), allowed):
                    if entry.tool.name == call.name:
                        output, error = await bench.use(entry, call.arguments)
                        return ToolResult(call.id, output, error=error, index=call.index)
        return ToolResult(call.id, "", error="There is no such tool.", index=call.index)

    async def close(self) -> None:
        await asyncio.gather(*(bench.close() for bench in self._benches.values()))

    def _named(self, allowed: Sequence[str]) -> list[Bench]:
        names = dict.fromkeys(name.partition("/")[0] for name in allowed)
        return [self._benches[name] for name in names if name in self._benches]


class Bench:
    """One server: its line, if there is one, and what is known of its tools."""

    def __init__(self, server: ToolServer, environ: Mapping[str, str]) -> None:
        self.server = server
        self._environ = environ
        self._line: Line | None = None
        self._entries: tuple[Entry, ...] | None = None
        self._checkers: dict[str, Checker] = {}
        self._listed = self._rests_until = float("-inf")
        self._missing = ""
        self._closed = False
        self._one_at_a_time = asyncio.Lock()

    def may_have(self, tool: str) -> bool:
        if self._entries is None:
            return self.server.admits(tool)
        return any(entry.own == tool for entry in self._entries)

    async def kit(self) -> Kit:
        entries = await self.entries()
        tools = tuple(replace(entry.tool, name=entry.allowed_by) for entry in entries)
        return Kit(self.server.name, self.server.title, tools, "" if tools else self._missing)

    async def entries(self) -> tuple[Entry, ...]:
        """Its tools; none where it cannot be reached now."""
        async with self._one_at_a_time:
            line = await self._connected()
            if line is None:
                return ()
            if line.changed or line.silent or monotonic() - self._listed > KEPT_SECONDS:
                await self._list(line)
            return self._entries or () if self._line is line else ()

    async def use(self, entry: Entry, given: str) -> tuple[str, str]:
        """What the tool gave, or what went wrong."""
        line, check = self._line, self._checkers.get(entry.own)
        if line is None or line.over or check is None:
            return "", "The tool's server has gone."
        told, problem = arguments(given, check)
        if problem:
            return "", problem
        try:
            text, complaint = await line.call(entry.own, told)
        except (Broken, Failed) as error:
            log.warning("tool %s: %s", entry.allowed_by, error)
            if isinstance(error, Broken):
                await line.close()
            return "", str(error)
        return ("", text or "The tool failed.") if complaint else (text, "")

    async def close(self) -> None:
        self._closed = True
        if self._line is not None:
            await self._line.close()

    async def _connected(self) -> Line | None:
        if self._line is not None and self._line.over:
            await self._line.close()
            self._line, self._listed = None, float("-inf")
        if self._closed or monotonic() < self._rests_until:
            return None
        try:
            if self._line is None:
                self._line = await _new_line(self.server, self._environ)
            if self._closed:  # meanwhile
                await self._line.close()
            if await self._line.open(PATIENCE_SECONDS):
                return self._line
        except Unavailable as error:
            await self._failed(f"{error} {error.fix}", f"{error} {error.fix}")
            return None
        except Exception as error:
            await self._failed(str(error))
            return None
        self._missing = "It is still starting."
        return None

    async def _list(self, line: Line) -> None:
        try:
            entries = shelved(self.server, await line.offers())
        except Exception as error:
            await self._failed(str(error))
            return
        self._checkers = await asyncio.to_thread(_checkers, entries)
        self._entries = tuple(entry for entry in entries if entry.own in self._checkers)
        self._listed, self._missing = monotonic(), "" if self._entries else "It has no tool that may be used."

    async def _failed(self, why: str, told: str = "It does not answer.") -> None:
        """Why is for the log alone: it may tell how the server is reached."""
        log.warning("tool server %s does not answer: %s", self.server.name, why)
        self._missing = told
        self._rests_until = monotonic() + REST_SECONDS
        if self._line is not None:
            await self._line.close()
            self._line, self._listed = None, float("-inf")


def _checkers(entries: Sequence[Entry]) -> dict[str, Checker]:
    """Those whose schema is one. It takes a while to look at many, so it is done beside the loop."""
    return {entry.own: made for entry in entries if (made := checker(entry.tool.schema))}


async def _new_line(server: ToolServer, environ: Mapping[str, str]) -> Line:
    _check_possible()
    # The SDK takes a second to load: the loop has words to pass on meanwhile.
    module: Any = await asyncio.to_thread(importlib.import_module, "moot.tools.tool_connection")
    return module.Line(server, environ)


def _check_possible() -> None:
    if importlib.util.find_spec("mcp") is None:
        raise Unavailable("Tools need the package mcp, which is not installed.", FIX)
