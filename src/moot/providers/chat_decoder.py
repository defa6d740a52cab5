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
from moot.core.terms import DeltaKind, Finish, Reasoning, ReasoningPart, Text, UnknownItem, Usage
from moot.providers import decoder
from moot.providers.chat_tool_calls import Calls
from moot.providers.contract import Chunk, Item, Said
from moot.providers.decoder import Counts, larger
from moot.providers.error_replies import complaint
from moot.providers.lenient_json import as_json, loosely, member, objects
from moot.providers.sse import Event


class _Delta(Struct, gc=False):
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


class _Choice(Struct, gc=False):
    delta: _Delta | None = None
    message: _Delta | None = None
    """In place of `delta` where a service does not stream."""
    finish_reason: Any = None
    index: Any = 0
    error: Any = None


class _Chunk(Struct, gc=False):
    choices: list[_Choice] | None = None
    id: Any = None
    model: Any = None
    object: Any = None
    usage: Any = None
    error: Any = None
    detail: Any = None
    x_groq: Any = None
    # Ollama's own tongue, of /api/chat and of /api/generate.
    message: _Delta | str | None = None
    response: Any = None
    thinking: Any = None
    done: Any = None
    done_reason: Any = None
    prompt_eval_count: Any = None
    eval_count: Any = None


_read = msgspec.json.Decoder(_Chunk).decode

