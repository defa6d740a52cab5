"""Cheaper tiers of a service: who has them, how they are asked for, and what a call at one costs."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from moot.core.errors import Invalid
from moot.core.pricing import cost, worst_cost
from moot.core.terms import ChatMessage, Model, ModelPrice, Request, Usage
from moot.engine.call import CallResult
from moot.engine.call_records import call_completed
from moot.models.registry import ProviderRegistry
from moot.providers.contract import ReplyDone
from moot.providers.endpoints import BUILT_IN, traits_of
from moot.providers.prices import flat_price, price_of, service_tier_price
from moot.providers.wire_formats import load_wire_format

USAGE = Usage(input=1_000_000, output=1_000_000)
FLEX = Model("openai", "gpt-6-luna", service_tier="flex")


def request_to(label: str, tier: str) -> Request:
    provider, name = label.split("/", 1)
    return Request(Model(provider, name, service_tier=tier), "Argue.", (ChatMessage("user", "Go."),), 100)


def body(request: Request) -> dict[str, Any]:
    endpoint = BUILT_IN[request.model.provider]
    wire_format = load_wire_format(endpoint.wire_format, endpoint.accent)
    return wire_format.body(request, traits_of(endpoint, request.model.name))


@pytest.mark.parametrize(
    "label", ["openai/gpt-6-luna", "google/gemini-3.8-flash", "groq/qwen-3", "openrouter/openai/gpt-6-luna"]
)
def test_the_tier_is_sent_where_the_service_has_it_and_only_if_asked_for(label: str) -> None:
    assert body(request_to(label, "flex"))["service_tier"] == "flex"
    assert "service_tier" not in body(request_to(label, ""))


@pytest.mark.parametrize("label", ["anthropic/claude-haiku-5-5", "mistral/mistral-small-latest"])
def test_a_service_without_the_tier_is_never_sent_it(label: str) -> None:
    assert "service_tier" not in body(request_to(label, "flex"))


@pytest.mark.parametrize(
    ("label", "events"),
    [
        ("openai/gpt-6-luna", [
            {"type": "response.completed", "response": {"id": "r", "status": "completed", "output": [],
             "service_tier": "flex", "usage": {"input_tokens": 1, "output_tokens": 1}}},
        ]),
        ("groq/qwen-3", [
            {"id": "c", "choices": [{"index": 0, "delta": {"content": "So."}, "finish_reason": "stop"}]},
            {"id": "c", "choices": [], "service_tier": "flex", "usage": {"prompt_tokens": 1}},
        ]),
        ("google/gemini-3.8-flash", [
            {"candidates": [{"content": {"parts": [{"text": "So."}]}, "finishReason": "STOP"}],
             "usageMetadata": {"promptTokenCount": 1, "serviceTier": "FLEX"}},
        ]),
    ],
)  # fmt: skip
def test_the_tier_that_answered_is_read_from_the_reply(label: str, events: list[dict[str, Any]]) -> None:
    request = request_to(label, "flex")
    endpoint = BUILT_IN[request.model.provider]
    wire_format = load_wire_format(endpoint.wire_format, endpoint.accent)
    decoder = wire_format.decoder(request, traits_of(endpoint, request.model.name))
    for event in events:
        decoder.feed(f"data: {json.dumps(event)}\n\n".encode())
    done = decoder.end()[-1]
    assert isinstance(done, ReplyDone)
    assert done.service_tier == "flex"


def priced(model: Model) -> Model:
    usual, flex = flat_price(Decimal(2), Decimal(4)), flat_price(Decimal(1), Decimal(2))
    return replace(model, price=replace(usual, service_tiers=(("flex", flex),)))


@pytest.mark.parametrize(
    ("answered", "amount"), [("flex", 3), ("default", 6), ("", 6)], ids=["flex", "usual", "untold"]
)
def test_a_call_costs_what_the_tier_that_answered_costs(answered: str, amount: int) -> None:
    model = priced(FLEX)
    request = replace(request_to("openai/gpt-6-luna", "flex"), model=model)
    completed = call_completed(
        request, CallResult(done=ReplyDone(usage=USAGE, service_tier=answered)), ended=True
    )
    assert (completed.cost, completed.service_tier) == (Decimal(amount), answered)
    assert worst_cost(model.price, 1_000_000, 1_000_000) == Decimal(6), "reserved is the usual price"


def test_without_a_tier_in_the_request_none_is_recorded() -> None:
    request = request_to("openai/gpt-6-luna", "")
    done = ReplyDone(usage=USAGE, service_tier="default")
    assert call_completed(request, CallResult(done=done), ended=True).service_tier == ""


@pytest.mark.parametrize("label", ["openai/gpt-6-luna", "google/gemini-3.8-flash"])
def test_flex_is_known_to_cost_half(label: str) -> None:
    usual, flex = price_of(*label.split("/")), service_tier_price(*label.split("/"), "flex")
    assert isinstance(flex, ModelPrice)
    assert cost(flex, USAGE) == (cost(usual, USAGE) or Decimal(0)) / 2


def test_a_price_of_ones_own_holds_for_every_tier() -> None:
    own = {"openai/gpt-6-luna": flat_price(Decimal(1), Decimal(1))}
    assert service_tier_price("openai", "gpt-6-luna", "flex", own) is None


@pytest.mark.parametrize(
    ("label", "tier"),
    [("openai/gpt-4.1", "flex"), ("openai/gpt-6-luna", "priority"), ("anthropic/claude-haiku-5-5", "flex")],
)
def test_a_tier_that_a_model_does_not_have_is_refused_without_a_key(
    label: str, tier: str, tmp_path: Path
) -> None:
    registry = ProviderRegistry({}, models=tmp_path, environ={})
    model = registry.model(label, needs_key=False)
    with pytest.raises(Invalid, match=f"{label} is not known to have the service tier {tier}"):
        registry.check(replace(model, service_tier=tier))


def test_a_tier_that_a_model_has_is_taken_without_a_key(tmp_path: Path) -> None:
    registry = ProviderRegistry({}, models=tmp_path, environ={})
    registry.check(replace(registry.model("openai/gpt-6-luna", needs_key=False), service_tier="flex"))
