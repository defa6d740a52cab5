"""One Redis as this process finds it: where it is, how it is spoken to, and whether it is there.

All in a process who speak to it share one of these. So the operator is told once that it cannot be reached
and once that it is back, whoever of them finds out; never its password.
"""

from __future__ import annotations

import logging
from typing import Any, cast

from redis.asyncio import ConnectionPool, Redis
from redis.asyncio.connection import AbstractConnection, parse_url
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from moot.core.errors import Invalid

CONNECTION_OPTIONS: dict[str, Any] = {
    # The library keeps deadlines of its own by `wait_for`, which in 3.11 may swallow a cancellation.
    "socket_timeout": None,
    "socket_connect_timeout": None,
    # Nothing is tried twice: what was counted, and only the answer lost, would be counted again.
    "retry": Retry(NoBackoff(), 0),
    "health_check_interval": 0,
    "protocol": 2,
    "decode_responses": False,
    "max_connections": None,
}
"""Whatever stands behind the ? of an address."""

MIN_VERSION = 6, 2
"""The version that first knew all that is asked of it (GETDEL)."""

log = logging.getLogger("moot")


class RedisServer:
    def __init__(self, url: str) -> None:
        """Raises Invalid for an address that is none. Redis itself may be away."""
        try:
            said: dict[str, Any] = {**parse_url(url), **CONNECTION_OPTIONS}
            self._pool = cast("Any", ConnectionPool)(**said)
            # What is asked for behind the ? of an address is only found wrong when a connection is made.
            self._pool.make_connection()
        except (TypeError, ValueError):
            # Its own words might repeat the address, and with it the password.
            raise Invalid("MOOT_BUS is not the address of a Redis, such as redis://host:6379/0.") from None
        self.number = int(said.get("db", 0))
        """Of the database in it."""
        self._errors: dict[str, str] = {}

    @property
    def connection_error(self) -> str:
        """Why it cannot be reached; empty where it can."""
        return next(iter(self._errors.values()), "")

    def connection(self) -> AbstractConnection:
        """A new one, for oneself."""
        return self._pool.make_connection()

    def client(self) -> Any:
        """For questions of all kinds. Whoever closes it closes what it has opened."""
        return cast("Any", Redis).from_pool(self._pool)

    def mark_down(self, by: str, error: Exception) -> None:
        why = str(error) or type(error).__name__
        if not self._errors:
            log.warning(
                "Redis cannot be reached, so others are heard a second later, and each counts by itself: %s",
                why,
            )
        self._errors[by] = f"Redis cannot be reached: {why}"

    def mark_up(self, by: str) -> None:
        """Those who have missed it find it one after the other; it is back when the last one has."""
        if self._errors.pop(by, None) and not self._errors:
            log.info("Redis is back")
