"""The setup of a debate: every model checked and priced, and defaults for what was left open."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from msgspec.structs import replace

from moot import formats
from moot.core.choices import Effort, Verbosity
from moot.core.errors import Invalid
from moot.core.setup_table import added_fields
from moot.core.state import Debate
from moot.core.terms import KEPT_BESIDE_OURS, Format, Judge, Model, ModelPrice, Money, Seat
from moot.judging.recusal import judge_bias
from moot.models.registry import ProviderRegistry
from moot.providers.prices import price_of, service_tier_price
from moot.rules.debate_setup import (
    JudgeSetup,
    SeatSetup,
    Setup,
    judge_problems,
    make_judges,
    with_default_criteria,
)
from moot.settings import Settings


class SetupResolver:
    def __init__(self, settings: Settings, providers: ProviderRegistry, *, needs_keys: bool = True) -> None:
        self._settings = settings
        self._providers = providers
        self._needs_keys = needs_keys

    async def setup(
        self,
        motion: str,
        *,
        format: str | Format = "free",
        models: Sequence[str | Model] = (),
        model: str | Model | None = None,
        judge: str | Model | None = None,
        judges: Sequence[str | Model | JudgeSetup] = (),
        seats: Sequence[SeatSetup] = (),
        cost_limit: Decimal | float | str | None = None,
        warn_at: Decimal | float | str | None = None,
        **options: Any,
    ) -> Setup:
        """Return a `Setup` with defaults and checked models.

        `model` is for all seats, `models` has one for each; the same model judges unless `judge` or `judges`
        say otherwise. The model `human` is a person; `judge="none"` means no verdict. Further options are the
        fields of `Setup` and the settings of extensions. Raises `Invalid` for unknown models or formats.
        """
        added = {field.name: field for field in added_fields()}
        if unknown := [name for name in KEPT_BESIDE_OURS if name in options and name not in added]:
            raise TypeError(f"Unexpected keyword argument {unknown[0]!r}")
        own = {
            name: options.pop(name)
            for name, field in added.items()
            if field.in_extensions and name in options
        }
        fmt = format if isinstance(format, Format) else formats.load(format, self._settings.formats)
        seats = seats or await self._seats(fmt, models, model)
        for each in (each for seat in seats for each in (seat.model, seat.stand_in) if each):
            self._providers.check(each)
        named = [*([judge] if judge else ()), *judges]
        if not named and fmt.result not in ("summary", "none"):
            base = self.model(model) if model else None
            named = [base if base and not base.human else await self._impartial_judge(seats)]
        return Setup(
            motion=motion,
            format=fmt,
            seats=tuple(seats),
            judges=() if judge == "none" else tuple(map(self._judge, named)),
            cost_limit=money(cost_limit),
            warn_at=money(warn_at),
            extensions=own,
            **options,
        )

    def panel(
        self, debate: Debate, judges: Sequence[str | Model | JudgeSetup], criteria: tuple[str, ...]
    ) -> tuple[Judge, ...]:
        """The judges named; those of the debate where only the criteria change; empty: as before."""
        setups = with_default_criteria([self._judge(each) for each in judges], debate.format)
        problems = {field: [problem] for field, problem in judge_problems(setups)}
        if problems:
            raise Invalid("Invalid panel of judges.", problems)
        named = make_judges(setups, [f"judge_{index + 1}" for index in range(len(setups))])
        if not criteria:
            return named
        return tuple(replace(judge, criteria=criteria, weights={}) for judge in named or debate.panel)

    def model(
        self, name: str | Model, *, effort: Effort | None = None, verbosity: Verbosity | None = None
    ) -> Model:
        """Return the model of this name (`provider/model`), checked and with its price. Raises `Invalid`."""
        model = self._providers.model(name, needs_key=self._needs_keys) if isinstance(name, str) else name
        model = replace(model, effort=effort or model.effort, verbosity=verbosity or model.verbosity)
        self._providers.check(model)
        if model.price is None:
            model = replace(model, price=self.price(model.provider, model.name))
        return self._with_tier_price(model)

    def _with_tier_price(self, model: Model) -> Model:
        """With what it costs at the service tier that it is asked for, where that is known."""
        tier = model.service_tier
        if not tier or model.price is None:
            return model
        price = service_tier_price(model.provider, model.name, tier, self._settings.prices)
        return replace(model, price=replace(model.price, service_tiers=((tier, price),) if price else ()))

    def price(self, provider: str, model: str) -> ModelPrice | None:
        """The price in `moot.toml`, else zero for local services, else that of the price list."""
        endpoint = self._providers.endpoints.get(provider)
        own = endpoint is not None and endpoint.local
        return price_of(provider, model, self._settings.prices, free=own)

    async def _seats(
        self, fmt: Format, models: Sequence[str | Model], model: str | Model | None
    ) -> tuple[SeatSetup, ...]:
        chosen = [self.model(name) for name in models]
        if len(chosen) < len(fmt.chairs):
            base = self.model(model) if model else await self._default_model(chosen)
            chosen += [base] * (len(fmt.chairs) - len(chosen))
        return tuple(SeatSetup(model=each) for each in chosen)

    def _judge(self, judge: str | Model | JudgeSetup) -> JudgeSetup:
        return judge if isinstance(judge, JudgeSetup) else JudgeSetup(model=self.model(judge))

    async def _default_model(self, named: Sequence[Model]) -> Model:
        """The first model among those named, else the default."""
        first = next((model for model in named if not model.human), None)
        return first or self.model(await self._providers.default_model())

    async def _impartial_judge(self, seats: Sequence[SeatSetup]) -> Model:
        """The default judge: a model of no speaker's family (or of all speakers') if one is usable, else the
        first speaker's model."""
        speakers = [Seat(str(index), seat.name, "neutral", seat.model) for index, seat in enumerate(seats)]
        usual = await self._default_model([seat.model for seat in seats])
        # How hard a seat is told to think is its own affair.
        usual = replace(usual, effort=None, verbosity=None)
        if not judge_bias(speakers, usual):
            return usual
        for available in await self._providers.usable():
            if (
                available.usable
                and available.proven
                and available.kind in ("key", "server")
                and not available.name.endswith("/")
            ):
                model = self.model(available.name)
                if not (model.small or judge_bias(speakers, model)):
                    return model
        return usual


def check_priced(judges: Sequence[Judge]) -> None:
    unknown = sorted({judge.model.label for judge in judges if judge.model.price is None})
    if unknown:
        problem = f"The price of {', '.join(unknown)} is not known, so a limit cannot be held"
        raise Invalid(f"{problem}; price it in moot.toml.", {"costLimit": [problem]})


def money(value: Decimal | float | str | None) -> Money | None:
    if value is None:
        return None
    try:
        return Money(str(value))
    except ArithmeticError as error:
        raise Invalid(f"{value!r} is not an amount of money.") from error
