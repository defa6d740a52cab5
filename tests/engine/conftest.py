"""An arena in memory with a scripted provider: the whole engine, nothing on disk, no waiting."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from moot.engine.arena import Arena
from moot.providers.contract import Provider
from moot.providers.scripted import ScriptedProvider
from moot.rules.runner_timings import RunnerTimings
from moot.settings import Settings
from moot.store.memory import MemoryStore

OpenArena = Callable[..., AbstractAsyncContextManager[Arena]]
QUICK = RunnerTimings(retry_base=0.001, first_byte=0.2, between_bytes=0.2, tick=0.001)


@pytest.fixture
def open_arena(tmp_path: Path) -> OpenArena:
    def open_it(provider: Provider | None = None, pace: RunnerTimings = QUICK, **others: Provider):
        settings = Settings(data=tmp_path, pace=pace)
        providers = {"scripted": provider or ScriptedProvider(), **others}
        return Arena.open(settings, store=MemoryStore(), providers=providers)

    return open_it
