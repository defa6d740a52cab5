"""The page at /docs in a real browser: every operation is shown, in light and dark, without a complaint."""

from __future__ import annotations

import pytest
from playwright.async_api import Browser, expect

from tests.page.conftest import Watched
from tests.web.route_table import ROUTES
from tests.web.routes.served import Served

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_every_operation_is_shown_under_our_policy(
    chromium: Browser, served: Served, watched: Watched, complaints: list[str], scheme: str
) -> None:
    async with await chromium.new_context(color_scheme=scheme) as context:  # type: ignore[arg-type]
        page = watched(await context.new_page())
        await page.goto(f"{served.url}/docs")
        await expect(page.locator(".opblock-summary-path").first).to_be_visible()
        assert await page.locator(".opblock").count() >= len(ROUTES)
        opening = page.locator("#operations-Debates-create")
        await opening.locator(".opblock-summary-control").click()
        await expect(opening.locator(".body-param__example")).to_contain_text("Homework")
        ink = await page.locator(".info .title").evaluate("element => getComputedStyle(element).color")
        shades = [int(part) for part in ink.strip("rgb()").split(",")]
        assert (min(shades) > 128) is (scheme == "dark"), ink
    assert not complaints
