"""A viewer who leaves is noticed at once, whatever it has sent before."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from moot.providers.scripted import ScriptedProvider
from tests.web.routes.served import Served, serving

ANOTHER = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


async def viewers(house: Served) -> str:
    lines = (await house.http.get("/metrics")).text.splitlines()
    return next(line for line in lines if line.startswith("moot_viewers ")).split()[1]


@pytest.mark.parametrize("afterwards", [b"", ANOTHER, ANOTHER * 3])
async def test_who_leaves_is_no_viewer_any_more(tmp_path: Path, afterwards: bytes) -> None:
    async with serving(tmp_path, provider=ScriptedProvider(pace=0.02)) as house:
        debate_id = await house.open()
        reader, writer = await asyncio.open_connection("127.0.0.1", int(house.url.rpartition(":")[2]))
        path = f"/api/v1/debates/{debate_id}/stream"
        writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode() + afterwards)
        await reader.readuntil(b"event: ")
        assert await viewers(house) == "1.0"
        writer.close()
        async with asyncio.timeout(60):
            while await viewers(house) != "0.0":  # noqa: ASYNC110 - the metrics ring no bell
                await asyncio.sleep(0.01)
        assert (await house.get(debate_id, "status")).json()["status"] == "debating"
