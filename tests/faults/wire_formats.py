"""The wire formats of the services, from their side: what a request asks, and what a good answer looks like.

A reply is a list of frames, so that a fault can leave one out, repeat one or write it badly. Pure.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

WireName = Literal["chat", "responses", "anthropic", "google"]
PATHS: dict[str, WireName] = {
    "/v1/chat/completions": "chat",
    "/v1/responses": "responses",
    "/v1/messages": "anthropic",
}


class Frame(NamedTuple):
    data: Any
    """Bytes go out as they are, anything else as JSON."""
    name: str = ""


class Bill(Struct, frozen=True):
    """Tokens, by the service's own count; output includes reasoning."""

    input: int = 0
    output: int = 0
    reasoning: int = 0


class Asked(Struct, frozen=True):
    wire: WireName
    model: str
    instructions: str
    fresh: str
    """What came with the request besides the instructions."""
    schema: dict[str, Any] | None = None
    previous: str | None = None

    @property
    def words(self) -> str:
        """All that came with the request for the model to read."""
        return f"{self.instructions}\n{self.fresh}"


class Answer(Struct, frozen=True):
    wire: WireName
    id: str
    text: str
    thought: str = ""
    bill: Bill = Bill()
    finish: Literal["stop", "length", "filter"] = "stop"
    refused: bool = False


# --- what is asked ------------------------------------------------------------------------------------


def asked(path: str, body: dict[str, Any]) -> Asked:
    wire = PATHS.get(path, "google")
    model = body.get("model") or path.rpartition("/")[2].partition(":")[0]
    match wire:
        case "chat":
            told, *words = [message["content"] for message in body["messages"]]
            schema = _at(body, "response_format", "json_schema", "schema")
        case "responses":
            told, words = body["instructions"], [_said(item) for item in body["input"]]
            schema = _at(body, "text", "format", "schema")
        case "anthropic":
            told, words = body["system"], list(map(_plain, body["messages"]))
            schema = _at(body, "output_config", "format", "schema")
        case "google":
            told, *words = map(_parts, [body["systemInstruction"], *body["contents"]])
            schema = _at(body, "generationConfig", "responseJsonSchema")
    return Asked(wire, model, told, "\n".join(words), schema, body.get("previous_response_id"))


def _plain(message: dict[str, Any]) -> str:
    content = message["content"]
    return content if isinstance(content, str) else "".join(map(_said, content))


def _parts(content: dict[str, Any]) -> str:
    return "".join(map(_said, content["parts"]))


def _said(part: dict[str, Any]) -> str:
    """Words; or what was asked of a tool, or given by it, as it stands there."""
    words = part.get("text", part.get("content"))
    return words if isinstance(words, str) else json.dumps(part)


def _at(body: Any, *path: str) -> Any:
    for name in path:
        body = body.get(name) if isinstance(body, dict) else None
    return body


# --- what is answered ---------------------------------------------------------------------------------

WORDS = (
    "risk", "rule", "cost", "harm", "gain", "trust", "proof", "doubt", "market", "school", "doctor", "farmer",
    "river", "winter", "bridge", "engine", "letter", "border", "garden", "harbour", "island", "justice",
    "kitchen", "ladder", "mirror", "needle", "orchard", "paper", "quarry", "ribbon", "signal", "timber",
    "union", "valley", "window", "yellow", "anchor", "basket", "candle", "desert", "eleven", "forest",
)  # fmt: skip


def speech(seed: str, sentences: int = 4) -> str:
    """Words that no other seed gives."""
    digest = hashlib.sha256(seed.encode()).digest()
    picked = [WORDS[byte % len(WORDS)] for byte in digest]
    return " ".join(
        f"The {picked[n]} of a {picked[n + 1]} outweighs the {picked[n + 2]} and every {picked[n + 3]}."
        for n in range(0, 4 * sentences, 4)
    )


def ballot(schema: dict[str, Any], seed: str) -> str:
    """A fair reply of this shape, with nothing in it that contradicts itself."""
    names = list(schema["properties"]["speakers"]["properties"])
    winner = names[hashlib.sha256(seed.encode()).digest()[0] % len(names)]
    return json.dumps(
        {
            "reasoning": f"{winner} answered more. {speech(seed, 1)}",
            "rests_on": schema["properties"]["rests_on"]["items"]["enum"][:1],
            "criteria": dict.fromkeys(schema["properties"]["criteria"]["properties"], "Even."),
            "speakers": {
                name: {"strengths": ["clear"], "weaknesses": ["brief"], "score": 80 if name == winner else 70}
                for name in names
            },
            "winner": winner,
        }
    )


