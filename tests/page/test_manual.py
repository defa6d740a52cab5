"""The manual at /manual in a real browser: its pages and its search work under our policy."""

from __future__ import annotations

import pytest
from playwright.async_api import Page, expect

from tests.web.routes.served import Served

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_the_manual_can_be_read_and_searched_without_a_request_to_another_host(
    page: Page, served: Served, complaints: list[str]
) -> None:
    await page.goto(f"{served.url}/manual")
    await expect(page.locator("article h1")).to_contain_text("Moot")
    await page.get_by_role("link", name="Your first debate").first.click()
    await expect(page.locator("article h1")).to_contain_text("Your first debate")
    await page.get_by_role("button", name="Search").click()
    await page.keyboard.type("what a cost limit reserves")
    # The results are in a closed shadow root, where no locator finds them: Enter opens the first one.
    while "cost-limit" not in page.url:
        await page.keyboard.press("Enter")
        await page.wait_for_timeout(200)
    assert not complaints
