"""Recordings of what real services sent, and what is to be heard of each.

They are other people's data and no part of this project: each is a JSON file with `api`, `response` (status,
headers, the exact body) and `expect`, facts that an independent reader found in it. `expected` puts those
facts into our terms, `heard` says the same of what came through our own client; the two must be equal.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from moot.core.errors import Fault
from moot.core.terms import Reasoning, Segment, Text, ToolCall
from moot.engine.call import CallResult
from moot.providers.wire_formats import WireFormatName, load_wire_format
from moot.providers.wire_formats.contract import WireFormat

Recording = dict[str, Any]
Facts = dict[str, Any]

HERE = Path(__file__).resolve()
WIRE_FORMATS: dict[str, WireFormatName] = {
    "openai.responses": "openai_responses",
    "anthropic.messages": "anthropic",
    "google.generate": "google",
    "openai.chat": "openai_chat",
    "ollama.native": "openai_chat",
}
CHATTING = ("openai.chat", "ollama.native")


def folder() -> Path:
    """`MOOT_RECORDINGS`, or the folder that lies beside the repository where one does."""
    named = os.environ.get("MOOT_RECORDINGS")
    return Path(named) if named else HERE.parents[3] / "shared" / "recordings"


def found() -> list[Recording]:
    told = [json.loads(path.read_text("utf-8")) for path in sorted(folder().glob("*/*.json"))]
    return [recording for recording in told if recording.get("api") in WIRE_FORMATS]


def wire_format(recording: Recording) -> WireFormat:
    return load_wire_format(WIRE_FORMATS[recording["api"]])


# --- what is to be heard ------------------------------------------------------------------------------


def expected(recording: Recording) -> Facts:
    expect, api = recording["expect"], recording["api"]
    fault = expected_fault(recording)
    facts: Facts = {"fault": fault, **expected_words(recording)}
    if fault is not None:
        return {**facts, "retry_after": expected_wait(recording)}
    thoughts = expect.get("reasoning") or {}
    if api == "openai.responses":
        facts["reasoning items"] = thoughts.get("items")
        facts["reasoning parts"] = thoughts.get("parts")
        facts["under seal"] = thoughts.get("encrypted_items")
    elif api == "anthropic.messages":
        facts["reasoning items"] = thoughts.get("items", 0) + thoughts.get("redacted", 0)
        facts["under seal"] = thoughts.get("signatures", 0) + thoughts.get("redacted", 0)
        facts["redacted"] = thoughts.get("redacted")
    elif api == "google.generate":
        facts["under seal"] = thoughts.get("signatures")
    elif sealed := _sealed(expect.get("reasoning_details") or {}):
        facts["under seal"] = sealed
    calls = expect.get("tool_calls") or []
    return {
        **facts,
        "calls": [_call(call, call.get("arguments") or call.get("input_at_start"), call) for call in calls],
        "usage": expected_usage(recording),
        "response id": expect.get("response_id"),
        "model": expect.get("model") or "",
        "reason": expect.get("finish_reason") or expect.get("block_reason") or "",
        "finish": expected_finish(expect),
    }


def expected_words(recording: Recording) -> Facts:
    """As digests; where thoughts are hidden in the text, as what is on either side of the tag."""
    expect = recording["expect"]
    if "text" not in expect:
        return {"text": None, "reasoning": None}
    if parted := tagged(recording):
        return {"text": parted[1], "reasoning": parted[0]}
    told = expect["text"]
    if not told["len"] and expect.get("refusal"):
        told = expect["refusal"]
    thought = expect["reasoning"]["sha256"]
    return {"text": None if _declined(recording) else told["sha256"], "reasoning": thought}


def _declined(recording: Recording) -> bool:
    """The words of a chat's refusal are not among the facts."""
    return bool((recording["expect"].get("delta_fields") or {}).get("refusal"))


def tagged(recording: Recording) -> tuple[str, str] | None:
    """Thought and speech of a model that thinks in its text."""
    if recording["api"] not in CHATTING or recording["expect"]["reasoning"]["len"]:
        return None
    text = "".join(_chatted(recording)).strip()
    before, close, after = text.partition("</think>")
    thought = before.removeprefix("<think>").strip()
    return (thought, after.strip()) if close or thought != before else None


