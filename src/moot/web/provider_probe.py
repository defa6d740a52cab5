"""Whether a provider can be reached now: one short request without a key, remembered for a few seconds.

Any answer below 500 counts, also a refusal: it shows that the service is up. Every page that waits for a
provider asks every few seconds; the provider is asked once for all of them.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping
from time import monotonic

import aiohttp

from moot.core.errors import Invalid
from moot.providers import transport
from moot.providers.endpoints import Endpoint, proxy_to
from moot.providers.wire_formats import load_wire_format
from moot.web.app_context import AppContext

TIMEOUT = aiohttp.ClientTimeout(total=3)
REMEMBERED_SECONDS = 5.0
SERVER_ERROR = 500


class ProviderProbe:
    def __init__(self, context: AppContext) -> None:
        self._environ = context.arena.settings.environ
        self._asking = defaultdict[str, asyncio.Lock](asyncio.Lock)
        self._seen: dict[str, tuple[float, bool]] = {}

    async def answers(self, endpoint: Endpoint) -> bool:
        """Whether the service answers at its address, now or a few seconds ago."""
        async with self._asking[endpoint.name]:
            at, up = self._seen.get(endpoint.name, (float("-inf"), False))
            if monotonic() - at > REMEMBERED_SECONDS:
                up = await _answers(endpoint, self._environ)
                self._seen[endpoint.name] = (monotonic(), up)
            return up


async def _answers(endpoint: Endpoint, environ: Mapping[str, str]) -> bool:
    if not endpoint.base_url:
        return False
    url = load_wire_format(endpoint.wire_format, endpoint.accent).list_url(endpoint.base_url)
    try:
        async with (
            transport.open_session() as session,
            session.get(url, allow_redirects=False, proxy=proxy_to(url, environ), timeout=TIMEOUT) as reply,
        ):
            return reply.status < SERVER_ERROR
    except (aiohttp.ClientError, OSError, TimeoutError, Invalid):
        return False
