"""The chat-completions dialect: what is sent, what is read, and every way it can go wrong."""

from __future__ import annotations

from typing import Any

import pytest

from moot.core.choices import Effort
from moot.core.terms import ChatMessage, Model, Request
from moot.providers.contract import Traits
from moot.providers.wire_formats import openai_chat_request
from moot.providers.wire_formats.openai_chat_request import Accent
from tests.providers.wire_formats.openai_chat_calls import ask


def body(request: Request, *, prefill: bool = False) -> dict[str, Any]:
    return openai_chat_request.body(Accent(), request, Traits(prefill=prefill))


# --- what is sent -------------------------------------------------------------------------------------


def test_a_request_in_this_dialect() -> None:
    sent = body(ask(seed=3, stop=("\n",)))
    assert sent["messages"] == [
        {"role": "system", "content": "Argue."},
        {"role": "user", "content": "Go."},
    ]
    assert (sent["model"], sent["max_tokens"], sent["temperature"]) == ("m", 50, 0.5)
    assert (sent["seed"], sent["stop"]) == (3, ["\n"])
    assert sent["stream"] is True
    assert sent["stream_options"] == {"include_usage": True}


def test_a_prefill_is_a_last_assistant_message_where_the_server_continues_it() -> None:
    request = ask(prefill="I say")
    assert body(request, prefill=True)["messages"][-1] == {"role": "assistant", "content": "I say"}
    assert body(request)["messages"][-1]["role"] == "user"


def test_messages_of_one_role_in_a_row_become_one() -> None:
    request = ask(
        messages=(ChatMessage("user", "a"), ChatMessage("user", "b"), ChatMessage("assistant", "c"))
    )
    assert [message["content"] for message in body(request)["messages"]] == ["Argue.", "a\n\nb", "c"]


def test_a_schema_is_asked_for_strictly() -> None:
    shape = body(ask(schema={"type": "object"}))["response_format"]
    assert shape["json_schema"] == {"name": "reply", "strict": True, "schema": {"type": "object"}}


def test_where_a_schema_cannot_be_held_to_json_is_asked_for_or_nothing() -> None:
    request = ask(schema={"type": "object"})
    plain = openai_chat_request.body(Accent(), request, Traits(schema="json"))
    assert plain["response_format"] == {"type": "json_object"}
    assert "response_format" not in openai_chat_request.body(Accent(), request, Traits(schema="words"))


def test_a_model_that_takes_no_sampling_is_given_none() -> None:
    sent = openai_chat_request.body(Accent(), ask(seed=3, stop=("\n",)), Traits(sampling=False))
    assert not {"temperature", "seed", "stop"} & set(sent)


# --- accents ------------------------------------------------------------------------------------------


def accented(name: str, request: Request, **traits: Any) -> dict[str, Any]:
    return openai_chat_request.body(openai_chat_request.ACCENTS[name], request, Traits(**traits))


@pytest.mark.parametrize("name", openai_chat_request.ACCENTS)
def test_every_accent_says_the_same_things(name: str) -> None:
    sent = accented(name, ask())
    assert sent["stream"] is True
    assert 50 in (sent.get("max_tokens"), sent.get("max_completion_tokens"))
    assert "reasoning_effort" not in sent


def test_mistral_refuses_what_it_does_not_know() -> None:
    sent = accented("mistral", ask(seed=3, prefill="I say"), prefill=True)
    assert set(sent) == {"model", "messages", "max_tokens", "stream", "temperature", "random_seed"}
    assert sent["messages"][-1] == {"role": "assistant", "content": "I say", "prefix": True}


@pytest.mark.parametrize("name", ["groq", "cerebras"])
def test_where_json_is_not_streamed_it_is_asked_for_whole(name: str) -> None:
    sent = accented(name, ask(schema={"type": "object"}))
    assert sent["stream"] is False
    assert "stream_options" not in sent


@pytest.mark.parametrize(
    ("name", "effort", "part"),
    [
        ("openai", "high", {"reasoning_effort": "high"}),
        ("openrouter", "low", {"reasoning": {"effort": "low"}}),
        ("deepseek", "low", {"reasoning_effort": "low"}),
        ("deepseek", "none", {"thinking": {"type": "disabled"}}),
        ("ollama", "none", {"reasoning_effort": "none"}),
        ("plain", "low", {}),
        ("openai", "xhigh", {}),
    ],
)
def test_an_effort_goes_where_the_service_looks_for_it(
    name: str, effort: Effort, part: dict[str, Any]
) -> None:
    request = ask(model=Model("p", "m", effort=effort))
    sent = accented(name, request, efforts=("none", "low", "high"))
    about = ("reasoning_effort", "reasoning", "thinking")
    assert {key: sent[key] for key in about if key in sent} == part


def test_verbosity_is_told_to_those_who_know_it() -> None:
    request = ask(model=Model("p", "m", verbosity="low"))
    assert accented("openai", request, verbosity=True)["verbosity"] == "low"
    assert "verbosity" not in accented("openai", request)