def _chatted(recording: Recording) -> Iterator[str]:
    body = recording["response"]["body"]
    lines = [body] if recording["expect"]["format"] == "json" else re.split(r"\r\n|\n|\r", body)
    for line in lines:
        payload = line.removeprefix("data:").strip()
        if not payload.startswith("{"):
            continue
        told = json.loads(payload)
        choice = (told.get("choices") or [told])[0]
        content = (choice.get("delta") or choice.get("message") or {}).get("content")
        yield content if isinstance(content, str) else ""


def _sealed(details: Mapping[str, int]) -> int | None:
    return 1 if set(details) == {"reasoning.encrypted"} else None


def expected_usage(recording: Recording) -> dict[str, int] | None:
    told = recording["expect"].get("usage")
    if not told:
        return None
    given = {name: value or 0 for name, value in told.items() if isinstance(value, int) or value is None}
    read, said, thought = given.get("input", 0), given.get("output", 0), given.get("reasoning", 0)
    cached = given.get("cached", given.get("cache_read", 0))
    match recording["api"]:
        case "anthropic.messages":
            read += cached + given.get("cache_write", 0)
        case "google.generate":
            said += thought
            read += given.get("tool_input", 0)
        case "openai.chat" if thought and given.get("total") == read + said + thought:
            said += thought
        case "openai.responses" if not read + said:
            # Noughts that are sent when an answer is cut short.
            return None
        case _:
            pass
    return {"input": read, "output": said, "reasoning": thought, "cached": cached}


