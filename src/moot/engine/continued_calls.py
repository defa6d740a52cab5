"""Segments of a call that continues others: a speech may take several calls, because tools answer in between.

Each call numbers its segments from zero; `SegmentShifter` moves them behind those of the earlier calls.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from moot.core.segments import paragraph_break
from moot.core.terms import HostedTool, Reasoning, Request, Segment, Text, Tool, ToolCall, ToolResult
from moot.providers.contract import OWN_ID_PREFIX, Chunk, ReplyDelta, ReplySegment

TITLES: dict[HostedTool, str] = {"web_search": "Web search", "code": "Code"}
HINTS: tuple[tuple[str, HostedTool], ...] = (("search", "web_search"), ("code", "code"), ("python", "code"))
"""Words by which the names of providers' own tools are recognized."""


class SegmentShifter:
    """Numbers the segments of one call so that they follow those of the earlier calls of its speech.

    Text after the text of an earlier call begins a new paragraph. Tool calls get the name of their server
    and an id that is unique within the speech.
    """

    def __init__(self, request: Request) -> None:
        self._first = next_index(request.exchange)
        self._tools = {tool.name: tool for tool in request.tools}
        self._provider = request.model.provider
        self._separator = _separator(request.exchange)
        self._separated: int | None = None
        """The segment of this call that begins with the separator."""
        self._ids: dict[int, str] = {}
        self._used_ids = {part.id for part in request.exchange if isinstance(part, ToolCall)}

    def shift(self, chunk: Chunk) -> Chunk:
        if isinstance(chunk, ReplyDelta):
            text = self._separate(chunk.segment) + chunk.text if chunk.kind == "text" else chunk.text
            return ReplyDelta(text, chunk.kind, chunk.segment + self._first, chunk.part)
        if isinstance(chunk, ReplySegment):
            return ReplySegment(self._segment(chunk.segment))
        return chunk

    def _separate(self, index: int) -> str:
        """The separator before the first text of the call; empty before all other text."""
        if not self._separator or self._separated is not None:
            return ""
        self._separated = index
        return self._separator

    def _segment(self, segment: Segment) -> Segment:
        index = segment.index
        shifted = replace(segment, index=index + self._first)
        match shifted:
            case Text() if shifted.text:
                self._separate(index)
                if self._separated != index:
                    return shifted
                return replace(shifted, text=self._separator + shifted.text)
            case Reasoning():
                if self._separated == index:
                    # That text was reasoning: the first text is still to come.
                    self._separated = None
                return shifted
            case ToolCall():
                return self._label_call(shifted)
            case _:
                return shifted

    def _label_call(self, call: ToolCall) -> ToolCall:
        if not call.needs_answer:
            title = next(
                (TITLES[tool] for hint, tool in HINTS if hint in f"{call.kind} {call.name}".lower()), ""
            )
            return replace(call, server=call.server or self._provider, title=call.title or title)
        call_id = self._ids.get(call.index)
        if call_id is None:
            is_free = call.id and call.id not in self._used_ids
            call_id = self._ids[call.index] = call.id if is_free else f"{OWN_ID_PREFIX}{call.index}"
            self._used_ids.add(call_id)
        tool = self._tools.get(call.name, Tool("", "", {}))
        return replace(call, id=call_id, server=tool.server, title=tool.title)


def make_shifter(request: Request) -> SegmentShifter | None:
    """None for the many calls that stand alone: their segments need no change."""
    return SegmentShifter(request) if request.tools or request.hosted or request.exchange else None


def next_index(segments: Sequence[Segment]) -> int:
    """The number after the last of these segments."""
    return max((part.index for part in segments), default=-1) + 1


def _separator(exchange: Sequence[Segment]) -> str:
    """Empty where the last call only paused: its text goes on in mid-sentence."""
    if not exchange or not isinstance(exchange[-1], ToolResult):
        return ""
    return paragraph_break("".join(part.text for part in exchange if isinstance(part, Text)))
