"""Lines of a chat-completions stream, as services write them."""

from __future__ import annotations

import json
from typing import Any


def line(**chunk: Any) -> bytes:
    return b"data: " + json.dumps({"id": "c1", "model": "m-1", **chunk}).encode() + b"\n\n"


def says(finish: str | None = None, **delta: Any) -> bytes:
    return line(choices=[{"index": 0, "delta": delta, "finish_reason": finish}])


def whole(finish: str | None = "stop", **message: Any) -> bytes:
    """A completion where a stream was asked for."""
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    figures = {"prompt_tokens": 3, "completion_tokens": 2}
    reply = {"id": "c1", "object": "chat.completion", "model": "m-1", "choices": [choice], "usage": figures}
    return json.dumps(reply, indent=1).encode()


ROLE = says(role="assistant", content=None)
STOP = says("stop")
FIGURES = line(
    choices=[],
    usage={"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}},
    timings={"predicted_per_second": 90.1},
)
DONE = b"data: [DONE]\n\n"
