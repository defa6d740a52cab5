"""Replies in Anthropic's Messages format.

A reply is a list of content blocks, each opened, filled by deltas and closed; a block's number is that of its
segment. Thoughts are signed: the signature is kept to be sent back, even if it is all that was sent.
Citations split a sentence into several text blocks; only after a tool does text begin a new paragraph.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from moot.core.errors import Fault
from moot.core.segments import paragraph_break
from moot.core.sse_reader import SseEvent
from moot.core.terms import (
    DeltaKind,
    FinishReason,
    Reasoning,
    ReasoningPart,
    Segment,
    Text,
    ToolCall,
    ToolResult,
    UnknownItem,
    Usage,
)
from moot.providers.contract import Chunk, ReplyDelta, ReplySegment
from moot.providers.error_replies import fault_from_error
from moot.providers.lenient_json import as_text, get_dict, get_dicts, get_path, get_string
from moot.providers.wire_formats.contract import Decoder, ReportedUsage, max_usage, read_object


class _BlockDelta(Struct):
    # Any: in a delta of an unknown kind, `text` need not be a string.
    type: str = ""
    text: Any = None
    thinking: Any = None
    partial_json: Any = None
    signature: Any = None
    citation: Any = None
    stop_reason: Any = None
    stop_details: Any = None


class _MessageBody(Struct):
    id: str | None = None
    model: str | None = None
    content: list[dict[str, Any]] | None = None
    stop_reason: str | None = None
    stop_details: Any = None
    usage: Any = None


class _MessageEvent(Struct):
    type: str = ""
    index: int = 0
    delta: _BlockDelta | None = None
    content_block: dict[str, Any] | None = None
    message: _MessageBody | None = None
    usage: Any = None
    error: Any = None


_read = msgspec.json.Decoder(_MessageEvent).decode
_read_message = msgspec.json.Decoder(_MessageBody).decode

KNOWN_EVENTS = {
    "message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta",
    "message_stop", "message",
}  # fmt: skip
TOOL_BLOCKS = ("tool_use", "tool_result")
OTHER_BLOCKS = ("redacted_thinking", *TOOL_BLOCKS)
"""Further blocks that we know, some by how their names end."""
DELTA_BLOCKS = {
    "text_delta": "text",
    "citations_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "thinking",
    "input_json_delta": "tool_use",
}
"""The deltas we know, and the kind of block that each belongs to if its start was never sent."""
STREAMED_BLOCKS = ("text", "thinking")
MAX_CATEGORY = 60

FINISHES: dict[str, FinishReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool",
    "pause_turn": "pause",
    "refusal": "refusal",
}


class _Block(Struct):
    index: int
    start: dict[str, Any]
    """The block as it was opened."""
    texts: list[str] = field(default_factory=list[str])
    signature: list[str] = field(default_factory=list[str])
    citations: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    deltas: list[Any] = field(default_factory=list[Any])
    """All deltas of a block of an unknown kind."""
    closed: bool = False

    @property
    def kind(self) -> str:
        return str(self.start.get("type", ""))

    @property
    def known(self) -> bool:
        return self.kind in STREAMED_BLOCKS or self.kind.endswith(OTHER_BLOCKS)


class AnthropicDecoder(Decoder):
    def __init__(self) -> None:
        super().__init__()
        self._blocks: dict[int, _Block] = {}
        """The last block opened under each of the service's numbers."""
        self._numbers: set[int] = set()
        self._last_block: _Block | None = None
        """The block of the last words."""
        self._last_text = ""
        """The last words of text."""
        self._separator = ""
        """Before the text that follows a tool, if there was text before it."""

    def _on_event(self, event: SseEvent, out: list[Chunk]) -> None:
        if event.name not in KNOWN_EVENTS:
            self._unread += event.name != "ping"
            return
        parsed = self._parse(_read, event.data)
        if parsed.error is not None:
            raise fault_from_error(parsed.error)
        match parsed.type or event.name:
            case "content_block_delta":
                self._on_delta(parsed.index, parsed.delta or _BlockDelta(), event.data, out)
            case "content_block_start":
                self._open_block(parsed.index, parsed.content_block or {}, out)
            case "content_block_stop":
                self._close_block(parsed.index, out)
            case "message_start":
                self._on_message_start(parsed.message or _MessageBody(), out)
            case "message_delta":
                self._usage = max_usage(self._usage, usage(parsed.usage))
                if parsed.delta:
                    self._on_stop_reason(parsed.delta.stop_reason, parsed.delta.stop_details, out)
            case "message_stop":
                self.over = self.complete = True
            case "message" if parsed.type:
                self._on_whole_message(self._parse(_read_message, event.data), out)
            case "ping":
                pass
            case _:
                self._unread += 1

    def _flush(self, out: list[Chunk]) -> None:
        for index in self._blocks:
            self._close_block(index, out)

    def _on_whole_message(self, message: _MessageBody, out: list[Chunk]) -> None:
        self._on_message_start(message, out)
        for index, block in enumerate(message.content or ()):
            self._open_block(index, block, out)
            self._close_block(index, out)
        self._on_stop_reason(message.stop_reason, message.stop_details, out)
        self.over = self.complete = True

    def _on_message_start(self, message: _MessageBody, out: list[Chunk]) -> None:
        self._begin(message.id, out)
        self._model = message.model or ""
        self._usage = max_usage(self._usage, usage(message.usage))

    def _on_stop_reason(self, reason: Any, details: Any, out: list[Chunk]) -> None:
        if not reason:
            return
        self._set_finish(FINISHES.get(str(reason), "unknown"), str(reason))
        if reason == "refusal":
            self._refusal_category = get_string(details, "category")[:MAX_CATEGORY]
            # Figures are reported all the same, but a refusal before any output is not billed.
            self._unbilled = not self._numbers
        last = max(self._blocks.values(), key=lambda block: block.index, default=None)
        if self._finish == "length" and last and isinstance(thought := _segment(last), Reasoning):
            # It was closed like any other block.
            last.closed = True
            out.append(ReplySegment(replace(thought, incomplete=True)))

    def _open_block(self, index: int, start: dict[str, Any], out: list[Chunk]) -> None:
        self._begin(None, out)
        self._close_block(index, out)
        # Some imitations of this format give every block the same number.
        number = index if index not in self._numbers else max(self._numbers) + 1
        self._numbers.add(number)
        block = self._blocks[index] = _Block(number, start)
        if block.kind == "text":
            self._emit_text(block, "text", start.get("text"), out)
            block.citations.extend(get_dicts(start, "citations"))
        elif block.kind == "thinking":
            self._emit_text(block, "reasoning", start.get("thinking"), out)
            block.signature.append(_text_of(start.get("signature")))
        elif block.kind.endswith(TOOL_BLOCKS):
            self._separator = paragraph_break(self._last_text)

    def _on_delta(self, index: int, delta: _BlockDelta, data: bytes, out: list[Chunk]) -> None:
        block = self._blocks.get(index)
        unknown = block is not None and not block.known and not block.closed
        if unknown and block and DELTA_BLOCKS.get(delta.type) not in STREAMED_BLOCKS:
            block.deltas.append(get_dict(self._parse(read_object, data), "delta"))
            return
        if delta.type not in DELTA_BLOCKS:
            self._unread += 1
            return
        kind = DELTA_BLOCKS[delta.type]
        if block is None or block.closed or unknown or _kinds_differ(block.kind, kind):
            self._open_block(index, {"type": kind}, out)
            block = self._blocks[index]
        match delta.type:
            case "text_delta":
                self._emit_text(block, "text", delta.text, out)
            case "thinking_delta":
                self._emit_text(block, "reasoning", delta.thinking, out)
            case "input_json_delta":
                self.has_output = True
                block.texts.append(_text_of(delta.partial_json))
            case "signature_delta":
                block.signature.append(_text_of(delta.signature))
            case _:
                block.citations.extend(get_dicts([delta.citation]))

    def _emit_text(self, block: _Block, kind: DeltaKind, text: Any, out: list[Chunk]) -> None:
        if words := _text_of(text):
            self._last_block = block
            if kind == "text":
                words, self._separator = self._separator + words, ""
                self._last_text = words
            block.texts.append(words)
            out.append(ReplyDelta(words, kind, block.index))

    def _words_member(self, event: SseEvent) -> bytes:
        delta = self._parse(_read, event.data).delta
        members = {"text_delta": b"text", "thinking_delta": b"thinking"}
        return members.get(delta.type, b"") if delta is not None else b""

    def _on_repeated(self, words: str, number: int, whole: bytes, out: list[Chunk]) -> None:
        block = self._last_block
        if block is not None:
            self._emit_text(block, "text" if block.kind == "text" else "reasoning", words, out)

    def _close_block(self, index: int, out: list[Chunk]) -> None:
        block = self._blocks.get(index)
        if block is None or block.closed:
            return
        block.closed = True
        out.append(ReplySegment(_segment(block)))


