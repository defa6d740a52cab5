"""The manual at /manual in a real browser: reading, searching and moving about, with and without scripts."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import Browser, BrowserContext, Page, expect

from tests.web.routes.served import Served

pytestmark = pytest.mark.asyncio(loop_scope="session")

NARROW, WIDE = 320, 1400
TOO_WIDE = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
PAPER = "getComputedStyle(document.body).backgroundColor"
DARK, LIGHT = "rgb(22, 21, 15)", "rgb(250, 248, 243)"


async def test_the_manual_can_be_read_and_searched_as_one_types(page: Page, served: Served) -> None:
    await page.goto(f"{served.url}/manual")
    await expect(page.locator("article h1")).to_have_text("Moot")
    await page.get_by_role("link", name="Your first debate").first.click()
    await expect(page.locator("article h1")).to_have_text("Your first debate")
    await page.keyboard.press("/")
    await page.keyboard.type("what a cost limit res")
    await expect(page.locator(".found a").first).to_contain_text("What a cost limit reserves")
    await expect(page.locator(".found mark").first).to_be_visible()
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("Enter")
    await expect(page).to_have_url(re.compile("/manual/decisions/0031-what-a-cost-limit-reserves.html"))


async def test_it_is_complete_without_scripts(chromium: Browser, served: Served) -> None:
    async with await chromium.new_context(java_script_enabled=False) as context:
        page = await context.new_page()
        await page.goto(f"{served.url}/manual/api.html")
        await page.get_by_role("searchbox").fill("cost limit")
        await page.keyboard.press("Enter")
        await page.locator(".results a").first.click()
        await expect(page.locator("article h1")).to_be_visible()
        await expect(page.locator(".theme, .copy")).to_have_count(1)
        await expect(page.locator(".theme")).to_be_hidden()


async def test_the_page_never_scrolls_sideways_on_a_phone(page: Page, served: Served) -> None:
    await page.set_viewport_size({"width": NARROW, "height": 640})
    for path in ("", "api.html", "events.html", "reference/http-api.html", "figures.html", "search?q=cost"):
        await page.goto(f"{served.url}/manual/{path}")
        assert not await page.evaluate(TOO_WIDE), path


async def test_on_a_phone_pages_and_sections_open_with_their_buttons(page: Page, served: Served) -> None:
    await page.set_viewport_size({"width": NARROW, "height": 640})
    await page.goto(f"{served.url}/manual/api.html")
    pages, sections = page.locator("#pages"), page.locator("#contents")
    await expect(pages).to_be_hidden()
    await page.get_by_role("button", name="Pages").click()
    await expect(pages.get_by_role("link", name="Use the API")).to_have_attribute("aria-current", "page")
    await page.keyboard.press("Escape")
    await expect(pages).to_be_hidden()
    await page.get_by_role("button", name="Sections").click()
    await sections.get_by_role("link", name="Errors").click()
    await expect(sections).to_be_hidden()
    await expect(page.locator("#errors")).to_be_in_viewport()


async def test_the_section_that_is_read_is_marked(page: Page, served: Served) -> None:
    await page.set_viewport_size({"width": WIDE, "height": 800})
    await page.goto(f"{served.url}/manual/api.html#errors")
    await expect(page.locator("#contents [aria-current]")).to_have_text("Errors")


async def test_it_has_the_theme_that_was_chosen_on_the_page(
    page: Page, context: BrowserContext, served: Served
) -> None:
    await page.emulate_media(color_scheme="dark")
    await page.goto(f"{served.url}/manual/")
    assert await page.evaluate(PAPER) == DARK
    await page.evaluate("localStorage.setItem('moot.theme', '\"light\"')")
    await page.reload()
    assert await page.evaluate(PAPER) == LIGHT
    await page.get_by_role("button", name="Theme: Light").click()
    await expect(page.get_by_role("button", name="Theme: Dark")).to_be_visible()
    assert await page.evaluate(PAPER) == DARK
    assert await page.evaluate("localStorage.getItem('moot.theme')") == '"dark"'


async def test_code_can_be_copied(page: Page, context: BrowserContext, served: Served) -> None:
    await context.grant_permissions(["clipboard-read", "clipboard-write"])
    await page.goto(f"{served.url}/manual/tutorials/first-debate.html")
    await page.get_by_role("button", name="Copy").first.click()
    await expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert await page.evaluate("navigator.clipboard.readText()") == "moot serve --open"


async def test_the_keyboard_skips_the_navigation(page: Page, served: Served) -> None:
    await page.goto(f"{served.url}/manual/api.html")
    await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    await expect(page.locator("#main")).to_be_focused()


async def test_only_the_article_is_printed(page: Page, served: Served) -> None:
    await page.goto(f"{served.url}/manual/api.html")
    await page.emulate_media(media="print")
    await expect(page.locator("article h1")).to_be_visible()
    await expect(
        page.locator(".top, #pages, #contents, .neighbours, .copy").locator("visible=true")
    ).to_have_count(0)
