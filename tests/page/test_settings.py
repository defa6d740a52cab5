"""The settings page: appearance, providers, models and tokens; and the form that asks for a token."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from playwright.async_api import Page, expect

from moot.store.contract import AccessToken, digest
from tests.web.routes.served import Served

pytestmark = pytest.mark.asyncio(loop_scope="session")
REFUSED = "the server responded with a status of 401"


async def locked(served: Served, secret: str) -> None:
    await served.arena.store.save_token(AccessToken("ada", digest(secret), "owner", "ada", datetime.now(UTC)))


async def test_a_theme_is_kept_in_this_browser(page: Page, served: Served) -> None:
    await page.goto(f"{served.url}/settings")
    await page.get_by_role("group", name="Theme").get_by_text("Dark").click()
    await page.get_by_role("group", name="Motion").get_by_text("Reduced").click()
    await expect(page.locator("html[data-theme=dark][data-still]")).to_have_count(1)
    await page.reload()
    await expect(page.get_by_role("radio", name="Dark")).to_be_checked()
    await expect(page.locator("html[data-theme=dark][data-still]")).to_have_count(1)


async def test_providers_say_what_they_lack(page: Page, served: Served) -> None:
    await page.goto(f"{served.url}/settings")
    await page.get_by_text("could be used").click()
    await expect(page.get_by_text("Set ANTHROPIC_API_KEY.")).to_be_visible()
    await expect(
        page.get_by_role("button", name="Install").or_(page.get_by_text("Installed"))
    ).not_to_have_count(0)


async def test_the_first_token_locks_the_door_and_this_browser_stays_in(page: Page, served: Served) -> None:
    await page.goto(f"{served.url}/settings")
    await page.get_by_label("Name of its bearer").fill("ada")
    await page.get_by_role("button", name="Make it and lock the door").click()
    await expect(page.get_by_text("It is shown this once.")).to_be_visible()
    secret = await page.locator(".secret").inner_text()
    assert await page.evaluate("localStorage.getItem('moot.token')") == secret
    await page.goto(f"{served.url}/debates")
    await expect(page.get_by_role("heading", name="Nothing has been debated yet")).to_be_visible()
    assert (await served.http.get("/api/v1/debates")).status_code == 401


async def test_whoever_has_no_token_is_asked_for_one(
    page: Page, served: Served, complaints: list[str]
) -> None:
    await locked(served, "moot_a-good-token")
    await page.goto(f"{served.url}/debates")
    door = page.get_by_role("dialog", name="This server asks for a token")
    await door.get_by_label("Token").fill("wrong")
    await page.keyboard.press("Enter")
    await expect(door.get_by_role("alert")).to_contain_text("does not count here")
    await door.get_by_label("Token").fill("moot_a-good-token")
    await door.get_by_role("button", name="Go in").click()
    await expect(door).to_have_count(0)
    await expect(page.get_by_role("heading", name="Nothing has been debated yet")).to_be_visible()
    await page.reload()
    await expect(page.get_by_role("heading", name="Nothing has been debated yet")).to_be_visible()
    assert complaints
    assert all(REFUSED in complaint for complaint in complaints)
    complaints.clear()
