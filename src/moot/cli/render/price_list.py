"""`moot models --prices`: the catalogue, with what each model can read, say, do and costs."""

from __future__ import annotations

from msgspec.structs import replace

from moot.cli.render.output import Terminal, add_row, make_table
from moot.core.errors import Invalid
from moot.core.terms import Price, PriceTier
from moot.engine.arena import Arena
from moot.providers.contract import Traits
from moot.providers.endpoints import Endpoint, traits_of
from moot.providers.known_models import KnownModel, catalogue
from moot.providers.prices import genai_prices_version

MAX_SHOWN = 150
"""A provider with more models is shown only where it is asked for by name."""


def print_prices(arena: Arena, provider: str | None) -> int:
    terminal = Terminal.out()
    endpoints = arena.providers.endpoints
    if provider is not None and provider not in endpoints:
        raise Invalid(f"There is no provider called {provider!r}. Try one of: {', '.join(endpoints)}.")
    listed = {
        name: [_here(arena, endpoint, one) for one in catalogue(name)]
        for name, endpoint in endpoints.items()
        if provider in (None, name)
    }
    shown = [one for rows in listed.values() if provider or len(rows) <= MAX_SHOWN for one in rows]
    own = arena.settings.prices
    if shown:
        _table(terminal, shown)
        terminal.line("")
    for name, rows in listed.items():
        if not provider and len(rows) > MAX_SHOWN:
            terminal.line(f"  {len(rows)} more at {name}: ", (f"moot models --prices {name}", "bold"))
    for label, price in own.items():
        terminal.line(f"  moot.toml: {label}, in {_rate(price.input)}, out {_rate(price.output)}")
    if provider is not None and endpoints[provider].local and f"{provider}/*" not in own:
        terminal.line(f"  The models of {provider} cost nothing. `moot models` lists those that are here.")
        return 0
    if not shown:
        terminal.line(f"  No price list knows the models of {provider}; moot.toml can: docs/providers.md.")
        return 0
    terminal.line(f"  US dollars per million tokens, from genai-prices {genai_prices_version()}.")
    terminal.line("  + is dearer for long prompts. Other models work too: their price is unknown.")
    return 0


def _here(arena: Arena, endpoint: Endpoint, known: KnownModel) -> KnownModel:
    """As it would be used here: what the operator has written down comes first."""
    can = traits_of(endpoint, known.name)
    can = replace(can, context=can.context or known.traits.context)
    return replace(known, traits=can, price=arena.price(known.provider, known.name))


def _table(terminal: Terminal, rows: list[KnownModel]) -> None:
    made = make_table("model", "reads", "says", "in", "out", "")
    for column in range(5):
        made.columns[column].no_wrap = True
        made.columns[column].justify = "left" if column == 0 else "right"
    for known in rows:
        can = known.traits
        add_row(
            made,
            (known.label, "bold"),
            token_text(can.context),
            token_text(can.output),
            *rates(known.price),
            (abilities(can), "dim"),
        )
    terminal.table(made)


def token_text(count: int | None) -> str:
    if count is None:
        return "?"
    return f"{count / 1e6:.2g}M" if count >= 1_000_000 else f"{count / 1000:.0f}k"


def rates(price: Price | None) -> tuple[str, str]:
    return (_rate(price.input), _rate(price.output)) if price else ("unknown", "unknown")


def _rate(tiers: tuple[PriceTier, ...]) -> str:
    """In dollars, with cents at least."""
    first = tiers[0].per_million.normalize()
    shown = f"{first:.2f}" if first == round(first, 2) else f"{first:f}"
    return f"{shown}+" if len(tiers) > 1 else shown


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
