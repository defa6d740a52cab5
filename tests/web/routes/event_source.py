"""What a browser's EventSource does, and the client of the v1 document that is built on it."""

from __future__ import annotations

import asyncio
from typing import Any

from httpx_sse import aconnect_sse

from tests.web.routes.served import Served


class EventSource:
    """Comes back with the last id when the server ends the stream; any status but 200 closes it for good."""

    def __init__(self, house: Served, debate_id: str, last: str = "", query: str = "") -> None:
        self.events: list[tuple[str, Any]] = []
        self.statuses: list[int] = []
        self.last = last
        self._house = house
        self._url = f"/api/v1/debates/{debate_id}/stream{query}"

    async def run(self) -> None:
        """Until it is closed: by the document's client on `complete`, or by the server."""
        async with asyncio.timeout(60):
            while not await self._is_closed():
                pass

    async def _is_closed(self) -> bool:
        headers = {"Last-Event-ID": self.last} if self.last else {}
        async with aconnect_sse(self._house.http, "GET", self._url, headers=headers) as source:
            self.statuses.append(source.response.status_code)
            if source.response.status_code != 200:
                return True
            async for event in source.aiter_sse():
                self.last = event.id or self.last
                self.events.append((event.event, event.json()))
                if event.event == "complete":
                    return True
        return False
