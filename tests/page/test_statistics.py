"""Statistics say how sure one may be, and when nothing can be said."""

from __future__ import annotations

import pytest
from playwright.async_api import Page, expect

from tests.web.routes.served import Served

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_without_a_debate_there_is_nothing_to_count(page: Page, served: Served) -> None:
    await page.goto(f"{served.url}/statistics")
    await expect(page.get_by_role("heading", name="Nothing to count yet")).to_be_visible()


async def test_figures_have_intervals_and_few_debates_are_called_few(page: Page, served: Served) -> None:
    for _ in range(3):
        await served.over(await served.open())
    await page.goto(f"{served.url}/statistics")
    await expect(page.get_by_text("Too few to tell: 3 verdicts are not enough")).to_be_visible()
    models = page.get_by_role("table", name="Points by model, a draw counting half")
    await expect(models.get_by_role("row")).to_have_count(3)
    for drawn in await models.get_by_role("img").all():
        assert "between" in (await drawn.get_attribute("aria-label") or "")
    met = page.get_by_role("region", name="Who wins against whom")
    await expect(met.get_by_role("cell").filter(has_text="won")).to_have_count(2)
    await expect(page.locator(".days canvas")).to_be_visible()
    await page.get_by_text("As a table").click()
    await expect(page.get_by_role("columnheader", name="Day")).to_be_visible()
    await page.get_by_role("link", name="Should AI development be regulated by government?").click()
    await expect(page.locator("li.debate")).to_have_count(3)
