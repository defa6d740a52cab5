"""`moot models test`: two tiny questions to a model, through the same provider that a debate would use.

The first asks for a sentence, the second for JSON, as a judge is asked. What came back says what works here:
whether it answers, shows its thoughts, reports what it used, can be referred to, keeps to a schema.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from time import monotonic
from typing import Any, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from moot.cli.error_messages import ENDED, FAILED
from moot.cli.render.output import Page, row, shorten, table
from moot.cli.render.price_list import rates
from moot.cli.render.progress import bar
from moot.core.errors import Fault, FaultKind
from moot.core.events import Narrated
from moot.core.pricing import cost
from moot.core.terms import Message, Model, Request, Usage
from moot.engine.arena import Arena
from moot.engine.call import Deadlines, listen
from moot.engine.call_result import Heard
from moot.models.registry import Providers
from moot.providers.contract import Traits
from moot.providers.endpoints import how_to_key
from moot.providers.keys import FILE
from moot.views.safe_text import line

FEW, FEW_AND_THOUGHTS = 64, 2048
MOST_BYTES = 64 * 1024
SHAPE: dict[str, Any] = {
    "type": "object",
    "properties": {"colour": {"type": "string"}, "letters": {"type": "integer"}},
    "required": ["colour", "letters"],
    "additionalProperties": False,
}


class Shape(Struct, forbid_unknown_fields=True):
    colour: str
    letters: int


class Line(Struct, frozen=True):
    state: Literal["good", "note", "bad"]
    what: str
    how: str


async def out(arena: Arena, name: str) -> int:
    """Print what works; returns the exit code."""
    page = Page.out()
    model = arena.model(name)
    with bar() as report:
        await arena.providers.prepare([model], report)
    traits = arena.providers.traits(model.provider, model.name)
    page.line((model.label, "bold"))
    lines: list[Line] = []
    trouble: Fault | None = None
    try:
        heard, shown = await _ask(arena, greeting(model, traits))
        lines += about(heard, model, traits, shown=shown)
        lines.append(await _structured(arena, model, traits))
    except Fault as fault:
        fault.concerning(model.label)
        lines.append(Line("bad", "JSON" if lines else "answer", str(fault)))
        trouble = fault
    _show(page, lines)
    for todo in advice(trouble, arena.providers, model) if trouble else ():
        page.line("  ", todo)
    return FAILED if any(one.state == "bad" for one in lines) else ENDED


# --- what is asked ------------------------------------------------------------------------------------


def greeting(model: Model, traits: Traits) -> Request:
    return Request(
        model=model,
        instructions="You are being tried out. Answer with one short sentence.",
        messages=(Message("user", "What colour is the sky on a clear day?"),),
        max_tokens=_few(model, traits),
    )


def form(model: Model, traits: Traits) -> Request:
    return Request(
        model=model,
        instructions='Answer with JSON alone, such as {"colour": "green", "letters": 5}.',
        messages=(Message("user", "What colour is the sky on a clear day? How many letters has the word?"),),
        max_tokens=_few(model, traits),
        schema=SHAPE,
    )


def _few(model: Model, traits: Traits) -> int:
    return min(model.max_tokens, FEW_AND_THOUGHTS if traits.thinks else FEW)


async def _ask(arena: Arena, request: Request) -> tuple[Heard, bool]:
    """What came back, and whether the service was willing to show its thoughts."""
    try:
        return await _listen(arena, request), True
    except Fault as fault:
        if fault.kind != "summary_refused":
            raise
        return await _listen(arena, replace(request, thoughts=False)), False


async def _listen(arena: Arena, request: Request) -> Heard:
    provider = arena.providers.get(request.model.provider)
    pace = arena.settings.pace
    await provider.prepare(request.model)
    async with provider.admit(request.model):
        heard = Heard(started=monotonic())
        deadlines = Deadlines(pace.first_byte, pace.between_bytes, 0)
        await listen(provider, request, 0, heard, _unheard, deadlines, MOST_BYTES)
    return heard


async def _unheard(_events: Sequence[Narrated]) -> None:
    """Nothing of this goes into a log."""


async def _structured(arena: Arena, model: Model, traits: Traits) -> Line:
    told = "a schema" if traits.schema == "strict" else "JSON" if traits.schema == "json" else "words alone"
    try:
        heard, _ = await _ask(arena, form(model, traits))
    except Fault as fault:
        if fault.kind == "schema_refused":
            return Line("note", "JSON", "a schema is refused: judges are asked in words alone")
        raise
    try:
        msgspec.json.decode(heard.text.strip(), type=Shape)
    except msgspec.DecodeError:
        return Line("note", "JSON", f"not kept to, by {told}: {shorten(heard.text, 60)!r}")
    return Line("good", "JSON", f"kept to, by {told}")


# --- what came of it ----------------------------------------------------------------------------------


def about(heard: Heard, model: Model, traits: Traits, *, shown: bool = True) -> Iterator[Line]:
    done = heard.done
    finish = done.finish if done else "unknown"
    began = f", the first word after {heard.first_token_ms} ms" if heard.first_token_ms is not None else ""
    yield Line("good", "answer", f"in {heard.latency_ms} ms{began}")
    if heard.text.strip():
        yield Line("good", "text", shorten(heard.text, 60))
    else:
        yield Line("bad", "text", f"none; it ended with {finish}")
    yield _reasoning(heard, traits, shown)
    yield _usage(done.usage if done else None)
    yield _chaining(heard, traits)
    yield _price(model, done.usage if done else None)


def _reasoning(heard: Heard, traits: Traits, shown: bool) -> Line:
    if not shown:
        return Line("note", "reasoning", "the service does not show it to this account")
    if heard.reasoning.strip():
        return Line("good", "reasoning", f"shown, {len(heard.reasoning)} characters")
    thought = heard.done.usage.reasoning if heard.done and heard.done.usage else 0
    if thought:
        return Line("note", "reasoning", f"{thought} tokens, not shown")
    return Line("note", "reasoning", "none shown" if traits.thinks else "none")


def _chaining(heard: Heard, traits: Traits) -> Line:
    if not traits.chaining:
        return Line("note", "chaining", "none here: the whole history is sent each time")
    if not heard.response_id:
        return Line("note", "chaining", "it gave no response id: the whole history will be sent")
    if heard.done is None or not heard.done.stored:
        return Line("note", "chaining", "it stores no response: the whole history will be sent")
    return Line("good", "chaining", "it gave a response id")


def _usage(usage: Usage | None) -> Line:
    if usage is None:
        return Line("note", "usage", "not reported: costs will be estimated")
    cached = f", {usage.cached} of them cached" if usage.cached else ""
    return Line("good", "usage", f"{usage.input} tokens in{cached}, {usage.output} out")


def _price(model: Model, usage: Usage | None) -> Line:
    if model.price is None:
        return Line("note", "price", f'unknown; [prices."{model.label}"] in {FILE} can tell it')
    spent = cost(model.price, usage) if usage else None
    told = f"; this answer cost ${spent:f}" if spent else ""
    into, outof = rates(model.price)
    return Line("good", "price", f"${into} in, ${outof} out per million tokens{told}")


def _show(page: Page, lines: list[Line]) -> None:
    marks = {"good": ("✓", "green"), "note": ("·", "dim"), "bad": ("✗", "bold red")}
    made = table("", "", "")
    made.show_header = False
    for one in lines:
        row(made, marks[one.state], (one.what, "bold"), one.how)
    page.table(made)


# --- what to do about a fault -------------------------------------------------------------------------

ADVICE: dict[FaultKind, str] = {
    "bad_key": "The key: {key}. Is it the right one, for this service and whole?",
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
    "malformed": "Does {url} ({variable}) really speak {family}?",
    "bad_request": "Does {url} ({variable}) really speak {family}, and does this model take it?",
    "disconnected": "Is something between here and {url} that breaks connections off?",
}

OURS: tuple[FaultKind, ...] = (
    "unreachable", "timeout", "stalled", "disconnected", "tls", "malformed", "crashed", "empty",
)  # fmt: skip
"""What these tell in detail are not the words of the service, but what became of the call."""


def advice(fault: Fault, providers: Providers, model: Model) -> Iterator[str]:
    endpoint = providers.endpoints.get(model.provider)
    if fault.kind in ADVICE and endpoint is not None:
        key = providers.key(endpoint)
        yield ADVICE[fault.kind].format(
            key=f"from {key.source}" if key else f"none. {how_to_key(endpoint)}",
            provider=model.provider,
            url=endpoint.base_url,
            variable=endpoint.url_variable or f"[endpoints.{endpoint.name}] in {FILE}",
            family=endpoint.family,
        )
    if fault.detail:
        ours = fault.kind in OURS and fault.http_status is None
        yield f"{'In detail' if ours else 'The service says'}: {line(fault.detail)}"
    if fault.http_status:
        yield f"It answered with HTTP {fault.http_status}."
    if fault.request_id:
        yield f"Its name for this request: {fault.request_id}"
