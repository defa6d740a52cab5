"""Google's dialect: what is sent."""

from __future__ import annotations

from typing import Any

import pytest

from moot.core.choices import Effort
from moot.core.terms import ChatMessage, Request
from moot.providers.contract import Traits
from moot.providers.wire_formats.google_request import WIRE_FORMAT
from tests.providers.wire_formats.google_calls import NEW, PLAIN, ask, body

OLD = Traits(thinks=True, efforts=("none", "low", "medium", "high"), thinking="budget")


def config(request: Request, traits: Traits = PLAIN) -> dict[str, Any]:
    return body(request, traits)["generationConfig"]


def test_a_request_in_this_dialect() -> None:
    assert body(ask(seed=3, stop=("a", "b", "c", "d", "e", "f"))) == {
        "contents": [{"role": "user", "parts": [{"text": "Go."}]}],
        "systemInstruction": {"parts": [{"text": "Argue."}]},
        "generationConfig": {
            "maxOutputTokens": 4000,
            "temperature": 1.5,
            "seed": 3,
            "stopSequences": ["a", "b", "c", "d", "e"],
        },
    }


@pytest.mark.parametrize(
    ("base", "address"),
    [
        ("https://g.example", "https://g.example/v1beta/models/m:streamGenerateContent?alt=sse"),
        ("https://g.example/v1beta", "https://g.example/v1beta/models/m:streamGenerateContent?alt=sse"),
        ("https://g.example/v1", "https://g.example/v1/models/m:streamGenerateContent?alt=sse"),
    ],
)
def test_the_address_with_and_without_a_version(base: str, address: str) -> None:
    assert WIRE_FORMAT.url(base, "m") == WIRE_FORMAT.url(base, "models/m") == address


def test_a_models_name_cannot_lead_elsewhere() -> None:
    address = WIRE_FORMAT.url("https://g.example", "../x?key=1#y z")
    assert address == "https://g.example/v1beta/models/..%2Fx%3Fkey%3D1%23y%20z:streamGenerateContent?alt=sse"


def test_the_key_is_in_a_header_and_never_in_the_address() -> None:
    assert WIRE_FORMAT.headers("k") == {"x-goog-api-key": "k"}
    assert WIRE_FORMAT.headers("") == {}


def test_turns_alternate_from_the_user_on() -> None:
    spoken = (
        ChatMessage("assistant", "a"),
        ChatMessage("user", "b"),
        ChatMessage("user", ""),
        ChatMessage("user", "c"),
    )
    contents = body(ask(messages=spoken))["contents"]
    assert [content["role"] for content in contents] == ["user", "model", "user"]
    assert contents[-1]["parts"] == [{"text": "b\n\nc"}]


def test_newer_models_are_told_how_hard_to_think_by_a_word() -> None:
    sent = config(ask(effort="minimal", seed=3), NEW)
    assert sent == {
        "maxOutputTokens": 4000,
        "thinkingConfig": {"includeThoughts": True, "thinkingLevel": "MINIMAL"},
    }


@pytest.mark.parametrize(
    ("effort", "tokens", "thinking"),
    [
        ("medium", 4000, {"includeThoughts": True, "thinkingBudget": 2000}),
        ("low", 1000, {"includeThoughts": True, "thinkingBudget": 512}),
        ("high", 65_536, {"includeThoughts": True, "thinkingBudget": 24_576}),
        ("none", 4000, {"thinkingBudget": 0}),
        (None, 4000, {"includeThoughts": True}),
        ("xhigh", 4000, {"includeThoughts": True}),
    ],
)
def test_older_models_get_a_number_of_tokens_to_think_with(
    effort: Effort | None, tokens: int, thinking: dict[str, Any]
) -> None:
    assert config(ask(effort=effort, max_tokens=tokens), OLD)["thinkingConfig"] == thinking


@pytest.mark.parametrize("effort", ["low", "high", None])
def test_thinking_never_takes_the_tokens_of_the_speech(effort: Effort | None) -> None:
    brief = ask(effort=effort, max_tokens=60)
    assert config(brief, OLD)["thinkingConfig"] == {"thinkingBudget": 0}
    always = Traits(thinks=True, efforts=("low", "high"), thinking="budget")
    assert config(brief, always)["thinkingConfig"] == {"includeThoughts": True, "thinkingBudget": 128}


def test_the_hardest_thinking_is_a_number_of_tokens_too() -> None:
    traits = Traits(thinks=True, efforts=("max",), thinking="budget")
    assert config(ask(effort="max"), traits)["thinkingConfig"]["thinkingBudget"] == 3000


def test_a_model_that_does_not_think_is_not_asked_to() -> None:
    assert "thinkingConfig" not in config(ask(effort="high"))


def test_a_schema_is_held_or_asked_for_as_json_or_only_told() -> None:
    marks = {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 9}, "maxItems": 5}
    held = config(ask(schema={"type": "object", "properties": {"marks": marks}}))
    assert held["responseMimeType"] == "application/json"
    told = {"type": "array", "items": marks["items"], "description": "(maxItems: 5)"}
    assert held["responseJsonSchema"] == {"type": "object", "properties": {"marks": told}}
    loose = config(ask(schema={}), Traits(schema="json"))
    assert loose["responseMimeType"] == "application/json"
    assert "responseJsonSchema" not in loose
    assert "responseMimeType" not in config(ask(schema={}), Traits(schema="words"))
