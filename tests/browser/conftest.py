from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest
from playwright.async_api import Browser, Page

from tests.browser.chromium import launched, missing


@pytest.fixture
async def browser() -> AsyncGenerator[Browser]:
    if reason := missing():
        pytest.skip(reason)
    async with launched() as browser:
        yield browser


@pytest.fixture
async def page(browser: Browser) -> AsyncGenerator[Page]:
    async with await browser.new_page() as page:
        yield page
