"""What is known about models, as data: context and output, whether a model thinks, and what it refuses.

A rule matches a model's name without the maker's prefix: `openai/gpt-5.1` at OpenRouter is the same model as
`gpt-5.1` at OpenAI. The first match counts. Its facts about the model hold wherever it is served; its options
(effort, verbosity, schema) only at the endpoints that the rule names. A model without a rule has the traits
of its endpoint: unknown names are always allowed.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from moot.core.choices import Effort
from moot.core.terms import Model, ModelPrice
from moot.providers import prices
from moot.providers.contract import MODEL_SERVERS, Traits

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo

OUTPUT_TOKENS, THINKING_OUTPUT_TOKENS = 4096, 16384
"""Output tokens of a speech; those of thinking count too."""
LOCAL_OUTPUT_TOKENS = 700
"""Output tokens of a model on one's own machine: a speech on a laptop should not take minutes."""

OPENAI, ANTHROPIC, GOOGLE, MISTRAL = ("openai",), ("anthropic",), ("google",), ("mistral",)
GROQ, DEEPSEEK, XAI = ("groq",), ("deepseek",), ("xai",)
OPEN_MODEL_HOSTS = ("groq", "vllm")

LMH: tuple[Effort, ...] = ("low", "medium", "high")
LMHX: tuple[Effort, ...] = (*LMH, "xhigh")
MLMH: tuple[Effort, ...] = ("minimal", *LMH)
NLMH: tuple[Effort, ...] = ("none", *LMH)
NLMHX: tuple[Effort, ...] = ("none", *LMHX)
TO_MAX: tuple[Effort, ...] = (*LMHX, "max")
NONE_TO_MAX: tuple[Effort, ...] = ("none", *TO_MAX)
ALL: tuple[Effort, ...] = ("none", "minimal", *TO_MAX)

EFFORT_TRANSLATORS: dict[str, tuple[Effort, ...]] = {"openrouter": ALL, "ollama": NLMH, "lmstudio": NLMH}
"""These accept an effort for any model, and translate it."""


class ModelRule(Struct, frozen=True):
    pattern: str
    """A regular expression for the beginning of the name."""
    at: tuple[str, ...] = ()
    """The endpoints at which the options of this rule hold."""
    context: int | None = None
    output: int | None = None
    thinks: bool = False
    thinking: Literal["effort", "budget"] = "effort"
    sampling: bool = True
    efforts: tuple[Effort, ...] = ()
    verbosity: bool = False
    schema: Literal["strict", "json", "words"] | None = None


def _chat_model(names: str, context: int | None = None, output: int | None = None, **more: Any) -> ModelRule:
    return ModelRule(names, context=context, output=output, **more)


def _gpt(
    names: str, context: int, efforts: tuple[Effort, ...], output: int = 128_000, **more: Any
) -> ModelRule:
    """OpenAI's reasoning models refuse a temperature."""
    fields: dict[str, Any] = {"verbosity": True, "sampling": False, **more}
    return ModelRule(names, OPENAI, context, output, thinks=True, efforts=efforts, **fields)


def _claude(names: str, efforts: tuple[Effort, ...], **more: Any) -> ModelRule:
    fields: dict[str, Any] = {"context": 1_000_000, "output": 128_000, "sampling": False, **more}
    return ModelRule(names, ANTHROPIC, thinks=True, efforts=efforts, **fields)


def _gemini(names: str, efforts: tuple[Effort, ...], **more: Any) -> ModelRule:
    fields: dict[str, Any] = {"sampling": False, **more}
    return ModelRule(names, GOOGLE, 1_048_576, 65_536, thinks=True, efforts=efforts, **fields)


def _reasoning_model(
    names: str, at: tuple[str, ...] = (), context: int | None = None, **more: Any
) -> ModelRule:
    return ModelRule(names, at, context, thinks=True, **more)


