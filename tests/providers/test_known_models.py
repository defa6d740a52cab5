"""What is known about models: their limits, their dials and their prices."""

from __future__ import annotations

import re

import pytest

from moot.core.choices import Effort
from moot.providers.contract import Traits
from moot.providers.endpoints import ENDPOINTS, Endpoint
from moot.providers.known_models import RULES, catalogue, default_max_tokens, refine, rule_for

CHAINED = Traits(chaining=True)


@pytest.mark.parametrize(
    ("endpoint", "model", "efforts", "sampling"),
    [
        ("openai", "gpt-5-mini", "minimal low medium high", False),
        ("openai", "gpt-5-mini-2025-08-07", "minimal low medium high", False),
        ("openai", "gpt-5.1", "none low medium high", False),
        ("openai", "gpt-5-pro", "high", False),
        ("openai", "gpt-5.4-mini", "none low medium high xhigh", False),
        ("openai", "gpt-6-astra", "low medium high xhigh max", False),
        ("openai", "gpt-6-luna", "none low medium high xhigh max", False),
        ("openai", "o3", "low medium high", False),
        ("openai", "gpt-4o-2024-08-06", "", True),
        ("openai", "gpt-4.1-mini", "", True),
        ("anthropic", "claude-sonnet-5-5", "low medium high xhigh max", False),
        ("anthropic", "claude-opus-5-20260724", "none low medium high xhigh max", False),
        ("anthropic", "claude-sonnet-4-5-20250929", "none low medium high", True),
        ("anthropic", "claude-of-tomorrow", "low medium high", False),
        ("google", "gemini-3.8-flash", "low medium high", False),
        ("google", "models/gemini-2.5-flash", "none low medium high", True),
        ("mistral", "mistral-small-latest", "none high", True),
        ("mistral", "magistral-medium-latest", "", True),
        ("groq", "openai/gpt-oss-120b", "low medium high", True),
        ("groq", "qwen/qwen3-32b", "none", True),
        ("xai", "grok-4.3", "none low medium high", True),
        ("deepseek", "deepseek-flash", "none low high max", True),
        ("ollama", "gpt-oss:20b", "none low medium high", True),
        ("ollama", "llama3.2", "", True),
        ("openrouter", "anthropic/claude-sonnet-4.5", "none minimal low medium high xhigh max", True),
        ("openrouter", "openai/gpt-4o", "", True),
    ],
)
def test_what_a_model_takes(endpoint: str, model: str, efforts: str, sampling: bool) -> None:
    can = refine(endpoint, model, Traits())
    assert " ".join(can.efforts) == efforts
    assert can.sampling is sampling


def test_a_model_keeps_what_its_endpoint_can_do() -> None:
    can = refine("openai", "gpt-6-luna", Traits(chaining=True, prefill=True))
    assert can.chaining
    assert can.prefill
    assert refine("openai", "something-else", CHAINED) == CHAINED


def test_a_dial_is_there_only_where_the_endpoint_has_it() -> None:
    assert refine("openai", "gpt-6-luna", Traits()).verbosity
    assert refine("openrouter", "openai/gpt-6-luna", Traits()).verbosity
    elsewhere = refine("mine", "gpt-6-luna", Traits())
    assert (elsewhere.thinks, elsewhere.efforts, elsewhere.verbosity) == (True, (), False)


def test_how_much_a_server_reads_is_not_known_from_the_model() -> None:
    assert refine("groq", "openai/gpt-oss-20b", Traits()).context == 131_072
    assert refine("ollama", "gpt-oss:20b", Traits()).context is None


def test_older_models_are_told_in_tokens_how_hard_to_think() -> None:
    assert refine("anthropic", "claude-haiku-4-5", Traits()).thinking == "budget"
    assert refine("anthropic", "claude-haiku-5-5", Traits()).thinking == "effort"
    assert refine("google", "gemini-2.5-pro", Traits()).thinking == "budget"


def test_only_some_models_of_groq_keep_to_a_schema() -> None:
    general = Traits(schema="json")
    assert refine("groq", "openai/gpt-oss-120b", general).schema == "strict"
    assert refine("groq", "llama-3.3-70b-versatile", general).schema == "json"


def test_a_model_that_thinks_gets_room_for_it() -> None:
    assert default_max_tokens(refine("openai", "gpt-6-luna", CHAINED)) == 16_384
    assert default_max_tokens(refine("openai", "gpt-4o", CHAINED)) == 4096
    assert default_max_tokens(refine("groq", "qwen/qwen3.8-27b", Traits())) == 16_384
    assert default_max_tokens(Traits(thinks=True, output=9000)) == 9000
    assert default_max_tokens(Traits(output=2000)) == 2000


def test_every_rule_is_reached_by_its_first_words() -> None:
    assert all(re.compile(rule.pattern) for rule in RULES)
    assert rule_for("a-model-of-tomorrow") is None


# --- the catalogue ------------------------------------------------------------------------------------


@pytest.mark.parametrize("endpoint", [one for one in ENDPOINTS if not one.local], ids=lambda one: one.name)
def test_the_catalogue_has_speakers_with_prices(endpoint: Endpoint) -> None:
    rows = catalogue(endpoint.name, endpoint.traits)
    assert endpoint.model in {row.name for row in rows}
    for row in rows:
        assert row.price is not None
        assert not re.search(r"embed|whisper|tts|image|realtime", row.name)


def test_the_catalogue_leaves_out_what_others_serve_and_what_is_gone() -> None:
    assert {row.name.split("-")[0] for row in catalogue("google")} == {"gemini", "gemma"}
    assert not {"gpt-3.5-turbo", "gpt-4", "o1"} & {row.name for row in catalogue("openai")}


def test_a_provider_without_a_list_has_an_empty_catalogue() -> None:
    assert catalogue("mine") == ()
    assert catalogue("ollama") == ()


def test_all_efforts_of_the_rules_are_words_of_the_vocabulary() -> None:
    words = set(Effort.__args__)
    assert all(set(rule.efforts) <= words for rule in RULES)
