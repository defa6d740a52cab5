"""Anthropic's dialect: what is sent."""

from __future__ import annotations

from typing import Any

import pytest

from moot.core.choices import Effort
from moot.core.terms import ChatMessage
from moot.providers.contract import Traits
from moot.providers.wire_formats.anthropic_request import WIRE_FORMAT
from tests.providers.wire_formats.anthropic_calls import NEW, ask, body

OLD = Traits(thinks=True, efforts=("none", "low", "medium", "high"), thinking="budget")


def test_a_request_in_this_dialect() -> None:
    assert body(ask(temperature=0.5, stop=("END", "\n"))) == {
        "model": "claude-x",
        "max_tokens": 4000,
        "messages": [{"role": "user", "content": "Go."}],
        "stream": True,
        "system": "Argue.",
        "temperature": 0.5,
        "stop_sequences": ["END"],
    }


@pytest.mark.parametrize("base", ["https://a.example", "https://a.example/v1"])
def test_the_address_with_and_without_a_version(base: str) -> None:
    assert WIRE_FORMAT.url(base, "claude-x") == "https://a.example/v1/messages"


def test_the_key_has_a_header_of_its_own() -> None:
    assert WIRE_FORMAT.headers("k") == {"x-api-key": "k", "anthropic-version": "2023-06-01"}
    assert WIRE_FORMAT.headers("") == {"anthropic-version": "2023-06-01"}


def test_the_first_turn_is_the_users_and_no_turn_is_blank() -> None:
    spoken = (
        ChatMessage("assistant", "a"),
        ChatMessage("user", "b"),
        ChatMessage("user", " "),
        ChatMessage("user", "c"),
    )
    messages = body(ask(messages=spoken))["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant", "user"]
    assert messages[0]["content"]
    assert messages[-1]["content"][0]["text"] == "b\n\nc"


def test_a_history_is_kept_ready_for_the_next_turn_but_a_first_question_is_not() -> None:
    history = (ChatMessage("user", "a"), ChatMessage("assistant", "b"), ChatMessage("user", "c"))
    assert body(ask(messages=history))["messages"][-1] == {
        "role": "user",
        "content": [{"type": "text", "text": "c", "cache_control": {"type": "ephemeral"}}],
    }
    assert "cache_control" not in str(body(ask()))


def test_newer_models_show_their_thoughts_and_are_told_how_hard_to_think_by_a_word() -> None:
    sent = body(ask(effort="high", temperature=0.5), NEW)
    assert sent["thinking"] == {"type": "adaptive", "display": "summarized"}
    assert sent["output_config"] == {"effort": "high"}
    assert "temperature" not in sent


def test_an_effort_that_a_model_does_not_know_is_not_sent() -> None:
    assert "output_config" not in body(ask(effort="minimal"), NEW)
    assert "thinking" not in body(ask(effort="high"))


def test_older_models_get_a_share_of_their_tokens_to_think_with() -> None:
    sent = body(ask(effort="medium", temperature=0.5), OLD)
    assert sent["thinking"] == {"type": "enabled", "budget_tokens": 2000}
    assert "output_config" not in sent
    assert "temperature" not in sent


@pytest.mark.parametrize(
    ("effort", "tokens", "thinking"),
    [
        ("low", 2000, {"type": "enabled", "budget_tokens": 1024}),
        ("high", 1200, None),
        (None, 9000, None),
        ("none", 9000, {"type": "disabled"}),
    ],
)
def test_thinking_never_takes_the_tokens_of_the_speech(
    effort: Effort | None, tokens: int, thinking: Any
) -> None:
    sent = body(ask(effort=effort, temperature=1.5, max_tokens=tokens), OLD)
    assert sent.get("thinking") == thinking
    assert sent.get("temperature") == (None if thinking and thinking != {"type": "disabled"} else 1.0)


def test_the_hardest_thinking_is_a_number_of_tokens_too() -> None:
    traits = Traits(thinks=True, efforts=("max",), thinking="budget")
    assert body(ask(effort="max"), traits)["thinking"] == {"type": "enabled", "budget_tokens": 3000}


SCHEMA = {
    "type": "object",
    "properties": {
        "minimum": {"type": "integer", "minimum": 0, "maximum": 100, "description": "The score."},
        "notes": {"type": "array", "items": {"type": "string", "maxLength": 9}, "maxItems": 5},
    },
    "required": ["minimum"],
    "additionalProperties": False,
}


def test_what_a_schema_may_not_hold_is_told_in_words() -> None:
    shape = body(ask(schema=SCHEMA), NEW)["output_config"]["format"]
    assert shape == {
        "type": "json_schema",
        "schema": {
            "type": "object",
            "properties": {
                "minimum": {"type": "integer", "description": "The score. (minimum: 0, maximum: 100)"},
                "notes": {
                    "type": "array",
                    "items": {"type": "string", "description": "(maxLength: 9)"},
                    "description": "(maxItems: 5)",
                },
            },
            "required": ["minimum"],
            "additionalProperties": False,
        },
    }


def test_a_schema_is_kept_to_oneself_where_it_would_be_refused() -> None:
    assert "output_config" not in body(ask(schema=SCHEMA), Traits(schema="words"))