RULES = (
    # OpenAI
    _chat_model(r"gpt-5(\.\d)?-chat|gpt-chat|chat-latest", 128_000, 16_384, sampling=False),
    _gpt(r"gpt-5-pro", 400_000, ("high",), 272_000),
    _gpt(r"gpt-5\.[23]-pro", 400_000, ("medium", "high", "xhigh")),
    _gpt(r"gpt-5\.\d-pro", 1_050_000, ("medium", "high", "xhigh")),
    _gpt(r"gpt-5\.(1-codex-max|[2-9]-codex)", 400_000, LMHX, verbosity=False),
    _gpt(r"gpt-5(\.1)?-codex", 400_000, LMH, verbosity=False),
    _gpt(r"gpt-5(-mini|-nano)?(?!\.)", 400_000, MLMH),
    _gpt(r"gpt-5\.1", 400_000, NLMH),
    _gpt(r"gpt-5\.([23]|4-mini|4-nano)", 400_000, NLMHX),
    _gpt(r"gpt-5\.[45]", 1_050_000, NLMHX),
    _gpt(r"gpt-6-astra|gpt-6\.1-sol", 1_050_000, TO_MAX),
    _gpt(r"gpt-(5\.|6)", 1_050_000, NONE_TO_MAX),
    _gpt(r"gpt-([7-9]|\d\d)", 1_050_000, LMH),
    _gpt(r"o1-(mini|preview)", 128_000, (), 65_536, verbosity=False),
    _gpt(r"o[134](-|$)|codex-mini", 200_000, LMH, 100_000, verbosity=False),
    _reasoning_model(r"gpt-oss-safeguard", OPEN_MODEL_HOSTS, 131_072, output=65_536, efforts=LMH),
    _reasoning_model(r"gpt-oss", OPEN_MODEL_HOSTS, 131_072, output=65_536, efforts=LMH, schema="strict"),
    _chat_model(r"gpt-4\.1", 1_047_576, 32_768),
    _chat_model(r"(chat)?gpt-4o", 128_000, 16_384),
    _chat_model(r"gpt-[34]"),
    # Anthropic
    _claude(r"claude-(haiku|opus|sonnet)-5(?![-.]5)|claude-haiku-5", NONE_TO_MAX),
    _claude(r"claude-(fable|mythos|opus|sonnet)-5", TO_MAX),
    _claude(r"claude-opus-4[-.][78]", NONE_TO_MAX),
    _claude(r"claude-(opus|sonnet)-4[-.]6", (*NLMH, "max"), sampling=True),
    _claude(
        r"claude-(opus|sonnet|haiku)-4[-.]5",
        NLMH, context=200_000, output=64_000, thinking="budget", sampling=True,
    ),
    _claude(
        r"claude-(opus|sonnet)-4|claude-4|claude-3[-.]7",
        NLMH, context=200_000, output=32_000, thinking="budget", sampling=True, schema="words",
    ),
    _chat_model(r"claude-(\d|v1|instant)", 200_000, 4096, at=ANTHROPIC, schema="words"),
    _claude(r"claude", LMH, context=200_000, output=64_000),
    # Google
    _gemini(r"gemini-3\.[78]-flash", LMH),
    _gemini(r"gemini-3(\.1)?-pro", LMH, sampling=True),
    _gemini(r"gemini-3\.5-flash-lite", MLMH),
    _gemini(r"gemini-3(\.[15])?-flash", MLMH, sampling=True),
    _gemini(r"gemini-3\.\d-flash", MLMH),
    _gemini(r"gemini-2\.5-pro", LMH, thinking="budget", sampling=True),
    _gemini(r"gemini-2\.5", NLMH, thinking="budget", sampling=True),
    _chat_model(r"gemini-(1|2\.0|pro$|flash-1|pro-1)", 1_048_576, 8192),
    _gemini(r"gemini", LMH),
    _chat_model(r"gemma-4", 262_144),
    _chat_model(r"gemma"),
    # Mistral
    _reasoning_model(r"magistral", context=131_072),
    _reasoning_model(r"mistral-large-4", MISTRAL, 1_048_576, efforts=NLMH),
    _reasoning_model(
        r"mistral-(small-(latest|4|26)|medium-(latest|3[-.]5|26))",
        MISTRAL, 262_144, efforts=("none", "high"),
    ),
    _chat_model(r"mistral|ministral|mixtral|pixtral|open-mi|devstral|codestral"),
    # xAI
    _chat_model(r"grok-.*non-reasoning", 1_000_000),
    _reasoning_model(r"grok-4\.7", XAI, 500_000, efforts=LMHX),
    _reasoning_model(r"grok-4\.[56]", XAI, 500_000, efforts=LMH),
    _reasoning_model(r"grok-4\.3|grok-latest", XAI, 1_000_000, output=30_000, efforts=NLMH),
    _reasoning_model(r"grok-4\.20", context=1_000_000),
    _reasoning_model(r"grok-4|grok-code|grok-build", context=256_000),
    _reasoning_model(r"grok-3-mini", XAI, 131_072, efforts=("low", "high")),
    _chat_model(r"grok-[23]", 131_072),
    # DeepSeek
    _reasoning_model(
        r"deepseek-v4-pro", DEEPSEEK, 1_000_000, output=393_216, efforts=("none", "high", "max")
    ),
    _reasoning_model(
        r"deepseek-(v4|flash)",
        DEEPSEEK, 1_000_000, output=393_216, efforts=("none", "low", "high", "max"),
    ),
    _reasoning_model(r"deepseek-(reasoner|r1)", context=131_072, output=65_536),
    _chat_model(r"deepseek", 131_072, 8192),
    # Others, wherever they are served
    _chat_model(r"qwen-?3.*(instruct|coder)", 131_072),
    _reasoning_model(r"qwen-?3\.8-27b", GROQ, 131_072, output=16_384, efforts=("none",), schema="strict"),
    _reasoning_model(r"qwen-?3\.6-27b", GROQ, 131_072, output=16_384, efforts=("none",)),
    _reasoning_model(r"qwen-?3|qwq", GROQ, 131_072, output=40_960, efforts=("none",)),
    _chat_model(r"qwen"),
    _chat_model(r"(meta-)?llama-?3\.[123]", 131_072),
    _chat_model(r"(meta-)?llama"),
    _reasoning_model(r"kimi-.*think|kimi-k2\.[5-9]|kimi-k[3-9]", context=262_144),
    _chat_model(r"kimi", 131_072, 16_384),
    _reasoning_model(r"glm-(4\.[5-9]|[5-9])|minimax-m", context=200_000),
)  # fmt: skip
_COMPILED_RULES = tuple((re.compile(rule.pattern), rule) for rule in RULES)


