"""What a toolbox promises: it names the tools that a debate allows, and carries out what a model asks.

It never raises for what a model, a tool or a server does wrong: the model is told, and the speech goes on.
What is asked for before a debate is another matter: a name that nobody has is refused there and then.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, get_args

from msgspec import Struct

from moot.core.errors import Invalid
from moot.core.terms import HostedTool, Tool, ToolCall, ToolResult

MAX_CALLS = 8
"""Of one speech, over all its calls."""
TOOL_SECONDS = 30.0
MAX_RESULT_LENGTH = 16 * 1024
"""Characters of a result that a model is given."""
TOOL_NAME_PATTERN = "[ -~]{1,128}"
"""What a server may call its tool. In a debate, the server's name stands before it, and a slash."""
HOSTED: tuple[str, ...] = get_args(HostedTool)


class ToolServerInfo(Struct, frozen=True):
    """A server, as it is shown to those who choose."""

    name: str
    title: str
    tools: tuple[Tool, ...] = ()
    """Each by the name that a debate allows it by: `server/tool`."""
    missing: str = ""
    """Why it has none."""


class Toolbox(Protocol):
    def names(self) -> tuple[str, ...]:
        """What can be allowed as a whole: servers, and what providers have themselves."""
        ...

    def knows(self, name: str) -> bool:
        """Whether a debate may allow this name, as far as that can be told without asking a server."""
        ...

    async def check(self, allowed: Sequence[str]) -> None:
        """Raises Invalid for what no server has. One that does not answer now is believed."""
        ...

    async def servers(self) -> tuple[ToolServerInfo, ...]:
        """All that there is to choose from."""
        ...

    async def tools_for(self, allowed: Sequence[str]) -> tuple[Tool, ...]:
        """The tools of these names, as models are told of them; a server that cannot be reached has none."""
        ...

    async def call(self, call: ToolCall, allowed: Sequence[str]) -> ToolResult:
        """Within the time and the size allowed; an unknown tool, a wrong argument or a fault is the result's
        `error`."""
        ...

    async def close(self) -> None: ...


class NoTools:
    """Where no server is named: what providers have themselves can be allowed all the same."""

    def names(self) -> tuple[str, ...]:
        return HOSTED

    def knows(self, name: str) -> bool:
        return name in HOSTED

    async def check(self, allowed: Sequence[str]) -> None:
        refuse_unknown(allowed, self.knows)

    async def servers(self) -> tuple[ToolServerInfo, ...]:
        return ()

    async def tools_for(self, allowed: Sequence[str]) -> tuple[Tool, ...]:
        return ()

    async def call(self, call: ToolCall, allowed: Sequence[str]) -> ToolResult:
        return ToolResult(call.id, "", error="There is no such tool.", index=call.index)

    async def close(self) -> None:
        return


def refuse_unknown(allowed: Sequence[str], knows: Callable[[str], bool]) -> None:
    """All that nobody has, told by their places."""
    problems = {f"tools.{index}": ["Unknown tool"] for index, name in enumerate(allowed) if not knows(name)}
    if problems:
        raise Invalid("Invalid debate configuration: Unknown tool.", problems)
