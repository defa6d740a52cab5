"""Rate limits: how many requests and streams a client may have, and what counts as one client.

A client is known by its token, else by its address (of IPv6 the network of 64 bits, which is what one
customer gets). What a proxy says about an address is believed only if the operator trusts that proxy. Those
who joined by one shared link from one address are clients of their own and a crowd together, which has
`CROWD` times the limits of a client: joining again and again gives nobody more.
"""

from __future__ import annotations

import math
import time
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from limits import RateLimitItem, RateLimitItemPerMinute
from limits.aio.storage import MemoryStorage, Storage
from msgspec import Struct

from moot.api.problems import Problem
from moot.core.errors import Invalid
from moot.engine.ephemeral_store import Presence

CROWD = 10
"""A hall behind one address has room, and one program that joins as many has no more than ten clients."""

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

NO_ADDRESS = "local"
"""A peer without an address is on this machine."""


class Counted(Struct, frozen=True):
    """The names under which the requests and streams of a client are counted."""

    client: str
    crowd: str = ""
    """Shared with all who came by the same link from the same address; empty for other clients."""


class RateLimitStatus(Struct, frozen=True):
    """What is left to a client after a request. `reset` is in epoch seconds."""

    limit: int
    remaining: int
    reset: int
    allowed: bool
    retry_after: int

    @property
    def headers(self) -> dict[str, str]:
        return {
            "X-RateLimit-Limit": str(self.limit),
            "X-RateLimit-Remaining": str(self.remaining),
            "X-RateLimit-Reset": str(self.reset),
        }

    def check(self) -> None:
        if not self.allowed:
            raise Problem("rate-limit", headers={"Retry-After": str(self.retry_after)})


class RateLimiter:
    """Requests a minute, or in another window, for each client. Several processes share one limit by sharing
    the storage."""

    def __init__(
        self,
        most: int | None,
        storage: Storage | None = None,
        *,
        window: type[RateLimitItem] = RateLimitItemPerMinute,
    ) -> None:
        self._item = window(most) if most else None
        self._crowd_item = window(most * CROWD) if most else None
        self._storage = storage or MemoryStorage()

    async def hit(self, client: str, crowd: str = "") -> RateLimitStatus | None:
        """Count a request, also for the crowd if there is one. None where the operator has lifted the limit.
        The status is that of the client, or of the crowd where that has used up its limit."""
        if self._item is None or self._crowd_item is None:
            return None
        status = await self._count(self._item, client)
        if not crowd or not status.allowed:
            return status
        together = await self._count(self._crowd_item, crowd)
        return status if together.allowed else together

    async def _count(self, item: RateLimitItem, client: str) -> RateLimitStatus:
        # The count itself says what is left: a second query could include later requests.
        count = await self._storage.incr(item.key_for(client), item.get_expiry())
        return await self._status(item, client, count)

    async def peek(self, client: str) -> RateLimitStatus | None:
        """What would be left after one more request, which is not counted."""
        if self._item is None:
            return None
        count = await self._storage.get(self._item.key_for(client))
        return await self._status(self._item, client, count + 1)

    async def _status(self, item: RateLimitItem, client: str, count: int) -> RateLimitStatus:
        reset = await self._storage.get_expiry(item.key_for(client))
        return RateLimitStatus(
            limit=item.amount,
            remaining=max(0, item.amount - count),
            reset=math.ceil(reset),
            allowed=count <= item.amount,
            retry_after=min(item.get_expiry(), max(1, math.ceil(reset - time.time()))),
        )


class StreamLimiter:
    """Limits the open streams of each client."""

    def __init__(self, most: int | None, presence: Presence) -> None:
        self._limit = most
        self._presence = presence

    @asynccontextmanager
    async def slot(self, counted: Counted) -> AsyncGenerator[None]:
        if self._limit is None:
            yield
            return
        limits = {counted.client: self._limit}
        if counted.crowd:
            limits[counted.crowd] = self._limit * CROWD
        async with AsyncExitStack() as stack:
            for client, most in limits.items():
                joining = self._presence.join(f"streams of {client}", most=most)
                if not await stack.enter_async_context(joining):
                    detail = "Too many streams at a time; close one"
                    raise Problem("rate-limit", detail, headers={"Retry-After": "5"})
            yield


class TokenBucket:
    """A number of messages at once, then a number per second."""

    def __init__(self, burst: float, per_second: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._burst = burst
        self._per_second = per_second
        self._clock = clock
        self._left = burst
        self._updated_at = clock()

    def take(self) -> bool:
        now = self._clock()
        self._left = min(self._burst, self._left + (now - self._updated_at) * self._per_second)
        self._updated_at = now
        if self._left < 1:
            return False
        self._left -= 1
        return True


class TrustedProxies:
    """The proxies that the operator trusts."""

    def __init__(self, named: Iterable[str]) -> None:
        self._networks = tuple(_network(name) for name in named)

    def trusts(self, peer: str) -> bool:
        address = _address(peer)
        return address is not None and self._trusted(address)

    def client_key(self, peer: str, forwarded: Iterable[str] = ()) -> str:
        """The key of a client: the rightmost address that is no trusted proxy. Others may be forged."""
        address = _address(peer)
        if address is None:
            return NO_ADDRESS
        hops = [hop for line in forwarded for hop in line.split(",")]
        while hops and self._trusted(address):
            hop_address = _address(hops.pop())
            if hop_address is None:
                break
            address = hop_address
        return _key(address)

    def _trusted(self, address: Address) -> bool:
        return any(address.version == network.version and address in network for network in self._networks)


def _network(name: str) -> Network:
    try:
        return ip_network(name, strict=False)
    except ValueError:
        raise Invalid(f"MOOT_TRUSTED_PROXIES holds addresses or networks; {name!r} is neither.") from None


@lru_cache(maxsize=1024)
def _address(text: str) -> Address | None:
    """An address as a proxy may write it: with a port, in brackets, or IPv4 mapped to IPv6."""
    text = text.strip().strip('"')
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


@lru_cache(maxsize=1024)
def _key(address: Address) -> str:
    if isinstance(address, IPv4Address):
        return str(address)
    return str(ip_network((address, 64), strict=False))
