"""Anthropic's Messages dialect: one pure request builder and one pure decoder.

A reply is a row of content blocks, each opened, filled by deltas and shut; a block's number is that of its
segment. Thoughts are signed: the signature is kept for the way back, also where it is all that we get.

Newer models think as they see fit and are told how hard by a word; older ones get a number of tokens. A
temperature goes to those that take one, and only while they do not think.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct, field

from moot.core.errors import Fault
from moot.core.terms import (
    DeltaKind,
    Effort,
    FinishReason,
    Reasoning,
    ReasoningPart,
    Request,
    Segment,
    Text,
    ToolCall,
    ToolResult,
    UnknownItem,
    Usage,
)
from moot.providers import decoder as decoding
from moot.providers import quirks
from moot.providers.anthropic_tools import exchange_messages, tool_fields
from moot.providers.contract import Chunk, ReplyDelta, ReplySegment, Traits
from moot.providers.decoder import ReportedUsage, max_usage
from moot.providers.error_replies import fault_from_error
from moot.providers.family import Family
from moot.providers.lenient_json import as_text, get_dict, get_dicts, get_path
from moot.providers.sse import SseEvent

API_VERSION = "2023-06-01"
THINKING_OFF = {"type": "disabled"}
MIN_THINKING_BUDGET = 1024
UNSUPPORTED_KEYWORDS = frozenset({
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength",
    "minItems", "maxItems", "uniqueItems",
})  # fmt: skip
"""Keywords of a schema that are refused."""


# --- what we send -------------------------------------------------------------------------------------


def url(base: str, _model: str) -> str:
    return f"{base}/messages" if base.endswith("/v1") else f"{base}/v1/messages"


def headers(key: str) -> Mapping[str, str]:
    version = {"anthropic-version": API_VERSION}
    return {"x-api-key": key, **version} if key else version


def body(request: Request, traits: Traits) -> dict[str, Any]:
    model = request.model
    effort = model.effort if model.effort in traits.efforts else None
    thinking = _thinking(effort, request.max_tokens, traits) if traits.thinks else None
    payload: dict[str, Any] = {
        "model": model.name,
        "max_tokens": request.max_tokens,
        "messages": _messages(request),
        "stream": True,
    }
    if request.instructions:
        payload["system"] = request.instructions
    if thinking is not None:
        payload["thinking"] = thinking
    if output := _output(request, effort, traits):
        payload["output_config"] = output
    if model.temperature is not None and traits.sampling and thinking in (None, THINKING_OFF):
        # The scale that others draw to 2 ends at 1 here.
        payload["temperature"] = min(model.temperature, 1.0)
    payload |= tool_fields(request)
    # Blank ones are refused.
    if stop := [words for words in request.stop if words.strip()]:
        payload["stop_sequences"] = stop
    return payload


def _thinking(effort: Effort | None, max_tokens: int, traits: Traits) -> dict[str, Any] | None:
    """None leaves it to the model, which for older ones means not to think."""
    if effort == "none":
        return THINKING_OFF
    if traits.thinking == "effort":
        # Unasked, these models send thoughts without their words.
        return {"type": "adaptive", "display": "summarized"}
    if effort is None or not quirks.can_think(MIN_THINKING_BUDGET, max_tokens):
        return None
    return {
        "type": "enabled",
        "budget_tokens": max(MIN_THINKING_BUDGET, quirks.thinking_budget(effort, max_tokens)),
    }


def _output(request: Request, effort: Effort | None, traits: Traits) -> dict[str, Any]:
    config: dict[str, Any] = {}
    if effort not in (None, "none") and traits.thinking == "effort":
        config["effort"] = effort
    if request.schema is not None and traits.schema == "strict":
        config["format"] = {
            "type": "json_schema",
            "schema": quirks.without_keywords(request.schema, UNSUPPORTED_KEYWORDS),
        }
    return config


def _messages(request: Request) -> list[dict[str, Any]]:
    turns = quirks.alternate_roles(request.messages)
    messages: list[dict[str, Any]] = [{"role": role, "content": text} for role, text in turns]
    if len(messages) > 1:
        # A seat that has spoken before will speak again, and all of this will be read once more: by then the
        # service has it ready, at a tenth of the price.
        kept = {"type": "text", "text": turns[-1][1], "cache_control": {"type": "ephemeral"}}
        messages[-1]["content"] = [kept]
    return [*messages, *exchange_messages(request)]


# --- what comes back ----------------------------------------------------------------------------------


class _BlockDelta(Struct):
    # Any: what a delta of a kind that we do not know calls `text` need not be one.
    type: str = ""
    text: Any = None
    thinking: Any = None
    partial_json: Any = None
    signature: Any = None
    citation: Any = None
    stop_reason: Any = None


class _MessageBody(Struct):
    id: str | None = None
    model: str | None = None
    content: list[dict[str, Any]] | None = None
    stop_reason: str | None = None
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
_read_whole = msgspec.json.Decoder(dict[str, Any]).decode

KNOWN_EVENTS = {
    "message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta",
    "message_stop", "message",
}  # fmt: skip
OTHER_BLOCKS = ("redacted_thinking", "tool_use", "tool_result")
"""Blocks of other kinds that we know, some by how their names end."""
DELTA_BLOCKS = {
    "text_delta": "text",
    "citations_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "thinking",
    "input_json_delta": "tool_use",
}
"""The deltas we know, and the block that each belongs to where its start was never sent."""
STREAMED_BLOCKS = ("text", "thinking")

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
    """What it was opened with."""
    texts: list[str] = field(default_factory=list[str])
    signature: list[str] = field(default_factory=list[str])
    citations: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    deltas: list[Any] = field(default_factory=list[Any])
    """Of a block of a kind that we do not know."""
    closed: bool = False

    @property
    def kind(self) -> str:
        return str(self.start.get("type", ""))

    @property
    def known(self) -> bool:
        return self.kind in STREAMED_BLOCKS or self.kind.endswith(OTHER_BLOCKS)


class AnthropicDecoder(decoding.Decoder):
    def __init__(self) -> None:
        super().__init__()
        self._blocks: dict[int, _Block] = {}
        """The last one opened under each number of theirs."""
        self._numbers: set[int] = set()

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
                self._on_stop_reason(parsed.delta.stop_reason if parsed.delta else None)
            case "message_stop":
                self.over = self.whole = True
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
        self._on_stop_reason(message.stop_reason)
        self.over = self.whole = True

    def _on_message_start(self, message: _MessageBody, out: list[Chunk]) -> None:
        self._begin(message.id, out)
        self._model = message.model or ""
        self._usage = max_usage(self._usage, usage(message.usage))

    def _on_stop_reason(self, reason: Any) -> None:
        if reason:
            self._set_finish(FINISHES.get(str(reason), "unknown"), str(reason))

    def _open_block(self, index: int, given: dict[str, Any], out: list[Chunk]) -> None:
        self._begin(None, out)
        self._close_block(index, out)
        # Some who imitate this dialect give every block the same number.
        number = index if index not in self._numbers else max(self._numbers) + 1
        self._numbers.add(number)
        block = self._blocks[index] = _Block(number, given)
        if block.kind == "text":
            self._emit_text(block, "text", given.get("text"), out)
            block.citations.extend(get_dicts(given, "citations"))
        elif block.kind == "thinking":
            self._emit_text(block, "reasoning", given.get("thinking"), out)
            block.signature.append(_text_of(given.get("signature")))

    def _on_delta(self, index: int, delta: _BlockDelta, data: bytes, out: list[Chunk]) -> None:
        block = self._blocks.get(index)
        strange = block is not None and not block.known and not block.closed
        if strange and block and DELTA_BLOCKS.get(delta.type) not in STREAMED_BLOCKS:
            block.deltas.append(get_dict(self._parse(_read_whole, data), "delta"))
            return
        if delta.type not in DELTA_BLOCKS:
            self._unread += 1
            return
        kind = DELTA_BLOCKS[delta.type]
        if block is None or block.closed or strange or _kinds_differ(block.kind, kind):
            self._open_block(index, {"type": kind}, out)
            block = self._blocks[index]
        match delta.type:
            case "text_delta":
                self._emit_text(block, "text", delta.text, out)
            case "thinking_delta":
                self._emit_text(block, "reasoning", delta.thinking, out)
            case "input_json_delta":
                block.texts.append(_text_of(delta.partial_json))
            case "signature_delta":
                block.signature.append(_text_of(delta.signature))
            case _:
                block.citations.extend(get_dicts([delta.citation]))

    def _emit_text(self, block: _Block, kind: DeltaKind, text: Any, out: list[Chunk]) -> None:
        if words := _text_of(text):
            block.texts.append(words)
            out.append(ReplyDelta(words, kind, block.index))

    def _close_block(self, index: int, out: list[Chunk]) -> None:
        block = self._blocks.get(index)
        if block is None or block.closed:
            return
        block.closed = True
        out.append(ReplySegment(_segment(block)))


def _kinds_differ(one: str, other: str) -> bool:
    """Thoughts and speech are never one, though they come under one number and without a beginning."""
    return one != other and one in STREAMED_BLOCKS and other in STREAMED_BLOCKS


def _text_of(text: Any) -> str:
    if text is None:
        return ""
    if not isinstance(text, str):
        raise Fault("malformed", detail=f"not words: {text!r}"[:200])
    return text


def _segment(block: _Block) -> Segment:
    words, given = "".join(block.texts), block.start
    match block.kind:
        case "text":
            return Text(words, block.index, annotations=tuple(block.citations))
        case "thinking":
            parts = (ReasoningPart(words),) if words else ()
            return Reasoning(parts, block.index, opaque="".join(block.signature))
        case "redacted_thinking":
            return Reasoning((), block.index, opaque=_text_of(given.get("data")), redacted=True)
        case kind if kind.endswith("tool_use"):
            arguments = words or as_text(given.get("input") or None)
            name = _text_of(given.get("name"))
            return ToolCall(_text_of(given.get("id")), name, arguments, block.index, kind=kind)
        case kind if kind.endswith("tool_result"):
            return _result(block)
        case kind:
            more = {"deltas": block.deltas} if block.deltas else {}
            return UnknownItem(kind or "block", {**given, **more}, block.index)


def _result(block: _Block) -> ToolResult:
    content = block.start.get("content")
    error = get_path(content, "error_code") or ("error" if block.start.get("is_error") else "")
    return ToolResult(
        _text_of(block.start.get("tool_use_id")), as_text(content or None), str(error), block.index
    )


def usage(reported: Any) -> Usage | None:
    """What was read from the cache or written to it is not in their count of input, but in ours."""
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


def decoder(_request: Request, _traits: Traits) -> AnthropicDecoder:
    return AnthropicDecoder()


FAMILY = Family("anthropic", url, headers, body, decoder)