def tokens(words: str) -> int:
    return -(-len(words.encode()) // 4)


def pieces(text: str) -> list[str]:
    """As a model sends them: a word with the space before it."""
    return re.findall(r"\s*\S+\s*$|\s*\S+", text)


def frames(answer: Answer) -> list[Frame]:
    match answer.wire:
        case "chat":
            return chat(answer)
        case "responses":
            return responses(answer)
        case "anthropic":
            return anthropic(answer)
        case "google":
            return google(answer)


def uses(answer: Answer, calls: Sequence[tuple[str, str]]) -> list[Frame]:
    """No speech, but calls of tools: each a name and its arguments, which may be anything."""
    match answer.wire:
        case "chat":
            asked = [
                {"index": n, "id": f"c{n}", "type": "function", "function": {"name": name, "arguments": told}}
                for n, (name, told) in enumerate(calls)
            ]
            told = chat(replace(answer, text=""))
            return [
                told[0],
                chat_delta(answer, tool_calls=asked),
                chat_delta(answer, "tool_calls"),
                *told[-2:],
            ]
        case "responses":
            return _functions(answer, calls)
        case "anthropic":
            return _tool_uses(answer, calls)
        case "google":
            parts = [{"functionCall": {"name": name, "args": _as_args(told)}} for name, told in calls]
            end = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}
            return [_candidate(answer, end)]


def _as_args(told: str) -> Any:
    try:
        return json.loads(told)
    except ValueError:
        return [told]


def _functions(answer: Answer, calls: Sequence[tuple[str, str]]) -> list[Frame]:
    writer = Writer(answer)
    writer.tell("response.created", response=writer.response("in_progress"))
    output: list[dict[str, Any]] = []
    for n, (name, told) in enumerate(calls):
        item = {"id": f"fc_{n}", "type": "function_call", "call_id": f"c{n}", "name": name, "arguments": told}
        writer.tell("response.output_item.done", output_index=n, item=item)
        output.append(item)
    end = {"output": output, "usage": responses_usage(answer.bill)}
    writer.tell("response.completed", response=writer.response("completed", **end))
    return writer.frames


