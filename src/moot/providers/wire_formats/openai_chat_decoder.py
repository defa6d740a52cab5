"""Replies in the chat-completions format, of whichever service.

Deltas are read with typed structs, since they are many; other fields are looked at only if they are there,
and unknown ones are ignored. Ollama's own format is read here as well, and so is a whole completion in place
of a stream.
"""

from __future__ import annotations

import math
from typing import Any, Literal, cast

import msgspec
from msgspec import Struct, field

from moot.core.errors import Fault, FaultKind
from moot.core.sse_reader import SseEvent
from moot.core.terms import (
    DeltaKind,
    FinishReason,
    Reasoning,
    ReasoningPart,
    Text,
    TokenOdds,
    ToolCall,
    UnknownItem,
    Usage,
)
from moot.providers.contract import Chunk, ReplyDelta, ReplySegment
from moot.providers.error_replies import fault_from_error
from moot.providers.lenient_json import as_text, get_dict, get_dicts, get_path, get_string, parse_or_text
from moot.providers.wire_formats.contract import Decoder, ReportedUsage, max_usage


class _ChatDelta(Struct, gc=False):
    content: str | list[Any] | None = None
    reasoning_content: Any = None
    reasoning: Any = None
    thinking: Any = None
    reasoning_details: Any = None
    refusal: Any = None
    annotations: Any = None
    tool_calls: Any = None
    function_call: Any = None
    executed_tools: Any = None


class _ChatChoice(Struct, gc=False):
    delta: _ChatDelta | None = None
    message: _ChatDelta | None = None
    """In place of `delta` if the service does not stream."""
    finish_reason: Any = None
    index: Any = 0
    error: Any = None
    logprobs: Any = None


class _ChatChunk(Struct, gc=False):
    choices: list[_ChatChoice] | None = None
    id: Any = None
    model: Any = None
    object: Any = None
    usage: Any = None
    error: Any = None
    detail: Any = None
    x_groq: Any = None
    service_tier: Any = None
    # Ollama's own format, of /api/chat and of /api/generate.
    message: _ChatDelta | str | None = None
    response: Any = None
    thinking: Any = None
    done: Any = None
    done_reason: Any = None
    prompt_eval_count: Any = None
    eval_count: Any = None


_read = msgspec.json.Decoder(_ChatChunk).decode

FINISHES: dict[str, FinishReason] = {
    "stop": "stop",
    "eos": "stop",
    "eos_token": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",
    "content_filter": "filter",
    "sensitive": "filter",
    "safety": "filter",
    "refusal": "refusal",
    "tool_calls": "tool",
    "tool_use": "tool",
    "function_call": "tool",
}
FAILURE_REASONS: dict[str, FaultKind] = {
    "error": "server_error",
    "network_error": "server_error",
    "insufficient_system_resource": "overloaded",
}
"""Reasons to stop that mean a failure of the service."""


MAX_TOKEN_ODDS = 16
"""Tokens of which the probabilities are read: more than a word has."""


class _PartialCall(Struct):
    kind: str
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list[str])
    output: str = ""


class ToolCallBuilder:
    """The tool calls of one reply, put together from their pieces, in the order of their first ones.

    They come whole or in pieces, with an index or without, their arguments as text or as an object. Calls
    that the service ran itself (Groq's compound models) are kept apart, with their output.
    """

    def __init__(self) -> None:
        self._all: list[_PartialCall] = []
        self._by_index: dict[int, _PartialCall] = {}
        self._executed: dict[str, _PartialCall] = {}
        self._last: _PartialCall | None = None

    @property
    def pending(self) -> bool:
        """Whether a call waits for our result."""
        return self._last is not None

    def add_pieces(self, pieces: Any) -> None:
        for piece in get_dicts(pieces):
            function = get_dict(piece, "function") or get_dict(piece, "custom")
            index = piece.get("index", function.get("index"))
            name, call_id = get_string(function, "name"), get_string(piece, "id")
            call = self._find(index, call_id, name) or self._begin(piece.get("type"))
            if isinstance(index, int):
                self._by_index[index] = call
            self._last = call
            call.id, call.name = call.id or call_id, call.name or name
            call.arguments.append(as_text(function.get("arguments", function.get("input"))))

    def add_executed(self, pieces: Any) -> None:
        for piece in get_dicts(pieces):
            index = as_text(piece.get("index"))
            if index not in self._executed:
                self._executed[index] = self._begin("executed_tool")
            call = self._executed[index]
            call.name = call.name or get_string(piece, "type")
            if arguments := piece.get("arguments"):
                call.arguments = [as_text(arguments)]
            call.output = _executed_output(piece) or call.output

    def all(self, first: int) -> list[ToolCall]:
        """The calls as segments, numbered from `first` on."""
        return [
            ToolCall(call.id, call.name, "".join(call.arguments), index, kind=call.kind, output=call.output)
            for index, call in enumerate(self._all, first)
        ]

    def _begin(self, kind: Any) -> _PartialCall:
        call = _PartialCall(get_string(kind) or "function")
        self._all.append(call)
        return call

    def _find(self, index: Any, call_id: str, name: str) -> _PartialCall | None:
        if not isinstance(index, int):
            same = [call for call in self._all if call_id and call.id == call_id]
            return same[0] if same else None if call_id or name else self._last
        call = self._by_index.get(index)
        # Some services give every call the same index.
        another = call is not None and name and call_id and call.id and call_id != call.id
        return None if another else call


