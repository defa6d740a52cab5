"""The frame around every page."""

from __future__ import annotations

import pytest
from playwright.async_api import Page, expect

from tests.api.served import Served

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_link_leads_to_another_page_without_loading_a_document(page: Page, served: Served) -> None:
    await page.goto(served.url)
    await page.evaluate("window.kept = true")
    await page.get_by_role("link", name="Debates", exact=True).click()
    await expect(page).to_have_url(f"{served.url}/debates")
    assert await page.evaluate("window.kept")


async def test_a_question_mark_shows_the_keys(page: Page, served: Served) -> None:
    await page.goto(served.url)
    await expect(page.get_by_role("heading", level=1)).to_be_visible()
    await page.keyboard.press("?")
    await expect(page.get_by_role("dialog", name="Keys")).to_contain_text("New debate")
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("dialog", name="Keys")).to_have_count(0)
