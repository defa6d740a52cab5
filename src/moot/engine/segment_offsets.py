"""Puts what a call says where it belongs in its speech.

A speech may go on over several calls, because its tools have to answer in between. Each call numbers its
segments from the start; in the speech they stand after those that came before. What follows the words of an
earlier call begins a new paragraph. Calls of tools are told by whose they are, and each by an id of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from moot.core.terms import HostedTool, Reasoning, Request, Segment, Text, Tool, ToolCall, ToolResult
from moot.providers.contract import OWN_ID_PREFIX, Chunk, ReplyDelta, ReplySegment

PARAGRAPH = "\n\n"
TITLES: dict[HostedTool, str] = {"web_search": "Web search", "code": "Code"}
HINTS: tuple[tuple[str, HostedTool], ...] = (("search", "web_search"), ("code", "code"), ("python", "code"))
"""What the names have in common that providers give to their own tools."""


class SegmentShifter:
    """For one call."""

    def __init__(self, request: Request) -> None:
        self._first = next_index(request.exchange)
        self._tools = {tool.name: tool for tool in request.tools}
        self._provider = request.model.provider
        self._opens = _opening(request.exchange)
        self._opened: int | None = None
        self._ids: dict[int, str] = {}
        self._taken = {part.id for part in request.exchange if isinstance(part, ToolCall)}

    def shift(self, chunk: Chunk) -> Chunk:
        if isinstance(chunk, ReplyDelta):
            text = self._opening(chunk.segment) + chunk.text if chunk.kind == "text" else chunk.text
            return ReplyDelta(text, chunk.kind, chunk.segment + self._first, chunk.part)
        if isinstance(chunk, ReplySegment):
            return ReplySegment(self._segment(chunk.segment))
        return chunk

    def _opening(self, index: int) -> str:
        """What stands before the first words; nothing before all others."""
        if not self._opens or self._opened is not None:
            return ""
        self._opened = index
        return self._opens

    def _segment(self, segment: Segment) -> Segment:
        index = segment.index
        moved = replace(segment, index=index + self._first)
        match moved:
            case Text() if moved.text:
                self._opening(index)
                return replace(moved, text=self._opens + moved.text) if self._opened == index else moved
            case Reasoning():
                if self._opened == index:
                    # Those words were none: the first ones are still to come.
                    self._opened = None
                return moved
            case ToolCall():
                return self._label_call(moved)
            case _:
                return moved

    def _label_call(self, call: ToolCall) -> ToolCall:
        if not call.needs_answer:
            title = next(
                (TITLES[tool] for hint, tool in HINTS if hint in f"{call.kind} {call.name}".lower()), ""
            )
            return replace(call, server=call.server or self._provider, title=call.title or title)
        known = self._ids.get(call.index)
        if known is None:
            known = call.id if call.id and call.id not in self._taken else f"{OWN_ID_PREFIX}{call.index}"
            self._ids[call.index] = known
            self._taken.add(known)
        tool = self._tools.get(call.name, Tool("", "", {}))
        return replace(call, id=known, server=tool.server, title=tool.title)


def make_shifter(request: Request) -> SegmentShifter | None:
    """None for the many calls that stand alone: there everything is where it belongs."""
    return SegmentShifter(request) if request.tools or request.hosted or request.exchange else None


def next_index(exchange: Sequence[Segment]) -> int:
    """The number that follows all of these."""
    return max((part.index for part in exchange), default=-1) + 1


def _opening(exchange: Sequence[Segment]) -> str:
    """A call that only paused goes on in mid-sentence."""
    if not exchange or not isinstance(exchange[-1], ToolResult):
        return ""
    text = "".join(part.text for part in exchange if isinstance(part, Text))
    return PARAGRAPH if text.strip() and not text[-1].isspace() else ""