def _executed_output(piece: dict[str, Any]) -> str:
    if output := piece.get("output"):
        return as_text(output)
    results = {name: value for name, value in piece.items() if name.endswith("_results") and value}
    return as_text(results or None)


class ChatDecoder(Decoder):
    def __init__(self, prefill: str = "") -> None:
        super().__init__()
        self._prefill = prefill
        if prefill:
            # With a prefill the model does not think first.
            self._sorter = None
        self._identified = False
        self._kind: DeltaKind | None = None
        self._segment = -1
        self._texts: list[str] = []
        self._segments: list[tuple[DeltaKind | Literal["unknown"], list[str]]] = []
        self._opaque_details: dict[int, list[Any]] = {}
        self._annotations: list[dict[str, Any]] = []
        self._calls = ToolCallBuilder()
        self._reasoning_field_seen = False
        """Thoughts have come in a field of their own."""
        self._pending_reasoning = ""
        """Thoughts that came as details, and may be repeated in such a field."""
        self._counted: tuple[int, int] | None = None
        """The segment and its number of deltas when figures came without words."""
        self._refused = False
        self._failure: Fault | None = None

    def _on_event(self, event: SseEvent, out: list[Chunk]) -> None:
        try:
            chunk = self._parse(_read, event.data)
        except Fault:
            if event.name == "message" or event.data.lstrip().startswith(b"{"):
                raise
            # A named keep-alive event need not be JSON.
            return
        if not self._identified:
            self._identify(chunk, out)
        if chunk.choices is None:
            self._on_other_chunk(chunk, event, out)
        else:
            for choice in chunk.choices:
                if not choice.index:
                    self._on_choice(choice, out)
        if chunk.usage or chunk.error or chunk.x_groq or self._failure:
            self._on_usage_or_error(chunk)
            if chunk.usage and not any(
                choice.delta and choice.delta.content for choice in chunk.choices or ()
            ):
                self._counted = (self._segment, len(self._texts))

    def _identify(self, chunk: _ChatChunk, out: list[Chunk]) -> None:
        """Take id and model from the first chunks that have them; Azure's very first one has not."""
        if self._response_id is None and isinstance(chunk.id, str):
            self._response_id = chunk.id or None
        if not self._model and isinstance(chunk.model, str):
            self._model = chunk.model
        self._identified = bool(self._response_id and self._model)
        if self.started or (chunk.error and not chunk.choices):
            return
        has_message = any(choice.message for choice in chunk.choices or ())
        self.over = self.complete = has_message and chunk.object == "chat.completion"
        self._begin(self._response_id, out)
        if self._prefill:
            self._emit_text(self._prefill, "text", out)

    def _on_choice(self, choice: _ChatChoice, out: list[Chunk]) -> None:
        delta = choice.delta or choice.message
        if delta is not None:
            self._on_delta(delta, out)
        if choice.finish_reason:
            self._on_finish_reason(choice.finish_reason)
        if choice.error:
            self._failure = fault_from_error(choice.error)
        if choice.logprobs and len(self._tokens) < MAX_TOKEN_ODDS:
            self._tokens += map(_token_odds, get_dicts(get_path(choice.logprobs, "content")))

    def _on_finish_reason(self, reason: Any) -> None:
        """Services may send it twice; the last one counts."""
        reason = str(reason)
        if reason in FAILURE_REASONS:
            self._failure = Fault(FAILURE_REASONS[reason], billed=False, detail=reason)
        else:
            self._set_finish(FINISHES.get(reason.lower(), "unknown"), reason)

    def _on_usage_or_error(self, chunk: _ChatChunk) -> None:
        """Read the figures so far, or the failure. Raises Fault."""
        named = chunk.service_tier or get_path(chunk.usage, "service_tier")
        self._service_tier = named if isinstance(named, str) else self._service_tier
        reported = usage(chunk.usage or get_path(chunk.x_groq, "usage"))
        self._usage = max_usage(self._usage, reported)
        error = chunk.error or get_path(chunk.x_groq, "error")
        failure = fault_from_error(error) if error else self._failure
        if failure is not None:
            self.usage_is_final = reported is not None and reported.total > 0
            raise failure

    def _on_other_chunk(self, chunk: _ChatChunk, event: SseEvent, out: list[Chunk]) -> None:
        """A line of Ollama's, a bare error, or something unknown."""
        if chunk.object == "error" or chunk.detail or isinstance(chunk.message, str):
            raise fault_from_error(parse_or_text(event.data))
        text = chunk.response if isinstance(chunk.response, str) else None
        delta = chunk.message or _ChatDelta(content=text, thinking=chunk.thinking)
        self._on_delta(delta, out)
        if chunk.done is True:
            self.over = True
            self._on_finish_reason(chunk.done_reason or "stop")
            self._usage = max_usage(self._usage, _ollama_usage(chunk))
        elif delta == _ChatDelta() and not (chunk.usage or chunk.error or chunk.x_groq):
            self._unread += 1

    # --- words

    def _words_member(self, event: SseEvent) -> bytes:
        chunk = self._parse(_read, event.data)
        choice = chunk.choices[0] if chunk.choices and len(chunk.choices) == 1 else _ChatChoice()
        delta = choice.delta
        if delta is None or chunk.usage or choice.logprobs:
            return b""
        if delta == _ChatDelta(content=delta.content):
            return b"content"
        is_thought = delta == _ChatDelta(content=delta.content, reasoning_content=delta.reasoning_content)
        return b"reasoning_content" if is_thought and not (delta.content or self._pending_reasoning) else b""

    def _on_repeated(self, words: str, number: int, whole: bytes, out: list[Chunk]) -> None:
        self._emit_text(words, self._kind or "text", out)

    def _on_delta(self, delta: _ChatDelta, out: list[Chunk]) -> None:
        if delta.reasoning_content or delta.reasoning or delta.thinking or delta.reasoning_details:
            self._on_reasoning(delta, out)
        content = delta.content
        if content:
            if not isinstance(content, str):
                self._on_content_parts(content, out)
            elif self._prefill:
                self._on_text(content, out)
            else:
                self._emit_text(content, "text", out)
        if delta.refusal and isinstance(delta.refusal, str):
            self._refused = True
            self._on_text(delta.refusal, out)
        if delta.tool_calls:
            self.has_output = True
            self._calls.add_pieces(delta.tool_calls)
        if delta.function_call:
            self.has_output = True
            self._calls.add_pieces([{"function": delta.function_call}])
        if delta.executed_tools:
            self._calls.add_executed(delta.executed_tools)
        if delta.annotations:
            self._annotations += get_dicts(delta.annotations)

    def _on_reasoning(self, delta: _ChatDelta, out: list[Chunk]) -> None:
        """The same thought may come in two fields, together or one before the other: it is emitted once."""
        thought = _first_text(delta.reasoning_content, delta.reasoning, delta.thinking)
        details = get_dicts(delta.reasoning_details)
        if thought:
            self._reasoning_field_seen = True
            thought = self._without_pending(thought)
        elif not self._reasoning_field_seen:
            thought = "".join(_first_text(detail.get("text"), detail.get("summary")) for detail in details)
            self._pending_reasoning += thought
        self._emit_reasoning(thought, out)
        for detail in details:
            self._keep_opaque(detail, out)

    def _without_pending(self, thought: str) -> str:
        ahead, self._pending_reasoning = self._pending_reasoning, ""
        if ahead.startswith(thought):
            self._pending_reasoning = ahead[len(thought) :]
            return ""
        return thought.removeprefix(ahead)

    def _on_content_parts(self, parts: list[Any], out: list[Chunk]) -> None:
        """Mistral's content: a list of thoughts, texts and references."""
        for part in parts:
            match part:
                case {"type": "thinking"}:
                    self._emit_reasoning(_joined_thoughts(part.get("thinking")), out)
                    self._keep_opaque(part, out)
                case {"type": "text", "text": str(text)} | str(text):
                    self._on_text(text, out)
                case {"type": "reference"}:
                    self._annotations.append(part)
                case {"type": str(kind)} if kind != "text":
                    self._kind = None
                    self._segment += 1
                    self._segments.append(("unknown", []))
                    out.append(ReplySegment(UnknownItem(kind, part, self._segment)))
                case _:
                    self._unread += 1

    def _emit_reasoning(self, text: str, out: list[Chunk]) -> None:
        if text:
            self._emit_text(text, "reasoning", out)

    def _keep_opaque(self, detail: dict[str, Any], out: list[Chunk]) -> None:
        """Keep encrypted data and signatures with the thought that they belong to."""
        if not (detail.get("data") or detail.get("signature")):
            return
        if not self._segments:
            self._open_segment("reasoning")
        thoughts = [index for index, (kind, _) in enumerate(self._segments) if kind == "reasoning"]
        opaque = {
            name: value for name, value in detail.items() if name not in ("text", "summary", "thinking")
        }
        self._opaque_details.setdefault(thoughts[-1] if thoughts else -1, []).append(opaque)

    def _on_text(self, text: str, out: list[Chunk]) -> None:
        if self._prefill:
            # Some servers repeat the prefill at the start of the first text.
            text, self._prefill = text.removeprefix(self._prefill), ""
        if text:
            self._emit_text(text, "text", out)

    def _emit_text(self, text: str, kind: DeltaKind, out: list[Chunk]) -> None:
        if kind != self._kind:
            self._open_segment(kind)
        self._texts.append(text)
        out.append(ReplyDelta(text, kind, self._segment))

    def _open_segment(self, kind: DeltaKind) -> None:
        self._kind = kind
        self._segment += 1
        self._texts = []
        self._segments.append((kind, self._texts))

    # --- the end

    def _is_complete(self) -> bool:
        """Some services send no reason to stop; figures after the last words mean a complete reply."""
        return self._counted == (self._segment, len(self._texts))

    def _flush(self, out: list[Chunk]) -> None:
        if self._refused:
            self._finish = "refusal"
        elif self._calls.pending and self._finish in (None, "stop"):
            self._finish = "tool"
        texts = [index for index, (kind, _) in enumerate(self._segments) if kind == "text"]
        for index, (kind, words) in enumerate(self._segments):
            if kind == "reasoning" and index in self._opaque_details:
                out.append(ReplySegment(_reasoning(words, index, self._opaque_details[index])))
            elif self._annotations and texts[-1:] == [index]:
                out.append(ReplySegment(Text("".join(words), index, annotations=tuple(self._annotations))))
        if -1 in self._opaque_details:
            self._segment += 1
            out.append(ReplySegment(_reasoning([], self._segment, self._opaque_details[-1])))
        out.extend(ReplySegment(call) for call in self._calls.all(self._segment + 1))