@lru_cache(maxsize=1024)
def refine(endpoint: str, model: str, traits: Traits) -> Traits:
    """What this model can do at this endpoint, whose general traits are `traits`."""
    rule = rule_for(model)
    if rule is None:
        return replace(traits, efforts=ALL) if endpoint == "openrouter" else traits
    traits = replace(traits, thinks=rule.thinks, thinking=rule.thinking, sampling=rule.sampling)
    # The context of a model on one's own server is set when the server is started.
    if endpoint not in MODEL_SERVERS:
        traits = replace(traits, context=rule.context, output=rule.output)
    if endpoint in rule.at:
        schema = rule.schema or traits.schema
        return replace(traits, efforts=rule.efforts, verbosity=rule.verbosity, schema=schema)
    if not rule.thinks:
        return traits
    verbosity = endpoint == "openrouter" and rule.verbosity
    return replace(traits, efforts=EFFORT_TRANSLATORS.get(endpoint, traits.efforts), verbosity=verbosity)


def rule_for(model: str) -> ModelRule | None:
    name = model.lower().rsplit("/", 1)[-1]
    return next((rule for names, rule in _COMPILED_RULES if names.match(name)), None)


def may_think(model: str, traits: Traits) -> bool:
    """Whether it reasons before it answers, or is not known."""
    return traits.thinks or rule_for(model) is None


def with_traits(provider: str, model: str, traits: Traits) -> Model:
    """The model as a debate records it: with what it can do and how many tokens a speech may have."""
    return Model(
        provider,
        model,
        max_tokens=default_max_tokens(traits) if traits.deadlines else LOCAL_OUTPUT_TOKENS,
        small=traits.small,
        thinks=may_think(model, traits),
        answers=traits.answers,
    )


def default_max_tokens(traits: Traits) -> int:
    """How many output tokens a speech may have; a model that thinks needs more."""
    tokens = THINKING_OUTPUT_TOKENS if traits.thinks else OUTPUT_TOKENS
    return min(tokens, traits.output or tokens)


# --- the catalogue ------------------------------------------------------------------------------------

NOT_FOR_CHAT = re.compile(
    r"embed|tts|whisper|transcri|audio|image|realtime|[-_]live|moderation|ocr|voxtral|guard|orpheus|voice|voyage"
    r"|robotics|banana|omni|computer-use|deep-research|davinci|babbage|ada\b|curie|turbo-instruct|ft[:-]|search"
    r"|:batch|:extended|cyber|rosalind|rerank|multi-agent|-fim|lyria|veo|imagen|translat|-vision"
)
RETIRED = {
    "openai": re.compile(r"gpt-3|gpt-4(-|$|\.5|\.1-nano|o-2024-05)|chatgpt|o1|o3-mini|o4|codex-mini|gpt-oss"),
    "anthropic": re.compile(r"claude-(\d|v1)|claude-(opus|sonnet)-4-[01]"),
    "google": re.compile(r"claude|gemini-(1|2|pro|flash-1)|gemma-[23]"),
    "groq": re.compile(r"llama-?[23]|gemma|mixtral|mistral|deepseek"),
    "xai": re.compile(r"grok-([23]|4-|code)"),
    "deepseek": re.compile(r"deepseek-(chat|reasoner|v3)"),
}
"""Still in the price list, but no longer served there, or not in the way we ask."""


class KnownModel(Struct, frozen=True):
    """One model of the catalogue."""

    provider: str
    name: str
    title: str
    traits: Traits
    price: ModelPrice | None

    @property
    def label(self) -> str:
        return f"{self.provider}/{self.name}"


def catalogue(endpoint: str, traits: Traits = Traits()) -> tuple[KnownModel, ...]:  # noqa: B008 - frozen
    """The models of this endpoint in the price list that can debate, by name."""
    rows = [
        _known_model(endpoint, listed, traits)
        for listed in prices.listed_models(endpoint)
        if _can_debate(endpoint, listed)
    ]
    return tuple(sorted((row for row in rows if row.price is not None), key=lambda row: row.name))


def _can_debate(endpoint: str, listed: ModelInfo) -> bool:
    retired = RETIRED.get(endpoint)
    return not (
        listed.deprecated
        or NOT_FOR_CHAT.search(listed.id)
        or (retired is not None and retired.match(listed.id))
    )


def _known_model(endpoint: str, listed: ModelInfo, traits: Traits) -> KnownModel:
    refined = refine(endpoint, listed.id, traits)
    refined = replace(refined, context=refined.context or listed.context_window)
    price = prices.price_of(endpoint, listed.id)
    return KnownModel(endpoint, listed.id, listed.name or "", refined, price)
