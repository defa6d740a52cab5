"""Reads what a chat-completions service sends, whatever its accent: one pure decoder for all of them.

Words are read with typed structs, since they are many; whatever else a service may send is looked at only
where it is there, and what is not understood is passed over. Ollama's own tongue is read here as well, and so
is a whole completion where a stream was asked for.
"""

from __future__ import annotations

from typing import Any, Literal, cast

import msgspec
from msgspec import Struct

from moot.core.errors import Fault, FaultKind
from moot.core.terms import DeltaKind, FinishReason, Reasoning, ReasoningPart, Text, UnknownItem, Usage
from moot.providers import decoder
from moot.providers.chat_tool_calls import ToolCallBuilder
from moot.providers.contract import Chunk, ReplyDelta, ReplySegment
from moot.providers.decoder import ReportedUsage, max_usage
from moot.providers.error_replies import fault_from_error
from moot.providers.lenient_json import as_text, get_dicts, get_path, parse_or_text
from moot.providers.sse import SseEvent


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
    """In place of `delta` where a service does not stream."""
    finish_reason: Any = None
    index: Any = 0
    error: Any = None


class _ChatChunk(Struct, gc=False):
    choices: list[_ChatChoice] | None = None
    id: Any = None
    model: Any = None
    object: Any = None
    usage: Any = None
    error: Any = None
    detail: Any = None
    x_groq: Any = None
    # Ollama's own tongue, of /api/chat and of /api/generate.
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
"""Reasons to stop that are none of the model's own."""


class ChatDecoder(decoder.Decoder):
    def __init__(self, prefill: str = "") -> None:
        super().__init__()
        self._prefill = prefill
        if prefill:
            # A model whose first words are given to it does not think before them.
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
        """Thoughts have come by a field of their own."""
        self._pending_reasoning = ""
        """Thoughts that were heard by their details, and may be told once more by such a field."""
        self._counted: tuple[int, int] | None = None
        """How far the words had come when figures came without any."""
        self._refused = False
        self._failure: Fault | None = None

    def _on_event(self, event: SseEvent, out: list[Chunk]) -> None:
        try:
            chunk = self._parse(_read, event.data)
        except Fault:
            if event.name == "message" or event.data.lstrip().startswith(b"{"):
                raise
            # A named sign of life need not be JSON.
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
        """Who speaks, from the first chunks that tell it; Azure's very first one does not."""
        if self._response_id is None and isinstance(chunk.id, str):
            self._response_id = chunk.id or None
        if not self._model and isinstance(chunk.model, str):
            self._model = chunk.model
        self._identified = bool(self._response_id and self._model)
        if self.started or (chunk.error and not chunk.choices):
            return
        whole = any(choice.message for choice in chunk.choices or ())
        self.over = self.whole = whole and chunk.object == "chat.completion"
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

    def _on_finish_reason(self, reason: Any) -> None:
        """Services may say it twice; the last word counts."""
        reason = str(reason)
        if reason in FAILURE_REASONS:
            self._failure = Fault(FAILURE_REASONS[reason], detail=reason)
        else:
            self._set_finish(FINISHES.get(reason.lower(), "unknown"), reason)

    def _on_usage_or_error(self, chunk: _ChatChunk) -> None:
        """What is told beside the words: the figures so far, or that it all came to nothing."""
        self._usage = max_usage(self._usage, usage(chunk.usage or get_path(chunk.x_groq, "usage")))
        if error := chunk.error or get_path(chunk.x_groq, "error"):
            raise fault_from_error(error)
        if self._failure is not None:
            raise self._failure

    def _on_other_chunk(self, chunk: _ChatChunk, event: SseEvent, out: list[Chunk]) -> None:
        """A line of Ollama's, a bare complaint, or nothing we know."""
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
            self._calls.add_pieces(delta.tool_calls)
        if delta.function_call:
            self._calls.add_pieces([{"function": delta.function_call}])
        if delta.executed_tools:
            self._calls.add_executed(delta.executed_tools)
        if delta.annotations:
            self._annotations += get_dicts(delta.annotations)

    def _on_reasoning(self, delta: _ChatDelta, out: list[Chunk]) -> None:
        """The same thought may come by two names, at once or one ahead of the other: it is heard once."""
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
        """Mistral's way: content is a list of what was thought, said and referred to."""
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
        """Keep what we cannot read, with the thought that it belongs to."""
        if not (detail.get("data") or detail.get("signature")):
            return
        if not self._segments:
            self._open_segment("reasoning")
        thoughts = [index for index, (kind, _) in enumerate(self._segments) if kind == "reasoning"]
        kept = {name: told for name, told in detail.items() if name not in ("text", "summary", "thinking")}
        self._opaque_details.setdefault(thoughts[-1] if thoughts else -1, []).append(kept)

    def _on_text(self, text: str, out: list[Chunk]) -> None:
        if self._prefill:
            # Some servers send the words they were given back, at the head of the first text.
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

    def _is_whole(self) -> bool:
        """Some services never tell why they stop. Figures behind the last words are those of the whole."""
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


def _reasoning(words: list[str], index: int, sealed: list[Any] | None = None) -> Reasoning:
    text = "".join(words)
    return Reasoning(
        (ReasoningPart(text),) if text else (),
        index,
        opaque=as_text(sealed),
        redacted=not text,
    )


def _first_text(*values: Any) -> str:
    return next((text for text in values if text and isinstance(text, str)), "")


def _joined_thoughts(thoughts: Any) -> str:
    """Mistral's thoughts: a text, or a list of texts with or without a wrapping."""
    given = cast("list[Any]", thoughts) if isinstance(thoughts, list) else [thoughts]
    return "".join(_first_text(thought, get_path(thought, "text")) for thought in given)


def usage(reported: Any) -> Usage | None:
    if not reported or not isinstance(reported, dict):
        return None
    counts = ReportedUsage(reported)
    read, output = counts.get("prompt_tokens"), counts.get("completion_tokens")
    thought = counts.get("completion_tokens_details", "reasoning_tokens")
    if thought and counts.get("total_tokens") == read + output + thought:
        # Some (xAI) count the thoughts beside the words.
        output += thought
    return Usage(
        input=read,
        output=output,
        reasoning=thought,
        cached=counts.get("prompt_tokens_details", "cached_tokens") or counts.get("prompt_cache_hit_tokens"),
        cache_write=counts.get("prompt_tokens_details", "cache_write_tokens"),
        suspect=counts.suspect,
    )


def _ollama_usage(chunk: _ChatChunk) -> Usage | None:
    if chunk.eval_count is None and chunk.prompt_eval_count is None:
        return None
    return usage({"prompt_tokens": chunk.prompt_eval_count, "completion_tokens": chunk.eval_count})
