from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, BrowserContext, ConsoleMessage, Page, expect

from tests.browser.chromium import launched, missing
from tests.models.conftest import manager as manager
from tests.web.routes.served import Served, serving

Watched = Callable[[Page], Page]

# Two browsers and two servers at once on a small machine are slow, and not wrong.
PATIENCE_MS = 60_000
expect.set_options(timeout=PATIENCE_MS)
EARLY = "was preloaded using link preload but not used within a few seconds"
"""What the browser says of the font where the first heading takes long to come, as on a busy machine."""


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def chromium() -> AsyncGenerator[Browser]:
    """One browser for all tests of a process; each test has a context of its own."""
    if reason := missing():
        pytest.skip(reason)
    async with launched() as browser:
        yield browser


@pytest_asyncio.fixture(loop_scope="session")
async def served(tmp_path: Path) -> AsyncGenerator[Served]:
    async with serving(tmp_path) as server:
        yield server


@pytest.fixture
def complaints() -> list[str]:
    """What a browser complained about. A test that expects something takes it out."""
    return []


def watching(served: Served, complaints: list[str]) -> Watched:
    """Listens to a page: to its console, to what it throws, and to what it asks of others than our server."""

    def heard(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and EARLY not in message.text:
            complaints.append(f"{message.type}: {message.text}")

    def asked(request: Any) -> None:
        own = (served.url, served.url.replace("http", "ws", 1), "data:", "blob:", "file:")
        if not request.url.startswith(own):
            complaints.append(f"asked elsewhere: {request.url}")

    def watch(page: Page) -> Page:
        page.on("console", heard)
        page.on("pageerror", lambda error: complaints.append(f"thrown: {error}"))
        page.on("request", asked)
        return page

    return watch


@pytest.fixture
def watched(served: Served, complaints: list[str]) -> Watched:
    return watching(served, complaints)


@pytest_asyncio.fixture(loop_scope="session")
async def context(chromium: Browser) -> AsyncGenerator[BrowserContext]:
    async with await chromium.new_context(reduced_motion="reduce") as context:
        yield context


@pytest_asyncio.fixture(loop_scope="session")
async def page(
    context: BrowserContext, served: Served, watched: Watched, complaints: list[str]
) -> AsyncGenerator[Page]:
    """A tab; nothing may go wrong in it."""
    async with AsyncExitStack() as stack:
        page = watched(await stack.enter_async_context(await context.new_page()))
        page.set_default_timeout(PATIENCE_MS)
        yield page
    assert not complaints
