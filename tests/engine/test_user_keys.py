"""Keys of users are dropped with everything that was opened for them."""

from __future__ import annotations

import asyncio
from typing import Any

from moot.core.events import DebateEnded
from moot.engine.user_keys import UserKeys
from moot.providers.keys import Secret
from moot.providers.scripted import ScriptedProvider
from moot.testing.event_factories import log


class SlowToClose(ScriptedProvider):
    closed = False

    async def close(self) -> None:
        for _ in range(20):
            await asyncio.sleep(0)
        self.closed = True


class Registry:
    def __init__(self) -> None:
        self.made: list[SlowToClose] = []

    def with_key(self, _name: str, _key: Secret) -> SlowToClose:
        self.made.append(SlowToClose())
        return self.made[-1]


async def test_closing_waits_for_the_keys_of_a_debate_that_has_just_ended() -> None:
    registry: Any = Registry()
    keys = UserKeys(registry, lambda _: None)
    for debate_id in ("ended", "deleted"):
        keys.add(debate_id, {"one": Secret("sk-1"), "two": Secret("sk-2")})
    keys.on_records("ended", log(DebateEnded("rounds")))
    keys.on_records("deleted", None)
    await asyncio.sleep(0)  # both removals have begun
    assert not any(provider.closed for provider in registry.made)
    keys.add("running", {"one": Secret("sk-1")})
    await keys.close()
    assert [provider.closed for provider in registry.made] == [True] * 5
