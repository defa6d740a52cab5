"""A toolbox in memory: its tools are functions, and it keeps a ledger of what was asked. It holds no deadline
and hides no failure, so that what tools do wrong falls to the engine."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import msgspec

from moot.core.terms import Tool, ToolCall, ToolResult
from moot.tools.contract import HOSTED, ToolServerInfo

Work = Callable[[dict[str, object]], Awaitable[str]]
SCHEMA = {"type": "object", "properties": {"q": {"type": "string"}}}


class Workshop:
    def __init__(self, **tools: Work) -> None:
        self.asked: list[ToolCall] = []
        self.given: list[str] = []
        """The names of the tools that have given something, in that order."""
        self.dropped: list[str] = []
        self.closed = False
        self._tools = tools

    def names(self) -> tuple[str, ...]:
        return ("lab", *HOSTED)

    def knows(self, name: str) -> bool:
        return name in self.names()

    async def check(self, allowed: Sequence[str]) -> None:
        assert all(map(self.knows, allowed))

    async def servers(self) -> tuple[ToolServerInfo, ...]:
        return (ToolServerInfo("lab", "The lab"),)

    async def tools_for(self, allowed: Sequence[str]) -> tuple[Tool, ...]:
        if "lab" not in allowed:
            return ()
        return tuple(
            Tool(f"lab__{name}", f"Does {name}.", SCHEMA, server="lab", title=name.title())
            for name in self._tools
        )

    async def call(self, call: ToolCall, allowed: Sequence[str]) -> ToolResult:
        self.asked.append(call)
        name = call.name.removeprefix("lab__")
        try:
            output = await self._tools[name](msgspec.json.decode(call.arguments))
        except asyncio.CancelledError:
            self.dropped.append(name)
            raise
        self.given.append(name)
        return ToolResult(call.id, output)

    async def close(self) -> None:
        self.closed = True


async def echo(asked: dict[str, object]) -> str:
    return f"You asked {asked.get('q', 'nothing')}."


async def never(asked: dict[str, object]) -> str:
    await asyncio.Event().wait()
    return "never"


async def breaks(asked: dict[str, object]) -> str:
    raise RuntimeError("sk-12345678901234567890 leaked")
