"""Usage to money, in exact decimals: what a call cost, the most it can cost, and how much it may say.

The worst case of a call is reserved before it is made. Its input is bounded by the most tokens that its text
can have (`token_bounds.py`), its output by the limit sent along. Where that does not fit the money left, the
output limit is lowered, but never below what its words and the usual reasoning need.

Without a cost limit a model may use all its output tokens. With one, it gets no more than its speech or
ballot needs: the words of its budget with a margin, in tokens of the motion's script, and room for the
reasoning of a model that may reason. A limit set by the user (`maxTokens`) stays as it is unless the money
forces less, and a model that costs nothing is not limited.
"""

from __future__ import annotations

from decimal import ROUND_FLOOR, Decimal
from math import ceil

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from moot.core.choices import Effort
from moot.core.state import Debate
from moot.core.terms import (
    Model,
    ModelPrice,
    Money,
    PriceTier,
    Reasoning,
    Request,
    Segment,
    Text,
    ToolCall,
    ToolResult,
    UnknownItem,
    Usage,
)
from moot.core.token_bounds import most_tokens
from moot.core.word_count import OVERRUN_FACTOR, quarter_tokens, tokens

ZERO = Money(0)
MILLION = Decimal(1_000_000)
MESSAGE_OVERHEAD = 64
"""Tokens that a service may add to a request, and again for each message."""
TOOLS_OVERHEAD, HOSTED_TOOL_OVERHEAD = 1024, 4096
"""Tokens of a service's own prompt about tools, and about each of its own tools."""
MIN_OUTPUT_TOKENS = 48
"""A call that could say less than this is not worth making."""
MOST_CHARS, MOST_BYTES = 7, 8
"""A token is hardly ever longer than these, in characters of a reply or in bytes of a request."""
LATIN, OTHER = 2.5, 5.0
"""Tokens a word: 1.4 in English, 2.5 in Finnish, 3.5 in Russian, 5 in Hindi, up to 4 in Chinese, where two
characters count as a word."""
LATIN_QUARTERS = 1.25
"""Up to so many quarters of tokens a character, a text counts as written in Latin letters."""
LEAST_SPEECH = 128
THOUGHTS: dict[Effort | None, int] = {
    None: 4096, "none": 0, "minimal": 512, "low": 1024, "medium": 4096, "high": 8192, "xhigh": 12288,
    "max": 16384,
}  # fmt: skip
"""The most tokens for reasoning by effort; None: the model's default."""
USUAL_THOUGHTS: dict[Effort | None, int] = {
    None: 1024, "none": 0, "minimal": 128, "low": 384, "medium": 1024, "high": 3072, "xhigh": 6144,
    "max": 8192,
}  # fmt: skip
"""Tokens of reasoning that are expected of a call, until the model has shown what it uses."""
PLAN_MARGIN = 1.3
"""Plans are made for so many times what is expected."""
BALLOT, BALLOT_PARTY, BALLOT_CRITERION = 700, 200, 100
"""Tokens of a ballot in a Latin script: its reasoning, what it says of each party, and of each criterion."""


class CountRange(Struct, frozen=True):
    # The fewest and the most calls or tokens of a debate. (A docstring would be sent in the API description.)
    low: int
    high: int


class AvailableMoney(Struct, frozen=True):
    """What a call may cost: `most` is all that is free for it, `beside_plan` leaves the rest of the debate
    its money too."""

    most: Money
    beside_plan: Money


class Grant(Struct, frozen=True):
    """Permission to make a call: at most so many output tokens, at most so much money."""

    max_tokens: int
    reserved: Money | None


def cost(price: ModelPrice | None, usage: Usage, service_tier: str = "") -> Money | None:
    """What this usage costs, answered at this tier; None where the price is unknown."""
    if price is None:
        return None
    price = price.at(service_tier) if service_tier else price
    fresh = max(0, usage.input - usage.cached - usage.cache_write)
    cached = price.cached_input or price.input
    written = price.cache_write or price.input
    total = (
        _rate(price.input, usage.input) * fresh
        + _rate(cached, usage.input) * usage.cached
        + _rate(written, usage.input) * usage.cache_write
        + _rate(price.output, usage.input) * usage.output
    )
    return total / MILLION + price.per_call


def worst_cost(price: ModelPrice | None, input_bound: int, max_tokens: int) -> Money | None:
    """The most a call can cost, whichever tier and cache rate it falls under."""
    if price is None:
        return None
    dearest = max(
        _highest_rate(price.input), _highest_rate(price.cached_input), _highest_rate(price.cache_write)
    )
    return (dearest * input_bound + _highest_rate(price.output) * max_tokens) / MILLION + price.per_call


def grant(
    price: ModelPrice | None, bound: int, max_tokens: int, least: int, available: AvailableMoney | None
) -> Grant | None:
    """As many output tokens as fit beside all that is planned; where those would be fewer than `least`, that
    many, from what is only planned. None where not even these fit."""
    full = worst_cost(price, bound, max_tokens)
    if available is None or full is None or full <= available.beside_plan:
        return Grant(max_tokens, full)
    least = max(1, min(least, max_tokens))
    base = worst_cost(price, bound, 0) or ZERO
    each = (full - base) / max_tokens
    beside_plan, most = (
        max_tokens if room >= base and not each else _fitting(room - base, each)
        for room in (available.beside_plan, available.most)
    )
    fits = max(beside_plan, min(least, most))
    return Grant(fits, worst_cost(price, bound, fits)) if fits >= least else None