FINISHES: dict[str, Finish] = {
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
FAILURES: dict[str, FaultKind] = {
    "error": "server_error",
    "network_error": "server_error",
    "insufficient_system_resource": "overloaded",
}
"""Reasons to stop that are none of the model's own."""


class Decoder(decoder.Decoder):
    def __init__(self, prefill: str = "") -> None:
        super().__init__()
        self._prefill = prefill
        if prefill:
            # A model whose first words are given to it does not think before them.
            self._sorter = None
        self._known = False
        self._kind: DeltaKind | None = None
        self._segment = -1
        self._spoken: list[str] = []
        self._segments: list[tuple[DeltaKind | Literal["unknown"], list[str]]] = []
        self._sealed: dict[int, list[Any]] = {}
        self._annotations: list[dict[str, Any]] = []
        self._calls = Calls()
        self._apart = False
        """Thoughts have come by a field of their own."""
        self._ahead = ""
        """Thoughts that were heard by their details, and may be told once more by such a field."""
        self._counted: tuple[int, int] | None = None
        """How far the words had come when figures came without any."""
        self._refused = False
        self._failed: Fault | None = None

    def _hear(self, event: Event, said: list[Chunk]) -> None:
        try:
            chunk = self._read(_read, event.data)
        except Fault:
            if event.name == "message" or event.data.lstrip().startswith(b"{"):
                raise
            # A named sign of life need not be JSON.
            return
        if not self._known:
            self._introduce(chunk, said)
        if chunk.choices is None:
            self._other(chunk, event, said)
        else:
            for choice in chunk.choices:
                if not choice.index:
                    self._choice(choice, said)
        if chunk.usage or chunk.error or chunk.x_groq or self._failed:
            self._aside(chunk)
            if chunk.usage and not any(
                choice.delta and choice.delta.content for choice in chunk.choices or ()
            ):
                self._counted = (self._segment, len(self._spoken))

    def _introduce(self, chunk: _Chunk, said: list[Chunk]) -> None:
        """Who speaks, from the first chunks that tell it; Azure's very first one does not."""
        if self._response_id is None and isinstance(chunk.id, str):
            self._response_id = chunk.id or None
        if not self._model and isinstance(chunk.model, str):
            self._model = chunk.model
        self._known = bool(self._response_id and self._model)
        if self.began or (chunk.error and not chunk.choices):
            return
        whole = any(choice.message for choice in chunk.choices or ())
        self.over = self.whole = whole and chunk.object == "chat.completion"
        self._begin(self._response_id, said)
        if self._prefill:
            self._say(self._prefill, "text", said)

    def _choice(self, choice: _Choice, said: list[Chunk]) -> None:
        delta = choice.delta or choice.message
        if delta is not None:
            self._delta(delta, said)
        if choice.finish_reason:
            self._ends(choice.finish_reason)
        if choice.error:
            self._failed = complaint(choice.error)

    def _ends(self, reason: Any) -> None:
        """Services may say it twice; the last word counts."""
        reason = str(reason)
        if reason in FAILURES:
            self._failed = Fault(FAILURES[reason], detail=reason)
        else:
            self._stop(FINISHES.get(reason.lower(), "unknown"), reason)

    def _aside(self, chunk: _Chunk) -> None:
        """What is told beside the words: the figures so far, or that it all came to nothing."""
        self._usage = larger(self._usage, usage(chunk.usage or member(chunk.x_groq, "usage")))
        if told := chunk.error or member(chunk.x_groq, "error"):
            raise complaint(told)
        if self._failed is not None:
            raise self._failed

    def _other(self, chunk: _Chunk, event: Event, said: list[Chunk]) -> None:
        """A line of Ollama's, a bare complaint, or nothing we know."""
        if chunk.object == "error" or chunk.detail or isinstance(chunk.message, str):
            raise complaint(loosely(event.data))
        text = chunk.response if isinstance(chunk.response, str) else None
        delta = chunk.message or _Delta(content=text, thinking=chunk.thinking)
        self._delta(delta, said)
        if chunk.done is True:
            self.over = True
            self._ends(chunk.done_reason or "stop")
            self._usage = larger(self._usage, _evaluated(chunk))
        elif delta == _Delta() and not (chunk.usage or chunk.error or chunk.x_groq):
            self._unread += 1

    # --- words

    def _delta(self, delta: _Delta, said: list[Chunk]) -> None:
        if delta.reasoning_content or delta.reasoning or delta.thinking or delta.reasoning_details:
            self._thoughts(delta, said)
        content = delta.content
        if content:
            if not isinstance(content, str):
                self._parts(content, said)
            elif self._prefill:
                self._speak(content, said)
            else:
                self._say(content, "text", said)
        if delta.refusal and isinstance(delta.refusal, str):
            self._refused = True
            self._speak(delta.refusal, said)
        if delta.tool_calls:
            self._calls.ask(delta.tool_calls)
        if delta.function_call:
            self._calls.ask([{"function": delta.function_call}])
        if delta.executed_tools:
            self._calls.ran(delta.executed_tools)
        if delta.annotations:
            self._annotations += objects(delta.annotations)

    def _thoughts(self, delta: _Delta, said: list[Chunk]) -> None:
        """The same thought may come by two names, at once or one ahead of the other: it is heard once."""
        thought = _first(delta.reasoning_content, delta.reasoning, delta.thinking)
        details = objects(delta.reasoning_details)
        if thought:
            self._apart = True
            thought = self._unheard(thought)
        elif not self._apart:
            thought = "".join(_first(detail.get("text"), detail.get("summary")) for detail in details)
            self._ahead += thought
        self._think(thought, said)
        for detail in details:
            self._seal(detail, said)

    def _unheard(self, thought: str) -> str:
        ahead, self._ahead = self._ahead, ""
        if ahead.startswith(thought):
            self._ahead = ahead[len(thought) :]
            return ""
        return thought.removeprefix(ahead)

    def _parts(self, parts: list[Any], said: list[Chunk]) -> None:
        """Mistral's way: content is a list of what was thought, said and referred to."""
        for part in parts:
            match part:
                case {"type": "thinking"}:
                    self._think(_joined(part.get("thinking")), said)
                    self._seal(part, said)
                case {"type": "text", "text": str(text)} | str(text):
                    self._speak(text, said)
                case {"type": "reference"}:
                    self._annotations.append(part)
                case {"type": str(kind)} if kind != "text":
                    self._kind = None
                    self._segment += 1
                    self._segments.append(("unknown", []))
                    said.append(Item(UnknownItem(kind, part, self._segment)))
                case _:
                    self._unread += 1

    def _think(self, text: str, said: list[Chunk]) -> None:
        if text:
            self._say(text, "reasoning", said)

    def _seal(self, detail: dict[str, Any], said: list[Chunk]) -> None:
        """Keep what we cannot read, with the thought that it belongs to."""
        if not (detail.get("data") or detail.get("signature")):
            return
        if not self._segments:
            self._open("reasoning")
        thoughts = [index for index, (kind, _) in enumerate(self._segments) if kind == "reasoning"]
        kept = {name: told for name, told in detail.items() if name not in ("text", "summary", "thinking")}
        self._sealed.setdefault(thoughts[-1] if thoughts else -1, []).append(kept)

    def _speak(self, text: str, said: list[Chunk]) -> None:
        if self._prefill:
            # Some servers send the words they were given back, at the head of the first text.
            text, self._prefill = text.removeprefix(self._prefill), ""
        if text:
            self._say(text, "text", said)

    def _say(self, text: str, kind: DeltaKind, said: list[Chunk]) -> None:
        if kind != self._kind:
            self._open(kind)
        self._spoken.append(text)
        said.append(Said(text, kind, self._segment))

    def _open(self, kind: DeltaKind) -> None:
        self._kind = kind
        self._segment += 1
        self._spoken = []
        self._segments.append((kind, self._spoken))

    # --- the end

    def _is_whole(self) -> bool:
        """Some services never tell why they stop. Figures behind the last words are those of the whole."""
        return self._counted == (self._segment, len(self._spoken))

    def _close(self, said: list[Chunk]) -> None:
        if self._refused:
            self._finish = "refusal"
        elif self._calls.asked and self._finish in (None, "stop"):
            self._finish = "tool"
        texts = [index for index, (kind, _) in enumerate(self._segments) if kind == "text"]
        for index, (kind, words) in enumerate(self._segments):
            if kind == "reasoning" and index in self._sealed:
                said.append(Item(_reasoning(words, index, self._sealed[index])))
            elif self._annotations and texts[-1:] == [index]:
                said.append(Item(Text("".join(words), index, annotations=tuple(self._annotations))))
        if -1 in self._sealed:
            self._segment += 1
            said.append(Item(_reasoning([], self._segment, self._sealed[-1])))
        said.extend(Item(call) for call in self._calls.all(self._segment + 1))


def _reasoning(words: list[str], index: int, sealed: list[Any] | None = None) -> Reasoning:
    text = "".join(words)
    return Reasoning(
        (ReasoningPart(text),) if text else (),
        index,
        opaque=as_json(sealed),
        redacted=not text,
    )


def _first(*told: Any) -> str:
    return next((text for text in told if text and isinstance(text, str)), "")


def _joined(thoughts: Any) -> str:
    """Mistral's thoughts: a text, or a list of texts with or without a wrapping."""
    given = cast("list[Any]", thoughts) if isinstance(thoughts, list) else [thoughts]
    return "".join(_first(thought, member(thought, "text")) for thought in given)


def usage(told: Any) -> Usage | None:
    if not told or not isinstance(told, dict):
        return None
    counts = Counts(told)
    read, said = counts.get("prompt_tokens"), counts.get("completion_tokens")
    thought = counts.get("completion_tokens_details", "reasoning_tokens")
    if thought and counts.get("total_tokens") == read + said + thought:
        # Some (xAI) count the thoughts beside the words.
        said += thought
    return Usage(
        input=read,
        output=said,
        reasoning=thought,
        cached=counts.get("prompt_tokens_details", "cached_tokens") or counts.get("prompt_cache_hit_tokens"),
        cache_write=counts.get("prompt_tokens_details", "cache_write_tokens"),
        suspect=counts.suspect,
    )


def _evaluated(chunk: _Chunk) -> Usage | None:
    if chunk.eval_count is None and chunk.prompt_eval_count is None:
        return None
    return usage({"prompt_tokens": chunk.prompt_eval_count, "completion_tokens": chunk.eval_count})
