"""The page at /docs in a real browser: every operation is shown, in light and dark, without a complaint."""

from __future__ import annotations

import pytest
from playwright.async_api import Page, expect

from tests.web.route_table import ROUTES
from tests.web.routes.served import Served

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_every_operation_is_shown_under_our_policy_in_both_themes(
    page: Page, served: Served, complaints: list[str]
) -> None:
    await page.emulate_media(color_scheme="light")
    await page.goto(f"{served.url}/docs")
    await expect(page.locator(".opblock-summary-path").first).to_be_visible()
    assert await page.locator(".opblock").count() >= len(ROUTES)
    opening = page.locator("#operations-Debates-create_debate")
    await opening.locator(".opblock-summary-control").click()
    await expect(opening.locator(".body-param__example")).to_contain_text("Homework")
    assert max(await ink(page)) < 128
    await page.emulate_media(color_scheme="dark")
    assert min(await ink(page)) > 128
    assert not complaints


async def ink(page: Page) -> list[int]:
    """The colour of the title: red, green and blue."""
    colour = await page.locator(".info .title").evaluate("element => getComputedStyle(element).color")
    return [int(part) for part in colour.strip("rgb()").split(",")]