def _token_odds(token: dict[str, Any]) -> TokenOdds:
    """What is no figure is left out: then nothing is known about that token."""
    listed = [token, *get_dicts(token.get("top_logprobs"))]
    odds = {
        get_string(each, "token"): math.exp(min(0.0, each["logprob"]))
        for each in listed
        if isinstance(each.get("logprob"), float | int)
    }
    return TokenOdds(get_string(token, "token"), odds)


def _reasoning(words: list[str], index: int, opaque: list[Any]) -> Reasoning:
    text = "".join(words)
    return Reasoning(
        (ReasoningPart(text),) if text else (),
        index,
        opaque=as_text(opaque),
        redacted=not text,
    )


def _first_text(*values: Any) -> str:
    return next((text for text in values if text and isinstance(text, str)), "")


def _joined_thoughts(thoughts: Any) -> str:
    """Mistral's thoughts: a text, or a list of texts or of objects with a text."""
    parts = cast("list[Any]", thoughts) if isinstance(thoughts, list) else [thoughts]
    return "".join(_first_text(part, get_path(part, "text")) for part in parts)


def usage(reported: Any) -> Usage | None:
    if not reported or not isinstance(reported, dict):
        return None
    counts = ReportedUsage(reported)
    prompt, output = counts.get("prompt_tokens"), counts.get("completion_tokens")
    reasoning = counts.get("completion_tokens_details", "reasoning_tokens")
    if reasoning and counts.get("total_tokens") == prompt + output + reasoning:
        # Some (xAI) do not include the thoughts in the output.
        output += reasoning
    return Usage(
        input=prompt,
        output=output,
        reasoning=reasoning,
        cached=counts.get("prompt_tokens_details", "cached_tokens") or counts.get("prompt_cache_hit_tokens"),
        cache_write=counts.get("prompt_tokens_details", "cache_write_tokens"),
        suspect=counts.suspect,
    )


def _ollama_usage(chunk: _ChatChunk) -> Usage | None:
    if chunk.eval_count is None and chunk.prompt_eval_count is None:
        return None
    return usage({"prompt_tokens": chunk.prompt_eval_count, "completion_tokens": chunk.eval_count})
