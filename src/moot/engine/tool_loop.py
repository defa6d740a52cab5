"""What a speaker asks of tools in mid-speech: which it is offered, and how what it asked is carried out.

All that one reply asks for is done at the same time, and told in the order in which it was asked. Whatever
goes wrong (a tool that nobody has, arguments that are none, one call too many, a tool that never answers) is
told to the model, and the debate goes on. What tools give is anybody's words: keys in it are taken out, it is
kept short, and it is quoted to the model like the words of others.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence

import msgspec
from msgspec.structs import replace

from moot.core.terms import HostedTool, Tool, ToolCall, ToolResult
from moot.engine.call_result import CallResult
from moot.engine.segment_offsets import next_index
from moot.engine.tool_session import ToolSession
from moot.providers.contract import Traits
from moot.providers.redaction import redact
from moot.tools.contract import MAX_RESULT_LENGTH, Toolbox

log = logging.getLogger(__name__)

MAX_ERROR_CHARS = 500
TOO_MANY = "No more tools may be used in this speech: give it now, with what you have."
NOT_JSON = "The arguments are not a JSON object."
TOO_SLOW = "The tool did not answer in time."
BROKEN = "The tool failed."

ReportResult = Callable[[ToolResult], Awaitable[object]]


class ToolRunner:
    def __init__(self, toolbox: Toolbox, seconds: float) -> None:
        """`seconds` is for a toolbox that does not hold its own deadlines."""
        self._toolbox = toolbox
        self._seconds = seconds

    async def offer_tools(self, research: ToolSession, traits: Traits, *, limited: bool) -> None:
        """With our tools, and with the provider's own. Those are offered only where no limit is to be held:
        what they read for the model is billed, and nobody can say beforehand how much that will be."""
        own = () if limited else traits.hosted
        hosted: tuple[HostedTool, ...] = tuple(tool for tool in own if tool in research.allowed)
        research.set_tools(await self._offered(research.allowed) if traits.tools else (), hosted)

    async def _offered(self, allowed: Sequence[str]) -> tuple[Tool, ...]:
        try:
            async with asyncio.timeout(self._seconds):
                return await self._toolbox.tools_for(allowed)
        except Exception as error:
            log.warning("the tools are not available, the speech has none: %s", type(error).__name__)
            return ()

    async def run_calls(
        self, research: ToolSession, heard: CallResult, tell: ReportResult
    ) -> tuple[ToolResult, ...]:
        """What a reply asks for: each result is told as soon as it is there and all before it are."""
        calls, first = research.requested_calls(heard), next_index(heard.all_segments())
        known = {tool.name for tool in research.tools}
        tasks = [
            asyncio.create_task(self._answer(call, research.allowed, known), name=f"tool {call.name[:64]}")
            for call in calls[: research.calls_left]
        ]
        results: list[ToolResult] = []
        try:
            for place, call in enumerate(calls):
                given = await tasks[place] if place < len(tasks) else _failed(call, TOO_MANY)
                results.append(replace(given, index=first + place))
                await tell(results[-1])
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        return tuple(results)

    async def _answer(self, call: ToolCall, allowed: Sequence[str], known: set[str]) -> ToolResult:
        if call.name not in known:
            return _failed(call, f"There is no tool called {call.name[:64]!r}.")
        if not _is_object(call.arguments):
            return _failed(call, NOT_JSON)
        try:
            async with asyncio.timeout(self._seconds):
                result = await self._toolbox.call(replace(call, arguments=call.arguments or "{}"), allowed)
        except TimeoutError:
            return _failed(call, TOO_SLOW)
        except Exception as error:
            log.warning("tool %s failed: %s", call.name, type(error).__name__)
            return _failed(call, BROKEN)
        return ToolResult(
            call.id, _clean(result.output, MAX_RESULT_LENGTH), _clean(result.error, MAX_ERROR_CHARS)
        )


def _is_object(arguments: str) -> bool:
    """Some models write nothing at all where there is nothing to say."""
    if not arguments.strip():
        return True
    try:
        return isinstance(msgspec.json.decode(arguments), dict)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return False


def _failed(call: ToolCall, error: str) -> ToolResult:
    return ToolResult(call.id, "", error)


def _clean(text: str, most: int) -> str:
    """Without keys, and without characters that no log can hold."""
    text = redact(text.replace("\0", "").encode(errors="replace").decode())
    return text if len(text) <= most else text[: most - 1] + "…"
