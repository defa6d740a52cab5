"""Google's generateContent dialect: one pure request builder and one pure decoder.

A reply is a row of chunks with parts in them: thoughts, words, calls and what came of them. A segment lasts
while the parts stay of one kind. Nothing says that the stream is over but its end: figures may follow the
reason to stop.

Any part may carry a signature of the thoughts behind it, also an empty one. Where a segment has no place for
it, a Reasoning that holds nothing else follows the segment, so that it is known where the signature belongs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import msgspec
from msgspec import Struct

from moot.core.terms import (
    DeltaKind,
    Effort,
    FinishReason,
    Reasoning,
    ReasoningPart,
    Request,
    Text,
    ToolCall,
    ToolResult,
    UnknownItem,
    Usage,
)
from moot.providers import decoder as decoding
from moot.providers import quirks
from moot.providers.contract import Chunk, ReplyDelta, ReplySegment, Traits
from moot.providers.decoder import ReportedUsage
from moot.providers.error_replies import fault_from_error
from moot.providers.family import Family
from moot.providers.google_tools import exchange_contents, tool_fields
from moot.providers.lenient_json import as_text, get_dict, get_dicts, get_string
from moot.providers.sse import SseEvent

API_VERSIONS = ("/v1beta", "/v1", "/v1alpha")
THINKING_BUDGET_RANGE = (512, 24_576)
"""The least and the most that every model takes which is told in tokens."""
MIN_FORCED_BUDGET = 128
"""What a model takes that cannot be told not to think."""
MAX_STOP_SEQUENCES = 5
UNSUPPORTED_KEYWORDS = frozenset({
    "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "pattern", "uniqueItems",
    "minItems", "maxItems",
})  # fmt: skip
"""Keywords of a schema that are refused or ignored; bounds of arrays are refused where there are several."""


# --- what we send -------------------------------------------------------------------------------------


def url(base: str, model: str) -> str:
    root = base if base.endswith(API_VERSIONS) else f"{base}/v1beta"
    name = quote(model.removeprefix("models/"), safe="")
    return f"{root}/models/{name}:streamGenerateContent?alt=sse"


def headers(key: str) -> Mapping[str, str]:
    return {"x-goog-api-key": key} if key else {}


def body(request: Request, traits: Traits) -> dict[str, Any]:
    payload: dict[str, Any] = {
        "contents": [
            *(
                {"role": "model" if role == "assistant" else role, "parts": [{"text": text}]}
                for role, text in quirks.alternate_roles(request.messages)
            ),
            *exchange_contents(request),
        ],
        "generationConfig": _config(request, traits),
    }
    if request.instructions:
        payload["systemInstruction"] = {"parts": [{"text": request.instructions}]}
    return {**payload, **tool_fields(request)}


def _config(request: Request, traits: Traits) -> dict[str, Any]:
    model = request.model
    config: dict[str, Any] = {"maxOutputTokens": request.max_tokens}
    if model.temperature is not None and traits.sampling:
        config["temperature"] = model.temperature
    seed = request.seed if request.seed is not None else model.seed
    if seed is not None and traits.sampling:
        config["seed"] = seed
    if request.stop:
        config["stopSequences"] = list(request.stop[:MAX_STOP_SEQUENCES])
    if request.schema is not None and traits.schema != "words":
        config["responseMimeType"] = "application/json"
        if traits.schema == "strict":
            config["responseJsonSchema"] = quirks.without_keywords(request.schema, UNSUPPORTED_KEYWORDS)
    if traits.thinks:
        effort = model.effort if model.effort in traits.efforts else None
        config["thinkingConfig"] = _thinking(effort, request.max_tokens, traits)
    return config


def _thinking(effort: Effort | None, max_tokens: int, traits: Traits) -> dict[str, Any]:
    least, most = THINKING_BUDGET_RANGE
    by_tokens = traits.thinking == "budget"
    cramped = by_tokens and not quirks.can_think(least, max_tokens)
    if effort == "none" or (cramped and "none" in traits.efforts):
        return {"thinkingBudget": 0}
    config: dict[str, Any] = {"includeThoughts": True}
    if cramped:
        config["thinkingBudget"] = MIN_FORCED_BUDGET
    elif effort is not None and by_tokens:
        config["thinkingBudget"] = min(most, max(least, quirks.thinking_budget(effort, max_tokens)))
    elif effort is not None:
        config["thinkingLevel"] = effort.upper()
    return config


# --- what comes back ----------------------------------------------------------------------------------


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


class _GenerateChunk(Struct, rename="camel"):
    candidates: list[_Candidate] | None = None
    usage_metadata: _UsageMetadata | list[Any] | str | float | bool | None = False
    """False where nothing is told. Odd figures do no harm to the words beside them."""
    prompt_feedback: Any = None
    response_id: str | None = None
    model_version: str | None = None
    error: Any = None


_read = msgspec.json.Decoder(_GenerateChunk).decode
_read_whole = msgspec.json.Decoder(dict[str, Any]).decode
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
"""The rest (OTHER, a malformed call, one too many) is unknown: what was said counts, if anything was."""
UNSPECIFIED_REASONS = ("FINISH_REASON_UNSPECIFIED", "BLOCK_REASON_UNSPECIFIED")


class GoogleDecoder(decoding.Decoder):
    def __init__(self) -> None:
        super().__init__()
        self._segment = 0
        self._kind: DeltaKind | None = None
        self._texts: list[str] = []
        self._signatures: list[str] = []
        self._annotations: list[dict[str, Any]] = []
        self._usage_metadata = _NO_USAGE
        """They come with every chunk, and grow."""
        self._data = b""
        """The present chunk, as it came."""
        self._called_function = False
        """It has called a function of ours and waits for what comes of it."""

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
        """The last ones count, unless they leave something out and add up to less."""
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
            for place, part in enumerate(content.parts):
                self._on_part(part, place, out)
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

    def _on_part(self, part: _ContentPart, place: int, out: list[Chunk]) -> None:
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
            item := self._unknown(place)
        ):
            self._emit_segment(item, out)
        else:
            self._unread += 1
        if signature:
            self._on_signature(signature, out)

    def _unknown(self, place: int) -> UnknownItem | None:
        """The part in that place of the present chunk, as it came; None where it holds nothing."""
        told = get_dicts(self._parse(_read_whole, self._data), "candidates")
        first = next(candidate for candidate in told if not candidate.get("index"))
        item = get_dicts(first, "content", "parts")[place]
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
        """Sources, as they were told; some services tell them again with every chunk."""
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
        """The segment that is open is complete; signatures that it has no place for follow it."""
        kind, words, signatures = self._kind, "".join(self._texts), self._signatures
        self._kind, self._texts, self._signatures = None, [], []
        if kind == "reasoning":
            first, signatures = "".join(signatures[:1]), signatures[1:]
            self._emit_segment(Reasoning((ReasoningPart(words),), opaque=first), out)
        elif kind == "text":
            notes, self._annotations = tuple(self._annotations), []
            self._emit_segment(Text(words, annotations=notes), out)
        for signature in signatures:
            self._emit_segment(Reasoning((), opaque=signature), out)


def _call(part: _ContentPart, signature: str) -> ToolCall | None:
    if call := get_dict(part.function_call):
        if "name" not in call:
            # More of the last call, which comes in pieces only to those who ask for it.
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
    if ran := get_dict(part.code_execution_result):
        outcome = get_string(ran, "outcome")
        error = "" if outcome == "OUTCOME_OK" else outcome
        return ToolResult(get_string(ran, "id"), get_string(ran, "output"), error)
    if given := get_dict(part.function_response or part.tool_response):
        return ToolResult(get_string(given, "id"), as_text(given.get("response")))
    return None


def _total(figures: _UsageMetadata) -> int:
    return usage(msgspec.to_builtins(figures)).total


def usage(reported: Any) -> Usage:
    """Thoughts are not in their count of output, nor what tools read in that of input, but in ours."""
    counts = ReportedUsage(reported)
    thoughts = counts.get("thoughtsTokenCount")
    return Usage(
        input=counts.get("promptTokenCount") + counts.get("toolUsePromptTokenCount"),
        output=counts.get("candidatesTokenCount") + thoughts,
        reasoning=thoughts,
        cached=counts.get("cachedContentTokenCount"),
        suspect=counts.suspect,
    )


def decoder(_request: Request, _traits: Traits) -> GoogleDecoder:
    return GoogleDecoder()


FAMILY = Family("google", url, headers, body, decoder)
