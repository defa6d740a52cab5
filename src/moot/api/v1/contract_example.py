"""The request that the v1 contract shows, word for word."""

from __future__ import annotations

from typing import Any

CREATE_DEBATE: dict[str, Any] = {
    "topic": "Should AI development be regulated by government?",
    "format": "oxford",
    "participants": [
        {
            "name": "Pro-Regulation (Claude)",
            "model": {
                "provider": "anthropic",
                "modelId": "claude-3-5-sonnet-20241022",
                "temperature": 0.7,
            },
            "position": "for",
            "color": "#FF6B6B",
        },
        {
            "name": "Anti-Regulation (GPT-4)",
            "model": {"provider": "openai", "modelId": "gpt-4-turbo-preview", "temperature": 0.8},
            "position": "against",
            "color": "#4ECDC4",
        },
    ],
    "judge": {
        "name": "Judge Claude",
        "model": {"provider": "anthropic", "modelId": "claude-3-opus-20240229"},
    },
    "config": {
        "maxRounds": 5,
        "timeoutPerRound": 90,
        "costLimit": 5.0,
        "warnAtCost": 3.0,
        "autoJudge": True,
    },
}
