"""Takes the power out of control words in what others said.

A llama.cpp server reads `<|im_end|>` inside a message as the real end of that message: whoever may speak in a
debate could so begin a message of the system's, or of the judge's own. One space makes them plain text.
"""

from __future__ import annotations

import re

from msgspec.structs import replace

from moot.core.terms import ChatMessage, Request, ToolResult

_CONTROL = re.compile(
    r"<(?=\||｜|/?(?:s|bos|eos|pad|unk|mask|think|tool_call|im_start|im_end|(?:start|end)_of_turn)>)"
    r"|\[(?=/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS)\])"
    r"|<(?=</?SYS>>)",
    re.IGNORECASE,
)


def escape(text: str) -> str:
    return _CONTROL.sub(r"\g<0> ", text)


def escape_control_tokens(request: Request) -> Request:
    """The request with nothing in it that only the server may say."""
    return replace(
        request,
        instructions=escape(request.instructions),
        messages=_escape_messages(request.messages),
        fresh=_escape_messages(request.fresh),
        prefill=escape(request.prefill),
        exchange=tuple(
            replace(part, output=escape(part.output)) if isinstance(part, ToolResult) else part
            for part in request.exchange
        ),
    )


def _escape_messages(messages: tuple[ChatMessage, ...]) -> tuple[ChatMessage, ...]:
    return tuple(replace(message, content=escape(message.content)) for message in messages)
