"""Replies of the API, read."""

from __future__ import annotations

from tests.web.routes.served import Served

API = "/api/v1"


async def told(house: Served, path: str, **query: str) -> dict:
    reply = await house.http.get(f"{API}/{path}", params=query)
    assert reply.status_code == 200, reply.text
    return reply.json()
