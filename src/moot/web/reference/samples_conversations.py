"""Examples of conversations."""

from __future__ import annotations

from typing import Any

_OLD = "6f1c1c1e-5a0e-4f0e-9d55-0d5a3c0f1a11"
_TS = 1_746_090_000_000
_CONVERSATION: dict[str, Any] = {
    "id": _OLD,
    "kind": "imported",
    "title": None,
    "source": "postgresql://me@db.example/app#events",
    "events": 2,
    "firstTs": _TS,
    "lastTs": _TS + 1500,
}
_THOUGHT: dict[str, Any] = {
    "type": "reasoning",
    "id": "rs_1",
    "output_index": 0,
    "sequence_number": 3,
    "parts": [
        {
            "summary_index": 0,
            "type": "summary_text",
            "text": "Look it up first.",
            "sequence_number": 4,
            "is_complete": True,
            "created_at": _TS,
        }
    ],
    "combined_text": "Look it up first.",
    "effort_level": "low",
    "reasoning_tokens": 12,
}
ARCHIVE: dict[str, Any] = {
    "ConversationResponse": _CONVERSATION,
    "ConversationsResponse": {
        "conversations": [_CONVERSATION],
        "total": 1,
        "limit": 20,
        "offset": 0,
        "hasMore": False,
    },
    "ConversationEventsResponse": {
        "conversationId": _OLD,
        "events": [
            {
                "id": "0b8f7a52-3c9d-4a8e-8f56-0c1b7a1d2e33",
                "role": "assistant",
                "segments": [
                    _THOUGHT,
                    {"type": "tool_call", "id": "call_1", "name": "search", "args": {"q": "homework"}},
                    {"type": "tool_result", "id": "call_1", "output": {"found": 3}},
                    {"type": "text", "text": "There are three studies."},
                ],
                "response_metadata": {"usage": {"reasoning_tokens": 12}},
                "ts": _TS + 1500,
                "order_key": "a1",
                "created_at": "2025-05-01T09:00:01.500000+00:00",
            }
        ],
        "next": "0b8f7a52-3c9d-4a8e-8f56-0c1b7a1d2e33",
        "hasMore": False,
    },
}
"""By the name of their schema."""
