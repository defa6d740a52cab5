"""Asks a service whether it accepts a key and has a model, by requests that cost nothing.

Services with a look-up of single models (`Endpoint.finds_models`) are asked for the model; the others for the
list of models, or for another address that needs a key, which says something about the key alone. `judge`
decides what is certain: a rejected key; at the service's own address also a forbidden one, and a model that
the look-up does not find. At an address that the operator has set, a model is certainly unknown only if the
list of models answers, is whole and lacks it. Everything else says nothing: the address may be missing there,
the network slow. Replies are kept for a while, so that many debates with one model ask once.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

import aiohttp
from msgspec import Struct

from moot.core.errors import Fault
from moot.providers import error_replies, transport
from moot.providers.lenient_json import get_dicts, get_path, get_string, parse_or_text

log = logging.getLogger("moot.providers")

TIMEOUT = aiohttp.ClientTimeout(total=5)
MAX_LIST_BYTES = 4 * 1024 * 1024
KEPT_SECONDS, FAULT_KEPT_SECONDS = 300.0, 15.0
"""A fault is kept for a shorter time: somebody is about to mend it."""
RESTRICTED = "scope"
"""A key that may not list models may still be allowed to call them; the service then names the missing scope.
"""


class LookUpRoute(Struct, frozen=True):
    """Where a service can be asked."""

    key_url: str
    """Needs a key and costs nothing."""
    list_url: str
    finds_models: bool = False
    """Whether a model is found at its name below the list."""
    moved: bool = False
    """The operator has set the address: what answers there may lack some of these routes."""

    def model_url(self, model: str) -> str:
        return f"{self.list_url}/{quote(model.removeprefix('models/'), safe='')}"


class ModelLookUp:
    """The look-ups with one key at one service."""

    def __init__(
        self,
        route: LookUpRoute,
        headers: Mapping[str, str],
        proxy: str | None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._route = route
        self._headers = headers
        self._proxy = proxy
        self._clock = clock
        self._known: dict[str, tuple[float, Fault | None]] = {}
        """By model: until when it is kept, and what is wrong."""
        self._asking: dict[str, asyncio.Lock] = {}

    async def find_fault(self, session: aiohttp.ClientSession, model: str) -> Fault | None:
        """What is certainly wrong with the key or the model; None where nothing is known to be."""
        async with self._asking.setdefault(model, asyncio.Lock()):
            until, fault = self._known.get(model, (0.0, None))
            if self._clock() >= until:
                fault = await self._find_fault(session, model)
                kept = FAULT_KEPT_SECONDS if fault else KEPT_SECONDS
                self._known[model] = (self._clock() + kept, fault)
            return fault

    async def _find_fault(self, session: aiohttp.ClientSession, model: str) -> Fault | None:
        route = self._route
        url = route.model_url(model) if route.finds_models else route.key_url
        try:
            fault = await self._ask(session, url)
            listed = await self._ask(session, route.list_url) if needs_list(route, fault) else None
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            log.info("%s could not be looked up: %s", model, type(error).__name__)
            return None
        certain = judge(route, model, fault, listed)
        if isinstance(fault, Fault) and certain is None:
            log.info("%s was looked up without a clear answer: %s", model, fault.http_status)
        return certain

    async def _ask(self, session: aiohttp.ClientSession, url: str) -> Any:
        """The reply, or a Fault for a status other than 200."""
        async with session.get(
            url, headers=self._headers, allow_redirects=False, proxy=self._proxy, timeout=TIMEOUT
        ) as reply:
            body = await transport.read_body(reply, MAX_LIST_BYTES)
            if reply.status == 200:
                return parse_or_text(body)
            return error_replies.fault_from_response(reply.status, reply.headers, body, time.time())


def needs_list(route: LookUpRoute, reply: object) -> bool:
    """Whether the list of models has to confirm that a model is unknown."""
    return route.finds_models and route.moved and isinstance(reply, Fault) and reply.http_status == 404


def judge(route: LookUpRoute, model: str, reply: object, listed: object = None) -> Fault | None:
    """The fault that a reply shows with certainty; `listed` is the list of models, where it was asked for."""
    if not isinstance(reply, Fault) or RESTRICTED in reply.detail.lower():
        return None
    if reply.kind == "bad_key" or (reply.kind == "forbidden" and not route.moved):
        return reply
    unknown = route.finds_models and reply.kind == "unknown_model" and reply.http_status == 404
    return reply if unknown and (not route.moved or _lacks(listed, model)) else None


def _lacks(listed: object, model: str) -> bool:
    """Whether this is a whole list of models without this one."""
    names = {
        *(get_string(row, "id") for row in get_dicts(listed, "data")),
        *(get_string(row, "name").removeprefix("models/") for row in get_dicts(listed, "models")),
    } - {""}
    has_more = get_path(listed, "has_more") or get_path(listed, "nextPageToken")
    return bool(names) and not has_more and model not in names
