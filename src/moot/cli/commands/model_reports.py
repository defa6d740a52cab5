"""What is known of models: `moot models test` tries one, `moot models --prices` lists what they cost.

A test sends two small requests through the provider that a debate would use: one for a sentence, one for JSON
as a judge gets it. The replies show what works: text, reasoning, usage, chaining, schemas.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from time import monotonic
from typing import Any, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from moot.cli.error_messages import ENDED, FAILED
from moot.cli.render.output import Terminal, add_row, make_table, shorten
from moot.cli.render.progress import install_bar
from moot.core.errors import Fault, FaultKind, Invalid
from moot.core.pricing import cost
from moot.core.terms import ChatMessage, Model, ModelPrice, PriceTier, Request, Usage
from moot.engine.arena import Arena
from moot.engine.call import CallResult, stream_call
from moot.engine.text_writer import TextWriter
from moot.models.registry import ProviderRegistry
from moot.providers.contract import Traits
from moot.providers.endpoints import Endpoint, key_hint, traits_of
from moot.providers.keys import SETTINGS_FILE
from moot.providers.known_models import KnownModel, catalogue
from moot.providers.prices import genai_prices_version
from moot.store.contract import AppendStreamed
from moot.views.text import single_line

FEW_TOKENS, FEW_WITH_REASONING = 64, 2048
MOST_BYTES = 64 * 1024
REPLY_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"colour": {"type": "string"}, "letters": {"type": "integer"}},
    "required": ["colour", "letters"],
    "additionalProperties": False,
}


class ColourReply(Struct, forbid_unknown_fields=True):
    colour: str
    letters: int


class ModelTestRow(Struct, frozen=True):
    state: Literal["good", "note", "bad"]
    what: str
    detail: str


async def run_model_test(arena: Arena, name: str) -> int:
    """Print what works, and return the exit code."""
    terminal = Terminal.out()
    model = arena.model(name)
    with install_bar() as report:
        await arena.providers.prepare([model], report)
    traits = arena.providers.traits(model.provider, model.name)
    terminal.line((model.label, "bold"))
    lines: list[ModelTestRow] = []
    trouble: Fault | None = None
    try:
        result, reasoning_shown = await _ask(arena, text_request(model, traits))
        lines += result_rows(result, model, traits, reasoning_shown=reasoning_shown)
        lines.append(await _structured(arena, model, traits))
    except Fault as fault:
        fault.name_model(model.label)
        lines.append(ModelTestRow("bad", "JSON" if lines else "answer", str(fault)))
        trouble = fault
    _show(terminal, lines)
    for todo in advice(trouble, arena.providers, model) if trouble else ():
        terminal.line("  ", todo)
    return FAILED if any(one.state == "bad" for one in lines) else ENDED


# --- the requests -------------------------------------------------------------------------------------


def text_request(model: Model, traits: Traits) -> Request:
    return Request(
        model=model,
        instructions="You are being tried out. Answer with one short sentence.",
        messages=(ChatMessage("user", "What colour is the sky on a clear day?"),),
        max_tokens=_few(model, traits),
    )


def json_request(model: Model, traits: Traits) -> Request:
    return Request(
        model=model,
        instructions='Answer with JSON alone, such as {"colour": "green", "letters": 5}.',
        messages=(
            ChatMessage("user", "What colour is the sky on a clear day? How many letters has the word?"),
        ),
        max_tokens=_few(model, traits),
        schema=REPLY_SCHEMA,
    )


def _few(model: Model, traits: Traits) -> int:
    return min(model.max_tokens, FEW_WITH_REASONING if traits.thinks else FEW_TOKENS)


async def _ask(arena: Arena, request: Request) -> tuple[CallResult, bool]:
    """Return the result, and whether the service agreed to show reasoning."""
    try:
        return await _listen(arena, request), True
    except Fault as fault:
        if fault.kind != "summary_refused":
            raise
        return await _listen(arena, replace(request, thoughts=False)), False


async def _listen(arena: Arena, request: Request) -> CallResult:
    provider = arena.providers.get(request.model.provider)
    await provider.prepare(request.model)
    async with provider.admit(request.model):
        result = CallResult(started=monotonic())
        buffer = TextWriter(_discard, tick=0).open_buffer("", 0)
        await stream_call(provider, request, result, buffer, arena.settings.pace, MOST_BYTES)
    return result


def _discard(requests: Sequence[AppendStreamed]) -> None:
    """A test is written to no log."""
    for request in requests:
        request.reply.set_result(None)


async def _structured(arena: Arena, model: Model, traits: Traits) -> ModelTestRow:
    held_by = (
        "a schema" if traits.schema == "strict" else "JSON" if traits.schema == "json" else "words alone"
    )
    try:
        result, _ = await _ask(arena, json_request(model, traits))
    except Fault as fault:
        if fault.kind == "schema_refused":
            return ModelTestRow("note", "JSON", "a schema is refused: judges are asked in words alone")
        raise
    try:
        msgspec.json.decode(result.text.strip(), type=ColourReply)
    except msgspec.DecodeError:
        return ModelTestRow("note", "JSON", f"not kept to, by {held_by}: {shorten(result.text, 60)!r}")
    return ModelTestRow("good", "JSON", f"kept to, by {held_by}")


# --- the report ---------------------------------------------------------------------------------------


def result_rows(
    reply: CallResult, model: Model, traits: Traits, *, reasoning_shown: bool = True
) -> Iterator[ModelTestRow]:
    done = reply.done
    finish = done.finish if done else "unknown"
    began = f", the first word after {reply.first_token_ms} ms" if reply.first_token_ms is not None else ""
    yield ModelTestRow("good", "answer", f"in {reply.latency_ms} ms{began}")
    if reply.text.strip():
        yield ModelTestRow("good", "text", shorten(reply.text, 60))
    else:
        yield ModelTestRow("bad", "text", f"none; it ended with {finish}")
    yield _reasoning(reply, traits, reasoning_shown)
    yield _usage(done.usage if done else None)
    yield _chaining(reply, traits)
    yield _price(model, done.usage if done else None)


def _reasoning(reply: CallResult, traits: Traits, reasoning_shown: bool) -> ModelTestRow:
    if not reasoning_shown:
        return ModelTestRow("note", "reasoning", "the service does not show it to this account")
    if reply.reasoning.strip():
        return ModelTestRow("good", "reasoning", f"shown, {len(reply.reasoning)} characters")
    thought = reply.done.usage.reasoning if reply.done and reply.done.usage else 0
    if thought:
        return ModelTestRow("note", "reasoning", f"{thought} tokens, not shown")
    return ModelTestRow("note", "reasoning", "none shown" if traits.thinks else "none")


def _chaining(reply: CallResult, traits: Traits) -> ModelTestRow:
    if not traits.chaining:
        return ModelTestRow("note", "chaining", "none here: the whole history is sent each time")
    if not reply.response_id:
        return ModelTestRow("note", "chaining", "it gave no response id: the whole history will be sent")
    if reply.done is None or not reply.done.stored:
        return ModelTestRow("note", "chaining", "it stores no response: the whole history will be sent")
    return ModelTestRow("good", "chaining", "it gave a response id")


def _usage(usage: Usage | None) -> ModelTestRow:
    if usage is None:
        return ModelTestRow("note", "usage", "not reported: costs will be estimated")
    cached = f", {usage.cached} of them cached" if usage.cached else ""
    return ModelTestRow("good", "usage", f"{usage.input} tokens in{cached}, {usage.output} out")


def _price(model: Model, usage: Usage | None) -> ModelTestRow:
    if model.price is None:
        return ModelTestRow(
            "note", "price", f'unknown; [prices."{model.label}"] in {SETTINGS_FILE} can tell it'
        )
    spent = cost(model.price, usage) if usage else None
    spent_text = f"; this answer cost ${spent:f}" if spent else ""
    into, outof = rates(model.price)
    return ModelTestRow("good", "price", f"${into} in, ${outof} out per million tokens{spent_text}")


def _show(terminal: Terminal, lines: list[ModelTestRow]) -> None:
    marks = {"good": ("✓", "green"), "note": ("·", "dim"), "bad": ("✗", "bold red")}
    table = make_table("", "", "")
    table.show_header = False
    for one in lines:
        add_row(table, marks[one.state], (one.what, "bold"), one.detail)
    terminal.table(table)


# --- what to do about a fault -------------------------------------------------------------------------

ADVICE: dict[FaultKind, str] = {
    "bad_key": "The key: {key}. Check that the key is complete and belongs to this service.",
    "forbidden": "The key: {key}. It may not be good for this model, or not from here.",
    "billing": "The key: {key}. Look at the account that it belongs to.",
    "unknown_model": "moot models --prices {provider} lists some that there are.",
    "unreachable": "Is {url} right ({variable}), and is the network or a proxy in the way?",
    "timeout": "Is {url} right ({variable})? MOOT_FIRST_BYTE_S sets how long to wait.",
    "stalled": "MOOT_BETWEEN_BYTES_S sets how long to wait.",
    "rate_limited": "Wait a while. [limits.{provider}] in moot.toml makes Moot ask less often.",
    "overloaded": "Wait a while.",
    "server_error": "Wait a while, or try another model.",
    "tls": "Is {url} right ({variable})? Its certificate is not trusted here.",
    "redirected": "Set {variable} to where the service really is; {url} sends us elsewhere.",
    "malformed": "Does {url} ({variable}) really speak {wire_format}?",
    "bad_request": "Does {url} ({variable}) really speak {wire_format}, and does this model take it?",
    "disconnected": "Is something between here and {url} that breaks connections off?",
}

CONNECTION_FAULTS: tuple[FaultKind, ...] = (
    "unreachable", "timeout", "stalled", "disconnected", "tls", "malformed", "crashed", "empty",
)  # fmt: skip
"""The details of these faults are not words of the service, but what happened to the call."""


def advice(fault: Fault, providers: ProviderRegistry, model: Model) -> Iterator[str]:
    endpoint = providers.endpoints.get(model.provider)
    if fault.kind in ADVICE and endpoint is not None:
        key = providers.key(endpoint)
        yield ADVICE[fault.kind].format(
            key=f"from {key.source}" if key else f"none. {key_hint(endpoint)}",
            provider=model.provider,
            url=endpoint.base_url,
            variable=endpoint.url_variable or f"[endpoints.{endpoint.name}] in {SETTINGS_FILE}",
            wire_format=endpoint.wire_format,
        )
    if fault.detail:
        ours = fault.kind in CONNECTION_FAULTS and fault.http_status is None
        yield f"{'In detail' if ours else 'The service says'}: {single_line(fault.detail)}"
    if fault.http_status:
        yield f"It answered with HTTP {fault.http_status}."
    if fault.request_id:
        yield f"Its name for this request: {fault.request_id}"


MAX_SHOWN = 150
"""A provider with more models is listed only when it is named."""


def print_prices(arena: Arena, provider: str | None) -> int:
    terminal = Terminal.out()
    endpoints = arena.providers.endpoints
    if provider is not None and provider not in endpoints:
        raise Invalid(f"There is no provider called {provider!r}. Known: {', '.join(endpoints)}.")
    listed = {
        name: [_here(arena, endpoint, one) for one in catalogue(name)]
        for name, endpoint in endpoints.items()
        if provider in (None, name)
    }
    models = [one for rows in listed.values() if provider or len(rows) <= MAX_SHOWN for one in rows]
    own = arena.settings.prices
    if models:
        _print_price_table(terminal, models)
        terminal.line("")
    for name, rows in listed.items():
        if not provider and len(rows) > MAX_SHOWN:
            terminal.line(f"  {len(rows)} more at {name}: ", (f"moot models --prices {name}", "bold"))
    for label, price in own.items():
        terminal.line(f"  moot.toml: {label}, in {_rate(price.input)}, out {_rate(price.output)}")
    if provider is not None and endpoints[provider].local and f"{provider}/*" not in own:
        terminal.line(f"  The models of {provider} cost nothing. `moot models` lists those that are here.")
        return 0
    if not models:
        terminal.line(f"  No price list knows the models of {provider}; moot.toml can: docs/providers.md.")
        return 0
    terminal.line(f"  US dollars per million tokens, from genai-prices {genai_prices_version()}.")
    terminal.line("  + is dearer for long prompts. Other models work too: their price is unknown.")
    return 0


def _here(arena: Arena, endpoint: Endpoint, known: KnownModel) -> KnownModel:
    """Return the model with the price and traits of the settings, where they name some."""
    can = traits_of(endpoint, known.name)
    can = replace(can, context=can.context or known.traits.context)
    return replace(known, traits=can, price=arena.price(known.provider, known.name))


def _print_price_table(terminal: Terminal, rows: list[KnownModel]) -> None:
    table = make_table("model", "reads", "says", "in", "out", "")
    for column in range(5):
        table.columns[column].no_wrap = True
        table.columns[column].justify = "left" if column == 0 else "right"
    for known in rows:
        can = known.traits
        add_row(
            table,
            (known.label, "bold"),
            token_text(can.context),
            token_text(can.output),
            *rates(known.price),
            (abilities(can), "dim"),
        )
    terminal.table(table)


def token_text(count: int | None) -> str:
    if count is None:
        return "?"
    return f"{count / 1e6:.2g}M" if count >= 1_000_000 else f"{count / 1000:.0f}k"


def rates(price: ModelPrice | None) -> tuple[str, str]:
    return (_rate(price.input), _rate(price.output)) if price else ("unknown", "unknown")


def _rate(tiers: tuple[PriceTier, ...]) -> str:
    """In dollars, with cents at least."""
    first = tiers[0].per_million.normalize()
    price = f"{first:.2f}" if first == round(first, 2) else f"{first:f}"
    return f"{price}+" if len(tiers) > 1 else price


def abilities(can: Traits) -> str:
    parts = (
        _thinking(can),
        "verbosity" if can.verbosity else "",
        {"strict": "JSON schema", "json": "JSON", "words": ""}[can.schema],
        "chains" if can.chaining else "",
        "" if can.sampling else "no temperature",
    )
    return ", ".join(part for part in parts if part)


def _thinking(can: Traits) -> str:
    if not can.thinks:
        return ""
    return f"thinks ({' '.join(can.efforts)})" if can.efforts else "thinks"
