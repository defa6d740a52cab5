"""Replies about the server: its models, providers, formats and tools, and the statistics of its debates.

Discovering models makes requests, and statistics read every debate's summary: both are cached for a few
seconds. Finding the prices of hundreds of models is done in a thread, so that streams are not held up.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Sequence
from functools import cache, partial
from time import monotonic
from typing import Any, TypeVar

from msgspec.structs import replace

from moot import formats
from moot.api.shapes.server_replies import (
    Chair,
    DayFigures,
    FormatPhase,
    FormatsResponse,
    ModelBill,
    ModelsResponse,
    OfferedFormat,
    OfferedModel,
    OfferedProvider,
    OfferedTool,
    Price,
    StatisticsResponse,
    ToolServer,
    ToolsResponse,
    Totals,
)
from moot.api.v1.setup_form import offered_settings
from moot.core.json_types import choose
from moot.core.terms import Format, ModelPrice, Money
from moot.engine.arena import Arena
from moot.models.discovery import AvailableModel
from moot.providers import known_models
from moot.providers.endpoints import key_hint_for_page, traits_of
from moot.providers.redaction import shown_remedy
from moot.store.contract import DebateFilter
from moot.tools.contract import HOSTED, ToolServerInfo
from moot.views.costs import dollars
from moot.views.preview import usual_order
from moot.views.statistics import statistics_from_pages
from moot.views.statistics_tables import Statistics
from moot.views.summary import StoredSummary
from moot.web.provider_status import LOCAL, provider_rows

CACHE_SECONDS = 10.0
MAX_CACHED = 100

T = TypeVar("T")


class ServerInfo:
    def __init__(self, arena: Arena) -> None:
        self._arena = arena
        self._cache: dict[tuple[Hashable, ...], tuple[float, Any]] = {}
        self._loading = asyncio.Lock()

    async def models(self) -> ModelsResponse:
        return await self._load_cached(("models", self._arena.providers.stamp()), self._models)

    async def providers(self) -> tuple[tuple[OfferedProvider, ...], str]:
        """All providers, and the default model."""
        return await self._load_cached(("providers", self._arena.providers.stamp()), self._providers)

    async def formats(self) -> FormatsResponse:
        return await asyncio.to_thread(self._formats)

    async def tools(self) -> ToolsResponse:
        """The tools by the names that a debate allows, without the addresses of their servers."""
        servers = await self._arena.tools.servers()
        return ToolsResponse(servers=tuple(_tool_server(server) for server in servers), hosted=HOSTED)

    def _formats(self) -> FormatsResponse:
        folder = self._arena.settings.formats
        others = formats.names(folder)[len(formats.BUILT_IN) :]
        rows = (_built_in(name) for name in formats.BUILT_IN)
        offered = (*rows, *(_format(formats.load(name, folder)) for name in others))
        return FormatsResponse(formats=offered, settings=offered_settings())

    async def statistics(self, filters: DebateFilter) -> StatisticsResponse:
        async def look() -> StatisticsResponse:
            summaries = self._arena.store.summaries(owner=filters.owner)
            return _statistics(await statistics_from_pages(summaries, partial(_counts, filters)))

        return await self._load_cached(("statistics", filters), look)

    async def _load_cached(self, name: tuple[Hashable, ...], load: Callable[[], Awaitable[T]]) -> T:
        async with self._loading:
            at, reply = self._cache.get(name, (float("-inf"), None))
            if monotonic() - at > CACHE_SECONDS:
                reply = await load()
                self._cache.pop(name, None)
                self._cache[name] = (monotonic(), reply)
            if len(self._cache) > MAX_CACHED:
                del self._cache[next(iter(self._cache))]
            return reply

    async def _models(self) -> ModelsResponse:
        providers = self._arena.providers
        available, default = await providers.usable(), await providers.default_model()
        return await asyncio.to_thread(self._described, available, default)

    def _described(self, usable: Sequence[AvailableModel], default: str) -> ModelsResponse:
        providers = self._arena.providers
        rows: dict[str, OfferedModel] = {}
        for model in usable:
            provider, _, name = model.name.partition("/")
            if name:
                todo = "" if model.usable else shown_remedy(model.todo, "moot doctor")
                row = self._row(provider, name, model.title, todo)
                rows[model.name] = replace(row, install=name if model.kind == "catalogue" else None)
        for endpoint in providers.endpoints.values():
            missing = "" if providers.has_key(endpoint.name) else key_hint_for_page(endpoint)
            for row in known_models.catalogue(endpoint.name):
                rows.setdefault(row.label, self._row(endpoint.name, row.name, row.name, missing))
        for label in self._recommended(default) & rows.keys():
            rows[label] = replace(rows[label], recommended=True)
        return ModelsResponse(models=tuple(rows.values()), default=default)

    def _recommended(self, default: str) -> set[str]:
        """The labels of recommended models: the default, one of each service, and the best local one."""
        providers = self._arena.providers
        unproven = providers.unproven()
        services = {
            f"{one.name}/{one.model}"
            for one in providers.endpoints.values()
            if one.model and one.name not in unproven
        }
        catalogue = providers.model_files.catalogue.values()
        best = max((entry for entry in catalogue if entry.parts), key=lambda entry: entry.parameters)
        of_hub = {f"local/{entry.name}" for entry in catalogue if entry.hub}
        return {default, f"local/{best.name}", *of_hub, *services}

    async def _providers(self) -> tuple[tuple[OfferedProvider, ...], str]:
        providers = self._arena.providers
        rows = await asyncio.to_thread(provider_rows, providers, await providers.usable())
        return rows, await providers.default_model()

    def _row(self, provider: str, name: str, title: str, missing: str) -> OfferedModel:
        endpoint = self._arena.providers.endpoints.get(provider)
        traits = traits_of(endpoint, name) if endpoint else self._arena.providers.traits(provider, name)
        price = self._arena.price(provider, name)
        return OfferedModel(
            provider=provider,
            model_id=name,
            name=title or name,
            available=not missing,
            missing=missing or None,
            price=_price(price),
            price_text=_price_text(price),
            thinks=traits.thinks,
            efforts=tuple(traits.efforts),
            context_tokens=traits.context,
            output_tokens=traits.output,
            local=provider == LOCAL or (endpoint is not None and endpoint.local),
            small=traits.small,
            recommended=False,
            install=None,
        )


def _tool_server(server: ToolServerInfo) -> ToolServer:
    tools = tuple(choose(OfferedTool, tool) for tool in server.tools)
    return choose(ToolServer, server, missing=server.missing or None, tools=tools)


def _price(price: ModelPrice | None) -> Price | None:
    """The price at the first tier."""
    if price is None:
        return None
    return Price(
        input_per_million=float(price.input[0].per_million),
        output_per_million=float(price.output[0].per_million),
    )


def _price_text(price: ModelPrice | None) -> str:
    if price is None:
        return "price unknown"
    input_rate, output_rate = price.input[0].per_million, price.output[0].per_million
    return (
        f"{dollars(input_rate)} / {dollars(output_rate)} per million" if input_rate or output_rate else "free"
    )


@cache
def _built_in(name: str) -> OfferedFormat:
    return _format(formats.load(name))


def _format(fmt: Format) -> OfferedFormat:
    return choose(
        OfferedFormat,
        fmt,
        summary=formats.described(fmt),
        min_participants=max(2, fmt.min_seats),
        max_participants=fmt.max_seats,
        chairs=tuple(choose(Chair, chair, position=chair.side) for chair in fmt.chairs),
        phases=tuple(choose(FormatPhase, phase) for phase in fmt.phases),
        order=usual_order(fmt),
    )


def _counts(filters: DebateFilter, summary: StoredSummary) -> bool:
    """Whether the filters admit the debate. Debates of older versions have no day."""
    return (
        filters.format in ("", summary.format)
        and (filters.since is None or filters.since.isoformat() <= summary.day)
        and (filters.until is None or "" < summary.day <= filters.until.isoformat())
        and (not filters.model or filters.model in summary.model_names())
    )


def _statistics(statistics: Statistics) -> StatisticsResponse:
    return choose(
        StatisticsResponse,
        statistics,
        totals=choose(Totals, statistics.totals, **_cost(statistics.totals.cost)),
        costs=tuple(choose(ModelBill, one, **_cost(one.cost)) for one in statistics.costs),
        days=tuple(choose(DayFigures, one, **_cost(one.cost)) for one in statistics.days),
    )


def _cost(amount: Money | None) -> dict[str, Any]:
    return {"cost": None if amount is None else float(amount), "cost_text": dollars(amount)}
