from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from moot.providers.scripted import ScriptedProvider
from tests.web.routes.served import Served, serving


@pytest.fixture
async def served(tmp_path: Path) -> AsyncGenerator[Served]:
    """Without limits, and with speeches that take no time."""
    async with serving(tmp_path) as house:
        yield house


@pytest.fixture
async def slow(tmp_path: Path) -> AsyncGenerator[Served]:
    """With speeches that last: something is always under way."""
    async with serving(tmp_path, provider=ScriptedProvider(pace=0.008)) as house:
        yield house
