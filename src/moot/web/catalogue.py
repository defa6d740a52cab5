"""What there is to choose from, and how it went so far: models, formats, statistics.

Looking for models knocks at doors, and statistics read every debate's summary: both are kept for a moment.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Any

from moot import formats
from moot.arena import Arena
from moot.models import known
from moot.providers.endpoints import key_of, traits_of, wants_key
from moot.terms import Format, Phase, Price
from moot.views.statistics import Statistics, gathered

KEPT_SECONDS = 10.0


class Catalogue:
    def __init__(self, arena: Arena) -> None:
        self._arena = arena
        self._kept: dict[tuple[str, str | None], tuple[float, Any]] = {}
        self._looking = asyncio.Lock()

    async def models(self) -> dict[str, Any]:
        return await self._keep(("models", None), self._models)

    def formats(self) -> dict[str, Any]:
        folder = self._arena.settings.formats
        return {"formats": [_format(formats.load(name, folder)) for name in formats.names(folder)]}

    async def statistics(self, owner: str | None) -> dict[str, Any]:
        async def look() -> dict[str, Any]:
            return _statistics(await gathered(self._arena.store.summaries(owner=owner)))

        return await self._keep(("statistics", owner), look)

    async def _keep(
        self, name: tuple[str, str | None], look: Callable[[], Awaitable[dict[str, Any]]]
    ) -> dict[str, Any]:
        async with self._looking:
            at, known_ = self._kept.get(name, (float("-inf"), None))
            if monotonic() - at > KEPT_SECONDS:
                known_ = await look()
                self._kept[name] = (monotonic(), known_)
            return known_

    async def _models(self) -> dict[str, Any]:
        providers = self._arena.providers
        rows: dict[str, dict[str, Any]] = {}
        for found in await providers.usable():
            provider, _, name = found.name.partition("/")
            if name:
                rows[found.name] = self._row(provider, name, found.title, "" if found.usable else found.todo)
        for endpoint in providers.endpoints.values():
            keyless = wants_key(endpoint) and key_of(endpoint, providers.manager.environ, {}) is None
            missing = "" if providers.has_key(endpoint.name) or not keyless else f"Set {endpoint.keys[0]}."
            for row in known.catalogue(endpoint.name):
                rows.setdefault(row.label, self._row(endpoint.name, row.name, row.name, missing))
        return {"models": list(rows.values()), "default": await providers.default_model()}

    def _row(self, provider: str, name: str, title: str, missing: str) -> dict[str, Any]:
        endpoint = self._arena.providers.endpoints.get(provider)
        traits = traits_of(endpoint, name) if endpoint else self._arena.providers.traits(provider, name)
        return {
            "provider": provider,
            "modelId": name,
            "name": title or name,
            "available": not missing,
            "missing": missing or None,
            "price": _price(self._arena.price(provider, name)),
            "thinks": traits.thinks,
            "efforts": list(traits.efforts),
            "contextTokens": traits.context,
            "outputTokens": traits.output,
        }


def _price(price: Price | None) -> dict[str, float] | None:
    """US dollars for a million tokens, at the first tier; null where nobody knows."""
    if price is None:
        return None
    return {
        "inputPerMillion": float(price.input[0].per_million),
        "outputPerMillion": float(price.output[0].per_million),
    }


def _format(fmt: Format) -> dict[str, Any]:
    return {
        "name": fmt.name,
        "title": fmt.title,
        "summary": fmt.summary,
        "minParticipants": max(2, fmt.min_seats),
        "maxParticipants": fmt.max_seats,
        "rounds": fmt.rounds,
        "maxRounds": fmt.max_rounds,
        "scripted": fmt.scripted,
        "result": fmt.result,
        "parties": fmt.parties,
        "eitherFirst": fmt.either_first,
        "lastWord": fmt.last_word,
        "prepWords": fmt.prep_words,
        "chairs": [
            {"name": chair.name, "position": chair.side, "role": chair.role, "team": chair.team}
            for chair in fmt.chairs
        ],
        "phases": [_phase(phase) for phase in fmt.phases],
    }


def _phase(phase: Phase) -> dict[str, Any]:
    return {
        "key": phase.key,
        "title": phase.title,
        "round": phase.round,
        "speaker": phase.who,
        "member": phase.speaker,
        "team": phase.team,
        "speaksAs": phase.speaks_as,
        "to": phase.to,
        "kind": phase.kind,
        "tone": phase.tone,
        "minutes": phase.minutes,
        "words": phase.words,
        "clock": phase.clock,
        "exchanges": phase.exchanges,
        "newArguments": phase.new_arguments,
        "simultaneous": phase.simultaneous,
        "pointsOfInformation": phase.points_of_information,
        "protected": phase.protected,
    }


def _statistics(found: Statistics) -> dict[str, Any]:
    totals = found.totals
    return {
        "totals": {
            "debates": totals.debates,
            "statuses": totals.statuses,
            "speeches": totals.speeches,
            "cost": float(totals.cost),
            "unpriced": totals.unpriced,
        },
        "models": found.models,
        "sides": found.sides,
        "formats": [
            {
                "format": custom.format,
                "debates": custom.debates,
                "winsFor": custom.wins_for,
                "winsAgainst": custom.wins_against,
                "draws": custom.draws,
            }
            for custom in found.formats
        ],
        "topics": found.topics,
    }
