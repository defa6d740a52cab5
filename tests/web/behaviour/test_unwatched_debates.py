"""What goes on without anybody watching, and what a quiet stream says meanwhile."""

from __future__ import annotations

import asyncio
from pathlib import Path

from msgspec.structs import replace

from moot.core.ids import new_id
from moot.engine.arena import Arena
from moot.providers.endpoints import ENDPOINTS, Endpoint
from moot.settings import Settings
from moot.store.memory import MemoryStore
from moot.web.server_capabilities import ServerCapabilities
from tests.web.routes.served import UNLIMITED, Served, serving


async def test_a_debate_goes_on_when_every_viewer_leaves(slow: Served) -> None:
    debate_id = await slow.open(maxRounds=1)
    async with slow.http.stream("GET", f"/api/v1/debates/{debate_id}/stream") as reply:
        async for _ in reply.aiter_bytes():
            break
    assert (await slow.over(debate_id))["status"] == "completed"


async def test_a_quiet_stream_shows_signs_of_life_that_are_no_events(tmp_path: Path) -> None:
    async with serving(tmp_path, replace(UNLIMITED, comment_seconds=0.02)) as house:
        debate_id = await house.open(autoProgress=False)
        await house.until(debate_id, lambda status: status["status"] == "awaiting_arguments")
        heard = b""
        async with (
            asyncio.timeout(60),
            house.http.stream("GET", f"/api/v1/debates/{debate_id}/stream") as reply,
        ):
            async for piece in reply.aiter_bytes():
                heard += piece
                if heard.count(b":\n") >= 4:
                    break
        events, _, silence = heard.rpartition(b"\n\n")
        assert set(silence.splitlines()) == {b":"}
        assert events.count(b"event: ") == 2


async def test_speakers_that_are_made_up_must_be_allowed_by_the_operator(tmp_path: Path) -> None:
    for allowed in (True, False):
        async with Arena.open(Settings(data=tmp_path, scripted=allowed), store=MemoryStore()) as arena:
            assert ("scripted" in ServerCapabilities(arena).providers) is allowed


async def test_an_endpoint_of_the_operators_own_can_be_named(tmp_path: Path) -> None:
    mine = Endpoint("mine", "Mine", "openai_chat", "http://127.0.0.1:9/v1", moved=True)
    settings = Settings(data=tmp_path, endpoints=(*ENDPOINTS, mine))
    async with Arena.open(settings, store=MemoryStore()) as arena:
        house = ServerCapabilities(arena)
        assert house.providers[:4] == ("anthropic", "openai", "google", "mistral")
        assert "mine" in house.providers
        assert house.has_key("mine")
        assert not house.has_key("openai")


def test_ids_are_not_to_be_guessed() -> None:
    ids = {new_id() for _ in range(100_000)}
    assert len(ids) == 100_000
    # The last 80 bits are random: each of the letters of the last place comes up about as often.
    counts = [sum(id.endswith(letter) for id in ids) for letter in "0123456789ABCDEFGHJKMNPQRSTVWXYZ"]
    expected = len(ids) / 32
    assert sum((count - expected) ** 2 / expected for count in counts) < 80
