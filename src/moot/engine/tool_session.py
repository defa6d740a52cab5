"""What a speaker finds out in mid-speech: the tools at hand, what was asked of them, and what they gave.

A reply that asks for tools is not the end of a speech. Here it is told from one that is, and what was found
out so far is put into the next request, where the model goes on from it. Nobody does so for ever: after so
many calls of tools, or so many replies, the speaker must speak. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from moot.core.state import Debate
from moot.core.terms import Hosted, Reasoning, Request, Seat, Segment, Text, Tool, ToolCall, ToolResult
from moot.engine.call_result import Heard
from moot.prompts.speech_prompts import as_material
from moot.tools.contract import MOST_CALLS

MOST_ONWARD = 10
"""So often a speech may go on from one call to the next."""


class Research:
    """Of one speech."""

    def __init__(self, debate: Debate, seat: Seat) -> None:
        self._debate = debate
        self._seat = seat
        self.allowed = () if seat.model.small else debate.manner.tools
        """What the debate lets this speaker use."""
        self.tools: tuple[Tool, ...] = ()
        self.continues: int | None = None
        self._hosted: tuple[Hosted, ...] = ()
        self._exchange: tuple[Segment, ...] = ()
        self._resumed: str | None = None
        self._asked = self._onward = 0

    @property
    def equipped(self) -> bool:
        return bool(self.tools or self._hosted)

    @property
    def under_way(self) -> bool:
        return bool(self._exchange)

    @property
    def room(self) -> int:
        """How many tools may still be used."""
        return max(0, MOST_CALLS - self._asked)

    def equip(self, tools: tuple[Tool, ...], hosted: tuple[Hosted, ...]) -> None:
        self.tools, self._hosted = tools, hosted

    def give_up(self) -> None:
        """The speech begins anew and without tools: what they gave could not be told either."""
        self.tools, self._hosted, self._exchange = (), (), ()
        self.continues = self._resumed = None

    def brought_to(self, request: Request, *, chained: bool, sealed: bool) -> Request:
        """The request with tools, and with what they gave so far."""
        if not self.equipped:
            return request
        exchange = as_material(self._debate, self._seat, self._exchange)
        if not sealed:
            exchange = tuple(replace(p, opaque="") if isinstance(p, Reasoning) else p for p in exchange)
        enough = not self.room or self._onward >= MOST_ONWARD
        request = replace(request, tools=self.tools, hosted=self._hosted, exchange=exchange, enough=enough)
        if not (chained and self._resumed):
            return request
        return replace(request, previous_response_id=self._resumed, fresh=(), resumes=True)

    def goes_on(self, heard: Heard) -> bool:
        """Whether that reply asks for something, and is to get it."""
        if self._onward >= MOST_ONWARD:
            return False
        finish = heard.done.finish if heard.done else None
        if finish == "pause":
            return bool(self._hosted)
        # A reply that asks for so much that we stop listening is answered, too.
        endless = finish is None and heard.truncated == "cap" and not heard.text.strip()
        asks = finish in ("tool", "stop") or endless
        return asks and self.room > 0 and bool(self.errands(heard))

    def errands(self, heard: Heard) -> tuple[ToolCall, ...]:
        """What a reply asks of our tools, in order."""
        return asked(heard) if self.tools else ()

    def go_on(self, heard: Heard, results: Sequence[ToolResult]) -> None:
        """The next request follows on what this call has said, and on what its tools gave."""
        self._exchange += (*heard.all_segments(), *results)
        self._asked += len(results)
        self._onward += 1
        self.continues = heard.call
        done = heard.done
        self._resumed = done.response_id if done and done.stored else None

    def whole(self, heard: Heard) -> str:
        """All that was said, in the calls before and in this one."""
        before = (part.text for part in self._exchange if isinstance(part, Text))
        return "".join((*before, heard.text))


def asked(heard: Heard) -> tuple[ToolCall, ...]:
    """What waits for an answer."""
    return tuple(part for part in heard.all_segments() if isinstance(part, ToolCall) and part.asks)