def _tool_uses(answer: Answer, calls: Sequence[tuple[str, str]]) -> list[Frame]:
    first, *_words, last, stop = anthropic(replace(answer, text="", thought=""))
    told = [first]
    for n, (name, asked) in enumerate(calls):
        block = {"type": "tool_use", "id": f"c{n}", "name": name, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": asked}
        for kind, more in (
            ("content_block_start", {"content_block": block}),
            ("content_block_delta", {"delta": delta}),
            ("content_block_stop", {}),
        ):
            told.append(Frame({"type": kind, "index": n, **more}, kind))
    return [*told, Frame({**last.data, "delta": {"stop_reason": "tool_use"}}, last.name), stop]


def sse(frame: Frame, end: str = "\n", colon: str = ": ") -> bytes:
    data = frame.data if isinstance(frame.data, bytes) else json.dumps(frame.data).encode()
    name = f"event{colon}{frame.name}{end}".encode() if frame.name else b""
    return name + b"data" + colon.encode() + data + (end * 2).encode()


# --- chat completions ---------------------------------------------------------------------------------


def chat(answer: Answer) -> list[Frame]:
    told: list[Frame] = [chat_delta(answer, role="assistant", content="")]
    told += [chat_delta(answer, reasoning_content=piece) for piece in pieces(answer.thought)]
    told += [
        chat_delta(answer, **{"refusal" if answer.refused else "content": piece})
        for piece in pieces(answer.text)
    ]
    told.append(chat_delta(answer, CHAT_FINISHES[answer.finish]))
    told.append(Frame({"id": answer.id, "choices": [], "usage": chat_usage(answer.bill)}))
    return [*told, Frame(b"[DONE]")]


CHAT_FINISHES = {"stop": "stop", "length": "length", "filter": "content_filter"}


def chat_delta(answer: Answer, finish: str | None = None, **delta: Any) -> Frame:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return Frame({"id": answer.id, "object": "chat.completion.chunk", "model": "m", "choices": [choice]})


def chat_usage(bill: Bill) -> dict[str, Any]:
    return {
        "prompt_tokens": bill.input,
        "completion_tokens": bill.output,
        "completion_tokens_details": {"reasoning_tokens": bill.reasoning},
    }


def chat_whole(answer: Answer) -> dict[str, Any]:
    """What comes where nobody streams."""
    message = {"role": "assistant", "content": answer.text}
    choice = {"index": 0, "message": message, "finish_reason": CHAT_FINISHES[answer.finish]}
    return {"id": answer.id, "choices": [choice], "usage": chat_usage(answer.bill)}


# --- Responses ----------------------------------------------------------------------------------------


class Writer:
    """Numbers the events of one response."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.frames: list[Frame] = []

    def tell(self, kind: str, **told: Any) -> None:
        self.frames.append(Frame({"type": kind, "sequence_number": len(self.frames), **told}, kind))

    def response(self, status: str, **told: Any) -> dict[str, Any]:
        head: dict[str, Any] = {"object": "response", "status": status, "model": "m", "store": True}
        known = {"id": self.answer.id} if self.answer.id else {}
        return {**known, **head, "output": [], "usage": None, **told}


def responses(answer: Answer) -> list[Frame]:
    writer = Writer(answer)
    writer.tell("response.created", response=writer.response("in_progress"))
    writer.tell("response.in_progress", response=writer.response("in_progress"))
    output: list[dict[str, Any]] = []
    if answer.thought:
        output.append(_thought(writer, len(output)))
    if answer.text:
        output.append(_message(writer, len(output)))
    end: dict[str, Any] = {"output": output, "usage": responses_usage(answer.bill)}
    if answer.finish == "stop":
        writer.tell("response.completed", response=writer.response("completed", **end))
    else:
        reason = "max_output_tokens" if answer.finish == "length" else "content_filter"
        end["incomplete_details"] = {"reason": reason}
        writer.tell("response.incomplete", response=writer.response("incomplete", **end))
    return writer.frames


def _thought(writer: Writer, place: int) -> dict[str, Any]:
    item = {"id": f"rs_{writer.answer.id}_{place}", "type": "reasoning", "summary": []}
    where: dict[str, Any] = {"item_id": item["id"], "output_index": place, "summary_index": 0}
    part = {"type": "summary_text", "text": writer.answer.thought}
    writer.tell("response.output_item.added", output_index=place, item=item)
    writer.tell("response.reasoning_summary_part.added", **where, part={**part, "text": ""})
    for piece in pieces(writer.answer.thought):
        writer.tell("response.reasoning_summary_text.delta", **where, delta=piece)
    writer.tell("response.reasoning_summary_text.done", **where, text=writer.answer.thought)
    writer.tell("response.reasoning_summary_part.done", **where, part=part)
    done = {**item, "summary": [part]}
    writer.tell("response.output_item.done", output_index=place, item=done)
    return done


def _message(writer: Writer, place: int) -> dict[str, Any]:
    answer = writer.answer
    kind, key = ("refusal", "refusal") if answer.refused else ("output_text", "text")
    item = {"id": f"msg_{answer.id}_{place}", "type": "message", "role": "assistant", "status": "in_progress"}
    where: dict[str, Any] = {"item_id": item["id"], "output_index": place, "content_index": 0}
    part: dict[str, Any] = {"type": kind, key: answer.text, **({} if answer.refused else {"annotations": []})}
    writer.tell("response.output_item.added", output_index=place, item={**item, "content": []})
    writer.tell("response.content_part.added", **where, part={**part, key: ""})
    for piece in pieces(answer.text):
        writer.tell(f"response.{kind}.delta", **where, delta=piece)
    writer.tell(f"response.{kind}.done", **where, **{key: answer.text})
    writer.tell("response.content_part.done", **where, part=part)
    done = {**item, "status": "completed", "content": [part]}
    writer.tell("response.output_item.done", output_index=place, item=done)
    return done


def responses_usage(bill: Bill) -> dict[str, Any]:
    return {
        "input_tokens": bill.input,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": bill.output,
        "output_tokens_details": {"reasoning_tokens": bill.reasoning},
        "total_tokens": bill.input + bill.output,
    }


# --- Anthropic ----------------------------------------------------------------------------------------


def anthropic(answer: Answer) -> list[Frame]:
    told: list[Frame] = []

    def tell(kind: str, **more: Any) -> None:
        told.append(Frame({"type": kind, **more}, kind))

    message = {"id": answer.id, "type": "message", "role": "assistant", "model": "m", "content": []}
    tell(
        "message_start", message={**message, "usage": {"input_tokens": answer.bill.input, "output_tokens": 1}}
    )
    blocks = [("thinking", answer.thought), ("text", "" if answer.refused else answer.text)]
    for index, (kind, words) in enumerate((kind, words) for kind, words in blocks if words):
        tell("content_block_start", index=index, content_block={"type": kind, kind: ""})
        for piece in pieces(words):
            delta = {"type": f"{kind}_delta", kind: piece}
            tell("content_block_delta", index=index, delta=delta)
        tell("content_block_stop", index=index)
    finishes = {"stop": "end_turn", "length": "max_tokens", "filter": "refusal"}
    reason = "refusal" if answer.refused else finishes[answer.finish]
    why = {"stop_details": {"type": "refusal", "category": "cyber"}} if answer.refused else {}
    tell("message_delta", delta={"stop_reason": reason, **why}, usage={"output_tokens": answer.bill.output})
    tell("message_stop")
    return told


# --- Google -------------------------------------------------------------------------------------------


def google(answer: Answer) -> list[Frame]:
    """Figures come with every chunk; nothing says that it is the last one."""
    parts = [{"text": piece, "thought": True} for piece in pieces(answer.thought)]
    parts += [{"text": piece} for piece in pieces(answer.text)]
    finishes = {"stop": "STOP", "length": "MAX_TOKENS", "filter": "SAFETY"}
    told = [_candidate(answer, {"content": {"role": "model", "parts": [part]}}) for part in parts]
    end = {"content": {"role": "model", "parts": [{"text": ""}]}, "finishReason": finishes[answer.finish]}
    return [*told, _candidate(answer, end)]


def _candidate(answer: Answer, candidate: dict[str, Any]) -> Frame:
    usage = {
        "promptTokenCount": answer.bill.input,
        "candidatesTokenCount": answer.bill.output - answer.bill.reasoning,
        "thoughtsTokenCount": answer.bill.reasoning,
    }
    return Frame({"candidates": [candidate], "usageMetadata": usage, "responseId": answer.id})
