from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, async_playwright

SHELL = Path("/usr/bin/chromium-headless-shell")
"""The same browser without a window to draw: half the work for the machine."""
CHROMIUM = SHELL if SHELL.exists() else Path("/usr/bin/chromium")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    # A name that the attacker owns and has pointed at this machine.
    "--host-resolver-rules=MAP evil.test 127.0.0.1",
)  # fmt: skip
FRUGAL = (*FLAGS, "--renderer-process-limit=1", "--in-process-gpu")
"""Few processes: to start one for each page costs more than most pages do."""


@pytest.fixture
async def browser() -> AsyncGenerator[Browser]:
    if not CHROMIUM.exists():
        pytest.skip(f"there is no {CHROMIUM}; `make test` installs it on Debian")
    async with (
        async_playwright() as playwright,
        await playwright.chromium.launch(executable_path=CHROMIUM, args=list(FRUGAL)) as browser,
    ):
        yield browser


@pytest.fixture
async def page(browser: Browser) -> Page:
    return await browser.new_page()
