"""The frame around every page."""

from __future__ import annotations

import pytest
from playwright.async_api import Page, expect

from tests.web.routes.served import Served

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
    await expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_contain_text("New debate")
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_have_count(0)


async def test_a_debate_that_is_not_there_says_why_that_may_be(
    page: Page, served: Served, complaints: list[str]
) -> None:
    await page.goto(f"{served.url}/debate/deb_01M0000000000000000000000Z")
    await expect(page.get_by_role("heading", level=1)).to_have_text("There is no such debate")
    await expect(page.get_by_role("main")).to_contain_text("It was deleted, or the address is wrong.")
    complaints.clear()


LOOK = """() => [...document.querySelectorAll('.top, main, h1, section:first-of-type *')]
  .map((one) => [one.className, getComputedStyle(one).position, getComputedStyle(one).display])"""


async def test_a_page_looks_the_same_whichever_page_was_there_before(page: Page, served: Served) -> None:
    debate = await served.open()
    await served.over(debate)
    await page.goto(f"{served.url}/settings")
    await expect(page.get_by_text("Server OK")).to_be_visible()
    await expect(page.get_by_role("button", name="Add key").first).to_be_visible()
    alone = await page.evaluate(LOOK)
    for path in (f"/debate/{debate}", "/debates", "/statistics", "/"):
        await page.goto(served.url + path)
        await expect(page.get_by_role("heading", level=1)).to_be_visible()
        await page.get_by_role("link", name="Settings", exact=True).click()
        await expect(page.get_by_text("Server OK")).to_be_visible()
        await expect(page.get_by_role("button", name="Add key").first).to_be_visible()
        assert await page.evaluate(LOOK) == alone


LOADED = """() => performance.getEntriesByType('navigation').concat(performance.getEntriesByType('resource'))
  .map(({ name, transferSize }) => [new URL(name).pathname, transferSize])"""
MOST_BYTES = 150_000
SAMPLE_BYTES = 112_000
"""Each with the faces of the font that it uses."""
RETURNING = "localStorage.setItem('moot.returning', 'true')"


async def test_the_first_page_is_small_with_all_that_it_asks_for(page: Page, served: Served) -> None:
    await page.goto(served.url)
    await expect(page.get_by_role("region", name="Speeches of the sample")).to_be_visible()
    with_sample: dict[str, int] = dict(await page.evaluate(LOADED))
    await page.evaluate(RETURNING)
    async with page.expect_response("**/api/v1/estimate"):
        await page.goto(served.url)
    sizes: dict[str, int] = dict(await page.evaluate(LOADED))
    assert {"/", "/static/pages/start.js", "/vendor/preact.js", "/api/v1/models"} <= sizes.keys()
    # The second time the browser has the files, and asks only whether they are still the same.
    first_time = {name: with_sample[name] for name in sizes if name in with_sample}
    assert sum(first_time.values()) < MOST_BYTES, sorted(first_time.items(), key=lambda item: -item[1])
    sample = {name: size for name, size in with_sample.items() if name not in sizes}
    assert sum(sample.values()) < SAMPLE_BYTES, sorted(sample.items(), key=lambda item: -item[1])


async def test_the_document_names_all_that_its_page_is_made_of(page: Page, served: Served) -> None:
    debate = await served.open()
    await served.over(debate)
    # The sample debate is loaded when the page is shown.
    await page.goto(served.url)
    await page.evaluate(RETURNING)
    for path in ("/", f"/debate/{debate}", f"/debate/{debate}/replay"):
        document = await page.goto(served.url + path)
        assert document is not None
        await expect(page.get_by_role("heading", level=1)).to_be_visible()
        named = await document.text()
        loaded = [name for name, _ in await page.evaluate(LOADED)]
        # The italic is loaded where there is some.
        files = [
            name for name in loaded if name.startswith(("/static/", "/vendor/")) and "italic" not in name
        ]
        assert files
        assert [name for name in files if f'"{name}"' not in named] == []
