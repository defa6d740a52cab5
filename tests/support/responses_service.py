"""A Responses API on loopback which is as strict about chains as the real one.

It remembers what it has answered, finds it again by id, counts the whole chain as input and carries no
instructions over. A call of a function must be answered, and nothing else may be. `Replica.calls` is its
ledger: what came, what the model saw of it, what was billed. It can be told to keep nothing (zero data
retention), to forget some of its answers, or to give them no id.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from aiohttp import web
from aiohttp.test_utils import TestServer
from msgspec import Struct, field

MODELS: Mapping[str, bool] = {"gpt-5-mini": True, "gpt-5-nano": True, "gpt-4.1-mini": False}
"""Whether it reasons."""
PARAMETERS = {
    "model", "instructions", "input", "max_output_tokens", "store", "stream", "previous_response_id",
    "reasoning", "include", "text", "temperature", "top_p", "metadata", "truncation", "prompt_cache_key",
    "tools", "tool_choice",
}  # fmt: skip
REASONING_TOKENS = 64
SUMMARY = ("**Weighing the motion**\n\nWhat would it cost?", "**Choosing a line**\n\nOne case, told well.")
WORDS = (
    "cost", "trust", "habit", "law", "winter", "bread", "school", "harbour", "patience", "risk", "proof",
    "custom", "repair", "distance", "wages", "memory", "water", "luck", "craft", "duty",
)  # fmt: skip

Items = list[dict[str, Any]]


class Call(Struct):
    """One line of the ledger. The key is not in it."""

    number: int
    headers: dict[str, str]
    body: dict[str, Any]
    status: int = 200
    error: str = ""
    seen: Items = field(default_factory=list[dict[str, Any]])
    """All that the model was shown, instructions aside: the chain, and then what was sent."""
    text: str = ""
    usage: dict[str, Any] | None = None
    response_id: str | None = None

    @property
    def previous(self) -> str | None:
        return self.body.get("previous_response_id")

    @property
    def words(self) -> list[tuple[str, str]]:
        """The conversation as the model was shown it, without thoughts."""
        return [(item["role"], said(item)) for item in self.seen if "role" in item]


class Refusal(Exception):
    def __init__(self, status: int, message: str, param: str | None = None, code: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.error = {"message": message, "type": "invalid_request_error", "param": param, "code": code}


def speech(call: Call) -> str:
    """Something else each time, so that no two speeches are alike."""
    digest = hashlib.sha256(f"{call.number} {call.body['instructions']}".encode()).digest()
    picked = [WORDS[byte % len(WORDS)] for byte in digest[:12]]
    return f"Point {call.number} is about {', '.join(picked[:6])}. It rests on {' and '.join(picked[6:])}."


class Replica:
    def __init__(
        self,
        *,
        key: str = "test",
        retains: bool = True,
        forgets: Container[int] = (),
        names: bool = True,
        say: Callable[[Call], str] = speech,
        uses: Callable[[Call], Sequence[tuple[str, str]]] = lambda _call: (),
    ) -> None:
        """`forgets` holds the numbers of calls whose answers it will not find again; without `names` no
        answer has an id. `uses` says which functions it calls instead of speaking, and with what."""
        self.calls: list[Call] = []
        self._key = key
        self._retains = retains
        self._forgets = forgets
        self._names = names
        self._say = say
        self._uses = uses
        self._memory: dict[str, Items] = {}
        self._sealed: dict[str, str] = {}
        app = web.Application()
        app.router.add_post("/v1/responses", self._answer)
        self._server = TestServer(app)

    async def __aenter__(self) -> Self:
        await self._server.start_server()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._server.close()

    @property
    def url(self) -> str:
        return str(self._server.make_url("/v1"))

    # --- a call ---------------------------------------------------------------------------------------

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        headers = {
            name.lower(): value for name, value in request.headers.items() if name.lower() != "authorization"
        }
        call = Call(len(self.calls) + 1, headers, await request.json())
        self.calls.append(call)
        named = {"x-request-id": f"req_{call.number}"}
        try:
            if request.headers.get("Authorization") != f"Bearer {self._key}":
                raise Refusal(401, "Incorrect API key provided.", code="invalid_api_key")
            self._check(call.body)
            call.seen = self._recall(call) + call.body["input"]
            _check_answers(call.seen)
        except Refusal as refusal:
            call.status, call.error = refusal.status, refusal.code or ""
            return web.json_response({"error": refusal.error}, status=refusal.status, headers=named)
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream; charset=utf-8", **named})
        await response.prepare(request)
        for event in self._events(call):
            frame = f"event: {event['type']}\ndata: {json.dumps(event, ensure_ascii=False)}\n\n"
            await response.write(frame.encode())
        await response.write_eof()
        return response

    def _check(self, body: dict[str, Any]) -> None:
        if unknown := next((name for name in body if name not in PARAMETERS), None):
            raise Refusal(400, f"Unknown parameter: '{unknown}'.", unknown, "unknown_parameter")
        reasons = MODELS.get(body["model"])
        if reasons is None:
            raise Refusal(400, f"There is no model '{body['model']}'.", "model", "model_not_found")
        if not reasons and ("reasoning" in body or body.get("include")):
            raise Refusal(
                400, "This model does not reason.", "reasoning.summary", code="unsupported_parameter"
            )
        if reasons and "temperature" in body:
            raise Refusal(400, "This model takes no temperature.", "temperature", "unsupported_parameter")
        if body["max_output_tokens"] < 16:
            raise Refusal(400, "Expected 16 or more.", "max_output_tokens", "integer_below_min_value")
        for item in body["input"]:
            self._check_item(item)

    def _check_item(self, item: dict[str, Any]) -> None:
        if item.get("type") == "reasoning":
            if "summary" not in item:
                raise Refusal(
                    400, "Missing required parameter.", "input.summary", "missing_required_parameter"
                )
            if self._sealed.get(item["id"]) != item.get("encrypted_content"):
                raise Refusal(400, "The content cannot be verified.", code="invalid_encrypted_content")
        elif item.get("type") in ("function_call", "function_call_output"):
            fields = (
                {"type", "call_id", "name", "arguments"}
                if "arguments" in item
                else {"type", "call_id", "output"}
            )
            if set(item) != fields:
                raise Refusal(400, "Unknown or missing parameter.", "input", "invalid_value")
        elif item.get("role") not in ("user", "assistant") or not isinstance(item.get("content"), str):
            raise Refusal(400, "Invalid value.", "input", "invalid_value")

    def _recall(self, call: Call) -> Items:
        if call.previous is None:
            return []
        if not self._retains:
            message = "Earlier responses cannot be used here because of Zero Data Retention."
            raise Refusal(400, message, "previous_response_id", "unsupported_parameter")
        if call.previous not in self._memory:
            message = f"There is no response with id '{call.previous}'."
            raise Refusal(400, message, "previous_response_id", "previous_response_not_found")
        return self._memory[call.previous]

    # --- the answer -----------------------------------------------------------------------------------

    def _events(self, call: Call) -> Iterator[dict[str, Any]]:
        call.text = self._say(call)
        call.response_id = _name("resp", call.number) if self._names else None
        output = list(self._output(call))
        call.usage = _usage(call, thinks=output[0]["type"] == "reasoning")
        begun = self._response(call, "in_progress", [])
        shown = [
            {"type": "response.created", "response": begun},
            {"type": "response.in_progress", "response": begun},
            *(event for place, item in enumerate(output) for event in _item_events(place, item)),
            {"type": "response.completed", "response": self._response(call, "completed", output)},
        ]
        if call.body.get("store", True) and call.response_id and call.number not in self._forgets:
            self._memory[call.response_id] = call.seen + output
        for number, event in enumerate(shown):
            yield {**event, "sequence_number": number}

    def _output(self, call: Call) -> Iterator[dict[str, Any]]:
        if MODELS[call.body["model"]]:
            name = _name("rs", call.number)
            self._sealed[name] = f"sealed-{name}"
            asked = call.body.get("reasoning", {}).get("summary")
            parts = [{"type": "summary_text", "text": text} for text in SUMMARY] if asked else []
            thought = {"id": name, "type": "reasoning", "summary": parts}
            if "reasoning.encrypted_content" in call.body.get("include", []):
                thought["encrypted_content"] = self._sealed[name]
            yield thought
        if asked := self._uses(call):
            call.text = ""
        for place, (name, arguments) in enumerate(asked):
            yield {
                "id": _name(f"fc{place}", call.number),
                "type": "function_call",
                "status": "completed",
                "call_id": f"call_{call.number}_{place}",
                "name": name,
                "arguments": arguments,
            }
        if asked:
            return
        spoken = {"type": "output_text", "annotations": [], "logprobs": [], "text": call.text}
        yield {
            "id": _name("msg", call.number),
            "type": "message",
            "status": "completed",
            "content": [spoken],
            "role": "assistant",
        }

    def _response(self, call: Call, status: str, output: Items) -> dict[str, Any]:
        body = call.body
        response = {
            "id": call.response_id,
            "object": "response",
            "created_at": 1_780_000_000 + call.number,
            "status": status,
            "error": None,
            "incomplete_details": None,
            "instructions": body.get("instructions"),
            "max_output_tokens": body["max_output_tokens"],
            "model": f"{body['model']}-2025-08-07",
            "output": output,
            "previous_response_id": call.previous,
            "reasoning": {"effort": body.get("reasoning", {}).get("effort", "medium"), "summary": "detailed"},
            "store": self._retains and body.get("store", True),
            "text": {"format": {"type": "text"}, "verbosity": "medium", **body.get("text", {})},
            "usage": call.usage if status == "completed" else None,
            "metadata": {},
        }
        return response if self._names else {name: response[name] for name in response if name != "id"}


def _item_events(place: int, item: dict[str, Any]) -> Iterator[dict[str, Any]]:
    name = item["id"]
    bare = {"reasoning": {"summary": []}, "message": {"content": []}, "function_call": {"arguments": ""}}
    empty = {**item, **bare[item["type"]]}
    if "encrypted_content" in empty:
        empty["encrypted_content"] = "sealed-too-early"
    yield {"type": "response.output_item.added", "output_index": place, "item": empty}
    if item["type"] == "reasoning":
        for index, part in enumerate(item["summary"]):
            where = {"item_id": name, "output_index": place, "summary_index": index}
            yield from _part_events("reasoning_summary_part", "reasoning_summary_text", where, part)
    elif item["type"] == "function_call":
        where = {"item_id": name, "output_index": place}
        told = "response.function_call_arguments"
        yield {"type": f"{told}.delta", **where, "delta": item["arguments"]}
        yield {"type": f"{told}.done", **where, "arguments": item["arguments"]}
    else:
        for index, part in enumerate(item["content"]):
            where = {"item_id": name, "output_index": place, "content_index": index}
            yield from _part_events("content_part", "output_text", where, part)
    yield {"type": "response.output_item.done", "output_index": place, "item": item}


def _part_events(
    part_name: str, text_name: str, where: dict[str, Any], part: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    yield {"type": f"response.{part_name}.added", **where, "part": {**part, "text": ""}}
    for piece in re.findall(r"\s*\S+", part["text"]):
        yield {"type": f"response.{text_name}.delta", **where, "delta": piece, "obfuscation": "x" * 8}
    yield {"type": f"response.{text_name}.done", **where, "text": part["text"]}
    yield {"type": f"response.{part_name}.done", **where, "part": part}


def _usage(call: Call, *, thinks: bool) -> dict[str, Any]:
    """The whole chain is input, and so are the instructions of this call alone."""
    thoughts = REASONING_TOKENS if thinks else 0
    read = tokens(call.body.get("instructions") or "") + sum(tokens(said(item)) for item in call.seen)
    spoken = tokens(call.text) + thoughts
    return {
        "input_tokens": read,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": spoken,
        "output_tokens_details": {"reasoning_tokens": thoughts},
        "total_tokens": read + spoken,
    }


def _check_answers(seen: Items) -> None:
    asked = [item["call_id"] for item in seen if item.get("type") == "function_call"]
    given = [item["call_id"] for item in seen if item.get("type") == "function_call_output"]
    if unasked := [name for name in given if name not in asked]:
        raise Refusal(400, f"No tool call found for function call output with call_id {unasked[0]}.", "input")
    if waiting := [name for name in asked if name not in given]:
        raise Refusal(400, f"No tool output found for function call {waiting[0]}.", "input")


def tokens(text: str) -> int:
    return -(-len(text) // 4)


def said(item: dict[str, Any]) -> str:
    """The words of an item, sent or answered; thoughts have none."""
    content = item.get("content") or item.get("output") or item.get("arguments") or ""
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


def _name(kind: str, number: int) -> str:
    return f"{kind}_{number:04}{hashlib.sha256(f'{kind}{number}'.encode()).hexdigest()[:40]}"