FINISHES = {
    "stop": ("stop", "completed", "end_turn", "stop_sequence", "STOP"),
    "length": ("length", "max_tokens", "max_output_tokens", "MAX_TOKENS", "model_context_window_exceeded"),
    "tool": ("tool_calls", "tool_use", "function_call"),
    "filter": ("content_filter", "SAFETY", "RECITATION", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII"),
    "pause": ("pause_turn",),
    "refusal": ("refusal",),
}
OURS = ("function", "function_call", "custom_tool_call", "tool_use", "functionCall")
"""Calls that wait for an answer of ours."""


def expected_finish(expect: Facts) -> str:
    reason = expect.get("finish_reason") or expect.get("block_reason")
    if expect.get("refusal") or (expect.get("delta_fields") or {}).get("refusal"):
        return "refusal"
    finish = next((finish for finish, reasons in FINISHES.items() if reason in reasons), "unknown")
    called = any(call["kind"] in OURS for call in expect.get("tool_calls") or [])
    return "tool" if called and (finish == "stop" or reason is None) else finish


# --- what was heard -----------------------------------------------------------------------------------


def heard(recording: Recording, ear: CallResult, fault: Fault | None) -> Facts:
    segments = ear.all_segments()
    thoughts = [segment for segment in segments if isinstance(segment, Reasoning) and not segment.phase]
    facts: Facts = {"fault": fault and fault.kind, **_words(recording, segments)}
    if fault is not None:
        return {**facts, "retry_after": fault.retry_after}
    assert ear.done is not None
    wanted = expected(recording)
    calls = [segment for segment in segments if isinstance(segment, ToolCall)]
    asked = [*(recording["expect"].get("tool_calls") or []), *([{}] * len(calls))]
    usage = ear.done.usage
    found: Facts = {
        **facts,
        "reasoning items": len(thoughts),
        "reasoning parts": sum(len(thought.parts) for thought in thoughts),
        "under seal": sum(bool(segment.opaque) for segment in [*thoughts, *calls]),
        "redacted": sum(thought.redacted for thought in thoughts),
        "calls": [
            _call(vars_of(call), call.arguments, want) for call, want in zip(calls, asked, strict=False)
        ],
        "usage": usage
        and {name: getattr(usage, name) for name in ("input", "output", "reasoning", "cached")},
        "response id": ear.done.response_id,
        "model": ear.done.model,
        "reason": ear.done.reason,
        "finish": ear.done.finish,
    }
    return {name: fact for name, fact in found.items() if name in wanted}


def _words(recording: Recording, segments: list[Segment]) -> Facts:
    if "text" not in recording["expect"]:
        return {"text": None, "reasoning": None}
    text = _as_sent(segments)
    thoughts = [segment.parts for segment in segments if isinstance(segment, Reasoning) and not segment.phase]
    thought = "".join(["".join(part.text for part in parts) for parts in thoughts])
    if tagged(recording):
        return {"text": text.strip(), "reasoning": thought.strip()}
    return {"text": None if _declined(recording) else _digest(text), "reasoning": _digest(thought)}


def _as_sent(segments: list[Segment]) -> str:
    """The text with commentary, and without the breaks that we put between two messages."""
    sent, after_other = "", True
    for segment in segments:
        if isinstance(segment, Reasoning) and segment.phase:
            sent += segment.text
        elif isinstance(segment, Text):
            sent += segment.text.removeprefix("\n\n") if after_other and sent else segment.text
        after_other = not isinstance(segment, Text)
    return sent


def _digest(text: str) -> str | None:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest() if text else None


def vars_of(call: ToolCall) -> Facts:
    return {"kind": call.kind, "name": call.name, "call_id": call.id}


def _call(call: Facts, arguments: Any, wanted: Facts) -> tuple[Any, ...]:
    """As much of a call as the recording's own facts tell."""
    known = wanted.get("arguments") is not None or wanted.get("input_at_start") is not None
    return (
        call["kind"],
        call["name"],
        call["call_id"] if wanted.get("call_id") else None,
        _normal(arguments) if known else None,
    )


def _normal(arguments: Any) -> Any:
    if arguments and not isinstance(arguments, str):
        return arguments
    try:
        return json.loads(arguments or "{}")
    except ValueError:
        return arguments


# --- how it is to fail --------------------------------------------------------------------------------

BY_WORD = {
    "insufficient_quota": "billing",
    "credit balance": "billing",
    "context_length": "too_long",
    "context window": "too_long",
    "prompt is too long": "too_long",
    "exceed_context": "too_long",
    "input token count": "too_long",
    "model_not_found": "unknown_model",
    "previous_response_not_found": "chain_lost",
    "invalid_api_key": "bad_key",
    "api key not valid": "bad_key",
    "incorrect api key": "bad_key",
    "tool_use_failed": "malformed",
    "overloaded": "overloaded",
    "rate_limit": "rate_limited",
}
BY_NUMBER = {
    401: "bad_key",
    402: "billing",
    403: "forbidden",
    404: "unknown_model",
    408: "timeout",
    409: "server_error",
    413: "too_long",
    429: "rate_limited",
    503: "overloaded",
    529: "overloaded",
}


def expected_fault(recording: Recording) -> str | None:
    expect, status = recording["expect"], int(recording["response"]["status"])
    if status >= 400 or expect.get("error"):
        return kind_of(status if status >= 400 else None, expect["error"])
    return None if _ended(recording) else "disconnected"


def kind_of(status: int | None, error: Facts) -> str:
    told = " ".join(str(error.get(name)) for name in ("code", "type", "status", "message")).lower()
    numbers = [status, *(error.get(name) for name in ("code", "status_code", "status"))]
    number = next((number for number in numbers if isinstance(number, int) and number >= 400), None)
    if number in (None, 400, 429):
        for word, kind in BY_WORD.items():
            if word in told:
                return kind
    if number is None:
        return "server_error"
    return BY_NUMBER.get(number, "server_error" if number >= 500 else "bad_request")


def expected_wait(recording: Recording) -> float | None:
    headers, expect = recording["response"]["headers"], recording["expect"]
    waits = [
        float(headers.get("retry-after") or 0),
        float(headers.get("retry-after-ms") or 0) / 1000,
        float((expect.get("retry_delay") or "0s").removesuffix("s")),
    ]
    return max(waits) or None


def _ended(recording: Recording) -> bool:
    expect = recording["expect"]
    if expect.get("format") == "json":
        return True
    if recording["api"] == "openai.responses":
        return expect.get("terminal_event") is not None
    return bool(expect.get("finish_reason") or expect.get("block_reason") or expect.get("done_sentinel"))
