"""Replies in Google's generateContent format.

A reply is a row of chunks made of parts: thoughts, words, calls and their results. A segment lasts while the
parts stay of one kind. Only the end of the stream ends a reply: figures may follow the reason to stop.

Any part may carry a signature of the thoughts behind it, even an empty part. If a segment has no field for
it, a Reasoning with nothing else follows the segment, so that it is known where the signature belongs.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from moot.core.sse_reader import SseEvent
from moot.core.terms import (
    DeltaKind,
    FinishReason,
    Reasoning,
    ReasoningPart,
    Text,
    ToolCall,
    ToolResult,
    UnknownItem,
    Usage,
)
from moot.providers.contract import Chunk, ReplyDelta, ReplySegment
from moot.providers.error_replies import fault_from_error
from moot.providers.lenient_json import as_text, get_dict, get_dicts, get_string
from moot.providers.wire_formats.contract import Decoder, ReportedUsage, read_object


class _ContentPart(Struct, rename="camel"):
    text: Any = None
    thought: Any = None
    thought_signature: Any = None
    function_call: Any = None
    executable_code: Any = None
    tool_call: Any = None
    code_execution_result: Any = None
    function_response: Any = None
    tool_response: Any = None


class _Content(Struct):
    parts: list[_ContentPart] | None = None


class _Candidate(Struct, rename="camel"):
    content: _Content | None = None
    finish_reason: str | None = None
    index: int | None = None
    citation_metadata: Any = None
    grounding_metadata: Any = None
    url_context_metadata: Any = None


class _UsageMetadata(Struct, rename="camel", gc=False):
    prompt_token_count: Any = None
    candidates_token_count: Any = None
    thoughts_token_count: Any = None
    tool_use_prompt_token_count: Any = None
    cached_content_token_count: Any = None
    service_tier: Any = None


class _GenerateChunk(Struct, rename="camel"):
    candidates: list[_Candidate] | None = None
    usage_metadata: _UsageMetadata | list[Any] | str | float | bool | None = False
    """False if absent. Figures of a wrong type must not spoil the words beside them."""
    prompt_feedback: Any = None
    response_id: str | None = None
    model_version: str | None = None
    error: Any = None


_read = msgspec.json.Decoder(_GenerateChunk).decode
_NO_USAGE = _UsageMetadata()

FINISHES: dict[str, FinishReason] = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "SAFETY": "filter",
    "RECITATION": "filter",
    "LANGUAGE": "filter",
    "BLOCKLIST": "filter",
    "PROHIBITED_CONTENT": "filter",
    "SPII": "filter",
    "MODEL_ARMOR": "filter",
    "IMAGE_SAFETY": "filter",
    "IMAGE_PROHIBITED_CONTENT": "filter",
    "IMAGE_RECITATION": "filter",
}
"""Others (OTHER, a malformed call, too many calls) are unknown: the words so far count, if there are any."""
UNSPECIFIED_REASONS = ("FINISH_REASON_UNSPECIFIED", "BLOCK_REASON_UNSPECIFIED")


class GoogleDecoder(Decoder):
    def __init__(self) -> None:
        super().__init__()
        self._segment = 0
        self._kind: DeltaKind | None = None
        self._texts: list[str] = []
        self._signatures: list[str] = []
        self._annotations: list[dict[str, Any]] = []
        self._usage_metadata = _NO_USAGE
        """Sent with every chunk, growing."""
        self._data = b""
        """The current chunk, undecoded."""
        self._called_function = False
        """The model called one of our tools, and waits for its result."""

    def _on_event(self, event: SseEvent, out: list[Chunk]) -> None:
        chunk = self._parse(_read, event.data)
        self._data = event.data
        if chunk.error is not None:
            raise fault_from_error(chunk.error)
        if not self.started:
            self._begin(chunk.response_id, out)
        self._response_id = chunk.response_id or self._response_id
        self._model = chunk.model_version or self._model
        figures = chunk.usage_metadata
        if isinstance(figures, _UsageMetadata):
            self._on_usage(figures)
        elif figures is False and chunk.candidates is None and not chunk.prompt_feedback:
            self._unread += 1
        for candidate in chunk.candidates or ():
            if not candidate.index:
                self._on_candidate(candidate, out)
        if chunk.prompt_feedback and self._finish is None:
            self._on_prompt_feedback(chunk.prompt_feedback)

    def _on_usage(self, figures: _UsageMetadata) -> None:
        """The last figures count, unless they leave some out and add up to less."""
        if isinstance(figures.service_tier, str):
            self._service_tier = figures.service_tier.lower()
        known = self._usage_metadata
        complete = (
            (figures.prompt_token_count or not known.prompt_token_count)
            and (figures.candidates_token_count or not known.candidates_token_count)
            and (figures.thoughts_token_count or not known.thoughts_token_count)
        )
        if complete or _total(figures) >= _total(known):
            self._usage_metadata = figures

    @property
    def usage(self) -> Usage | None:
        return None if self._usage_metadata is _NO_USAGE else usage(msgspec.to_builtins(self._usage_metadata))

    def _on_prompt_feedback(self, feedback: Any) -> None:
        blocked = get_string(feedback, "blockReason")
        if blocked and blocked not in UNSPECIFIED_REASONS:
            self._set_finish("filter", blocked)

    def _on_candidate(self, candidate: _Candidate, out: list[Chunk]) -> None:
        content = candidate.content
        if content is not None and content.parts is not None:
            for position, part in enumerate(content.parts):
                self._on_part(part, position, out)
        if candidate.citation_metadata:
            self._on_annotation("citationMetadata", candidate.citation_metadata, out)
        if candidate.grounding_metadata:
            self._on_annotation("groundingMetadata", candidate.grounding_metadata, out)
        if candidate.url_context_metadata:
            self._on_annotation("urlContextMetadata", candidate.url_context_metadata, out)
        reason = candidate.finish_reason
        if reason and reason not in UNSPECIFIED_REASONS:
            finish = FINISHES.get(reason, "unknown")
            self._set_finish("tool" if finish == "stop" and self._called_function else finish, reason)

    def _flush(self, out: list[Chunk]) -> None:
        self._close_segment(out)
        self._usage = self.usage

    def _on_part(self, part: _ContentPart, position: int, out: list[Chunk]) -> None:
        signature = get_string(part.thought_signature)
        if isinstance(part.text, str) or part.thought:
            self._emit_text(get_string(part.text), "reasoning" if part.thought else "text", out)
        elif call := _call(part, signature):
            self._called_function = self._called_function or call.kind == "functionCall"
            signature = ""
            self._emit_segment(call, out)
        elif result := _result(part):
            self._emit_segment(result, out)
        elif part == _ContentPart(thought_signature=part.thought_signature) and (
            item := self._unknown(position)
        ):
            self._emit_segment(item, out)
        else:
            self._unread += 1
        if signature:
            self._on_signature(signature, out)

    def _words_member(self, event: SseEvent) -> bytes:
        # A signature counts each time that it comes.
        return b"" if b"thoughtSignature" in event.data else b"text"

    def _on_repeated(self, words: str, number: int, whole: bytes, out: list[Chunk]) -> None:
        self._emit_text(words, self._kind or "text", out)

    def _unknown(self, position: int) -> UnknownItem | None:
        """The part at this position of the current chunk, undecoded; None if it is empty."""
        candidates = get_dicts(self._parse(read_object, self._data), "candidates")
        first = next(candidate for candidate in candidates if not candidate.get("index"))
        item = get_dicts(first, "content", "parts")[position]
        kind = next((name for name in item if name not in ("thoughtSignature", "thought")), "")
        return UnknownItem(kind, item) if kind else None

    def _emit_text(self, text: str, kind: DeltaKind, out: list[Chunk]) -> None:
        if not text:
            return
        if kind != self._kind:
            self._switch_to(kind, out)
        self._texts.append(text)
        out.append(ReplyDelta(text, kind, self._segment))

    def _switch_to(self, kind: DeltaKind, out: list[Chunk]) -> None:
        if kind != self._kind:
            self._close_segment(out)
            self._kind = kind

    def _on_signature(self, signature: str, out: list[Chunk]) -> None:
        if self._kind is None:
            self._emit_segment(Reasoning((), opaque=signature), out)
        else:
            self._signatures.append(signature)

    def _on_annotation(self, name: str, value: Any, out: list[Chunk]) -> None:
        """Keep sources as they were sent; some services repeat them with every chunk."""
        note = {name: value}
        if note not in self._annotations:
            self._switch_to("text", out)
            self._annotations.append(note)

    def _emit_segment(
        self, segment: Reasoning | Text | ToolCall | ToolResult | UnknownItem, out: list[Chunk]
    ) -> None:
        self._close_segment(out)
        out.append(ReplySegment(msgspec.structs.replace(segment, index=self._segment)))
        self._segment += 1

    def _close_segment(self, out: list[Chunk]) -> None:
        """Complete the open segment; signatures that it has no field for follow it."""
        kind, words, signatures = self._kind, "".join(self._texts), self._signatures
        self._kind, self._texts, self._signatures = None, [], []
        if kind == "reasoning":
            first, signatures = "".join(signatures[:1]), signatures[1:]
            incomplete = self._finish == "length"
            self._emit_segment(Reasoning((ReasoningPart(words),), opaque=first, incomplete=incomplete), out)
        elif kind == "text":
            notes, self._annotations = tuple(self._annotations), []
            self._emit_segment(Text(words, annotations=notes), out)
        for signature in signatures:
            self._emit_segment(Reasoning((), opaque=signature), out)


def _call(part: _ContentPart, signature: str) -> ToolCall | None:
    if call := get_dict(part.function_call):
        if "name" not in call:
            # A piece of the last call; calls come in pieces only on request.
            return None
        return _tool_call("functionCall", call, "name", as_text(call.get("args")), signature)
    if code := get_dict(part.executable_code):
        return _tool_call("executableCode", code, "language", get_string(code, "code"), signature)
    if call := get_dict(part.tool_call):
        name = "toolType" if "toolType" in call else "name"
        return _tool_call("toolCall", call, name, as_text(call.get("args")), signature)
    return None


def _tool_call(kind: str, call: dict[str, Any], name: str, arguments: str, signature: str) -> ToolCall:
    return ToolCall(get_string(call, "id"), get_string(call, name), arguments, kind=kind, opaque=signature)


def _result(part: _ContentPart) -> ToolResult | None:
    if execution := get_dict(part.code_execution_result):
        outcome = get_string(execution, "outcome")
        error = "" if outcome == "OUTCOME_OK" else outcome
        return ToolResult(get_string(execution, "id"), get_string(execution, "output"), error)
    if response := get_dict(part.function_response or part.tool_response):
        return ToolResult(get_string(response, "id"), as_text(response.get("response")))
    return None


def _total(figures: _UsageMetadata) -> int:
    return usage(msgspec.to_builtins(figures)).total


def usage(reported: Any) -> Usage:
    """Our counts include thoughts in the output and what tools read in the input; theirs do not."""
    counts = ReportedUsage(reported)
    thoughts = counts.get("thoughtsTokenCount")
    return Usage(
        input=counts.get("promptTokenCount") + counts.get("toolUsePromptTokenCount"),
        output=counts.get("candidatesTokenCount") + thoughts,
        reasoning=thoughts,
        cached=counts.get("cachedContentTokenCount"),
        suspect=counts.suspect,
    )
