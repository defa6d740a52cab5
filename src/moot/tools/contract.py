"""What a toolbox promises: it lists the tools that a debate allows, and runs the calls of models.

It never raises for an error of a model, a tool or a server: the model gets the error as the result, and the
speech continues. An unknown name in the setup of a debate is refused at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, get_args

from msgspec import Struct

from moot.core.errors import Invalid
from moot.core.terms import HostedTool, Tool, ToolCall, ToolResult
from moot.views.text import single_line

MAX_CALLS = 8
"""Tool calls of one speech."""
TOOL_SECONDS = 30.0
MAX_RESULT_LENGTH = 16 * 1024
"""Characters of a result that a model gets."""
TOOL_NAME_PATTERN = "[ -~]{1,128}"
"""The name of a tool on its server. A debate allows it as `server/tool`."""
HOSTED: tuple[str, ...] = get_args(HostedTool)
MAX_SENTENCE_LENGTH = 300


class ToolServerInfo(Struct, frozen=True):
    """A server as it is shown to users."""

    name: str
    title: str
    tools: tuple[Tool, ...] = ()
    """Named as a debate allows them: `server/tool`."""
    missing: str = ""
    """Why there are none."""


class Toolbox(Protocol):
    def names(self) -> tuple[str, ...]:
        """Names that allow several tools: servers, and the hosted tools of providers."""
        ...

    def knows(self, name: str) -> bool:
        """Whether a debate may allow this name, as far as is known without asking a server."""
        ...

    async def check(self, allowed: Sequence[str]) -> None:
        """Raises Invalid for names that no server has. A server that does not answer is not checked."""
        ...

    async def servers(self) -> tuple[ToolServerInfo, ...]:
        """All servers with their tools."""
        ...

    async def tools_for(self, allowed: Sequence[str]) -> tuple[Tool, ...]:
        """The allowed tools as models get them; a server that cannot be reached has none."""
        ...

    async def call(self, call: ToolCall, allowed: Sequence[str]) -> ToolResult:
        """Run a call within the limits of time and size.

        An unknown tool, a wrong argument or a failure is the `error` of the result.
        """
        ...

    async def close(self) -> None: ...


class NoTools:
    """The toolbox without servers: a debate can still allow the hosted tools of providers."""

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
    """Raises Invalid with the position of every unknown name."""
    problems = {f"tools.{index}": ["Unknown tool"] for index, name in enumerate(allowed) if not knows(name)}
    if problems:
        raise Invalid("Invalid debate configuration: Unknown tool.", problems)


class ConnectionLost(Exception):
    """The connection to the server has ended, or was never open."""


class ToolCallFailed(Exception):
    """The call failed; the connection is still open."""


def shortened(text: str) -> str:
    """One line of a server's text for a message."""
    text = single_line(text).rstrip(".")
    return text if len(text) <= MAX_SENTENCE_LENGTH else text[:MAX_SENTENCE_LENGTH] + "…"
