"""What a speaker finds out in mid-speech: the tools at hand, what was asked of them, and what they gave.

A reply that asks for tools is not the end of a speech. Here it is told from one that is, and what was found
out so far is put into the next request, where the model goes on from it. Nobody does so for ever: after so
many calls of tools, or so many replies, the speaker must speak. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from moot.core.state import Debate
from moot.core.terms import HostedTool, Reasoning, Request, Seat, Segment, Text, Tool, ToolCall, ToolResult
from moot.engine.call_result import CallResult
from moot.prompts.speech_prompts import fence_tool_results
from moot.tools.contract import MAX_CALLS

MAX_CONTINUATIONS = 10
"""So often a speech may go on from one call to the next."""


class ToolSession:
    """Of one speech."""

    def __init__(self, debate: Debate, seat: Seat) -> None:
        self._debate = debate
        self._seat = seat
        self.allowed = () if seat.model.small else debate.manner.tools
        """What the debate lets this speaker use."""
        self.tools: tuple[Tool, ...] = ()
        self.continues: int | None = None
        self._hosted: tuple[HostedTool, ...] = ()
        self._exchange: tuple[Segment, ...] = ()
        self._resumed: str | None = None
        self._asked = self._onward = 0

    @property
    def has_tools(self) -> bool:
        return bool(self.tools or self._hosted)

    @property
    def started(self) -> bool:
        return bool(self._exchange)

    @property
    def calls_left(self) -> int:
        """How many tools may still be used."""
        return max(0, MAX_CALLS - self._asked)

    def set_tools(self, tools: tuple[Tool, ...], hosted: tuple[HostedTool, ...]) -> None:
        self.tools, self._hosted = tools, hosted

    def drop_tools(self) -> None:
        """The speech begins anew and without tools: what they gave could not be told either."""
        self.tools, self._hosted, self._exchange = (), (), ()
        self.continues = self._resumed = None

    def extend_request(self, request: Request, *, chained: bool, sealed: bool) -> Request:
        """The request with tools, and with what they gave so far."""
        if not self.has_tools:
            return request
        exchange = fence_tool_results(self._debate, self._seat, self._exchange)
        if not sealed:
            exchange = tuple(replace(p, opaque="") if isinstance(p, Reasoning) else p for p in exchange)
        enough = not self.calls_left or self._onward >= MAX_CONTINUATIONS
        request = replace(request, tools=self.tools, hosted=self._hosted, exchange=exchange, enough=enough)
        if not (chained and self._resumed):
            return request
        return replace(request, previous_response_id=self._resumed, fresh=(), resumes=True)

    def needs_tools(self, heard: CallResult) -> bool:
        """Whether that reply asks for something, and is to get it."""
        if self._onward >= MAX_CONTINUATIONS:
            return False
        finish = heard.done.finish if heard.done else None
        if finish == "pause":
            return bool(self._hosted)
        # A reply that asks for so much that we stop listening is answered, too.
        endless = finish is None and heard.truncated == "cap" and not heard.text.strip()
        asks = finish in ("tool", "stop") or endless
        return asks and self.calls_left > 0 and bool(self.requested_calls(heard))

    def requested_calls(self, heard: CallResult) -> tuple[ToolCall, ...]:
        """What a reply asks of our tools, in order."""
        return pending_tool_calls(heard) if self.tools else ()

    def add_results(self, heard: CallResult, results: Sequence[ToolResult]) -> None:
        """The next request follows on what this call has said, and on what its tools gave."""
        self._exchange += (*heard.all_segments(), *results)
        self._asked += len(results)
        self._onward += 1
        self.continues = heard.call
        done = heard.done
        self._resumed = done.response_id if done and done.stored else None

    def full_text(self, heard: CallResult) -> str:
        """All that was said, in the calls before and in this one."""
        before = (part.text for part in self._exchange if isinstance(part, Text))
        return "".join((*before, heard.text))


def pending_tool_calls(heard: CallResult) -> tuple[ToolCall, ...]:
    """What waits for an answer."""
    return tuple(part for part in heard.all_segments() if isinstance(part, ToolCall) and part.needs_answer)
