"""Tools in a speech: what the speaker may use, what it has asked for, and how that is carried out.

A reply that calls tools is not the end of a speech: a `ToolSession` keeps what the speech has brought so far
and extends the next request with it, so that the model continues from there. After a fixed number of tool
calls or replies the speaker has to speak.

A `ToolRunner` carries out all calls of one reply at the same time and reports the results in the order of the
calls. Every failure (an unknown tool, invalid arguments, one call too many, a tool that does not answer) is
reported to the model, and the debate goes on. Results are untrusted text: keys are redacted, the text is
clipped, and the model gets it as a quotation.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence

import msgspec
from msgspec.structs import replace

from moot.core.state import Debate
from moot.core.terms import HostedTool, Reasoning, Request, Seat, Segment, Text, Tool, ToolCall, ToolResult
from moot.engine.call import CallResult
from moot.engine.continued_calls import next_index
from moot.prompts.speech_prompts import fence_tool_results
from moot.providers.contract import Traits
from moot.providers.redaction import redact
from moot.tools.contract import MAX_CALLS, MAX_RESULT_LENGTH, Toolbox

log = logging.getLogger(__name__)

MAX_CONTINUATIONS = 10
"""How often a speech may continue from one call to the next."""
MAX_ERROR_CHARS = 500
TOO_MANY = "No more tools may be used in this speech: give it now, with what you have."
NOT_JSON = "The arguments are not a JSON object."
TOO_SLOW = "The tool did not answer in time."
BROKEN = "The tool failed."

ReportResult = Callable[[ToolResult], Awaitable[object]]


class ToolSession:
    """The tools of one speech. Pure."""

    def __init__(self, debate: Debate, seat: Seat) -> None:
        self._debate = debate
        self._seat = seat
        self.allowed = () if seat.model.small else debate.setup.tools
        """What the debate lets this speaker use."""
        self.tools: tuple[Tool, ...] = ()
        self.continues: int | None = None
        """The call that the next one continues."""
        self._hosted: tuple[HostedTool, ...] = ()
        self._exchange: tuple[Segment, ...] = ()
        self._response_id: str | None = None
        self._calls_answered = self._continuations = 0

    @property
    def has_tools(self) -> bool:
        return bool(self.tools or self._hosted)

    @property
    def started(self) -> bool:
        return bool(self._exchange)

    @property
    def calls_left(self) -> int:
        """How many tool calls are still answered."""
        return max(0, MAX_CALLS - self._calls_answered)

    def set_tools(self, tools: tuple[Tool, ...], hosted: tuple[HostedTool, ...]) -> None:
        self.tools, self._hosted = tools, hosted

    def drop_tools(self) -> None:
        """Begin the speech anew, without tools and without their results."""
        self.tools, self._hosted, self._exchange = (), (), ()
        self.continues = self._response_id = None

    def extend_request(self, request: Request, *, chained: bool, sealed: bool) -> Request:
        """The request with the tools, and with what the speech has brought so far."""
        if not self.has_tools:
            return request
        exchange = fence_tool_results(self._debate, self._seat, self._exchange)
        if not sealed:
            exchange = tuple(replace(p, opaque="") if isinstance(p, Reasoning) else p for p in exchange)
        enough = not self.calls_left or self._continuations >= MAX_CONTINUATIONS
        request = replace(request, tools=self.tools, hosted=self._hosted, exchange=exchange, enough=enough)
        if not (chained and self._response_id):
            return request
        return replace(request, previous_response_id=self._response_id, fresh=(), resumes=True)

    def needs_tools(self, reply: CallResult) -> bool:
        """Whether that reply calls tools, and the calls are to be answered."""
        if self._continuations >= MAX_CONTINUATIONS:
            return False
        finish = reply.done.finish if reply.done else None
        if finish == "pause":
            return bool(self._hosted)
        # A reply that was capped because it calls so many tools gets answers as well.
        only_calls = finish is None and reply.truncated == "cap" and not reply.text.strip()
        may_call = finish in ("tool", "stop") or only_calls
        return may_call and self.calls_left > 0 and bool(self.requested_calls(reply))

    def requested_calls(self, reply: CallResult) -> tuple[ToolCall, ...]:
        """The calls of our tools in a reply, in order."""
        return reply.pending_tool_calls() if self.tools else ()

    def add_results(self, reply: CallResult, results: Sequence[ToolResult]) -> None:
        """Let the next request continue from this reply and the results of its tool calls."""
        self._exchange += (*reply.all_segments(), *results)
        self._calls_answered += len(results)
        self._continuations += 1
        self.continues = reply.call
        done = reply.done
        self._response_id = done.response_id if done and done.stored else None

    def full_text(self, reply: CallResult) -> str:
        """The text of the speech over all its calls, of which this reply is the last."""
        earlier = (part.text for part in self._exchange if isinstance(part, Text))
        return "".join((*earlier, reply.text))


class ToolRunner:
    def __init__(self, toolbox: Toolbox, seconds: float) -> None:
        """`seconds` is the deadline for a toolbox that does not hold its own."""
        self._toolbox = toolbox
        self._seconds = seconds

    async def offer_tools(self, session: ToolSession, traits: Traits, *, limited: bool) -> None:
        """Give a session our tools, and the provider's own.

        The provider's own are left out where the debate has a cost limit (`limited`): the provider bills what
        they read, and how much that will be is not known beforehand.
        """
        hosted: tuple[HostedTool, ...] = tuple(
            tool for tool in (() if limited else traits.hosted) if tool in session.allowed
        )
        session.set_tools(await self._find_tools(session.allowed) if traits.tools else (), hosted)

    async def _find_tools(self, allowed: Sequence[str]) -> tuple[Tool, ...]:
        try:
            async with asyncio.timeout(self._seconds):
                return await self._toolbox.tools_for(allowed)
        except Exception as error:
            log.warning("the tools are not available, the speech has none: %s", type(error).__name__)
            return ()

    async def run_calls(
        self, session: ToolSession, reply: CallResult, report: ReportResult
    ) -> tuple[ToolResult, ...]:
        """Carry out the tool calls of a reply. Results are reported in the order of the calls, each as soon
        as it and all before it are there."""
        calls, first = session.requested_calls(reply), next_index(reply.all_segments())
        known = {tool.name for tool in session.tools}
        tasks = [
            asyncio.create_task(self._run_call(call, session.allowed, known), name=f"tool {call.name[:64]}")
            for call in calls[: session.calls_left]
        ]
        results: list[ToolResult] = []
        try:
            for number, call in enumerate(calls):
                result = await tasks[number] if number < len(tasks) else _failed(call, TOO_MANY)
                results.append(replace(result, index=first + number))
                await report(results[-1])
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        return tuple(results)

    async def _run_call(self, call: ToolCall, allowed: Sequence[str], known: set[str]) -> ToolResult:
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
    """Some models send an empty string for no arguments; that counts as an object."""
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
