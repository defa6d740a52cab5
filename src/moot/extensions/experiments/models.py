"""The models of an experiment before any is called: what is missing to use them, and what cheaper tiers save.

Nothing here needs a key, so an experiment can be planned and priced where it cannot be run yet.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from moot.core.errors import Invalid, Unavailable
from moot.core.pricing import cost
from moot.core.terms import Model, ModelPrice, Money, Usage
from moot.engine.arena import Arena
from moot.extensions.experiments.measuring.model_names import read_name
from moot.models.registry import ProviderRegistry
from moot.providers.prices import service_tier_price
from moot.rules.cost_estimate import CostEstimate, ModelCostEstimate


class TierSaving(Struct, frozen=True):
    """What an experiment would cost less if these models were asked for a cheaper tier."""

    tier: str
    models: tuple[str, ...]
    amount: Money
    share: float
    """Of all that the experiment is expected to cost."""


def contestant(arena: Arena, name: str) -> Model:
    """The model of this name, with the settings that the name tells. Raises Invalid for what its service is
    known to refuse."""
    label, settings = read_name(name)
    model = arena.model(label)
    if name == label:
        return model
    chosen = replace(
        model,
        effort=settings.effort,
        temperature=settings.temperature,
        verbosity=settings.verbosity,
        max_tokens=settings.max_tokens or model.max_tokens,
        own_limit=settings.max_tokens is not None,
        service_tier=settings.service_tier or "",
        alias=name,
    )
    traits = arena.providers.traits(model.provider, model.name)
    if settings.temperature is not None and not traits.sampling:
        raise Invalid(f"{model.label} does not take a temperature.")
    if traits.output is not None and chosen.max_tokens > traits.output:
        raise Invalid(f"{model.label} writes at most {traits.output:,} tokens, not {chosen.max_tokens:,}.")
    return arena.model(chosen)


def check_names(arena: Arena, names: Iterable[str]) -> None:
    """Raises Invalid with everything that is wrong with these names of models, or Unavailable with all that
    is missing to use them."""
    problems, unavailable = list[str](), list[Model]()
    for name in names:
        try:
            contestant(arena, name)
        except Invalid as error:
            problems.append(str(error))
        except Unavailable:
            unavailable.append(arena.providers.model(read_name(name)[0], needs_key=False))
    if problems:
        raise Invalid(" ".join(dict.fromkeys(problems)))
    if unavailable:
        raise Unavailable(" ".join(missing_for(arena.providers, unavailable)))


def missing_for(providers: ProviderRegistry, models: Iterable[Model]) -> tuple[str, ...]:
    """What is missing to call these models, in sentences; none where all can be called."""
    keyless, others = dict[str, list[str]](), list[str]()
    for model in models:
        if not providers.has_key(model.provider):
            keyless.setdefault(model.provider, []).append(model.label)
            continue
        try:
            providers.get(model.provider)
        except Unavailable as error:
            others.append(str(error))
    keys = (_missing_keys(providers, keyless),) if keyless else ()
    return (*keys, *dict.fromkeys(others))


def _missing_keys(providers: ProviderRegistry, keyless: Mapping[str, Sequence[str]]) -> str:
    variables = {name: " or ".join(providers.endpoints[name].keys) for name in keyless}
    listed = ", ".join(
        f"{variables[name]} ({', '.join(dict.fromkeys(labels))})" for name, labels in keyless.items()
    )
    missing = "A key is missing for" if len(keyless) == 1 else "Keys are missing for"
    commands = ", ".join(f"`moot keys set {name}`" for name in keyless)
    place = "the variable" if len(keyless) == 1 else "the variables"
    return f"{missing}: {listed}. Run {commands}, or set {place}."


# --- cheaper tiers ------------------------------------------------------------------------------------

LaidOut = Sequence[tuple[CostEstimate, Money]]
"""Debates that were laid out for an estimate, and how many of the experiment's each of them stands for."""


class TierPrices:
    """What models cost at a cheaper tier of their service: the one that they are asked for, or could be."""

    def __init__(self, arena: Arena, models: Iterable[Model]) -> None:
        self._asked_for: dict[str, tuple[ModelPrice, ModelPrice]] = {}
        self._possible: dict[str, tuple[ModelPrice, ModelPrice]] = {}
        self._tiers = set[str]()
        for model in models:
            tiers = arena.providers.traits(model.provider, model.name).service_tiers
            tier = model.service_tier or next(iter(tiers), "")
            if not tier or model.price is None:
                continue
            cheaper = service_tier_price(model.provider, model.name, tier, arena.settings.prices)
            if cheaper is None:
                continue
            if model.service_tier:
                self._asked_for[model.label] = model.price, cheaper
            else:
                self._possible[model.label] = model.price, cheaper
                self._tiers.add(tier)

    def saved_share(self, laid_out: LaidOut) -> Money:
        """The share of the expected cost that the tiers which are asked for save."""
        expected = _expected(laid_out)
        return _saving(laid_out, self._asked_for) / expected if expected else Money(0)

    def possible(self, laid_out: LaidOut) -> TierSaving | None:
        """What could be saved besides; None where nothing could."""
        amount, expected = _saving(laid_out, self._possible), _expected(laid_out)
        if not amount or not expected:
            return None
        tier, models = " or ".join(sorted(self._tiers)), tuple(sorted(self._possible))
        return TierSaving(tier, models, amount, float(amount / expected))


def _expected(laid_out: LaidOut) -> Money:
    return sum(((found.expected or Money(0)) * times for found, times in laid_out), Money(0))


def _saving(laid_out: LaidOut, prices: Mapping[str, tuple[ModelPrice, ModelPrice]]) -> Money:
    each = (
        _model_saving(model, *prices[model.model]) * times
        for found, times in laid_out
        for model in found.models
        if model.model in prices
    )
    return sum(each, Money(0))


def _model_saving(model: ModelCostEstimate, usual: ModelPrice, cheaper: ModelPrice) -> Money:
    usage = Usage(input=model.input.low, output=model.output.low)
    before, after = cost(usual, usage), cost(cheaper, usage)
    if not before or after is None or model.expected is None:
        return Money(0)
    return model.expected * (1 - after / before)