def _fitting(room: Money, each: Money) -> int:
    """How many tokens at this price fit."""
    if room < 0 or each <= 0:
        return 0
    return int((room / each).to_integral_value(ROUND_FLOOR))


def least_tokens(text: int, thoughts: float, max_tokens: int) -> int:
    """The fewest output tokens with which a call is made: all of its text, and the reasoning it is expected
    to take, with a margin."""
    return min(max_tokens, max(MIN_OUTPUT_TOKENS, text + ceil(PLAN_MARGIN * thoughts)))


def usual_thoughts(model: Model) -> int:
    return USUAL_THOUGHTS[model.effort] if model.thinks else 0


def input_bound(request: Request) -> int:
    """No service can count more input tokens than this."""
    texts = [*_words(request), *(str(tool.schema) for tool in request.tools)]
    text = sum(most_tokens(text, request.model) for text in texts)
    shape = most_tokens(str(request.schema), request.model) if request.schema else 0
    sealed = sum(len(thought.data) for message in request.messages for thought in message.sealed)
    pieces = 2 + len(request.messages) + len(request.tools) + len(request.hosted) + len(request.exchange)
    tools = HOSTED_TOOL_OVERHEAD * len(request.hosted) + (TOOLS_OVERHEAD if request.tools else 0)
    extra = sum(non_text_bytes(segment) for segment in request.exchange)
    return text + shape + sealed + tools + extra + MESSAGE_OVERHEAD * pieces


def text_bytes(request: Request) -> int:
    """Bytes of the text alone."""
    return sum(len(text.encode()) for text in _words(request))


def sent_tokens(request: Request) -> int:
    """Estimated tokens of the text."""
    return sum(tokens(text) for text in _words(request))


def _words(request: Request) -> tuple[str, ...]:
    return (
        request.instructions,
        request.prefill,
        *(message.content for message in request.messages),
        *(f"{tool.name}{tool.description}" for tool in request.tools),
        *(segment.text for segment in request.exchange if isinstance(segment, Text | Reasoning)),
        *(segment.output for segment in request.exchange if isinstance(segment, ToolResult)),
    )


def non_text_bytes(segment: Segment) -> int:
    """Bytes that go back to a provider beside the text: tool calls, results and encrypted reasoning."""
    match segment:
        case ToolCall():
            text = f"{segment.name}{segment.arguments}{segment.output}{segment.error}"
            return len(text.encode()) + len(segment.opaque)
        case ToolResult():
            return len(f"{segment.output}{segment.error}".encode())
        case Reasoning():
            return len(segment.opaque)
        case UnknownItem():
            return len(msgspec.json.encode(segment.item))
        case _:
            return 0


def estimate_usage(sent: int, written: int, thought: int = 0) -> Usage:
    """An estimate where nothing was reported, marked as one."""
    return Usage(input=sent, output=written + thought, reasoning=thought, estimated=True)


def plausible_usage(usage: Usage | None, guess: Usage, sent_bytes: int, said_chars: int) -> Usage:
    """The reported usage where it is possible for so many bytes sent and characters received; else the larger
    figures, marked as suspect."""
    if usage is None:
        return guess
    numbers = (usage.input, usage.output, usage.reasoning, usage.cached, usage.cache_write)
    absurd = any(n < 0 or n > 100_000_000 for n in numbers)
    if absurd:
        return Usage(guess.input, guess.output, guess.reasoning, estimated=True, suspect=True)
    too_little = usage.output * MOST_CHARS < said_chars
    too_short = usage.input * MOST_BYTES < sent_bytes
    return replace(at_least(usage, guess), suspect=True) if too_little or too_short else usage


def at_least(usage: Usage, guess: Usage) -> Usage:
    """The larger of each figure, as an estimate."""
    return replace(
        usage,
        input=max(usage.input, guess.input),
        output=max(usage.output, guess.output),
        reasoning=max(usage.reasoning, guess.reasoning),
        estimated=True,
    )


def _rate(tiers: tuple[PriceTier, ...], tokens: int) -> Money:
    for tier in reversed(tiers):
        if tokens >= tier.start:
            return tier.per_million
    return ZERO


def _highest_rate(tiers: tuple[PriceTier, ...]) -> Money:
    return max((tier.per_million for tier in tiers), default=ZERO)


# --- how much a call may say -----------------------------------------------------------------------------


def speech_tokens(debate: Debate, slot: int) -> int:
    """The tokens that the text of this speech needs, without reasoning."""
    words = debate.word_budget(slot) * OVERRUN_FACTOR
    return max(LEAST_SPEECH, ceil(words * _tokens_a_word(debate.motion)))


def speech_token_limit(debate: Debate, slot: int, model: Model) -> int:
    return _held(debate, model, speech_tokens(debate, slot))


def ballot_tokens(debate: Debate, parties: int, criteria: int) -> int:
    """The tokens that a ballot needs, without reasoning."""
    latin = BALLOT + BALLOT_PARTY * parties + BALLOT_CRITERION * criteria
    return ceil(latin * _tokens_a_word(debate.motion) / LATIN)


def ballot_token_limit(debate: Debate, model: Model, parties: int, criteria: int) -> int:
    return _held(debate, model, ballot_tokens(debate, parties, criteria))


def _held(debate: Debate, model: Model, needed: int) -> int:
    free = model.price is None or model.price.free
    if debate.cost_limit is None or free or model.own_limit:
        return model.max_tokens
    return min(model.max_tokens, needed + (THOUGHTS[model.effort] if model.thinks else 0))


def _tokens_a_word(text: str) -> float:
    return LATIN if quarter_tokens(text) <= LATIN_QUARTERS * len(text) else OTHER