def _kinds_differ(one: str, other: str) -> bool:
    """Thoughts and speech are separate blocks, even under one number and without a start."""
    return one != other and one in STREAMED_BLOCKS and other in STREAMED_BLOCKS


def _text_of(text: Any) -> str:
    if text is None:
        return ""
    if not isinstance(text, str):
        raise Fault("malformed", detail=f"not text: {text!r}"[:200])
    return text


def _segment(block: _Block) -> Segment:
    words, start = "".join(block.texts), block.start
    match block.kind:
        case "text":
            return Text(words, block.index, annotations=tuple(block.citations))
        case "thinking":
            parts = (ReasoningPart(words),) if words else ()
            return Reasoning(parts, block.index, opaque="".join(block.signature))
        case "redacted_thinking":
            return Reasoning((), block.index, opaque=_text_of(start.get("data")), redacted=True)
        case kind if kind.endswith("tool_use"):
            arguments = words or as_text(start.get("input") or None)
            name = _text_of(start.get("name"))
            return ToolCall(_text_of(start.get("id")), name, arguments, block.index, kind=kind)
        case kind if kind.endswith("tool_result"):
            return _result(block)
        case kind:
            more = {"deltas": block.deltas} if block.deltas else {}
            return UnknownItem(kind or "block", {**start, **more}, block.index)


def _result(block: _Block) -> ToolResult:
    content = block.start.get("content")
    error = get_path(content, "error_code") or ("error" if block.start.get("is_error") else "")
    return ToolResult(
        _text_of(block.start.get("tool_use_id")), as_text(content or None), str(error), block.index
    )


def usage(reported: Any) -> Usage | None:
    """Our count of input includes what was read from the cache or written to it; theirs does not."""
    if not isinstance(reported, dict):
        return None
    counts = ReportedUsage(reported)
    cached = counts.get("cache_read_input_tokens")
    written = counts.get("cache_creation_input_tokens")
    return Usage(
        input=counts.get("input_tokens") + cached + written,
        output=counts.get("output_tokens"),
        reasoning=counts.get("output_tokens_details", "thinking_tokens"),
        cached=cached,
        cache_write=written,
        suspect=counts.suspect,
    )
