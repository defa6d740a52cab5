"""What a toolbox promises: it names the tools that a debate allows, and carries out what a model asks.

It never raises for what a model, a tool or a server does wrong: the model is told, and the speech goes on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from moot.terms import Tool, ToolCall, ToolResult

MOST_CALLS = 8
"""Of one speech, over all its calls."""
TOOL_SECONDS = 30.0
MOST_RESULT = 16 * 1024
"""Characters of a result that a model is given."""


class Toolbox(Protocol):
    async def offered(self, allowed: Sequence[str]) -> tuple[Tool, ...]:
        """The tools of these names, as models are told of them; a server that cannot be reached has none."""
        ...

    async def use(self, call: ToolCall, allowed: Sequence[str]) -> ToolResult:
        """Within the time and the size allowed; an unknown tool, a wrong argument or a fault is the result's
        `error`."""
        ...

    async def close(self) -> None: ...


class NoTools:
    """Where no server is named."""

    async def offered(self, allowed: Sequence[str]) -> tuple[Tool, ...]:
        return ()

    async def use(self, call: ToolCall, allowed: Sequence[str]) -> ToolResult:
        return ToolResult(call.id, "", error="There is no such tool.", index=call.index)

    async def close(self) -> None:
        return
